import assert from 'node:assert/strict';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Meaning } from '../../src/database/schema/price-conditions.ts';
import { addDays } from '../../src/basics/calendar.ts';
import {
  type CommandDatabase,
  type Database,
  MAX_PAUSE_MS,
  openDatabase,
} from '../../src/database/database.ts';
import { storeBars } from '../../src/database/prices.ts';
import { importFile, type PriceSummary } from '../../src/prices/import.ts';
import { TRANSACTION_MS } from '../../src/prices/store-staged.ts';
import { clockFrom, temporaryFolder } from '../support/service.ts';
import { importPriceFile, storePrices } from '../support/prices.ts';
import { noProc } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { rowsAsText } from '../support/tables.ts';
import { inLongForm } from '../support/long.ts';

interface Import {
  database: CommandDatabase;
  summary: PriceSummary;
  refused: string[];
  /** Stored bars as `symbol date open high low close volume source`. */
  bars: string[];
  /** Covered spans as `symbol source start..end`. */
  coverage: string[];
}

/** Most tests are about files that are raw, and say so. */
const meaningOfTest = (text: string | Buffer) =>
  String(text).split('\n')[0] === HEADER ? 'raw' : undefined;

interface ImportTextOptions {
  name?: string;
  database?: CommandDatabase;
  as?: Meaning | undefined;
}

async function importText(
  t: TestContext,
  text: string | Buffer,
  {
    name = 'prices.csv',
    database = openDatabase(':memory:'),
    as = meaningOfTest(text),
  }: ImportTextOptions = {},
): Promise<Import> {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, text);
  const refused: string[] = [];
  const summary = await importPriceFile(database, path, {
    clock: clockFrom('2025-01-10'),
    as,
    onRefused: (line, { reason, value }) => refused.push(`${line}: ${reason}: ${value}`),
  });
  return { database, summary, refused, bars: barsIn(database), coverage: coverageIn(database) };
}

const barsIn = (database: Database) =>
  rowsAsText(
    database,
    'SELECT symbol, date, open, high, low, close, volume, source FROM price_data ORDER BY symbol, date',
  );

const coverageIn = (database: Database) =>
  rowsAsText(
    database,
    `SELECT symbol, source, start_date || '..' || end_date FROM price_data_coverage ORDER BY symbol`,
  );

const alphaVantage = (symbol: string, days: Record<string, Record<string, string>>) => ({
  'Meta Data': { '1. Information': 'Daily Prices', '2. Symbol': symbol },
  'Time Series (Daily)': days,
});
const day = (open: string, close: string) => ({
  '1. open': open,
  '2. high': '12.0000',
  '3. low': '9.0000',
  '4. close': close,
  '5. volume': '1000',
});
const mergedDay = (open: string, close: string) => ({
  '2. high': '12.0000',
  '3. low': '9.0000',
  '5. volume': '1000',
  '1. buy price': open,
  '4. sell price': close,
});

