import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableOf } from '../support/text-table.ts';
import {
  createPatience,
  type Problem,
  type ProviderResponse,
} from '../../src/core/prices/provider.ts';

/**
 * What the provider answers in turn (the last for ever), how long may be waited; what is waited,
 * and the end.
 */
const cases = tableOf<[string, string, bound: string, string, end: Problem | 'data']>(`
  an answer                               | data                                | 300000 |                                    | data
  a short limit is waited out             | short_limit short_limit data        | 300000 | 2000 4000                          | data
  as long as the bound allows             | short_limit                         | 15000  | 2000 4000 8000                     | short_limit
  waits grow to a minute                  | short_limit                         | 200000 | 2000 4000 8000 16000 32000 60000 60000 | short_limit
  not at all                              | short_limit                         | 0      |                                    | short_limit
  a daily quota is not waited out         | daily_quota data                    | 300000 |                                    | daily_quota
  a network that comes back               | unreachable unreachable data        | 0      | 500 1000                           | data
  a network that does not                 | unreachable                         | 0      | 500 1000                           | unreachable
  after a limit the network has all its tries again | unreachable unreachable short_limit unreachable unreachable data | 300000 | 500 1000 2000 500 1000 | data
  what makes no sense is not asked again  | unreadable data                     | 300000 |                                    | unreadable`);
for (const [name, given, bound, expected, end] of cases) {
  test(name, async () => {
    const answers = given.split(' ') as (Problem | 'data')[];
    const maxLimitWaitMs = Number(bound);
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
    assert.equal(waits.join(' '), expected);
    assert.equal(failures.length, index - (end === 'data' ? 1 : 0), 'each is told');
  });
}

const limited: ProviderResponse<number> = { problem: 'short_limit', message: '' };

test('the bound holds for all requests together', async () => {
  const { signal } = new AbortController();
  const patience = createPatience({ maxLimitWaitMs: 5_000, signal, wait: async () => {} });
  const answers: ProviderResponse<number>[] = [limited, { value: 1 }];
  assert.equal((await patience.ask(async () => answers.shift() ?? limited)).value, 1);
  assert.equal(patience.waitedMs, 2_000);
  const { problem } = await patience.ask(async () => limited);
  assert.deepEqual([problem, patience.waitedMs], ['short_limit', 4_000]);
});

test('a wait ends at a signal', async () => {
  const abort = new AbortController();
  const patience = createPatience({ maxLimitWaitMs: 300_000, signal: abort.signal });
  const asking = patience.ask(async () => limited);
  abort.abort();
  assert.equal((await asking).problem, 'short_limit');
});
