import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { importPriceFile } from '../support/prices.ts';
import { clockFrom, temporaryFolder } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';

/**
 * Yahoo's chart as JSON: a timestamp per bar, columns of prices beside them, and dividends and
 * splits by timestamp.
 */

/**
 * The opening of New York's exchanges, in seconds; the offset in a file is that of the day on which
 * it was downloaded.
 */
const opening = (date: string) =>
  Date.parse(`${date}T${date < '2024-11-03' ? '13' : '14'}:30:00Z`) / 1000;
const DATES = ['2024-06-07', '2024-06-10', '2024-06-11', '2024-11-04'];

interface Chart {
  meta?: Record<string, unknown>;
  quote?: Record<string, unknown>;
  events?: Record<string, unknown>;
  dates?: readonly string[];
}

function chartOf({ meta, quote, events, dates = DATES }: Chart = {}): Record<string, unknown> {
  const column = (price: number) => dates.map((_, index) => price + index);
  const prices = {
    open: column(120),
    high: column(122),
    low: column(119),
    close: column(121),
    volume: column(1000),
  };
  return {
    meta: {
      currency: 'USD',
      symbol: 'NVDA',
      gmtoffset: -18_000,
      timezone: 'EST',
      dataGranularity: '1d',
      ...meta,
    },
    timestamp: dates.map(opening),
    ...(events && { events }),
    indicators: { quote: [{ ...prices, ...quote }], adjclose: [{ adjclose: column(1) }] },
  };
}

const EVENTS = {
  dividends: { [opening('2024-06-11')]: { amount: 0.01, date: opening('2024-06-11') } },
  splits: {
    [opening('2024-06-10')]: {
      date: opening('2024-06-10'),
      numerator: 10,
      denominator: 1,
      splitRatio: '10:1',
    },
  },
};

const wrapped = (...charts: unknown[]) => ({ chart: { result: charts, error: null } });

async function importJson(t: TestContext, text: string | object) {
  const path = join(temporaryFolder(t), 'chart.json');
  writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text, null, 2));
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const refused: string[] = [];
  const onRefused = (line: number, { reason, value }: { reason: string; value: string }) =>
    refused.push(`${line}: ${reason}: ${value}`);
  const summary = await importPriceFile(database, path, {
    clock: clockFrom('2025-01-10'),
    onRefused,
  });
  const column = (sql: string) => rowsAsText(database, sql);
  return {
    ...{ summary, refused, column },
    bars: column(
      'SELECT symbol, date, open, high, low, close, volume, source FROM price_data ORDER BY symbol, date',
    ),
    dividends: column('SELECT symbol, ex_date, cash_e6, basis FROM dividends'),
    known: column('SELECT start_date, end_date FROM dividend_coverage ORDER BY start_date'),
    splits: column('SELECT symbol, date, numerator, denominator FROM stock_splits'),
  };
}

test('bars come with their splits and dividends, which are known from the first bar to the last', async (t) => {
  const { summary, bars, dividends, known, splits, refused, column } = await importJson(
    t,
    wrapped(chartOf({ events: EVENTS })),
  );
  assert.deepEqual(
    [summary.format, summary.taken.meaning, summary.dividends, summary.splits],
    ['Yahoo chart JSON', 'split-adjusted', 1, 1],
  );
  assert.deepEqual(bars, [
    'NVDA 2024-06-07 120 122 119 121 1000 yahoo',
    'NVDA 2024-06-10 121 123 120 122 1001 yahoo',
    'NVDA 2024-06-11 122 124 121 123 1002 yahoo',
    'NVDA 2024-11-04 123 125 122 124 1003 yahoo',
  ]);
  assert.deepEqual(
    [dividends, splits, refused],
    [['NVDA 2024-06-11 10000 split_adjusted'], ['NVDA 2024-06-10 10 1'], []],
  );
  assert.deepEqual(known, ['2024-06-07 2024-11-04']);
  assert.deepEqual(column('SELECT start_date, end_date FROM stock_split_spans'), [
    '2024-06-07 2024-11-04',
  ]);
});

