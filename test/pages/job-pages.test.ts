import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type JobChoice,
  jobChoiceIn,
  jobListPath,
  jobsQuery,
} from '../../src/browser/pages/job-list.ts';
import { jobCost, totalInWords, leftOutOf, troubleOf } from '../../src/browser/pages/job-panel.ts';
import { ranInWords } from '../../src/basics/sentences.ts';
import { byReason, shortList } from '../../src/browser/format.ts';
import { datesInWords, termsInWords } from '../../src/browser/pages/job.ts';
import { openedAt } from '../../src/browser/pages/job-grid.ts';
import { jobStatusAnswer } from '../support/job-status.ts';

/** What the pages of jobs make of addresses and responses, without a browser. */

const addresses: [search: string, choice: JobChoice, address: string, request: string][] = [
  ['', { status: '', before: '' }, '/job-list', '?limit=25'],
  [
    '?status=failed',
    { status: 'failed', before: '' },
    '/job-list?status=failed',
    '?status=failed&limit=25',
  ],
  ['?status=done&more=1', { status: '', before: '' }, '/job-list', '?limit=25'],
  ['?status=toString', { status: '', before: '' }, '/job-list', '?limit=25'],
  [
    '?before=a%26b&status=running',
    { status: 'running', before: 'a&b' },
    '/job-list?status=running&before=a%26b',
    '?status=running&before=a%26b&limit=25',
  ],
];

test('the address of the job list has the status and the page, and so does the request', () => {
  for (const [search, choice, address, request] of addresses) {
    const read = jobChoiceIn(search);
    assert.deepEqual(
      [read, jobListPath(read), jobsQuery(read)],
      [choice, address, request],
      search,
    );
  }
});

test('the grid of a job opens at what has not ended, at the last date, or at the first one while there are no model-days yet', () => {
  const date_range = ['2025-09-15', '2025-09-16'];
  const opened = (...statuses: ('completed' | 'running' | 'pending')[]) => {
    const days = statuses.map((status, index) => ({
      date: String(date_range[index]),
      model: 'a',
      status,
    }));
    const { date, model } = openedAt({ date_range, details: jobStatusAnswer(days).details });
    return [date, model];
  };
  assert.deepEqual(opened(), [undefined, undefined]);
  assert.deepEqual(opened('running', 'pending'), ['2025-09-15', 'a']);
  assert.deepEqual(opened('completed', 'pending'), ['2025-09-16', 'a']);
  assert.deepEqual(opened('completed', 'completed'), ['2025-09-16', undefined]);
});

test('what a job left out is listed by reason: failed, then never run, then skipped', () => {
  const modelDay = (
    date: string,
    model: string,
    status: 'completed' | 'failed' | 'skipped' | 'pending',
    error: string | null,
  ) => ({
    ...(jobStatusAnswer([{ date, model, status }]).details[0] as ReturnType<
      typeof jobStatusAnswer
    >['details'][number]),
    error,
  });
  const details = [
    modelDay('2025-09-15', 'a', 'completed', null),
    modelDay('2025-09-16', 'a', 'skipped', 'No price data'),
    modelDay('2025-09-16', 'b', 'skipped', 'No price data'),
    modelDay('2025-09-15', 'b', 'failed', 'Timeout'),
    modelDay('2025-09-18', 'b', 'failed', 'Refused'),
    modelDay('2025-09-17', 'a', 'failed', 'Refused'),
    modelDay('2025-09-18', 'a', 'pending', null),
  ];
  const rows = (completed_at: string | null) =>
    leftOutOf({ details, completed_at }).map(({ status, error, days }) => [
      status,
      error,
      days.map(({ date, model }) => `${date} ${model}`).join(),
    ]);
  const failed = [
    ['failed', 'Refused', '2025-09-18 b,2025-09-17 a'],
    ['failed', 'Timeout', '2025-09-15 b'],
  ];
  const skipped = ['skipped', 'No price data', '2025-09-16 a,2025-09-16 b'];
  assert.deepEqual(rows(null), [...failed, skipped], 'a model-day that waits is not left out yet');
  assert.deepEqual(rows('2025-09-19'), [
    ...failed,
    ['pending', 'The job ended before this model-day ran', '2025-09-18 a'],
    skipped,
  ]);
});

test('what is left out for the same reason is one line, in the order of the first names', () => {
  const entries = [
    ['a', 'late'],
    ['b', 'new'],
    ['c', 'late'],
    ['d', 'late'],
    ['e', 'late'],
  ].map(([name = '', reason = '']) => ({ name, reason }));
  assert.deepEqual(byReason(entries), [
    { names: ['a', 'c', 'd', 'e'], words: 'a, c, d and 1 more', reason: 'late' },
    { names: ['b'], words: 'b', reason: 'new' },
  ]);
  assert.deepEqual(byReason([]), []);
});

