import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { endsWithinFrame, readContent } from '../../src/prices/files/content.ts';
import { importFile } from '../../src/prices/import.ts';
import { inLongForm, runs } from '../support/long.ts';
import { importPriceFile } from '../support/prices.ts';
import { clockFrom, temporaryFolder } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';

/** What files are packed in: compression, encodings, and bars that are not days. */

const CLOCK = { clock: clockFrom('2025-01-10') };
const HEADER = 'symbol,date,open,high,low,close,volume';
const CSV = `${HEADER},name\nAAPL,2025-01-06,10,12,9,10.5,1000,Café\nMSFT,2025-01-06,10,12,9,10.5,1000,é\n`;
const [HALF, REST] = [CSV.slice(0, 70), CSV.slice(70)];

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const checksummed = (data: Buffer | string) =>
  zstdCompressSync(data, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
const skippable = Buffer.from('532a4d1803000000aabbcc', 'hex');
const frames = Buffer.concat([
  skippable,
  checksummed(HALF),
  skippable,
  zstdCompressSync(REST),
  skippable,
]);

const packed: [name: string, bytes: Buffer][] = [
  ['gzip', gzipSync(CSV)],
  ['two members of gzip', Buffer.concat([gzipSync(HALF), gzipSync(REST)])],
  ['gzip padded with zeros, as tapes are', Buffer.concat([gzipSync(CSV), Buffer.alloc(1_000)])],
  ['zstd', zstdCompressSync(CSV)],
  ['zstd with a checksum', checksummed(CSV)],
  ['several frames of zstd, some to be skipped', frames],
  ['UTF-16, little end first', utf16(CSV)],
  ['UTF-16, big end first', utf16(CSV).swap16()],
  ['UTF-16 within gzip', gzipSync(utf16(CSV))],
  ['UTF-8 with its mark within zstd', zstdCompressSync(`\ufeff${CSV}`)],
];
for (const [name, bytes] of packed) {
  test(`a file is read through ${name}`, async (t) => {
    const { summary, bars, bytesRead } = await importBytes(t, bytes);
    assert.deepEqual([summary.bars, summary.refused.size, bytesRead], [2, 0, bytes.length]);
    assert.deepEqual(bars, ['AAPL 2025-01-06', 'MSFT 2025-01-06']);
  });
}

async function importBytes(
  t: TestContext,
  bytes: Buffer | string,
  { name = 'prices', database = openDatabase(':memory:') } = {},
) {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, bytes);
  const refused: string[] = [];
  let bytesRead = 0;
  const summary = await importPriceFile(database, path, {
    ...CLOCK,
    onProgress: (progress) => (bytesRead = progress.bytesRead),
    onRefused: (line, { reason }) => refused.push(`${line}: ${reason}`),
  });
  const bars = rowsAsText(database, 'SELECT symbol, date FROM price_data ORDER BY symbol, date');
  return { summary, refused, bars, bytesRead };
}

test('the symbol in the name of a compressed file is the one without its endings', async (t) => {
  for (const [name, bytes] of [
    ['AAPL.csv.gz', gzipSync],
    ['600519.SH.csv.zst', zstdCompressSync],
  ] as const) {
    const { bars } = await importBytes(t, bytes('date,open,close\n2025-01-06,1,1\n'), { name });
    assert.deepEqual(bars, [`${name.slice(0, name.indexOf('.csv'))} 2025-01-06`]);
  }
});

for (const [name, bytes, ends] of [
  ['gzip', gzipSync(CSV), []],
  ['zstd with a checksum', checksummed(CSV), []],
  // Where a frame ends nothing shows that more should follow.
  [
    'several frames of zstd',
    frames,
    [11, 11 + checksummed(HALF).length, 22 + checksummed(HALF).length, frames.length - 11],
  ],
] as const) {
  test(
    `a file that is torn anywhere says so, and nothing of it is imported: ${name}`,
    inLongForm,
    async (t) => {
      const path = join(temporaryFolder(t), 'torn');
      for (const length of lengthsToTear(bytes.length, ends)) {
        writeFileSync(path, bytes.subarray(0, length));
        const read = async () => {
          for await (const { bytes } of readContent(path))
            assert.ok(ends.some((end) => end === length) || bytes.length === 0);
        };
        if (ends.some((end) => end === length)) await read();
        else
          await assert.rejects(
            read(),
            { message: /^its \w+ data ends in the middle: the file is torn, so nothing/ },
            `${length} bytes`,
          );
      }
    },
  );
}