const formats: [
  name: string,
  file: string,
  text: string,
  format: string,
  bars: string[],
  coverage: string[],
][] = [
  [
    'Alpha Vantage JSON over many lines',
    'AAPL.json',
    JSON.stringify(
      alphaVantage('AAPL', {
        '2025-01-07': day('10.5000', '11.0000'),
        '2025-01-06': day('10.0000', '10.5000'),
      }),
      null,
      4,
    ),
    'Alpha Vantage JSON',
    [
      'AAPL 2025-01-06 10 12 9 10.5 1000 alpha-vantage',
      'AAPL 2025-01-07 10.5 12 9 11 1000 alpha-vantage',
    ],
    ['AAPL alpha-vantage 2025-01-06..2025-01-07'],
  ],
  [
    'AI-Trader merged lines, whose newest day has only the open',
    'merged.jsonl',
    [
      alphaVantage('AAPL', {
        '2025-01-08': { '1. buy price': '11.0000' },
        '2025-01-07': mergedDay('10.5', '11'),
        '2025-01-06': mergedDay('10', '10.5'),
      }),
      alphaVantage('600519.SH', { '2025-01-06': mergedDay('10', '10.5') }),
    ]
      .map((line) => JSON.stringify(line))
      .join('\n'),
    'AI-Trader merged JSON lines',
    [
      '600519.SH 2025-01-06 10 12 9 10.5 1000 ai-trader',
      'AAPL 2025-01-06 10 12 9 10.5 1000 ai-trader',
      'AAPL 2025-01-07 10.5 12 9 11 1000 ai-trader',
      'AAPL 2025-01-08 11 - - - - ai-trader',
    ],
    ['600519.SH ai-trader 2025-01-06..2025-01-06', 'AAPL ai-trader 2025-01-06..2025-01-07'],
  ],
  [
    'metadata with no more than the symbol',
    'merged.jsonl',
    JSON.stringify({
      'Meta Data': { '2. Symbol': 'BRK-B' },
      'Time Series (Daily)': { '2025-01-06': mergedDay('10', '10.5') },
    }),
    'AI-Trader merged JSON lines',
    ['BRK-B 2025-01-06 10 12 9 10.5 1000 ai-trader'],
    ['BRK-B ai-trader 2025-01-06..2025-01-06'],
  ],
  [
    'CSV with its columns in any order, quotes and CRLF',
    'anything.csv',
    '\ufeffclose,"symbol",date,open,note,volume,low,high\r\n10.5,aapl,2025-01-06,10,"a, b",281949.44,9,12\r\n',
    'CSV',
    ['AAPL 2025-01-06 10 12 9 10.5 281949.44 file-split-adjusted'],
    ['AAPL file-split-adjusted 2025-01-06..2025-01-06'],
  ],
  [
    'CSV with semicolons and without a symbol: it is the name of the file',
    '600519.SH.csv',
    'date;open;high;low;close;volume\n2025-01-06;10;12;9;10.5;1000\n',
    'CSV',
    ['600519.SH 2025-01-06 10 12 9 10.5 1000 file-split-adjusted'],
    ['600519.SH file-split-adjusted 2025-01-06..2025-01-06'],
  ],
  [
    "Yahoo's header",
    'BRK-B.csv',
    'Date,Open,High,Low,Close,Adj Close,Volume\n2025-01-06,10.000001,12,9,10.5,10.1,1000\n2025-01-07,null,null,null,null,null,null\n',
    'Yahoo CSV',
    ['BRK-B 2025-01-06 10 12 9 10.5 1000 yahoo'],
    ['BRK-B yahoo 2025-01-06..2025-01-06'],
  ],
  [
    "Stooq's download of one symbol",
    'aapl_us_d.csv',
    'Date,Open,High,Low,Close,Volume\n2025-01-06,10,12,9,10.5,1000\n',
    'Stooq CSV',
    ['AAPL 2025-01-06 10 12 9 10.5 1000 stooq'],
    ['AAPL stooq 2025-01-06..2025-01-06'],
  ],
  [
    "Stooq's bulk files",
    'daily.txt',
    '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\nAAPL.US,D,20250106,000000,10,12,9,10.5,1000,0\n',
    'Stooq CSV',
    ['AAPL 2025-01-06 10 12 9 10.5 1000 stooq'],
    ['AAPL stooq 2025-01-06..2025-01-06'],
  ],
  [
    "Tushare's CSV, whose volume is in lots of 100",
    'daily.csv',
    ',ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount\n' +
      '0,000001.SZ,20250107,11.5,12,11,11.75,11.5,0.25,2.1739,525152.77,460697.377\n' +
      '1,000001.SZ,20250106,11,12,9,11.5,11,0.5,4.5455,,\n',
    'Tushare CSV',
    [
      '000001.SZ 2025-01-06 11 12 9 11.5 - tushare',
      '000001.SZ 2025-01-07 11.5 12 11 11.75 52515277 tushare',
    ],
    ['000001.SZ tushare 2025-01-06..2025-01-07'],
  ],
  [
    'CSV that has the time of the close beside each date',
    'closes.csv',
    'symbol,date,time,open,close\nAAPL,2025-01-06,16:00:00,10,10.5\n',
    'CSV',
    ['AAPL 2025-01-06 10 - - 10.5 - file-split-adjusted'],
    [],
  ],
  [
    'a control market',
    'prices.csv',
    'symbol,date,open,high,low,close,volume,source\nQXKZVA,2025-01-06,10,12,9,10.5,1000,disguise\nQXKZVA,2025-01-07,11,,,,,disguise\n',
    'control market CSV',
    ['QXKZVA 2025-01-06 10 12 9 10.5 1000 disguise', 'QXKZVA 2025-01-07 11 - - - - disguise'],
    ['QXKZVA disguise 2025-01-06..2025-01-06'],
  ],
  [
    'a column of sources that is not a control market',
    'prices.csv',
    'symbol,date,open,close,source\nAAPL,2025-01-06,10,10.5,yahoo\n',
    'CSV',
    ['AAPL 2025-01-06 10 - - 10.5 - file-split-adjusted'],
    [],
  ],
];
for (const [name, file, text, format, bars, coverage] of formats) {
  test(`reads ${name}`, async (t) => {
    const found = await importText(t, text, { name: file });
    assert.deepEqual([found.summary.format, found.bars, found.coverage], [format, bars, coverage]);
  });
}

