import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Meaning } from '../../src/database/schema/price-conditions.ts';
import { pricesNow } from '../../src/database/price-writes.ts';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { splitsBetween } from '../../src/database/market.ts';
import { storeSplits } from '../../src/database/splits-and-dividends.ts';
import { importPriceFile } from '../support/prices.ts';
import { clockFrom, temporaryFolder } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';
import { inLongForm } from '../support/long.ts';

/**
 * Files of prices as people have them: what their prices are, what their columns are called, and
 * how they write dates.
 */

const CLOCK = { clock: clockFrom('2025-11-10') };

interface Options {
  name?: string;
  database?: CommandDatabase;
  as?: Meaning;
}

async function importText(
  t: TestContext,
  text: string,
  { name = 'AAPL.csv', database = openDatabase(':memory:'), as }: Options = {},
) {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, text);
  const refused: string[] = [];
  const onRefused = (line: number, { reason, value }: { reason: string; value: string }) =>
    refused.push(`${line}: ${reason}: ${value}`);
  const summary = await importPriceFile(database, path, { ...CLOCK, as, onRefused });
  const bars = rowsAsText(
    database,
    'SELECT symbol, date, open, close, volume, source FROM price_data ORDER BY symbol, date',
  );
  return {
    database,
    summary,
    refused,
    bars,
    taken: `${summary.taken.meaning} ${summary.taken.by}`,
  };
}

function storeSplit(
  database: CommandDatabase,
  [symbol, date, numerator, denominator]: [string, string, number, number],
): void {
  const splits = [{ symbol, date, numerator, denominator }];
  const stamp = { source: 'massive', recordedAt: '2025-11-09T00:00:00.000Z' };
  database.transaction(() =>
    storeSplits(database, { symbol, splits, endDate: '2025-11-09' }, stamp),
  );
}

/**
 * What prices are. A holding of 100 dollars is worth 100.25 after a split of 4:1 where the prices
 * are raw.
 */

const FOUR_TO_ONE = '2025-09-02,400,401,399,400,1000\n2025-09-03,100,101,99,100.25,4000\n';
const SPLIT: [string, string, number, number] = ['AAPL', '2025-09-03', 4, 1];
const CONTRADICTION =
  'AAPL split 4:1 on 2025-09-03, and closed at 400 on 2025-09-02 and at 100.25 on 2025-09-03';

for (const header of [
  'Date,Open,High,Low,Close,Volume',
  'date,open,high,low,close,volume',
  'DATE,OPEN,HIGH,LOW,CLOSE,VOLUME',
]) {
  test(`no header's capitals decide what prices are: ${header}`, async (t) => {
    const text = `${header}\n${FOUR_TO_ONE}`;
    assert.equal((await importText(t, text)).taken, 'split-adjusted default');
    for (const meaning of ['raw', 'split-adjusted', 'total-return'] as const)
      assert.equal((await importText(t, text, { as: meaning })).taken, `${meaning} said`);
    const database = openDatabase(':memory:');
    storeSplit(database, SPLIT);
    const seen = await importText(t, text, { database });
    assert.equal(seen.taken, 'raw seen');
    assert.equal(
      splitsBetween(pricesNow(database), ['AAPL'], { after: '2025-09-02', upTo: '2025-09-03' })
        .length,
      1,
    );
    const none = openDatabase(':memory:');
    storeSplit(none, SPLIT);
    const smooth = await importText(t, text.replace('400,401,399,400', '100,101,99,100'), {
      database: none,
    });
    assert.equal(smooth.taken, 'split-adjusted seen');
    assert.equal(
      splitsBetween(pricesNow(none), ['AAPL'], { after: '2025-09-02', upTo: '2025-09-03' }).length,
      0,
    );
  });
}

