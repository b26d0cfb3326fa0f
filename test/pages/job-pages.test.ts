import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelDayStatus } from '../../src/core/domain/vocabulary.ts';
import { progressText } from '../../src/core/text/sentences.ts';
import { groupByReason, shortList } from '../../src/features/pages/browser/format.ts';
import { initialCell } from '../../src/features/pages/browser/pages/job-grid.ts';
import {
  readJobChoice,
  jobListPath,
  jobListQuery,
} from '../../src/features/pages/browser/pages/job-list.ts';
import {
  jobCost,
  groupLeftOut,
  totalCostText,
  failureText,
} from '../../src/features/pages/browser/pages/job-panel.ts';
import { datesText, termRows } from '../../src/features/pages/browser/pages/job.ts';
import { jobStatusAnswer } from '../support/job-status.ts';
import { tableOf } from '../support/text-table.ts';

/** What the pages of jobs make of addresses and responses, without a browser. */

test('the address of the job list has the status and the page, and so does the request', () => {
  const rows = tableOf<[search: string, address: string, request: string]>(`
                                |                                | ?limit=25
    ?status=failed              | ?status=failed                 | ?status=failed&limit=25
    ?status=done&more=1         |                                | ?limit=25
    ?status=toString            |                                | ?limit=25
    ?before=a%26b&status=running | ?status=running&before=a%26b  | ?status=running&before=a%26b&limit=25`);
  for (const [search, address, request] of rows) {
    const choice = readJobChoice(search);
    assert.deepEqual([jobListPath(choice), jobListQuery(choice)], [`/job-list${address}`, request]);
  }
});

test('the grid of a job opens at what has not ended, at the last date, or at the first one while there are no model-days yet', () => {
  const date_range = ['2025-09-15', '2025-09-16'];
  const opened = (...statuses: ModelDayStatus[]) => {
    const days = statuses.map((status, day) => ({
      date: date_range[day] ?? '',
      model: 'a',
      status,
    }));
    const { date, model } = initialCell({ date_range, details: jobStatusAnswer(days).details });
    return [date, model];
  };
  assert.deepEqual(opened(), [undefined, undefined]);
  assert.deepEqual(opened('running', 'pending'), ['2025-09-15', 'a']);
  assert.deepEqual(opened('completed', 'pending'), ['2025-09-16', 'a']);
  assert.deepEqual(opened('completed', 'completed'), ['2025-09-16', undefined]);
});

test('what a job left out is listed by reason: failed, then never run, then skipped', () => {
  const rows = tableOf<[date: string, model: string, status: ModelDayStatus, error: string]>(`
    2025-09-15 | a | completed |
    2025-09-16 | a | skipped   | No price data
    2025-09-16 | b | skipped   | No price data
    2025-09-15 | b | failed    | Timeout
    2025-09-18 | b | failed    | Refused
    2025-09-17 | a | failed    | Refused
    2025-09-18 | a | pending   |`);
  const answer = jobStatusAnswer(rows.map(([date, model, status]) => ({ date, model, status })));
  const details = answer.details.map((day, place) => ({ ...day, error: rows[place]?.[3] || null }));
  const listed = (completed_at: string | null) =>
    groupLeftOut({ details, completed_at }).map(({ status, error, days }) => {
      const which = days.map(({ date, model }) => `${date} ${model}`);
      return `${status}: ${error}: ${which}`;
    });
  const failed = ['failed: Refused: 2025-09-18 b,2025-09-17 a', 'failed: Timeout: 2025-09-15 b'];
  const never = 'pending: The job ended before this model-day ran: 2025-09-18 a';
  const skipped = 'skipped: No price data: 2025-09-16 a,2025-09-16 b';
  assert.deepEqual(listed(null), [...failed, skipped], 'what waits is not left out yet');
  assert.deepEqual(listed('2025-09-19'), [...failed, never, skipped]);
});

test('what is left out for the same reason is one line, in the order of the first names', () => {
  const pairs = ['a late', 'b new', 'c late', 'd late', 'e late'].map((pair) => pair.split(' '));
  const entries = pairs.map(([name = '', reason = '']) => ({ name, reason }));
  assert.deepEqual(groupByReason(entries), [
    { names: ['a', 'c', 'd', 'e'], words: 'a, c, d and 1 more', reason: 'late' },
    { names: ['b'], words: 'b', reason: 'new' },
  ]);
  assert.deepEqual(groupByReason([]), []);
});