const HEADER = 'symbol,date,open,high,low,close,volume';
const badRows: [name: string, row: string, refusal: string][] = [
  ['a negative price', 'AAPL,2025-01-06,-1,12,9,10,1', '2: open is not a plausible number: -1'],
  ['a price of 0', 'AAPL,2025-01-06,10,12,9,0,1', '2: close is not a plausible number: 0'],
  ['an absurd price', 'AAPL,2025-01-06,1e73,12,9,10,1', '2: open is not a plausible number: 1e73'],
  [
    'an open below the unit of money',
    'AAPL,2025-01-06,0.00004,12,9,10,1',
    '2: open is below 0.0001 dollar, the unit of money: 0.00004',
  ],
  [
    'a close that would be rounded up to it',
    'AAPL,2025-01-06,1,1,0.0001,9.9e-5,1',
    '2: close is below 0.0001 dollar, the unit of money: 9.9e-5',
  ],
  [
    'a price in hexadecimal',
    'AAPL,2025-01-06,0x10,12,9,10,1',
    '2: open is not a plausible number: 0x10',
  ],
  ['a negative volume', 'AAPL,2025-01-06,10,12,9,10,-5', '2: volume is not a plausible number: -5'],
  ['no open', 'AAPL,2025-01-06,,12,9,10,1', '2: no open: 2025-01-06'],
  [
    'an intraday stamp',
    'AAPL,2025-01-06 09:30:00,10,12,9,10,1',
    '2: not a daily bar (it has a time of day): 2025-01-06 09:30:00',
  ],
  ['a date with the year last', 'AAPL,09022025,10,12,9,10,1', '2: not a date YYYY-MM-DD: 09022025'],
  ['a sloppy date', 'AAPL,2025-1-6,10,12,9,10,1', '2: not a date YYYY-MM-DD: 2025-1-6'],
  [
    'a date that does not exist',
    'AAPL,2025-02-30,10,12,9,10,1',
    '2: not a date YYYY-MM-DD: 2025-02-30',
  ],
  ['the year 0000', 'AAPL,0000-01-06,10,12,9,10,1', '2: a date before 1900-01-01: 0000-01-06'],
  ['the last day of 1899', 'AAPL,18991231,10,12,9,10,1', '2: a date before 1900-01-01: 1899-12-31'],
  ['tomorrow', 'AAPL,2025-01-11,10,12,9,10,1', '2: a date in the future: 2025-01-11'],
  [
    'a path as a symbol',
    '../../etc/passwd,2025-01-06,10,12,9,10,1',
    '2: not a ticker symbol: ../../etc/passwd',
  ],
  ['high below low', 'AAPL,2025-01-06,10,8,9,10,1', '2: high is below low: 8 < 9'],
  ['too few columns', 'AAPL,2025-01-06,10', '2: not 7 columns: AAPL,2025-01-06,10'],
];
for (const [name, row, refusal] of badRows) {
  test(`a row with ${name} is refused with its line, and the others are imported`, async (t) => {
    const { refused, bars, summary } = await importText(
      t,
      `${HEADER}\n${row}\nMSFT,2025-01-06,10,12,9,10.5,1000\n`,
    );
    assert.deepEqual(refused, [refusal]);
    assert.deepEqual(bars, ['MSFT 2025-01-06 10 12 9 10.5 1000 csv']);
    assert.equal([...summary.refused.values()][0], 1);
  });
}