const telling: [name: string, text: string, taken: string, source: string][] = [
  ...['Adj Close', 'Adj_Close', 'AdjClose', 'adj close'].map(
    (name): [string, string, string, string] => [
      name,
      `Date,Open,High,Low,Close,${name},Volume\n2025-09-02,10,11,9,10,9.5,5\n`,
      'split-adjusted format',
      'yahoo',
    ],
  ),
  [
    "Alpha Vantage's CSV",
    'timestamp,open,high,low,close,adjusted_close,volume,dividend_amount,split_coefficient\n2025-09-02,10,11,9,10,9.5,5,0.0000,1.0\n',
    'raw format',
    'alpha-vantage',
  ],
  [
    "Tushare's CSV",
    'ts_code,trade_date,open,high,low,close,vol\n600519.SH,20250902,10,11,9,10,5\n',
    'raw format',
    'tushare',
  ],
  [
    "Massive's flat file, whose day begins in New York",
    'ticker,volume,open,close,high,low,window_start,transactions\nAAPL,5,10,10,11,9,1756785600000000000,3\n',
    'raw format',
    'massive',
  ],
  [
    "Tiingo's CSV",
    'date,close,high,low,open,volume,adjClose,adjHigh,adjLow,adjOpen,adjVolume,divCash,splitFactor\n' +
      '2025-09-02T00:00:00.000Z,10,11,9,10,5,1,1,1,1,1,0.0,1.0\n',
    'raw format',
    'csv',
  ],
];
for (const [name, text, taken, source] of telling) {
  test(`a format that has one meaning tells it: ${name}`, async (t) => {
    const found = await importText(t, text);
    assert.deepEqual(
      [found.taken, found.bars.map((bar) => bar.split(' ').at(-1)), found.refused],
      [taken, [source], []],
    );
    assert.equal(found.bars[0]?.split(' ')[1], '2025-09-02');
    const other = taken.startsWith('raw') ? 'total-return' : 'raw';
    assert.equal(
      (await importText(t, text, { as: other })).taken,
      `${other} said`,
      'what a person says counts more',
    );
  });
}

const YFINANCE = 'Date,Open,High,Low,Close,Volume,Dividends,Stock Splits\n';
const TEN_TO_ONE =
  '2025-09-02 00:00:00-04:00,100,101,99,100,5,0.0,0.0\n2025-09-03 00:00:00-04:00,100,101,99,100.5,5,0.0,10.0\n' +
  '2025-09-04 00:00:00-04:00,100,101,99,100.25,5,0.25,0.0\n';

test('what yfinance saves is adjusted for the split that it names, so 10,000 dollars stay what they are', async (t) => {
  const { database, taken, bars, summary } = await importText(t, YFINANCE + TEN_TO_ONE);
  assert.deepEqual(
    [taken, bars.length, summary.splits, summary.dividends],
    ['split-adjusted seen', 3, 1, 1],
  );
  assert.deepEqual(
    splitsBetween(pricesNow(database), ['AAPL'], { after: '2025-09-02', upTo: '2025-09-04' }),
    [],
    'no holding is multiplied',
  );
  assert.deepEqual(
    rowsAsText(database, 'SELECT symbol, date, numerator, denominator, source FROM stock_splits'),
    ['AAPL 2025-09-03 10 1 csv'],
  );
  assert.deepEqual(rowsAsText(database, 'SELECT symbol, ex_date, cash_e6, basis FROM dividends'), [
    'AAPL 2025-09-04 250000 split_adjusted',
  ]);
  for (const table of ['dividend_coverage', 'stock_split_spans'])
    assert.deepEqual(rowsAsText(database, `SELECT symbol, start_date, end_date FROM ${table}`), [
      'AAPL 2025-09-02 2025-09-04',
    ]);
});

test('a file that shows its split is raw, and so are its other symbols; its dividends are those that were paid', async (t) => {
  const header = 'symbol,date,open,high,low,close,dividends,stock_splits\n';
  const rows =
    'A,2025-09-02,1000,1000,1000,1000,0,\nA,2025-09-03,100,100,100,101,0.5,10\nB,2025-09-02,50,50,50,50,0,0\n';
  const { database, taken } = await importText(t, header + rows);
  assert.equal(taken, 'raw seen');
  assert.deepEqual(
    rowsAsText(database, 'SELECT DISTINCT symbol, source FROM price_data ORDER BY 1'),
    ['A csv', 'B csv'],
  );
  assert.deepEqual(rowsAsText(database, 'SELECT symbol, ex_date, cash_e6, basis FROM dividends'), [
    'A 2025-09-03 500000 as_paid',
  ]);
  assert.deepEqual(
    rowsAsText(database, 'SELECT symbol FROM stock_split_spans'),
    ['B'],
    'an empty cell is not a no',
  );
  assert.deepEqual(rowsAsText(database, 'SELECT symbol FROM dividend_coverage ORDER BY 1'), [
    'A',
    'B',
  ]);
});

test('what a refused row may have said of splits and dividends is not known', async (t) => {
  const { database } = await importText(
    t,
    `${YFINANCE}${TEN_TO_ONE}2025-09-05,x,101,99,100.25,5,0.25,0.0\n2025-09-08,1,1,1,1,5,y,0.0\n`,
  );
  assert.equal(rowsAsText(database, 'SELECT 1 FROM dividends').length, 1);
  for (const table of ['dividend_coverage', 'stock_split_spans'])
    assert.deepEqual(rowsAsText(database, `SELECT 1 FROM ${table}`), []);
});

