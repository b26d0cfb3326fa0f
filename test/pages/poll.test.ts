import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { remainingSeconds } from '../../src/features/pages/browser/pages/job-panel.ts';
import { poll, pollSoon, throttleRefresh } from '../../src/features/pages/browser/poll.ts';
import type { Status } from '../../src/features/pages/responses.ts';
import { settled } from '../support/event-loop.ts';
import { withGlobals } from '../support/globals.ts';

/**
 * As much of a document as polling needs: whether it is hidden, its events, and what its body says.
 */
const body = { dataset: {} as Record<string, string> };
const page = Object.assign(new EventTarget(), { hidden: false, body });

function setHidden(hidden: boolean): void {
  page.hidden = hidden;
  page.dispatchEvent(new Event('visibilitychange'));
}

/** Lets so much time pass, and what it causes. */
async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await settled();
}

describe('polling', () => {
  withGlobals({ document: page });
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  test('polling is frequent while things change, slows down while nothing does, and pauses when hidden', async () => {
    const leaving = new AbortController();
    const answers = ['moving', 'moving', 'still', 'still', 'fails', 'moving'] as const;
    let asked = 0;
    const polling = poll(async () => {
      const answer = answers[asked++] ?? 'still';
      if (answer === 'fails') throw new Error('no answer');
      return answer;
    }, leaving.signal);
    const after = async (ms: number) => {
      await pass(ms);
      return asked;
    };
    await settled();
    assert.equal(asked, 1);
    assert.deepEqual([await after(499), await after(1)], [1, 2]);
    assert.equal(await after(500), 3); // still: next after one second
    assert.deepEqual([await after(999), await after(1)], [3, 4]);
    assert.deepEqual([await after(1_999), await after(1)], [4, 5]); // fails: next after four
    assert.deepEqual([await after(3_999), await after(1)], [5, 6]);

    setHidden(true);
    await settled();
    assert.equal(await after(100_000), 6);
    setHidden(false);
    await settled();
    assert.equal(asked, 7);

    pollSoon();
    await settled();
    assert.equal(asked, 8);
    leaving.abort();
    await polling;
    assert.equal(await after(100_000), 8);
  });

  test('work that is asked for while it is being done is done once more, at once', async () => {
    const leaving = new AbortController();
    const answers: PromiseWithResolvers<'still'>[] = [];
    const work = () => {
      answers.push(Promise.withResolvers());
      return answers.at(-1)!.promise;
    };
    const answered = async () => {
      answers.at(-1)?.resolve('still');
      await settled();
      return answers.length;
    };
    const polling = poll(work, leaving.signal);
    pollSoon();
    pollSoon();
    assert.equal(await answered(), 2, 'the first answer may be older than what was asked for');
    assert.equal(await answered(), 2);

    pollSoon();
    pollSoon();
    await settled();
    assert.equal(answers.length, 3, 'both asked before the work began');
    pollSoon();
    assert.equal(await answered(), 4, 'another asked after it had begun');

    setHidden(true);
    setHidden(false);
    assert.equal(await answered(), 5, 'the tab was shown again while the work was being done');
    leaving.abort();
    await answered();
    await polling;
  });

  test('in a view, polling is slow from the start; of a file that cannot change, it ends with the first work that succeeds', async (t) => {
    t.after(() => (body.dataset = {}));
    for (const [dataset, expected] of [
      [{ view: 'jobs.db' }, [2, 3, 4, false]],
      [{ view: 'paper.db', fixed: '' }, [2, 2, 2, true]],
    ] as const) {
      body.dataset = dataset;
      const leaving = new AbortController();
      let [asked, isOver] = [0, false];
      const work = async () => {
        asked += 1;
        if (asked === 1) throw new Error('no answer');
        return 'moving' as const;
      };
      const polling = poll(work, leaving.signal).then(() => (isOver = true));
      await settled();
      await pass(19_999);
      assert.equal(asked, 1);
      const seen: number[] = [];
      for (const ms of [1, 20_000, 20_000]) {
        await pass(ms);
        seen.push(asked);
      }
      assert.deepEqual([...seen, isOver], expected);
      leaving.abort();
      await polling;
    }
  });
});

test('figures that could not be requested are requested again, the last ones of a job too', async () => {
  let fails = false;
  const refreshed: string[] = [];
  const refreshFor = throttleRefresh(async ({ status }) => {
    if (fails) throw new Error('no answer');
    refreshed.push(status);
  });
  const follow = (status: Status['status'], completed: number, completed_at: string | null) =>
    refreshFor({ job_id: 'a', status, progress: { completed }, completed_at } as Status);
  const end = '2025-09-19T21:00:00.000Z';
  assert.equal(await follow('running', 1, null), true);
  assert.equal(await follow('running', 2, null), false, 'too soon after the last ones');
  fails = true;
  await assert.rejects(follow('completed', 3, end), /no answer/);
  fails = false;
  assert.equal(await follow('completed', 3, end), true);
  assert.equal(await follow('completed', 3, end), false, 'nothing has been added since');
  assert.deepEqual(refreshed, ['running', 'completed']);
});

/** Seconds after the start at which model-days ended (null: not yet), and the time to go. */
const paces: [name: string, ended: (number | null)[], toGo: number | null][] = [
  ['nothing has ended', [null, null], null],
  ['less than three seconds have passed', [1, 2, null], null],
  ['the first model-day took no time', [0, null], null],
  ['three seconds have passed', [1, 3, null, null], 3],
  ['one of five is left', [2, 4, 6, 8, null], 2],
  ['none is left', [4, 4], null],
];

test('the seconds that a job still takes follow from the pace of its model-days, once three have passed', () => {
  const at = (second: number | null) =>
    second === null ? null : new Date(second * 1000).toISOString();
  const started_at = at(0);
  for (const [name, ended, toGo] of paces) {
    const ran = ended.map((second) => ({ started_at, completed_at: at(second) }));
    const progress = { pending: ended.filter((second) => second === null).length };
    const details = [{ started_at: null, completed_at: started_at }, ...ran]; // the first was skipped
    assert.equal(remainingSeconds({ progress, details, started_at }), toGo, name);
    assert.equal(remainingSeconds({ progress, details, started_at: null }), null, name);
  }
});