/** All lengths, or in short every sixth and those around the ends of frames. */
function lengthsToTear(size: number, ends: readonly number[]): Set<number> {
  const around = ends.flatMap((end) => [end - 1, end, end + 1]);
  const all = Array.from({ length: size - 4 }, (_, index) => index + 4);
  return new Set([...all.filter((length) => length % runs(6, 1) === 0), ...around, size - 1]);
}

test('only the first bytes of a file tell its format, not those that a later read begins with', async (t) => {
  const start = `${HEADER},name\nAAPL,2025-01-06,10,12,9,10.5,1000,`.padEnd(128 * 1024, 'x');
  for (const magic of ['1f8b0800', '504b0304', '28b52ffd']) {
    const { bars } = await importBytes(
      t,
      Buffer.concat([
        Buffer.from(start),
        Buffer.from(magic, 'hex'),
        Buffer.from(`\n${row('MSFT').trim()},y\n`),
      ]),
    );
    assert.deepEqual(bars, ['AAPL 2025-01-06', 'MSFT 2025-01-06']);
  }
});

test('the end of zstd data within a frame is found without a decoder, however the data arrives', async () => {
  const whole = [
    0,
    11,
    11 + checksummed(HALF).length,
    22 + checksummed(HALF).length,
    frames.length - 11,
    frames.length,
  ];
  const byteByByte = async function* (bytes: Buffer) {
    for (const byte of bytes) yield { bytes: Buffer.of(byte) };
  };
  for (let length = 0; length <= frames.length; length += 1)
    assert.equal(
      await endsWithinFrame(byteByByte(frames.subarray(0, length))),
      !whole.includes(length),
      `${length} bytes`,
    );
});