test('shortened lists of dates and names say how many there are, and costs say if some are unknown', () => {
  assert.deepEqual(
    [['2025-09-15'], ['2025-09-15', '2025-09-16'], ['2025-09-15', '2025-09-16', '2025-09-22']].map(
      (dates) => datesInWords(dates).replaceAll('\u00a0', ' '),
    ),
    [
      'Mon 15 Sep 2025',
      'Mon 15 Sep 2025, Tue 16 Sep 2025',
      'Mon 15 Sep 2025 to Mon 22 Sep 2025, 3 dates',
    ],
  );
  assert.deepEqual(
    [shortList(['a', 'b', 'c']), shortList(['a', 'b', 'c', 'd', 'e'])],
    ['a, b, c', 'a, b, c and 2 more'],
  );
  assert.equal(
    shortList(
      Array.from({ length: 1_234 }, () => 'a'),
      1,
    ),
    'a and 1,233 more',
  );
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
    assert.ok(totalInWords(usage).startsWith(sentence));
  }
});

test('what did not run or was skipped is never counted as run, and a failed job says how many model-days failed and why', () => {
  const progress = { total_model_days: 100, completed: 0, failed: 100, pending: 0, skipped: 0 };
  const end = '2025-12-01T12:00:00.000Z';
  const words = (changes: Partial<typeof progress>, completed_at: string | null = end) =>
    ranInWords({ progress: { ...progress, ...changes }, completed_at });
  assert.deepEqual(
    [
      words({}),
      words({ completed: 90, failed: 0, pending: 10 }),
      words({ completed: 90, failed: 1, pending: 9 }, null),
      words({ total_model_days: 110, completed: 110, failed: 0, skipped: 5 }),
      words({ total_model_days: 1, completed: 1, failed: 0, skipped: 1 }),
      words({ total_model_days: 2_000, completed: 1_000, failed: 1_000 }),
    ],
    [
      '0 of 100 run, 100 failed',
      '90 of 100 run, 10 did not run',
      '90 of 100 run, 1 failed',
      '105 of 110 run, 5 skipped',
      '0 of 1 run, 1 skipped',
      '1,000 of 2,000 run, 1,000 failed',
    ],
  );
  const job = { progress };
  const told = (reason: string, model_days: number) =>
    troubleOf({ ...job, error: 'All failed', most_frequent_error: { reason, model_days } });
  assert.equal(told('Wrong key', 100), '100 of 100 model-days failed: Wrong key');
  assert.equal(told('Busy', 60), '100 of 100 model-days failed, 60 of them with: Busy');
  assert.equal(troubleOf({ ...job, error: 'No prices', most_frequent_error: null }), 'No prices');
});

test('the terms of a job are in words, including those that are zero', () => {
  const status = jobStatusAnswer([{ date: '2025-09-15', model: 'a', status: 'completed' }]);
  const costs = {
    commission_per_trade: 1.5,
    commission_bps: 1,
    slippage_bps: 2.5,
    max_cost_usd: 3,
    dividends: false,
  };
  const own = {
    ...status,
    universe: 'small',
    replace_existing: true,
    terms: { ...status.terms, ...costs },
  };
  const common = [
    ['Dates', 'Mon\u00a015\u00a0Sep\u00a02025'],
    ['Initial cash', '$10,000.00'],
    ['Steps', 'at most 30 per model-day'],
  ];
  const expected = (...rows: string[][]) => [...common, ...rows].sort();
  assert.deepEqual(
    termsInWords(status).sort(),
    expected(
      ['Universe', 'default, 2 symbols'],
      ['Commission', 'none'],
      ['Slippage', 'none'],
      ['Open', 'shown'],
      ['Limits', 'none'],
      ['Dividends', 'paid'],
      ['Cost limit', 'none, unless an entry has its own'],
      ['Existing results', 'kept: completed model-days are skipped'],
    ),
  );
  assert.deepEqual(
    termsInWords(own).sort(),
    expected(
      ['Universe', 'small, 2 symbols'],
      ['Commission', '$1.50 and 1 basis point of its value per executed order'],
      ['Slippage', 'orders fill 2.5 basis points worse than the open'],
      ['Open', 'shown'],
      ['Limits', 'none'],
      ['Dividends', 'not paid'],
      ['Cost limit', '$3.00 per model, unless its entry has another'],
      ['Existing results', 'replaced'],
    ),
  );
});