test('a day on which a price did not move is an ordinary bar', async (t) => {
  const { refused, bars } = await importText(t, `${HEADER}\nAAPL,2025-01-06,10,10,10,10,0\n`);
  assert.deepEqual([refused, bars], [[], ['AAPL 2025-01-06 10 10 10 10 0 csv']]);
});

test(
  'a line ends with CR, LF or both, wherever the pieces of a file are cut',
  inLongForm,
  async (t) => {
    const dates = Array.from({ length: 9_000 }, (_, index) => addDays('2000-01-01', index));
    const lines = [
      HEADER,
      '',
      ...dates.map((date) => `AAPL,${date},10,12,9,10.5,1000`),
      'AAPL,2025-01-06,x,12,9,10.5,1000',
    ];
    for (const end of ['\n', '\r', '\r\n']) {
      const textWith = (blanks: number) =>
        lines.join(end).replace('1000', `1000${' '.repeat(blanks)}`) + end;
      // A file is read in pieces of 128 KiB: the last character of the first one is the first of a
      // line end.
      const blanks = lines.findIndex((_, count) => textWith(count)[128 * 1024 - 1] === end[0]);
      const { summary, refused } = await importText(t, textWith(blanks), { as: 'raw' });
      assert.deepEqual(
        [summary.bars, refused],
        [9_000, [`${lines.length}: open is not a plausible number: x`]],
        JSON.stringify(end),
      );
    }
  },
);

test('a line of JSON with NaN is refused with that reason', async (t) => {
  const good = JSON.stringify(alphaVantage('AAPL', { '2025-01-06': day('10', '11') }));
  const { refused } = await importText(
    t,
    `${good}\n${good.replace('"10"', 'NaN')}\n{"a": nothing}\n`,
    { name: 'a.jsonl' },
  );
  assert.deepEqual(
    refused.map((text) => text.slice(0, 70)),
    [
      `2: not JSON (NaN; JSON has null for what is unknown): ${good.slice(0, 16)}`,
      '3: not JSON: {"a": nothing}',
    ],
  );
});

const unreadable: [name: string, text: string | Buffer, message: RegExp][] = [
  ['an empty file', '', /it is empty/],
  ['bytes', Buffer.from([0, 1, 2, 255, 254, 0, 0]), /as CSV its header lacks date, open/],
  ['prose', 'Good morning,\nhere are the prices.', /as CSV its header lacks date, open/],
  [
    'half a JSON document',
    '{"Meta Data": {"2. Symbol": "AAPL"}, "Time Series (Daily)": {"2025-01-06": {"1. open": "10"',
    /: it begins as JSON and is not: .*JSON/,
  ],
  [
    'NaN in a JSON document',
    JSON.stringify(alphaVantage('AAPL', { '2025-01-06': day('10', 'NaN') }), null, 1).replace(
      '"NaN"',
      'NaN',
    ),
    /: it begins as JSON and is not: NaN on line 11; JSON has null for what is unknown$/,
  ],
  ['a header and nothing else', 'date,open,close\n', /: it has a header and no rows$/],
  ['a header of dividends and nothing else', 'symbol,ex_date,amount\n', /: it has no dividends$/],
  ['a series without days', JSON.stringify(alphaVantage('AAPL', {})), /: it has no bars$/],
  ['JSON of something else', '{"a": 1}', /no "Meta Data" with a symbol/],
  [
    "the provider's rate limit, saved as a file",
    '{"Note": "Thank you for using Alpha Vantage"}',
    /provider's message instead of prices: Thank you/,
  ],
  [
    "the provider's error",
    '{"Error Message": "Invalid API call"}',
    /provider's message instead of prices: Invalid API call/,
  ],
  [
    'an intraday series',
    JSON.stringify({ 'Meta Data': { '2. Symbol': 'A' }, 'Time Series (5min)': {} }),
    /: it holds 5-minute bars; daily ones are needed$/,
  ],
  [
    'a weekly series',
    JSON.stringify({ 'Meta Data': { '2. Symbol': 'A' }, 'Weekly Adjusted Time Series': {} }),
    /: it holds weekly bars; daily ones are needed$/,
  ],
  [
    "the AI-Trader family's hourly lines",
    [1, 2]
      .map(() => JSON.stringify({ 'Meta Data': { '2. Symbol': 'A' }, 'Time Series (60min)': {} }))
      .join('\n'),
    /: it holds 60-minute bars; daily ones are needed$/,
  ],
  ['two columns of one name', 'date,open,OPEN\n2025-01-06,1,2\n', /two columns for open/],
];
for (const [name, text, message] of unreadable) {
  test(`${name} changes nothing and says why`, async (t) => {
    const database = openDatabase(':memory:');
    await assert.rejects(importText(t, text, { database }), { code: 'invalid_file', message });
    assert.deepEqual([barsIn(database), coverageIn(database)], [[], []]);
  });
}