test('a symbol whose known split contradicts what was said, told or taken is refused with the date and both prices', async (t) => {
  const header = 'Symbol,Date,Open,High,Low,Close,Volume\n';
  const raw = FOUR_TO_ONE.replaceAll(/^/gm, 'AAPL,').replace(/AAPL,$/, '');
  const smooth = 'AAPL,2025-09-02,100,101,99,100,5\nAAPL,2025-09-03,100,101,99,100.25,5\n';
  const other = 'MSFT,2025-09-02,1,1,1,1,5\n';
  const cases: [text: string, as: Meaning | undefined, meaning: Meaning, closes: string][] = [
    [header + raw + other, 'split-adjusted', 'split-adjusted', CONTRADICTION],
    [header + raw + other, 'total-return', 'total-return', CONTRADICTION],
    [header + smooth + other, 'raw', 'raw', CONTRADICTION.replace('at 400', 'at 100')],
    [
      `Adj Close,${header}${(raw + other).replaceAll(/^(?=.)/gm, '1,')}`,
      undefined,
      'split-adjusted',
      CONTRADICTION,
    ],
  ];
  for (const [text, as, meaning, closes] of cases) {
    const database = openDatabase(':memory:');
    storeSplit(database, SPLIT);
    const { refused, bars, summary } = await importText(t, text, { database, ...(as && { as }) });
    assert.deepEqual(refused, [
      `2: a known split contradicts that the prices are ${meaning}: ${closes}`,
    ]);
    assert.deepEqual(
      [bars.length, [...summary.refused.values()], summary.symbols],
      [1, [2], ['MSFT']],
    );
  }
});

test('where a file shows both, the more of its symbols count, and the others are refused', async (t) => {
  const database = openDatabase(':memory:');
  const bars = (symbol: string, before: number) =>
    `${symbol},2025-09-02,${before},${before}\n${symbol},2025-09-03,100,100.25\n`;
  for (const symbol of ['A', 'B', 'C']) storeSplit(database, [symbol, '2025-09-03', 4, 1]);
  const { taken, refused } = await importText(
    t,
    `symbol,date,open,close\n${bars('A', 400)}${bars('B', 100)}${bars('C', 400)}`,
    { database },
  );
  assert.equal(taken, 'raw seen');
  assert.deepEqual(refused, [
    '4: a known split contradicts that the prices are raw: B split 4:1 on 2025-09-03, and closed at 100 on 2025-09-02 and at 100.25 on 2025-09-03',
  ]);
});

test('a small split, a long gap and a wild day show nothing', async (t) => {
  const nights: [split: [number, number], bars: string][] = [
    [[21, 20], '2025-09-02,105,105\n2025-09-03,100,100\n'],
    [[4, 1], '2025-08-01,400,400\n2025-09-03,100,100\n'],
    [[4, 1], '2025-09-02,400,400\n2025-09-03,200,200\n'],
  ];
  for (const [[numerator, denominator], bars] of nights) {
    const database = openDatabase(':memory:');
    storeSplit(database, ['AAPL', '2025-09-03', numerator, denominator]);
    assert.equal(
      (await importText(t, `date,open,close\n${bars}`, { database })).taken,
      'split-adjusted default',
    );
    assert.deepEqual(
      (
        await importText(t, `date,open,close\n${bars}`, {
          database: openDatabase(':memory:'),
          as: 'raw',
        })
      ).refused,
      [],
    );
  }
});

test('an import that brings a split says which stored prices it contradicts', async (t) => {
  const { database } = await importText(t, 'date,open,close\n2025-09-02,400,400\n');
  const { summary } = await importText(
    t,
    'date,open,close,stock splits\n2025-09-03,100,100.25,4\n',
    { database },
  );
  const [contradicted] = summary.contradicted;
  assert.deepEqual(
    [
      contradicted?.symbol,
      contradicted?.meaning,
      contradicted?.previousClose,
      contradicted?.nextClose,
    ],
    ['AAPL', 'split-adjusted', 400, 100.25],
  );
});

