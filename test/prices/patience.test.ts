import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPatience, type Problem, type ProviderResponse } from '../../src/prices/provider.ts';

/**
 * What the provider answers in turn (the last for ever), how long may be waited; what is waited,
 * and the end.
 */
const cases: [
  name: string,
  answers: (Problem | 'data')[],
  bound: number,
  waits: number[],
  end: Problem | 'data',
][] = [
  ['an answer', ['data'], 300_000, [], 'data'],
  [
    'a short limit is waited out',
    ['short_limit', 'short_limit', 'data'],
    300_000,
    [2_000, 4_000],
    'data',
  ],
  ['as long as the bound allows', ['short_limit'], 15_000, [2_000, 4_000, 8_000], 'short_limit'],
  [
    'waits grow to a minute',
    ['short_limit'],
    200_000,
    [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000],
    'short_limit',
  ],
  ['not at all', ['short_limit'], 0, [], 'short_limit'],
  ['a daily quota is not waited out', ['daily_quota', 'data'], 300_000, [], 'daily_quota'],
  ['a network that comes back', ['unreachable', 'unreachable', 'data'], 0, [500, 1_000], 'data'],
  ['a network that does not', ['unreachable'], 0, [500, 1_000], 'unreachable'],
  [
    'after a short limit an unreachable network has all its tries again',
    ['unreachable', 'unreachable', 'short_limit', 'unreachable', 'unreachable', 'data'],
    300_000,
    [500, 1_000, 2_000, 500, 1_000],
    'data',
  ],
  ['what makes no sense is not asked again', ['unreadable', 'data'], 300_000, [], 'unreadable'],
];
for (const [name, answers, maxLimitWaitMs, expected, end] of cases) {
  test(name, async () => {
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    const failures: string[] = [];
    const patience = createPatience({
      ...{ maxLimitWaitMs, signal: new AbortController().signal, wait },
      onFailure: ({ problem }) => failures.push(problem),
    });
    let index = 0;
    const answer = await patience.ask<string>(async () => {
      const next = answers[Math.min(index++, answers.length - 1)] as Problem | 'data';
      return next === 'data' ? { value: 'prices' } : { problem: next, message: '' };
    });
    assert.equal(answer.problem ?? 'data', end);
    assert.deepEqual(waits, expected);
    assert.equal(failures.length, index - (end === 'data' ? 1 : 0), 'each is told');
  });
}

test('the bound holds for all requests together', async () => {
  const wait = async () => {};
  const patience = createPatience({
    maxLimitWaitMs: 5_000,
    signal: new AbortController().signal,
    wait,
  });
  const answers: ProviderResponse<number>[] = [
    { problem: 'short_limit', message: '' },
    { value: 1 },
  ];
  assert.equal(
    (await patience.ask(async () => answers.shift() as ProviderResponse<number>)).value,
    1,
  );
  assert.equal(patience.waitedMs, 2_000);
  const limited = await patience.ask(
    async (): Promise<ProviderResponse<number>> => ({
      problem: 'short_limit',
      message: '',
    }),
  );
  assert.deepEqual([limited.problem, patience.waitedMs], ['short_limit', 4_000]);
});

test('a wait ends at a signal', async () => {
  const abort = new AbortController();
  const patience = createPatience({ maxLimitWaitMs: 300_000, signal: abort.signal });
  const asking = patience.ask(
    async (): Promise<ProviderResponse<number>> => ({ problem: 'short_limit', message: '' }),
  );
  abort.abort();
  assert.equal((await asking).problem, 'short_limit');
});