test('without events nothing is known of splits and dividends; unknown prices are null', async (t) => {
  const quote = { open: [120, null, 122, 123], close: [121, null, 123, null] };
  const { bars, known, refused, column } = await importJson(
    t,
    JSON.stringify(wrapped(chartOf({ quote }))),
  );
  assert.deepEqual([known, column('SELECT 1 FROM stock_split_spans')], [[], []]);
  assert.equal(bars.length, 3);
  assert.equal(bars[2], 'NVDA 2024-11-04 123 125 122 - 1003 yahoo');
  assert.deepEqual(refused, ['1: no open: 2024-06-10']);
});

test('a value that no text can be made of is refused in its place', async (t) => {
  const odd = { toString: 1, valueOf: 1 };
  const dividends = {
    a: { amount: odd, date: opening('2024-06-11') },
    b: { amount: 1, date: odd },
  };
  const chart = chartOf({ quote: { open: [120, odd, 122, 123] }, events: { dividends } });
  const { bars, refused } = await importJson(t, JSON.stringify(wrapped(chart)));
  assert.equal(bars.length, 3);
  const told = JSON.stringify(odd);
  assert.deepEqual(refused, [
    `1: open is not a plausible number: ${told}`,
    `1: amount is not a plausible number: ${told}`,
    `1: not an ex-date YYYY-MM-DD: ${told}`,
  ]);
  const other = importJson(t, wrapped(chartOf({ meta: { dataGranularity: odd } })));
  await assert.rejects(other, /bars of \{"toString":1/);
});

test('a bar without prices leaves the dividends known, which are beside the bars', async (t) => {
  const { known, refused } = await importJson(
    t,
    JSON.stringify(wrapped(chartOf({ events: EVENTS, quote: { open: [120, 121, 122, null] } }))),
  );
  assert.deepEqual([known, refused], [['2024-06-07 2024-06-11'], ['1: no open: 2024-11-04']]);
});

test('events of one kind tell only of that', async (t) => {
  const { known, column } = await importJson(
    t,
    wrapped(chartOf({ events: { dividends: EVENTS.dividends } })),
  );
  assert.deepEqual(
    [known, column('SELECT 1 FROM stock_split_spans')],
    [['2024-06-07 2024-11-04'], []],
  );
});

const badDividends: [
  name: string,
  dividend: Record<string, unknown>,
  refusal: RegExp,
  known: string[],
][] = [
  [
    'no amount',
    { date: opening('2024-06-11'), amount: null },
    /^1: no amount: 2024-06-11$/,
    ['2024-06-07 2024-06-10', '2024-06-12 2024-11-04'],
  ],
  ['no date', { amount: 1 }, /^1: not an ex-date YYYY-MM-DD/, []],
  [
    'an ex-date without a bar',
    { date: opening('2024-06-12'), amount: 1 },
    /^1: no bar of its date: NVDA 2024-06-12$/,
    ['2024-06-07 2024-06-11', '2024-06-13 2024-11-04'],
  ],
  [
    'an ex-date before the first bar',
    { date: opening('1999-06-11'), amount: null },
    /^1: no amount: 1999-06-11$/,
    ['2024-06-07 2024-11-04'],
  ],
];
for (const [name, dividend, refusal, known] of badDividends) {
  test(`a dividend with ${name} leaves only its date unknown, where it has one`, async (t) => {
    const found = await importJson(
      t,
      JSON.stringify(wrapped(chartOf({ events: { dividends: { 1: dividend } } }))),
    );
    assert.match(found.refused.join('\n'), refusal);
    assert.deepEqual([found.bars.length, found.dividends, found.known], [4, [], known]);
  });
}

test('dividends in another currency are refused, and their dates unknown', async (t) => {
  const { dividends, refused, bars, known } = await importJson(
    t,
    JSON.stringify(wrapped(chartOf({ meta: { currency: 'CAD' }, events: EVENTS }))),
  );
  assert.deepEqual([dividends, refused, bars.length], [[], ['1: not in USD: CAD'], 4]);
  assert.deepEqual(known, ['2024-06-07 2024-06-10', '2024-06-12 2024-11-04']);
});

test('a document may have charts of several symbols, and a file a document per line', async (t) => {
  const [one, other] = [
    wrapped(chartOf()),
    wrapped(
      chartOf({ meta: { symbol: 'BRK-B' } }),
      chartOf({ meta: { symbol: 'AAPL' }, dates: DATES.slice(0, 1) }),
    ),
  ];
  const { bars, summary } = await importJson(
    t,
    `${JSON.stringify(one)}\n${JSON.stringify(other)}\n`,
  );
  assert.deepEqual([bars.length, summary.symbols], [9, ['AAPL', 'BRK-B', 'NVDA']]);
});

test('a bar of midnight is of its own date in summer too, and of two of one date the last one counts', async (t) => {
  const document = chartOf({ events: EVENTS });
  const [first, second, third] = [
    '2024-06-07T04:00:00Z',
    '2024-06-10T04:00:00Z',
    '2024-11-04T05:00:00Z',
  ].map((time) => Date.parse(time) / 1000);
  const { bars, known, refused } = await importJson(
    t,
    wrapped({ ...document, timestamp: [first, second, third, (third ?? 0) + 40_000] }),
  );
  assert.deepEqual(
    bars.map((bar) => bar.split(' ').slice(1, 3).join(' ')),
    ['2024-06-07 120', '2024-06-10 121', '2024-11-04 123'],
  );
  assert.deepEqual(refused, ['1: no bar of its date: NVDA 2024-06-11']);
  assert.deepEqual(known, ['2024-06-07 2024-06-10', '2024-06-12 2024-11-04']);
});

test('a split that cannot be read leaves only its date unknown', async (t) => {
  const splits = { 1: { date: opening('2024-06-10'), numerator: 0, denominator: 1 } };
  const {
    splits: stored,
    column,
    known,
  } = await importJson(t, wrapped(chartOf({ events: { ...EVENTS, splits } })));
  assert.deepEqual([stored, known], [[], ['2024-06-07 2024-11-04']]);
  assert.deepEqual(column('SELECT start_date, end_date FROM stock_split_spans ORDER BY 1'), [
    '2024-06-07 2024-06-09',
    '2024-06-11 2024-11-04',
  ]);
});

const notCharts: [name: string, document: object, message: RegExp][] = [
  [
    'hourly bars',
    wrapped(chartOf({ meta: { dataGranularity: '1h' } })),
    /it holds 60-minute bars; daily ones are needed/,
  ],
  [
    'weekly bars',
    wrapped(chartOf({ meta: { dataGranularity: '1wk' } })),
    /it holds bars of 1wk; daily ones are needed/,
  ],
  ['no symbol', wrapped(chartOf({ meta: { symbol: null } })), /its chart has no symbol/],
  [
    'an error',
    {
      chart: {
        result: null,
        error: { code: 'Not Found', description: 'No data found, symbol may be delisted' },
      },
    },
    /provider's message instead of prices: No data found/,
  ],
  [
    'columns of another length',
    wrapped(chartOf({ quote: { open: [1] } })),
    /its chart has 4 timestamps and 1 open/,
  ],
];
for (const [name, document, message] of notCharts) {
  test(`a chart with ${name} is refused`, async (t) => {
    await assert.rejects(importJson(t, document), { code: 'invalid_file', message });
  });
}

test('a line with another kind of bars is refused, and the others are imported', async (t) => {
  const { refused } = await importJson(
    t,
    `${JSON.stringify(wrapped(chartOf()))}\n${JSON.stringify(wrapped(chartOf({ meta: { dataGranularity: '1h' } })))}\n`,
  );
  assert.deepEqual(refused, [
    '2: not a daily series: it holds 60-minute bars; daily ones are needed',
  ]);
});