test('a file that has all dates of a series replaces it where a person says what its prices are', async (t) => {
  const text = `date,open,high,low,close,volume\n${FOUR_TO_ONE}`;
  const { database } = await importText(t, text);
  const half = await importText(t, text.split('\n').slice(0, 2).join('\n'), {
    database,
    as: 'raw',
  });
  assert.match(
    half.refused[0] ?? '',
    /^2: raw prices for a symbol whose stored prices are split-adjusted: AAPL/,
  );
  const whole = await importText(t, text, { database, as: 'raw' });
  assert.deepEqual(
    [whole.refused, whole.bars.map((bar) => bar.split(' ').at(-1)), whole.summary.changed],
    [[], ['csv', 'csv'], 2],
  );
  const silent = await importText(t, text, { database });
  assert.match(
    silent.refused[0] ?? '',
    /^2: split-adjusted prices for a symbol whose stored prices are raw: AAPL/,
  );
});

/** Files of many symbols, and rows that contradict each other. */

const names = ['Name', 'tic', 'Symbol/Ticker', 'act_symbol', 'ts_code', 'Ticker', 'SYMBOL', 'code'];
for (const name of names) {
  test(`a column called ${name} is the symbol`, async (t) => {
    const rows = 'A,2025-09-02,1,1\nB,2025-09-02,2,2\n';
    const { summary, refused } = await importText(t, `${name},date,open,close\n${rows}`, {
      name: 'all_stocks_5yr.csv',
    });
    assert.deepEqual([summary.symbols, refused], [['A', 'B'], []]);
  });
}

test("a column with a company's name is not the symbol where another one is", async (t) => {
  const { summary } = await importText(
    t,
    'Name,Symbol,date,open,close\nApple Inc.,AAPL,2025-09-02,1,1\n',
  );
  assert.deepEqual(summary.symbols, ['AAPL']);
});

test('rows with different prices for one symbol and date are refused, all of them, with both lines and the columns', async (t) => {
  const columns =
    'another row has different prices for this symbol and date; its columns are Ticker, date, open, high, low, close, volume: is one of these the symbol?';
  const rows = [
    'A,2025-09-02,1,1,1,1,5',
    'A,2025-09-03,1,1,1,1,5',
    'A,2025-09-02,2,2,2,2,5',
    'A,2025-09-03,1,1,1,1,5',
    'A,2025-09-04,1,,,,',
    'A,2025-09-04,1,1,1,1,5',
  ];
  const { refused, bars, summary } = await importText(
    t,
    `Ticker,date,open,high,low,close,volume\n${rows.join('\n')}\n`,
    { as: 'raw' },
  );
  assert.deepEqual(refused, [
    `2: ${columns}: A 2025-09-02 on lines 2 and 4`,
    `4: ${columns}: A 2025-09-02 on lines 2 and 4`,
  ]);
  assert.deepEqual(
    bars,
    ['A 2025-09-03 1 1 5 csv', 'A 2025-09-04 1 1 5 csv'],
    'rows that say the same count once',
  );
  assert.equal(summary.bars, 2);
});

test('a file of many symbols whose column has an unknown name stores nothing under the name of the file', async (t) => {
  const rows = 'Apple,2025-09-02,1,1\nMicrosoft,2025-09-02,2,2\nApple,2025-09-03,1,1\n';
  const { refused, bars, summary } = await importText(t, `firm,date,open,close\n${rows}`, {
    name: 'ALL.csv',
  });
  assert.deepEqual([bars, summary.symbols, refused.length], [[], [], 3]);
  assert.match(
    refused[2] ?? '',
    /^4: the symbol is the file's name, and other rows contradict that; its columns are firm, date, open, close: is/,
  );
});

test(
  'rows far apart contradict each other, in a stream that can be read only once',
  inLongForm,
  async (t) => {
    const path = join(temporaryFolder(t), 'pipe');
    execFileSync('mkfifo', [path]);
    const database = openDatabase(':memory:');
    const header = 'symbol,date,open,close\n';
    const many = Array.from({ length: 6_000 }, (_, index) => `S${index},2025-09-02,1,1\n`).join('');
    const source = createWriteStream(path);
    source.end(`${header}A,2025-09-02,1,1\n${many}A,2025-09-02,2,2\n`);
    const refused: number[] = [];
    const summary = await importPriceFile(database, path, {
      ...CLOCK,
      onRefused: (line) => refused.push(line),
    });
    assert.deepEqual([refused, summary.bars], [[2, 6_003], 6_000]);
  },
);

/** Columns under other names, and what is missing. */