test('a missing file says so', async () => {
  await assert.rejects(
    importFile(openDatabase(':memory:'), '/nonexistent.csv', { clock: clockFrom('2025-01-10') }),
    /Cannot import \/nonexistent\.csv: ENOENT/,
  );
});

test('a broken line among good ones is one refusal', async (t) => {
  const good = JSON.stringify(alphaVantage('AAPL', { '2025-01-06': mergedDay('10', '10.5') }));
  const { refused, bars } = await importText(
    t,
    [
      good,
      '{"Meta',
      good.replace('AAPL', 'MSFT'),
      JSON.stringify({ Note: 'limit' }),
      JSON.stringify(alphaVantage('X', { '2025-01-06': day('1', '2') })),
    ].join('\n'),
    { name: 'a.jsonl' },
  );
  assert.deepEqual(
    bars.map((bar) => bar.split(' ')[0]),
    ['AAPL', 'MSFT'],
  );
  assert.deepEqual(refused, [
    '2: not JSON: {"Meta',
    "4: not a daily series: it holds the provider's message instead of prices: limit",
    '5: not of the same format as the first line: X',
  ]);
});

test('two rows of one symbol and date that say different things are one bar, written once', async (t) => {
  const database = openDatabase(':memory:');
  const rows = ['AAPL,2025-01-06,10,12,9,,', 'AAPL,2025-01-06,10,,,11,5'];
  const { summary } = await importText(t, `${HEADER}\n${rows.join('\n')}`, { database });
  assert.deepEqual([summary.bars, summary.changed], [1, 1]);
  assert.deepEqual(
    { ...database.statement('SELECT open, high, low, close, volume FROM price_data').get() },
    { open: 10, high: 12, low: 9, close: 11, volume: 5 },
  );
  assert.deepEqual(database.statement('SELECT * FROM price_revisions').all(), []);
});

test('importing again changes nothing, a partial bar is filled, another value is a revision', async (t) => {
  const first = await importText(
    t,
    `${HEADER}\nAAPL,2025-01-07,10,,,,\nAAPL,2025-01-06,10,12,9,10,5\n`,
  );
  assert.deepEqual(
    [first.summary.bars, first.summary.changed, first.coverage],
    [2, 2, ['AAPL csv 2025-01-06..2025-01-06']],
  );
  const again = await importText(t, `${HEADER}\nAAPL,2025-01-06,10,12,9,10,5\n`, first);
  assert.deepEqual([again.summary.bars, again.summary.changed], [1, 0]);
  const later = await importText(
    t,
    `${HEADER}\nAAPL,2025-01-07,10,12,9,11,5\nAAPL,2025-01-06,10,12,9,10.5,5\n`,
    first,
  );
  assert.deepEqual(later.bars, [
    'AAPL 2025-01-06 10 12 9 10.5 5 csv',
    'AAPL 2025-01-07 10 12 9 11 5 csv',
  ]);
  const older = await importText(t, `${HEADER}\nAAPL,2025-01-07,10,,,,\n`, first);
  assert.deepEqual([older.summary.changed, older.bars[1]], [0, 'AAPL 2025-01-07 10 12 9 11 5 csv']);
  const log = first.database
    .statement('SELECT date, close FROM price_revisions ORDER BY date')
    .all();
  assert.deepEqual(
    log.map((row) => ({ ...row })),
    [
      { date: '2025-01-06', close: 10 },
      { date: '2025-01-07', close: null },
    ],
  );
});

