import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { parseConfiguration } from '../../src/core/settings/configuration.ts';
import { money } from '../../src/core/money/money.ts';
import {
  findIncomparable,
  type ModelPeriod,
  staleness,
} from '../../src/features/performance/comparability.ts';
import { rowsOf } from '../support/prices.ts';

const MEMBER = { symbol: 'AAPL', from: '2025-01-01', to: '9999-12-31' };
const agentConfigs: Record<string, object> = {
  plain: {},
  again: {},
  costly: { commission_per_trade: 1, slippage_bps: 5 },
  small: { stock_symbols: ['MSFT', 'AAPL'] },
  turned: { stock_symbols: ['AAPL', 'MSFT'] },
  other: { stock_symbols: ['AAPL', 'NVDA'] },
  unpaid: { dividends: false },
  chinese: { market: 'cn', stock_symbols: ['MSFT', 'AAPL'], min_commission: 5 },
  asOf: { members: [MEMBER], stock_symbols: ['AAPL'] },
  wider: { members: [MEMBER], stock_symbols: ['AAPL', 'MSFT'] }, // of a longer job
  until: { members: [{ ...MEMBER, to: '2025-06-05' }], stock_symbols: ['AAPL'] },
};
const configurations = new Map(
  Object.entries(agentConfigs).map(([job, config]) => [
    job,
    { ...config, ...parseConfiguration({ models: [], agent_config: config }, 'test').agent_config },
  ]),
);

/** The jobs in the universe of most of the models that were compared last. */
let inUsualUniverse = '';

/**
 * `MODEL FROM TO JOB [CASH]`: a model-day on every weekday, by days of June 2025; `JOB-LATER` from
 * the second day on.
 */