test('shortened lists of dates and names say how many there are, and costs say if some are unknown', () => {
  const days = ['2025-09-15', '2025-09-16', '2025-09-22'];
  const dates = [1, 2, 3].map((count) => datesText(days.slice(0, count)));
  assert.deepEqual(dates.join('; ').replaceAll('\u00a0', ' ').split('; '), [
    'Mon 15 Sep 2025',
    'Mon 15 Sep 2025, Tue 16 Sep 2025',
    'Mon 15 Sep 2025 to Mon 22 Sep 2025, 3 dates',
  ]);
  assert.equal(shortList(['a', 'b', 'c']), 'a, b, c');
  assert.equal(shortList(['a', 'b', 'c', 'd', 'e']), 'a, b, c and 2 more');
  assert.equal(shortList(Array(1_234).fill('a'), 1), 'a and 1,233 more');
  const costs: [known: number | null, without: number, words: string, more: string][] = [
    [1.834, 0, '$1.83', ''],
    [0.0123, 2, 'at least $0.0123', ', 2 model-days without a known cost'],
    [0, 0, '$0', ''],
    [0, 1, 'cost unknown', ', 1 model-day without a known cost'],
    [0.00001, 1, 'cost unknown', ', 1 model-day without a known cost'],
    [null, 3, 'cost unknown', ', 3 model-days without a known cost'],
    [null, 0, '–', ''],
  ];
  for (const [cost_usd, model_days_without_cost, words, more] of costs) {
    const usage = { cost_usd, model_days_without_cost };
    assert.equal(jobCost(usage), words);
    const sentence = `The whole job: ${words}, with failed model-days${more}. `;
    assert.ok(totalCostText(usage).startsWith(sentence));
  }
});

test('what did not run or was skipped is never counted as run, and a failed job says how many model-days failed and why', () => {
  const counts = (total: number, completed: number, failed: number, pending = 0, skipped = 0) => ({
    progress: { total_model_days: total, completed, failed, pending, skipped, cancelled: 0 },
  });
  const end = '2025-12-01T12:00:00.000Z';
  const rows: [job: ReturnType<typeof counts>, completedAt: string | null, words: string][] = [
    [counts(100, 0, 100), end, '0 of 100 run, 100 failed'],
    [counts(100, 90, 0, 10), end, '90 of 100 run, 10 did not run'],
    [counts(100, 90, 1, 9), null, '90 of 100 run, 1 failed'],
    [counts(110, 110, 0, 0, 5), end, '105 of 110 run, 5 skipped'],
    [counts(1, 1, 0, 0, 1), end, '0 of 1 run, 1 skipped'],
    [counts(2_000, 1_000, 1_000), end, '1,000 of 2,000 run, 1,000 failed'],
  ];
  for (const [job, completed_at, words] of rows)
    assert.equal(progressText({ ...job, completed_at }), words);
  const told = (reason: string, model_days: number) => {
    const most_frequent_error = { reason, model_days };
    return failureText({ ...counts(100, 0, 100), error: 'All failed', most_frequent_error });
  };
  assert.equal(told('Wrong key', 100), '100 of 100 model-days failed: Wrong key');
  assert.equal(told('Busy', 60), '100 of 100 model-days failed, 60 of them with: Busy');
  const early = { ...counts(0, 0, 0), error: 'No prices', most_frequent_error: null };
  assert.equal(failureText(early), 'No prices');
});

test('the terms of a job are in words, including those that are zero', () => {
  const status = jobStatusAnswer([{ date: '2025-09-15', model: 'a', status: 'completed' }]);
  const terms = {
    ...status.terms,
    commission_per_trade: 1.5,
    commission_bps: 1,
    slippage_bps: 2.5,
    max_cost_usd: 3,
    dividends: false,
  };
  const own = { ...status, universe: 'small', replace_existing: true, terms };
  /** The term, its words by default, its words with the terms above. */
  const rows = tableOf<[name: string, usual: string, own: string]>(`
    Dates            | Mon 15 Sep 2025                               | Mon 15 Sep 2025
    Market           | us, in USD                                    | us, in USD
    Initial cash     | $10,000.00                                    | $10,000.00
    Steps            | at most 30 per model-day                      | at most 30 per model-day
    Universe         | default, 2 symbols                            | small, 2 symbols
    Commission       | none                                          | $1.50 and 1 basis point of its value per executed order
    Slippage         | none                                          | orders fill 2.5 basis points worse than the open
    Open             | shown                                         | shown
    Limits           | none                                          | none
    Dividends        | paid                                          | not paid
    Cost limit       | none, unless an entry has its own             | $3.00 per model, unless its entry has another
    Existing results | kept: completed model-days are skipped        | replaced`);
  const inWords = (job: typeof status) =>
    Object.fromEntries(termRows(job).map(([name, ...words]) => [name, `${words}`]));
  const expected = (place: 1 | 2) =>
    Object.fromEntries(
      rows.map((row) => [
        row[0],
        row[0] === 'Dates' ? row[place].replaceAll(' ', '\u00a0') : row[place],
      ]),
    );
  assert.deepEqual(inWords(status), expected(1));
  assert.deepEqual(inWords(own), expected(2));
});