test('the bar of today is stored but not covered', async (t) => {
  const { bars, coverage } = await importText(
    t,
    `${HEADER}\nAAPL,2025-01-09,10,12,9,10,5\nAAPL,2025-01-10,10,12,9,10,5\n`,
  );
  assert.deepEqual([bars.length, coverage], [2, ['AAPL csv 2025-01-09..2025-01-09']]);
});

test('real prices replace the synthetic ones of their symbol, and the summary says so', async (t) => {
  const database = openDatabase(':memory:');
  storePrices(
    database,
    'AAPL 2025-01-03 1 1\nAAPL 2025-01-06 1 1\nMSFT 2025-01-06 1 1',
    'synthetic',
  );
  const { bars, coverage, summary } = await importText(
    t,
    `${HEADER}\nAAPL,2025-01-06,10,12,9,10.5,1000\n`,
    {
      database,
    },
  );
  assert.deepEqual(bars, [
    'AAPL 2025-01-06 10 12 9 10.5 1000 csv',
    'MSFT 2025-01-06 1 1 1 1 1000 synthetic',
  ]);
  assert.deepEqual(coverage, [
    'AAPL csv 2025-01-06..2025-01-06',
    'MSFT synthetic 2025-01-06..2025-01-06',
  ]);
  assert.equal(summary.syntheticReplaced, 1);
});

test('bars of a control market and others are not imported from one file, nor into one series', async (t) => {
  const header = 'symbol,date,open,high,low,close,volume,source';
  const [code, other] = [
    'QXKZVA,2025-01-06,10,12,9,10,5,disguise',
    'AAPL,2025-01-06,10,12,9,10,5,',
  ];
  const mixed = 'bars of a control market and others in one file';
  const { refused, database } = await importText(t, `${header}\n${code}\n${other}\n`);
  assert.deepEqual(refused, [`3: ${mixed}: `]);
  assert.deepEqual((await importText(t, `${header}\n${other}\n${code}\n`)).refused, [
    `3: ${mixed}: disguise`,
  ]);
  const raw = await importText(t, `${HEADER}\nQXKZVA,2025-01-07,10,12,9,10,5\n`, { database });
  assert.deepEqual(raw.refused, [
    '2: raw prices for a symbol whose stored prices are split-adjusted: QXKZVA has prices from disguise',
  ]);
});

test('adjusted and raw prices never share a series', async (t) => {
  const database = openDatabase(':memory:');
  storePrices(database, 'AAPL 2025-01-03 1 1', 'csv');
  storePrices(database, 'MSFT 2025-01-03 1 1', 'yahoo');
  const yahoo = await importText(
    t,
    'Date,Open,High,Low,Close,Adj Close,Volume\n2025-01-06,10,12,9,10,10,5\n',
    {
      database,
      name: 'AAPL.csv',
    },
  );
  assert.deepEqual(yahoo.refused, [
    '2: split-adjusted prices for a symbol whose stored prices are raw: AAPL has prices from csv',
  ]);
  const stooq = 'Date,Open,High,Low,Close,Volume\n2025-01-06,10,12,9,10,5\n';
  assert.deepEqual((await importText(t, stooq, { database, name: 'aapl_us_d.csv' })).refused, [
    '2: total-return prices for a symbol whose stored prices are raw: AAPL has prices from csv',
  ]);
  assert.deepEqual((await importText(t, stooq, { database, name: 'nvda_us_d.csv' })).refused, []);
  // Total-return prices include dividends, so they cannot join a series that pays them separately.
  assert.match(
    (await importText(t, stooq, { database, name: 'NVDA.csv' })).refused[0] ?? '',
    /^2: split-adjusted prices for a symbol whose stored prices are total-return: NVDA/,
  );
  const rawNvidia = await importText(t, `${HEADER}\nNVDA,2025-01-07,10,12,9,10,5\n`, { database });
  assert.match(rawNvidia.refused[0] ?? '', /^2: raw prices .*: NVDA has prices from stooq$/);
  const raw = await importText(t, `${HEADER}\nMSFT,2025-01-06,10,12,9,10,5\n`, { database });
  assert.deepEqual(
    [raw.refused, raw.summary.symbols.length],
    [
      [
        '2: raw prices for a symbol whose stored prices are split-adjusted: MSFT has prices from yahoo',
      ],
      0,
    ],
  );
  assert.equal(raw.bars.length, 3);
});

