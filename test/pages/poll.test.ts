import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import { withGlobals } from '../support/globals.ts';

/** As much of a document as polling needs: whether it is hidden, its events, and what its body says. */
const body = { dataset: {} as Record<string, string> };
const page = Object.assign(new EventTarget(), { hidden: false, body });

// Not imported, because the compiler checks the browser's code on its own.
const load = (name: string) => createRequire(import.meta.url)(resolve(import.meta.dirname, '../../src/browser', name));
const { poll, pollSoon } = load('service/poll.ts') as {
  poll(work: () => Promise<'moving' | 'still'>, signal: AbortSignal): Promise<void>;
  pollSoon(): void;
};

const { secondsToGo } = load('job/pace.ts') as {
  secondsToGo(status: object): number | null;
};

function setHidden(hidden: boolean): void {
  page.hidden = hidden;
  page.dispatchEvent(new Event('visibilitychange'));
}

/** Lets pending promises settle. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('polling', () => {
  withGlobals({ document: page });

  test('polling is frequent while things change, slows down while nothing does, and pauses when hidden', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const leaving = new AbortController();
    const answers: ('moving' | 'still' | 'fails')[] = ['moving', 'moving', 'still', 'still', 'fails', 'moving'];
    let asked = 0;
    const polling = poll(async () => {
      const answer = answers[asked++] ?? 'still';
      if (answer === 'fails') throw new Error('no answer');
      return answer;
    }, leaving.signal);
    const after = async (ms: number) => {
      t.mock.timers.tick(ms);
      await settle();
      return asked;
    };
    await settle();
    assert.equal(asked, 1);
    assert.deepEqual([await after(499), await after(1)], [1, 2]);
    assert.equal(await after(500), 3); // still: next after one second
    assert.deepEqual([await after(999), await after(1)], [3, 4]);
    assert.deepEqual([await after(1_999), await after(1)], [4, 5]); // fails: next after four
    assert.deepEqual([await after(3_999), await after(1)], [5, 6]);

    setHidden(true);
    await settle();
    assert.equal(await after(100_000), 6);
    setHidden(false);
    await settle();
    assert.equal(asked, 7);

    pollSoon();
    await settle();
    assert.equal(asked, 8);
    leaving.abort();
    await polling;
    assert.equal(await after(100_000), 8);
  });

  test('in a view, polling is slow from the start', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    body.dataset['view'] = 'paper.db';
    const leaving = new AbortController();
    let asked = 0;
    const polling = poll(async () => ((asked += 1), 'moving'), leaving.signal);
    await settle();
    for (const [ms, expected] of [[19_999, 1], [1, 2], [19_999, 2], [1, 3]] as const) {
      t.mock.timers.tick(ms);
      await settle();
      assert.equal(asked, expected);
    }
    delete body.dataset['view'];
    leaving.abort();
    await polling;
  });
});

/** Seconds after the start at which model-days ended (null: not yet), and the time to go. */
const paces: [name: string, ended: (number | null)[], toGo: number | null][] = [
  ['nothing has ended', [null, null], null],
  ['less than three seconds have passed', [1, 2, null], null],
  ['the first model-day took no time', [0, null], null],
  ['three seconds have passed', [1, 3, null, null], 3],
  ['one of five is left', [2, 4, 6, 8, null], 2],
  ['none is left', [4, 4], 0],
];
for (const [name, ended, toGo] of paces) {
  test(`seconds to go when ${name}: ${toGo ?? 'unknown'}`, () => {
    const at = (second: number) => new Date(second * 1000).toISOString();
    const details = ended.map((second) => ({
      started_at: at(0),
      completed_at: second === null ? null : at(second),
      status: second === null ? 'pending' : 'completed',
    }));
    assert.equal(secondsToGo({ started_at: at(0), completed_at: null, details }), toGo);
    assert.equal(secondsToGo({ started_at: at(0), completed_at: at(9), details }), null);
  });
}