function compare(table: string): string[] {
  const rows = rowsOf(table);
  const parts = rows.map(([model = '', from, to, jobs = '']) => {
    const dates = weekdays(`2025-06-${from}`, `2025-06-${to}`);
    return { model, dates, jobs: jobs.split('-').slice(0, dates.length) };
  });
  const periods = [...Map.groupBy(parts, ({ model }) => model)].map(([model, own]): ModelPeriod => {
    const dates = own.flatMap((part) => part.dates);
    const jobIds = new Set(own.flatMap((part) => part.jobs));
    const [start = '', end = ''] = [dates[0], dates.at(-1)];
    return { model, family: model.replace(/#.*/, ''), start, end, days: dates.length, jobIds };
  });
  const initialCash = new Map(
    rows.map(([model = '', , , , cash = '10000']) => [model, money(Number(cash) * 10_000)]),
  );
  const terms = { configurations, initialCash, documents: [] };
  const { incomparable, usualJobs } = findIncomparable(periods, terms);
  inUsualUniverse = [...usualJobs].sort().join();
  return [...incomparable].flatMap(([model, list]) =>
    list.map(({ kind, reason }) => `${model} ${kind}: ${reason}`),
  );
}

const cases: [table: string, ...expected: string[]][] = [
  [''],
  ['a 02 06 plain'],
  ['a 02 06 plain\nb 02 06 again\nc 02 06 plain-again'], // the same terms, whichever jobs ran them
  // Another period is compared with that of most models, even if theirs is shorter.
  [
    'long 02 13 plain\na 09 13 plain\nb 09 13 plain',
    'long period: Its period, 2025-06-02 to 2025-06-13 (10 model-days), is not that of a and 1 more, 2025-06-09 to 2025-06-13 (5 model-days)',
  ],
  // Of two periods as common the longer is the measure.
  [
    'short 12 13 plain\nlong 02 13 plain',
    'short period: Its period, 2025-06-12 to 2025-06-13 (2 model-days), is not that of long, 2025-06-02 to 2025-06-13 (10 model-days)',
  ],
  // A period that ends earlier is another period, not one with missing days.
  [
    'a 02 13 plain\nb 02 13 plain\nstopped 02 06 plain',
    'stopped period: Its period, 2025-06-02 to 2025-06-06 (5 model-days), is not that of a and 1 more, 2025-06-02 to 2025-06-13 (10 model-days)',
  ],
  [
    'a 02 06 plain\nb 02 06 again\nc 02 06 costly',
    'c costs: Its trading costs are not those of a and 1 more: 1 dollar per trade, slippage of 5 basis points against none',
  ],
  [
    'a 02 06 plain\nb 02 06 plain-costly',
    'b costs: Its trading costs changed from one job to another',
  ],
  [
    'a 02 06 small\nb 02 06 turned\nc 02 06 plain\nd 02 06 other',
    'c universe: Its universe is not that of a and 1 more: 101 symbols against 2 symbols',
    'd universe: Its universe is not that of a and 1 more',
  ],
  [
    'a 02 06 small\nb 02 06 turned\nc 02 06 chinese 5000',
    'c costs: Its trading costs are not those of a and 1 more: at least 5 CNY per trade against none',
    'c initial_cash: Its initial cash is not that of a and 1 more: 5000 CNY against 10000 dollars',
    'c market: Its market is not that of a and 1 more: cn against us',
  ],
  ['a 02 06 asOf\nb 02 06 wider\nc 02 06 asOf-wider'],
  [
    'a 02 06 asOf\nb 02 06 asOf\nc 02 06 until',
    'c universe: Its universe is not that of a and 1 more',
  ],
  [
    'a 02 06 plain\nb 02 06 plain\nc 05 06 small 5000',
    'c period: Its period, 2025-06-05 to 2025-06-06 (2 model-days), is not that of a and 1 more, 2025-06-02 to 2025-06-06 (5 model-days)',
    'c universe: Its universe is not that of a and 1 more: 2 symbols against 101 symbols',
    'c initial_cash: Its initial cash is not that of a and 1 more: 5000 dollars against 10000 dollars',
  ],
  [
    'a 02 06 plain\nb 02 06 unpaid\nc 02 06 again',
    'b dividends: Its treatment of dividends is not that of a and 1 more: not paid against paid',
  ],
  [
    'a 02 06 plain\nb 02 06 unpaid-plain',
    'b dividends: Its treatment of dividends changed from one job to another',
  ],
];
test('what makes models incomparable', () => {
  for (const [table, ...expected] of cases) assert.deepEqual(compare(table), expected, table);
});

test('the universe of most is that of the runs that traded no other', () => {
  compare('a 02 06 small-plain\nb 02 06 turned\nc 02 06 other\nd 02 06 small');
  assert.equal(inUsualUniverse, 'small,turned');
  compare('a 02 06 other\nb 02 06 small'); // the first of equally many
  assert.equal(inUsualUniverse, 'other');
  compare('a 02 06 other-small');
  assert.equal(inUsualUniverse, '');
});

test('what makes models incomparable: a reason counts entries, not their runs', () => {
  const [reason] = compare('a#1 02 06 plain\na#2 02 06 plain\nb 02 06 plain\nc 02 06 other');
  assert.match(reason ?? '', /^c universe: Its universe is not that of a and 1 more/);
});

test('what makes models incomparable: a missing day inside the same period', () => {
  const period = { start: '2025-06-02', end: '2025-06-04', jobIds: new Set(['plain']) };
  const periods = Object.entries({ a: 2, b: 3 }).map(([model, days]) => ({
    ...period,
    model,
    family: model,
    days,
  }));
  const terms = { configurations, initialCash: new Map(), documents: [] };
  const [[model, list] = assert.fail(), ...others] = findIncomparable(periods, terms).incomparable;
  const reason = 'It completed 2 model-days in its period; b completed 3';
  assert.deepEqual([model, list, others], ['a', [{ kind: 'missing_days', reason }], []]);
});

test('what makes models incomparable: stale days', () => {
  const daysOf = (...stale: boolean[]) => [
    {
      run: 'a',
      days: stale.map((isStale, index) => ({
        ...{ date: `2025-01-0${index + 1}`, isStale, jobId: 'j' },
      })),
    },
  ];
  const option = (jobId: string) => `--terms-of ${jobId}`;
  assert.deepEqual(staleness(daysOf(false, false), option), []);
  const reason =
    '1 of its 4 model-days is stale: earlier results or prices changed afterwards; 2 later model-days rest on it; ' +
    'npx trading-simulation-service trigger --start 2025-01-02 --end 2025-01-04 --models a --terms-of j --replace runs them again';
  assert.deepEqual(staleness(daysOf(false, true, false, false), option), [
    { kind: 'stale', reason },
  ]);
});

test('the symbols of a configuration are read once, however many models traded them', () => {
  const plain = configurations.get('plain') ?? assert.fail();
  let reads = 0;
  const counted = {
    ...plain,
    get stock_symbols() {
      reads += 1;
      return ['AAPL'];
    },
  };
  const period = { start: '2025-06-02', end: '2025-06-04', days: 3, jobIds: new Set(['job']) };
  const periods = ['a', 'b', 'c'].map((model) => ({ ...period, model, family: model }));
  const basis = {
    configurations: new Map([['job', counted]]),
    initialCash: new Map(),
    documents: [],
  };
  assert.deepEqual([...findIncomparable(periods, basis).incomparable], []);
  assert.equal(reads, 1);
});