const rows = Array.from(
  { length: 12_000 },
  (_, index) => `S${index % 1000},2024-12-${10 + (index % 12)},10,12,9,10.5,1000\n`,
);
const unpackable: [name: string, bytes: Buffer, message: RegExp][] = [
  [
    'torn after more rows than a transaction',
    gzipSync(`${HEADER}\n${rows.join('')}`).subarray(0, -9),
    /its gzip data ends in the middle/,
  ],
  [
    'with a wrong checksum at its end',
    withFlippedByte(gzipSync(`${HEADER}\n${rows.join('')}`), -7),
    /its gzip data cannot be decompressed \(/,
  ],
  [
    'with a wrong checksum of zstd',
    withFlippedByte(checksummed(CSV), -1),
    /its zstd data cannot be decompressed \(/,
  ],
  [
    'with other data behind it',
    Buffer.concat([zstdCompressSync(CSV), Buffer.from(CSV)]),
    /its zstd data cannot be decompressed \(/,
  ],
  [
    'compressed twice',
    gzipSync(zstdCompressSync(CSV)),
    /it is compressed twice: decompress it once/,
  ],
  [
    'a ZIP archive',
    Buffer.from('504b0304140000000800', 'hex'),
    /it is a ZIP archive: extract it first/,
  ],
  [
    'compressed by xz',
    Buffer.from('fd377a585a000004', 'hex'),
    /it is compressed by xz: extract it first/,
  ],
  [
    '34 million letters in one line',
    gzipSync(Buffer.alloc(34_000_000, 'x')),
    /line 1 is longer than 33554432 characters/,
  ],
];
for (const [name, bytes, message] of unpackable) {
  test(`a file changes nothing and says why: ${name}`, async (t) => {
    const database = openDatabase(':memory:');
    await assert.rejects(importBytes(t, bytes, { database }), { code: 'invalid_file', message });
    assert.deepEqual(rowsAsText(database, 'SELECT symbol FROM price_data'), []);
  });
}

function withFlippedByte(bytes: Buffer, at: number): Buffer {
  const index = bytes.length + at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 0xff, index);
  return bytes;
}

test('what a file decompresses to is never held as a whole', async (t) => {
  const path = join(temporaryFolder(t), 'bomb');
  const size = 3_000_000;
  for (const bytes of [
    gzipSync(Buffer.alloc(size, '\n')),
    zstdCompressSync(Buffer.alloc(size, '\n')),
  ]) {
    assert.ok(bytes.length < size / 900, 'it is compressed to almost nothing');
    writeFileSync(path, bytes);
    let [total, largest] = [0, 0];
    for await (const piece of readContent(path)) {
      total += piece.bytes.length;
      largest = Math.max(largest, piece.bytes.length);
    }
    assert.deepEqual([total, largest <= 128 * 1024], [size, true]);
  }
});

const row = (symbol: string) => `${symbol},2025-01-06,10,12,9,10.5,1000\n`;
const mixed: [name: string, bytes: Buffer, bars: string[], refused: RegExp | null][] = [
  [
    'Latin-1 in a column that is not read',
    Buffer.concat([
      Buffer.from(`name,${HEADER}\nCaf`),
      Buffer.from([0xe9]),
      Buffer.from(`,${row('AAPL')}`),
    ]),
    ['AAPL 2025-01-06'],
    null,
  ],
  [
    'UTF-16 that turns into UTF-8',
    Buffer.concat([utf16(`${HEADER}\n${row('AAPL')}`), Buffer.from(row('MSFT'))]),
    ['AAPL 2025-01-06'],
    /^3: /,
  ],
  [
    'UTF-16 cut within a character',
    utf16(`${HEADER}\n${row('AAPL')}${row('MSFT')}`).subarray(0, -5),
    ['AAPL 2025-01-06', 'MSFT 2025-01-06'],
    null,
  ],
  [
    'UTF-8 that turns into UTF-16',
    Buffer.concat([Buffer.from(`${HEADER}\n${row('AAPL')}`), utf16(row('MSFT'))]),
    ['AAPL 2025-01-06'],
    /^3: not a ticker symbol/,
  ],
];
for (const [name, bytes, expected, refusal] of mixed) {
  test(`what can be read is imported: ${name}`, async (t) => {
    const { bars, refused } = await importBytes(t, bytes);
    assert.deepEqual(bars, expected);
    assert.match(refused[0] ?? 'none', refusal ?? /^none$/);
  });
}

const intraday: [header: string, rows: string[], bars: string][] = [
  [
    'timestamp,open,close',
    ['2025-01-06 19:00:00,1,1', '2025-01-06 18:00:00,1,1'],
    '60-minute bars',
  ],
  [
    'date,open',
    ['2025-01-06T09:30:00-05:00,1', '2025-01-06T09:31:00-05:00,1', '2025-01-07T09:30:00-05:00,1'],
    '1-minute bars',
  ],
  [
    'Datetime,Open,High,Low,Close,Adj Close,Volume',
    ['2025-01-06 09:30:00-05:00,1,1,1,1,1,1', '2025-01-06 09:45:00-05:00,1,1,1,1,1,1'],
    '15-minute bars',
  ],
  [
    'ts_code,trade_time,open,vol',
    [
      '000001.SZ,2025-01-06 09:35:00,1,1',
      '600519.SH,2025-01-06 09:35:00,1,1',
      '600519.SH,2025-01-06 09:40:00,1,1',
    ],
    '5-minute bars',
  ],
  [
    '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<OPENINT>',
    ['A.US,60,20250106,153000,1,0', 'A.US,60,20250106,163000,1,0'],
    '60-minute bars',
  ],
  [
    'symbol;date;time;open',
    ['A;2025-01-06;09:30:00;1', 'A;2025-01-06;09:30:30;1'],
    '30-second bars',
  ],
  ['symbol,date,open', ['A,2025-01-06 09:30,1', 'B,2025-01-06 09:30,1'], 'bars with a time of day'],
];
for (const [header, lines, bars] of intraday) {
  test(`a file of intraday bars is refused in words: ${header}`, async (t) => {
    const message = new RegExp(`/A\\.csv: it holds ${bars}; daily ones are needed$`);
    await assert.rejects(importBytes(t, `${header}\n${lines.join('\n')}\n`, { name: 'A.csv' }), {
      code: 'invalid_file',
      message,
    });
  });
}

test('bars a day apart are not taken for intraday bars, whatever their time of day', async (t) => {
  const stamped =
    'symbol,date,open,close\nA,2025-01-06 05:00:00,1,1\nA,2025-01-07 04:00:00,1,1\nB,2025-01-06,1,1\n';
  const { bars, refused } = await importBytes(t, stamped);
  assert.deepEqual([bars, refused.length], [['B 2025-01-06'], 2]);
  const days = await importBytes(
    t,
    'symbol,date,time,open,close\nA,2025-01-06,16:00,1,1\nA,2025-01-07,16:00,1,1\n',
  );
  assert.deepEqual(days.bars, ['A 2025-01-06', 'A 2025-01-07']);
});

test('an absurd number of lots is refused, not stored', async (t) => {
  const { refused } = await importBytes(
    t,
    'ts_code,trade_date,open,close,vol\nA,20250106,1,1,1e14\nA,20250107,1,1,-1\nA,20250108,1,1,x\nA,18991231,1,1,1\n',
  );
  assert.deepEqual(refused, [
    '2: volume is not a plausible number',
    '3: volume is not a plausible number',
    '4: volume is not a plausible number',
    '5: a date before 1900-01-01',
  ]);
});

/** Dividends: what a file names replaces what was stored from its first to its last ex-date. */

const DIVIDENDS = 'symbol,ex_date,amount';
const alphaVantage = (symbol: string, entries: [exDate: unknown, amount: unknown][]) => ({
  symbol,
  data: entries.map(([ex_dividend_date, amount]) => ({
    ex_dividend_date,
    declaration_date: 'None',
    record_date: 'None',
    payment_date: 'None',
    amount,
  })),
});

async function importDividends(
  t: TestContext,
  bytes: Buffer | string,
  { name = 'dividends.csv', database = openDatabase(':memory:') } = {},
) {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, bytes);
  const refused: string[] = [];
  const onRefused = (line: number, { reason, value }: { reason: string; value: string }) =>
    refused.push(`${line}: ${reason}: ${value}`);
  const summary = await importFile(database, path, { ...CLOCK, onRefused });
  assert(summary.kind === 'dividends');
  return { database, summary, refused, stored: storedIn(database), spans: spansIn(database) };
}

const storedIn = (database: Database) =>
  rowsAsText(
    database,
    'SELECT symbol, ex_date, cash_e6, basis, source FROM dividends ORDER BY symbol, ex_date',
  );
const spansIn = (database: Database) =>
  rowsAsText(
    database,
    `SELECT symbol, source, start_date || '..' || end_date FROM dividend_coverage ORDER BY symbol, start_date`,
  );

const dividendFiles: [
  name: string,
  file: string,
  bytes: Buffer | string,
  stored: string[],
  spans: string[],
][] = [
  [
    'CSV in any order of rows and columns, exact to 1/1,000,000 dollar',
    'dividends.csv',
    'amount,Ex_Date,ticker,note\n0.24,2024-05-10,aapl,x\n"0.0000015",20240209,AAPL,y\n1e-1,2024-02-14,MSFT,z\n',
    [
      'AAPL 2024-02-09 2 as_paid csv',
      'AAPL 2024-05-10 240000 as_paid csv',
      'MSFT 2024-02-14 100000 as_paid csv',
    ],
    ['AAPL csv 2024-02-09..2024-05-10', 'MSFT csv 2024-02-14..2024-02-14'],
  ],
  [
    'several payments of one ex-date, which add up',
    'dividends.csv',
    `${DIVIDENDS}\nCOST,2023-12-27,15\nCOST,2023-12-27,0.000001\n`,
    ['COST 2023-12-27 15000001 as_paid csv'],
    ['COST csv 2023-12-27..2023-12-27'],
  ],
  [
    'dividends that are declared, which are not known to be all from today on',
    'dividends.csv',
    `${DIVIDENDS},currency\nAAPL,2024-11-08,0.25,USD\nAAPL,2025-02-10,0.25,usd\nMSFT,2025-02-20,0.83,\n`,
    [
      'AAPL 2024-11-08 250000 as_paid csv',
      'AAPL 2025-02-10 250000 as_paid csv',
      'MSFT 2025-02-20 830000 as_paid csv',
    ],
    ['AAPL csv 2024-11-08..2025-01-09'],
  ],
  [
    'an amount of 0, which says that nothing was paid until then',
    'BRK-B.csv.gz',
    gzipSync(
      'ex_dividend_date,declaration_date,record_date,payment_date,amount\n2000-01-03,,,,0\n2024-12-31,,,,0.00\n',
    ),
    [],
    ['BRK-B csv 2000-01-03..2024-12-31'],
  ],
  [
    "Alpha Vantage's response, saved to a file: it names what was paid then, before and after a split",
    'ibm.json',
    JSON.stringify(
      alphaVantage('IBM', [
        ['1999-08-06', '0.12'],
        ['1999-05-06', '0.24'],
      ]),
      null,
      4,
    ),
    ['IBM 1999-05-06 240000 as_paid alpha-vantage', 'IBM 1999-08-06 120000 as_paid alpha-vantage'],
    ['IBM alpha-vantage 1999-05-06..1999-08-06'],
  ],
  [
    "Alpha Vantage's responses, one in each line, with numbers",
    'all.jsonl',
    [
      alphaVantage('AAPL', [['2024-05-10', 0.24]]),
      alphaVantage('NVDA', [
        ['2024-06-11', 0.01],
        ['2024-03-05', 0.04],
      ]),
    ]
      .map((document) => JSON.stringify(document))
      .join('\n'),
    [
      'AAPL 2024-05-10 240000 as_paid alpha-vantage',
      'NVDA 2024-03-05 40000 as_paid alpha-vantage',
      'NVDA 2024-06-11 10000 as_paid alpha-vantage',
    ],
    ['AAPL alpha-vantage 2024-05-10..2024-05-10', 'NVDA alpha-vantage 2024-03-05..2024-06-11'],
  ],
];
for (const [name, file, bytes, stored, spans] of dividendFiles) {
  test(`reads dividends: ${name}`, async (t) => {
    const found = await importDividends(t, bytes, { name: file });
    assert.deepEqual([found.stored, found.spans, found.refused], [stored, spans, []]);
    assert.deepEqual(
      [found.summary.dividends, found.summary.changed, found.summary.incomplete],
      [stored.length, stored.length, 0],
    );
  });
}

const GOOD = ['KO 2024-03-14 485000 as_paid csv', 'KO 2024-06-14 485000 as_paid csv'];
const badDividends: [
  name: string,
  row: string,
  refusal: string,
  unknown: 'date' | 'symbol' | 'file',
][] = [
  ['no amount', 'PEP,2024-06-07,', 'no amount: 2024-06-07', 'date'],
  ['an unknown amount', 'PEP,2024-06-07,None', 'no amount: 2024-06-07', 'date'],
  ['a negative amount', 'PEP,2024-06-07,-1', 'amount is not a plausible number: -1', 'date'],
  [
    'an absurd amount',
    'PEP,2024-06-07,1000000.000001',
    'amount is not a plausible number: 1000000.000001',
    'date',
  ],
  ['an endless amount', `PEP,2024-06-07,1e999`, 'amount is not a plausible number: 1e999', 'date'],
  [
    'an amount that rounds to nothing',
    'PEP,2024-06-07,4e-7',
    'amount is below 0.000001 dollar: 4e-7',
    'date',
  ],
  ['another currency', 'PEP,2024-06-07,1,CAD', 'not in USD: CAD', 'date'],
  [
    'an ex-date that does not exist',
    'PEP,2024-06-31,1',
    'not an ex-date YYYY-MM-DD: 2024-06-31',
    'symbol',
  ],
  ['the last day of 1899', 'PEP,18991231,1', 'a date before 1900-01-01: 1899-12-31', 'date'],
  [
    'an ex-date in a distant future',
    'PEP,2026-06-01,1',
    'an ex-date more than a year ahead: 2026-06-01',
    'date',
  ],
  ['no symbol', '"a b",2024-06-07,1', 'not a ticker symbol: a b', 'file'],
  ['too few columns', 'PEP,2024-06-07', 'not 4 columns: PEP,2024-06-07', 'file'],
];
test('a row that is refused leaves its date unknown, or its symbol where it has none, or every symbol where it does not say of which it is', async (t) => {
  for (const [name, row, refusal, unknown] of badDividends) {
    const cells = row.split(',').length === 3 ? `${row},` : row;
    const file = `${DIVIDENDS},currency\nKO,2024-03-14,0.485,\nPEP,2024-03-01,1.265,\n${name === 'too few columns' ? row : cells}\nKO,2024-06-14,0.485,\n`;
    const { refused, stored, spans, summary } = await importDividends(t, file);
    assert.deepEqual(refused, [`4: ${refusal}`], name);
    assert.deepEqual(stored, [...GOOD, 'PEP 2024-03-01 1265000 as_paid csv'], name);
    assert.deepEqual(
      spans,
      {
        file: [],
        symbol: ['KO csv 2024-03-14..2024-06-14'],
        date: ['KO csv 2024-03-14..2024-06-14', 'PEP csv 2024-03-01..2024-03-01'],
      }[unknown],
      name,
    );
    assert.equal(summary.incomplete, { file: 2, symbol: 1, date: 0 }[unknown], name);
  }
});

test('a row that is refused leaves only its ex-date unknown, and nothing outside the dates of the others', async (t) => {
  const rows = [
    'KO,1999-03-14,',
    'KO,2024-03-14,0.485',
    'KO,2024-05-01,None',
    'KO,2024-06-14,0.485',
    'KO,2024-06-14,x',
    'KO,2024-09-13,0.5',
    'PEP,2024-05-01,',
  ];
  const { spans, stored, summary } = await importDividends(t, `${DIVIDENDS}\n${rows.join('\n')}\n`);
  assert.deepEqual(stored, [...GOOD, 'KO 2024-09-13 500000 as_paid csv']);
  assert.deepEqual(spans, [
    'KO csv 2024-03-14..2024-04-30',
    'KO csv 2024-05-02..2024-06-13',
    'KO csv 2024-06-15..2024-09-13',
  ]);
  assert.deepEqual([summary.incomplete, summary.unknown], [0, ['KO 2024-05-01', 'KO 2024-06-14']]);
});

test('amounts of one ex-date that add up to an absurd one are refused', async (t) => {
  const { refused, stored } = await importDividends(
    t,
    `${DIVIDENDS}\nA,2024-06-07,999999.5\nA,2024-06-07,1\n`,
  );
  assert.deepEqual(refused, [
    '3: the amounts of one ex-date add up to no plausible number: A 2024-06-07',
  ]);
  assert.deepEqual(stored, ['A 2024-06-07 999999500000 as_paid csv']);
});

test('a later file replaces dividends within its dates, keeps the others, and the old values are kept', async (t) => {
  const first = await importDividends(
    t,
    `${DIVIDENDS}\nKO,2024-03-14,0.4\nKO,2024-06-13,0.485\nKO,2024-06-14,0.485\nKO,2024-09-13,0.485\nKO,2023-11-30,0.46\n`,
  );
  const { database } = first;
  const again = await importDividends(t, `${DIVIDENDS}\nKO,2024-03-14,0.4\n`, { database });
  assert.deepEqual([again.summary.changed, again.stored], [0, first.stored]);
  const later = await importDividends(
    t,
    `${DIVIDENDS}\nKO,2024-03-14,0.485\nKO,2024-06-14,0.485\n`,
    { database },
  );
  assert.equal(later.summary.changed, 2);
  assert.deepEqual(later.stored, [
    'KO 2023-11-30 460000 as_paid csv',
    ...GOOD,
    'KO 2024-09-13 485000 as_paid csv',
  ]);
  assert.deepEqual(
    rowsAsText(database, 'SELECT ex_date, cash_e6 FROM dividend_revisions ORDER BY ex_date'),
    ['2024-03-14 400000', '2024-06-13 485000'],
  );
  const doubtful = await importDividends(
    t,
    `${DIVIDENDS}\nKO,2024-03-14,0.485\nKO,2024-09-13,\nKO,2024-12-01,0.1\n`,
    { database },
  );
  assert.deepEqual(doubtful.stored, [
    ...later.stored.filter((row) => !row.includes('2024-06-14')),
    'KO 2024-12-01 100000 as_paid csv',
  ]);
});

const notDividends: [name: string, text: string, message: RegExp][] = [
  [
    'no column of amounts',
    'symbol,ex_date,cash\nA,2024-06-07,1\n',
    /its header has an ex-date and lacks amount/,
  ],
  [
    'two columns of ex-dates',
    'symbol,ex_date,ex_dividend_date,amount\nA,2024-06-07,2024-06-07,1\n',
    /two columns for exDate/,
  ],
  [
    'a message of the provider',
    '{"Information": "25 requests per day"}',
    /provider's message instead of prices: 25/,
  ],
];
for (const [name, text, message] of notDividends) {
  test(`no dividends are imported from a file with ${name}`, async (t) => {
    await assert.rejects(importDividends(t, text), { code: 'invalid_file', message });
  });
}

test('a line that is not the dividends of a symbol makes every symbol of the file incomplete', async (t) => {
  const lines = [
    alphaVantage('KO', [
      ['2024-03-14', '0.485'],
      ['2024-06-14', '0.485'],
    ]),
    { symbol: 'PEP' },
    7,
  ];
  const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"symbol"\n`;
  const { refused, stored, spans } = await importDividends(t, text, { name: 'all.jsonl' });
  assert.deepEqual(refused, [
    '2: not the dividends of a symbol: {"symbol":"PEP"}',
    '3: not the dividends of a symbol: 7',
    '4: not JSON: {"symbol"',
  ]);
  assert.deepEqual([stored.length, spans], [2, []]);
});
