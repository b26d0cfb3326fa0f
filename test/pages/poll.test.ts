import assert from 'node:assert/strict';
import { type TestContext, afterEach, beforeEach, describe, mock, test } from 'node:test';
import { secondsToGo } from '../../src/browser/pages/job-panel.ts';
import { poll, pollSoon, recompute } from '../../src/browser/poll.ts';
import type { Status } from '../../src/browser/responses.ts';
import { settled } from '../support/event-loop.ts';
import { withGlobals } from '../support/globals.ts';

/**
 * As much of a document as polling needs: whether it is hidden, its events, and what its body says.
 */
const body = { dataset: {} as Record<string, string> };
const page = Object.assign(new EventTarget(), { hidden: false, body });

/** Marks the body as the server does, until the end of the test. */
function mark(t: TestContext, dataset: Record<string, string>): void {
  body.dataset = dataset;
  t.after(() => (body.dataset = {}));
}

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
    const answers: ('moving' | 'still' | 'fails')[] = [
      'moving',
      'moving',
      'still',
      'still',
      'fails',
      'moving',
    ];
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
      const answer = Promise.withResolvers<'still'>();
      answers.push(answer);
      return answer.promise;
    };
    const polling = poll(work, leaving.signal);
    pollSoon();
    pollSoon();
    answers[0]?.resolve('still');
    await settled();
    assert.equal(answers.length, 2, 'the first answer may be older than what was asked for');
    answers[1]?.resolve('still');
    await settled();
    assert.equal(answers.length, 2);

    pollSoon();
    pollSoon();
    await settled();
    assert.equal(answers.length, 3, 'both asked before the work began');
    pollSoon();
    answers[2]?.resolve('still');
    await settled();
    assert.equal(answers.length, 4, 'another asked after it had begun');

    setHidden(true);
    setHidden(false);
    answers[3]?.resolve('still');
    await settled();
    assert.equal(answers.length, 5, 'the tab was shown again while the work was being done');
    leaving.abort();
    answers[4]?.resolve('still');
    await polling;
  });

  test('in a view, polling is slow from the start', async (t) => {
    mark(t, { view: 'jobs.db' });
    const leaving = new AbortController();
    let asked = 0;
    const polling = poll(async () => ((asked += 1), 'moving'), leaving.signal);
    await settled();
    for (const [ms, expected] of [
      [19_999, 1],
      [1, 2],
      [19_999, 2],
      [1, 3],
    ] as const) {
      await pass(ms);
      assert.equal(asked, expected);
    }
    leaving.abort();
    await polling;
  });

  test('in a view of a file that cannot change, polling ends with the first work that succeeds', async (t) => {
    mark(t, { view: 'paper.db', fixed: '' });
    let asked = 0;
    const work = async () => {
      asked += 1;
      if (asked === 1) throw new Error('no answer');
      return 'moving' as const;
    };
    const leaving = new AbortController();
    t.after(() => leaving.abort());
    let isOver = false;
    void poll(work, leaving.signal).then(() => (isOver = true));
    await settled();
    await pass(20_000);
    assert.deepEqual([asked, isOver], [2, true]);
  });
});

test('figures that could not be requested are requested again, the last ones of a job too', async () => {
  let fails = false;
  const refreshed: string[] = [];
  const refreshFor = recompute(async ({ status }) => {
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
for (const [name, ended, toGo] of paces) {
  test(`seconds to go when ${name}: ${toGo ?? 'unknown'}`, () => {
    const at = (second: number) => new Date(second * 1000).toISOString();
    const ran = ended.map((second) => ({
      started_at: at(0),
      completed_at: second === null ? null : at(second),
    }));
    const skipped = { started_at: null, completed_at: at(0) };
    const progress = { pending: ended.filter((second) => second === null).length };
    const job = { progress, details: [skipped, ...ran] };
    assert.equal(secondsToGo({ ...job, started_at: at(0) }), toGo);
    assert.equal(secondsToGo({ ...job, started_at: null }), null);
  });
}