test('rows that span reads and transactions stay whole', inLongForm, async (t) => {
  const rows = Array.from(
    { length: 12_000 },
    (_, index) =>
      `S${index % 1000}X,2024-12-${String((index / 1000 + 1) | 0).padStart(2, '0')},10.${index % 10},12,9,10.5,1000`,
  );
  const { summary } = await importText(t, `${HEADER}\n${rows.join('\n')}`);
  assert.deepEqual(
    [summary.bars, summary.changed, summary.symbols.length, summary.dates, summary.refused.size],
    [12_000, 12_000, 1000, 12, 0],
  );
});

test('a stored bar is written only when something about it is new', () => {
  const database = openDatabase(':memory:');
  const bar = {
    symbol: 'A',
    date: '2025-01-06',
    open: 1,
    high: null,
    low: null,
    close: null,
    volume: null,
  };
  const store = (changes: object) =>
    storeBars(database, [{ ...bar, ...changes }], { source: 'csv' }).changed;
  assert.deepEqual([store({}), store({}), store({ close: 2 }), store({})], [1, 0, 1, 0]);
  assert.equal(database.statement('SELECT written FROM price_data').get()?.['written'], 3);
});

/** What a look at the time takes of it here: some steps are a transaction. */
const LOOK_MS = 5;

test('a server that waits for the write lock of an import gets it after one transaction', async (t) => {
  const folder = temporaryFolder(t);
  const [importer, server] = [false, true].map((isServing) =>
    openDatabase(join(folder, 'prices.db'), { isServing }),
  );
  assert(importer !== undefined && server !== undefined);
  t.after(() => [importer, server].forEach((database) => database.close()));
  const path = join(folder, 'prices.csv');
  const symbols = Array.from({ length: 1_000 }, (_, number) => `S${1_000 + number}`);
  writeFileSync(
    path,
    [
      'symbol,date,open,high,low,close,volume',
      ...symbols.map((symbol) => `${symbol},2025-01-02,10,11,9,10,1`),
    ].join('\n'),
  );
  let nowMs = 0;
  const transactions: number[] = [];
  let [waiting, turns] = [Promise.resolve(), 0];
  const watched: CommandDatabase = {
    ...importer,
    transaction: (work) => {
      assert.equal(
        turns,
        transactions.length,
        'the server has had its turn after each transaction so far',
      );
      const startMs = nowMs;
      const result = importer.transaction(() => {
        const done = work();
        // The first attempt fails: the lock is taken. The next one is made after at most
        // MAX_PAUSE_MS.
        waiting = server.write(() => void (turns += 1));
        return done;
      });
      transactions.push(nowMs - startMs);
      return result;
    },
  };
  const sleep = async (ms: number) => {
    nowMs += ms;
    if (ms + LOOK_MS > MAX_PAUSE_MS) await waiting;
  };
  await importFile(watched, path, {
    clock: clockFrom('2025-01-10'),
    time: { now: () => (nowMs += LOOK_MS), sleep },
  });
  await waiting;
  assert.ok(transactions.length > 10, `${transactions.length} transactions`);
  assert.ok(
    Math.max(...transactions) <= TRANSACTION_MS + 2 * LOOK_MS,
    `a transaction took ${Math.max(...transactions)} ms`,
  );
});

const cutShort: [name: string, start: string][] = [
  ['a file in no known format', 'name,colour\n'],
  ['dividends in no known format', 'symbol,ex_date,colour\n'],
  ['JSON in no known format', '{"colour": 1}\n'],
];
for (const [name, start] of cutShort) {
  test(`${name} is closed, although it was not read to its end`, { skip: noProc }, async (t) => {
    const path = join(temporaryFolder(t), 'large.csv');
    writeFileSync(path, start + 'x,1\n'.repeat(200_000));
    const options = { clock: clockFrom('2025-01-10'), as: undefined, onRefused: () => {} };
    await assert.rejects(importPriceFile(openDatabase(':memory:'), path, options));
    const isOpen = () =>
      readdirSync('/proc/self/fd').some((file) => linkOf(`/proc/self/fd/${file}`) === path);
    await until('the file to be closed', () => !isOpen());
  });
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // closed since its folder was listed
  }
}