const columns: [name: string, text: string, bars: string[]][] = [
  [
    'Investing.com',
    '"Date","Price","Open","High","Low","Vol.","Change %"\n"2025-09-02","229.72","229.25","230.85","226.97","44.08M","-1.04%"\n',
    ['AAPL 2025-09-02 229.25 229.72 44080000 file-split-adjusted'],
  ],
  [
    'Nasdaq',
    'Date,Close/Last,Volume,Open,High,Low\n09/02/2025,$229.72,44075640,$229.25,$230.85,$226.97\n',
    ['AAPL 2025-09-02 229.25 229.72 44075640 file-split-adjusted'],
  ],
  [
    'Last',
    'Date,Open,Last,Vol\n2025-09-02,1,2,3.5K\n2025-09-03,1,2,1.2B\n2025-09-04,1,2,-\n',
    [
      'AAPL 2025-09-02 1 2 3500 file-split-adjusted',
      'AAPL 2025-09-03 1 2 1200000000 file-split-adjusted',
      'AAPL 2025-09-04 1 2 - file-split-adjusted',
    ],
  ],
  [
    'Close beside Last and Price',
    'Last,Price,Date,Open,Close\n7,8,2025-09-02,1,2\n',
    ['AAPL 2025-09-02 1 2 - file-split-adjusted'],
  ],
];
for (const [name, text, expected] of columns) {
  test(`the close and the volume are found: ${name}`, async (t) => {
    const { bars, refused } = await importText(t, text);
    assert.deepEqual([bars, refused], [expected, []]);
  });
}

test('a file without a close is refused with its columns', async (t) => {
  const message = /: it has no close; its columns are Date, Open, High, Low, Settle$/;
  await assert.rejects(importText(t, 'Date,Open,High,Low,Settle\n2025-09-02,1,1,1,1\n'), {
    code: 'invalid_file',
    message,
  });
});

const outside: [row: string, refusal: RegExp | null][] = [
  ['8.91,11,9,10', null],
  ['8.89,11,9,10', /^2: open is more than 1 % below low: 8.89 < 9$/],
  ['11.2,11,9,10', /^2: open is more than 1 % above high: 11.2 > 11$/],
  ['11.1,11,9,10', null],
  ['10,11,9,8.8', /^2: close is more than 1 % below low: 8.8 < 9$/],
  ['10,11,9,11.12', /^2: close is more than 1 % above high: 11.12 > 11$/],
  ['10,11,,12', /^2: close is more than 1 % above high: 12 > 11$/],
  ['10,8,9,10', /^2: high is below low: 8 < 9$/],
];
for (const [row, refusal] of outside) {
  test(`an open or a close more than 1 % outside low to high is a refused row: ${row}`, async (t) => {
    const { refused } = await importText(t, `date,open,high,low,close\n2025-09-02,${row}\n`);
    if (refusal === null) assert.deepEqual(refused, []);
    else assert.match(refused[0] ?? '', refusal);
  });
}

/** Dates with a time of midnight. */

const midnights = [
  '2025-09-02 00:00:00',
  '2025-09-02T00:00:00Z',
  '2025-09-02T00:00:00-04:00',
  '2025-09-02T04:00:00Z',
  '2025-09-02T05:00:00Z',
  '2025-09-02 04:00:00+00:00',
  '2025-09-02T00:00:00.000Z',
  '2025-09-02 00:00',
];
for (const stamp of midnights) {
  test(`midnight is a day: ${stamp}`, async (t) => {
    for (const header of ['date,open,close', 'timestamp,open,close']) {
      const next = stamp.replace('09-02', '09-03');
      const both = await importText(t, `${header}\n${stamp},1,1\n${next},1,1\n`);
      assert.deepEqual(
        [both.bars.map((bar) => bar.split(' ')[1]), both.refused],
        [['2025-09-02', '2025-09-03'], []],
      );
      const first = await importText(t, `${header}\n${stamp},1,1\n`);
      assert.deepEqual(
        first.bars.map((bar) => bar.split(' ')[1]),
        ['2025-09-02'],
      );
    }
  });
}

test('other times of day are refused, and so is midnight among bars of minutes', async (t) => {
  for (const stamp of [
    '2025-09-02T04:00:00',
    '2025-09-02T04:30:00Z',
    '2025-09-02T05:00:00-04:00',
    '2025-09-02T00:00:01Z',
    '2025-09-02T16:00:00Z',
  ]) {
    const { bars, refused } = await importText(
      t,
      `date,open,close\n2025-09-01,1,1\n${stamp},1,1\n`,
    );
    assert.deepEqual(
      [bars.length, refused],
      [1, [`3: not a daily bar (it has a time of day): ${stamp}`]],
    );
  }
  const minutes = 'date,open,close\n2025-09-02T00:00:00Z,1,1\n2025-09-02T00:01:00Z,1,1\n';
  await assert.rejects(importText(t, minutes), /it holds 1-minute bars/);
});
