import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import { activeDays } from '../../src/features/performance/queries.ts';
import { storeExchanges } from '../../src/core/database/exchanges.ts';
import type { Suspicion } from '../../src/core/database/suspicion-queries.ts';
import {
  createSuspicionSearch,
  describeSuspicions,
  suspicionWarnings,
} from '../../src/core/prices/suspected.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { importFile } from '../../src/features/price-files/import.ts';
import { currentWarnings } from '../../src/core/prices/warnings.ts';
import { auditOf, type Books, createBooks, replayOf } from '../support/books.ts';
import { scriptedAgent } from '../support/agents.ts';
import { readPrices } from '../support/prices.ts';
import { startTestService } from '../support/service.ts';
import { startTestView } from '../support/view.ts';
import { temporaryFolder } from '../support/folder.ts';

/** A weekend lies between the two closes; MSFT falls less than a split would. */
const FALL = `
  ORLY 2025-01-02 1340 1345
  ORLY 2025-01-03 1345 1348
  ORLY 2025-01-06 90 91
  ORLY 2025-01-07 91 92
  MSFT 2025-01-03 200 200
  MSFT 2025-01-06 141 140`;

type Bars = { [Property in 'source' | 'prices']?: string };

/** Three days that hold ORLY over its fall, if they bought it on the first. */
async function booksOf(
  { source = 'csv', prices = FALL }: Bars = {},
  orders: [symbol: string, date: string][] = [['ORLY', '2025-01-03']],
): Promise<Books> {
  const books = createBooks();
  for (const { symbol, date, ...bar } of readPrices(prices))
    books.setBar(symbol, date, { ...bar, source });
  for (const date of ['2025-01-03', '2025-01-06', '2025-01-07']) {
    const own = orders.filter(([, day]) => day === date);
    await books.day(
      date,
      own.map(([symbol]) => ['buy', symbol, 2]),
    );
  }
  return books;
}

const suspicionsOf = ({ database }: Books) =>
  [...activeDays(database, ['model-a'], {})].flatMap(([model, days]) =>
    createSuspicionSearch(database, { from: '', to: '~' })(days).map((one) => ({ ...one, model })),
  );

const suspected = (books: Books) =>
  suspicionsOf(books).map(({ model, kind, symbol, date, to, days }) => {
    const on = days.length > 1 ? `${days.length} days` : days[0]?.date;
    return `${model} ${on} ${symbol} ${date} ${kind === 'split' ? '' : `${kind} `}${to}`;
  });

/** Imports lines of a file. */
async function importLines(books: Books, ...lines: string[]): Promise<void> {
  const path = join(temporaryFolder(), 'lines.csv');
  writeFileSync(path, [...lines, ''].join('\n'));
  await importFile(books.database as CommandDatabase, path, {
    clock: () => new Date('2025-02-01'),
    onRefused: (line, { reason }) => assert.fail(`line ${line}: ${reason}`),
  });
}

const importSplits = (books: Books, ...lines: string[]) =>
  importLines(books, 'symbol,date,numerator,denominator', ...lines);
const importDividends = (books: Books, ...lines: string[]) =>
  importLines(books, 'symbol,ex_date,amount,confirmed', ...lines);
const exchange = (symbol: string, date: string, into = '', remains: 0 | 1 = 0) => {
  const shares = into === '' ? null : 1;
  const exchanges = [
    { symbol, date, into, cash: 0, numerator: shares, denominator: shares, remains },
  ];
  return ({ database }: Books) => void storeExchanges(database, exchanges, 'csv');
};

const FOUND = ['model-a 2025-01-06 ORLY 2025-01-06 90'];
const LARGE = ['model-a 2025-01-06 ORLY 2025-01-06 dividend 1250'];
const SPAN = `INSERT INTO stock_split_spans VALUES ('ORLY', 'massive', ?, '2025-01-10', 't')`;
const COVERED = `INSERT INTO stock_split_coverage VALUES ('ORLY', ?, 'alpha-vantage', 't')`;
const run = (sql: string, value: string) => (books: Books) =>
  void books.database.statement(sql).run(value);

const nights: [name: string, learn: (books: Books) => void, expected: string[]][] = [
  ['a fall that nothing explains', () => {}, FOUND],
  ['a split', (books) => books.setSplit('ORLY', '2025-01-06', 15, 1), []],
  ['a split on the weekend', (books) => books.setSplit('ORLY', '2025-01-04', 15, 1), []],
  ['a spin-off of the fall', exchange('ORLY', '2025-01-06', 'NEW', 1), []],
  ['an exchange of the day before', exchange('ORLY', '2025-01-03', 'NEW', 1), FOUND],
  ['an exchange into it', exchange('OLD', '2025-01-04', 'ORLY'), FOUND],
  [
    'another name that traded after it',
    (books) => {
      books.setBar('OLD', '2025-01-04', { open: 90, close: 90 });
      exchange('OLD', '2025-01-06', 'ORLY')(books);
    },
    [],
  ],
  ['a split of the day before', (books) => books.setSplit('ORLY', '2025-01-03', 15, 1), FOUND],
  ['a dividend of the fall', (books) => books.setDividend('ORLY', '2025-01-06', 1250), LARGE],
  ['an ordinary dividend', (books) => books.setDividend('ORLY', '2025-01-06', 12), FOUND],
  ['a provider of spans that knows the night', run(SPAN, '2025-01-04'), []],
  ['a provider of spans that knows a part of the night', run(SPAN, '2025-01-05'), FOUND],
  ['a provider of symbols that was asked since', run(COVERED, '2025-01-06'), []],
  ['a provider of symbols that was asked before', run(COVERED, '2025-01-05'), FOUND],
];

test('a model-day is suspected when it held a symbol over a jump that nothing explains', async () => {
  for (const [name, learn, expected] of nights) {
    const books = await booksOf();
    learn(books);
    assert.deepEqual(suspected(books), expected, name);
  }
  const limit = (open: number) =>
    FALL.replace('1345 1348', '13 13.26').replace('90 91', `${open} 17`).replace('91 92', '17 17');
  const rise = FALL.replace('90 91', '2700 2700').replace('91 92', '2700 2700');
  const days: [name: string, Parameters<typeof booksOf>, string[]][] = [
    ['bought after the fall', [{}, [['ORLY', '2025-01-06']]], []],
    ['another symbol', [{}, [['MSFT', '2025-01-03']]], []],
    ['prices that are adjusted for splits', [{ source: 'yahoo' }], []],
    ['a rise of 30 %, rounded to a cent', [{ prices: limit(17.24) }], []],
    ['a cent more', [{ prices: limit(17.25) }], ['model-a 2025-01-06 ORLY 2025-01-06 17.25']],
    ['a reverse split', [{ prices: rise }], ['model-a 2025-01-06 ORLY 2025-01-06 2700']],
    [
      'a fall on a day without a model-day',
      [{ prices: FALL.replace('2025-01-06 90 91', '2025-01-05 90 91') }],
      ['model-a 2025-01-06 ORLY 2025-01-05 90'],
    ],
  ];
  for (const [name, books, expected] of days)
    assert.deepEqual(suspected(await booksOf(...books)), expected, name);
});

const splitRecords = ({ database }: Books) =>
  database.statement(`SELECT symbol FROM positions WHERE action_type = 'split'`).all();

test('a line of a file settles it: the split makes the day stale, 1:1 changes nothing', async () => {
  const books = await booksOf();
  await books.day('2025-01-06');
  await books.day('2025-01-07');
  assert.deepEqual(suspected(books), FOUND, 'once, though the day ran twice');
  await importSplits(books, 'ORLY,2025-01-06,1,1');
  assert.deepEqual(suspected(books), []);
  const { stale, problems, unverifiable } = await auditOf(books.database);
  assert.deepEqual([stale, problems, unverifiable], [[], [], []]);
  assert.equal((await replayOf(books.database)).same, '3 of 3');
  await books.day('2025-01-06');
  assert.deepEqual(splitRecords(books), []);
  assert.deepEqual(suspected(books), [], 'nor is the day suspected when it is repeated');

  await importSplits(books, 'ORLY,2025-01-06,15,1');
  assert.deepEqual(suspected(books), []);
  const days = ['model-a 2025-01-06']; // the next one rests on a close that was made again alike
  assert.deepEqual((await auditOf(books.database)).stale, days);
});

test('1:1 takes back a split that was stored: the day that applied it is stale, and suspected no more', async () => {
  const books = createBooks();
  for (const { symbol, date, ...bar } of readPrices(FALL)) books.setBar(symbol, date, bar);
  await books.day('2025-01-03', [['buy', 'ORLY', 2]]);
  await importSplits(books, 'ORLY,2025-01-06,15,1');
  await books.day('2025-01-06');
  await importSplits(books, 'ORLY,2025-01-06,1,1');
  assert.deepEqual(suspected(books), []);
  const { stale, problems } = await auditOf(books.database);
  assert.deepEqual([stale, problems], [['model-a 2025-01-06'], []]);
});

test('the warning of a job says how to settle the jumps that are left, and which were settled since', async () => {
  const books = await booksOf();
  const on = '2025-01-06';
  const jump = { kind: 'split', date: on, last: '2025-01-03', isCovered: 1 } as const;
  const orly = { ...jump, symbol: 'ORLY', from: 1348, to: 90 };
  const gone = { ...jump, symbol: 'MSFT', from: 200, to: 99 }; // of earlier prices
  const other = { ...jump, symbol: 'A', from: 10, to: 3.5 };
  const ten = Array.from({ length: 10 }, () => orly);
  const said = (...jumps: Suspicion[]) => {
    const [code, about] = [null, undefined];
    const all = [...suspicionWarnings(jumps), { code, message: 'Documents' }];
    const warningCodes = JSON.stringify(all.map((one) => ({ about, ...one })));
    const warnings = JSON.stringify(all.map(({ message }) => message));
    const now = currentWarnings(books.database, { warnings, warningCodes });
    assert.equal(now?.pop()?.message, 'Documents');
    return now?.map((one) => (one.code === null ? one.message : one));
  };
  const settled = (...symbols: string[]) =>
    `Settled since: possible split of ${symbols.map((symbol) => `${symbol} on ${on}`).join(', ')}`;
  books.setBar('A', '2025-01-03', { open: 10, close: 10 });
  books.setBar('A', on, { open: 3.5, close: 4 });
  assert.deepEqual(said(orly, other), suspicionWarnings([orly, other]));
  assert.deepEqual(said(gone), [settled('MSFT')]);
  for (const date of ['2025-01-03', '2025-01-07']) {
    const near = `Settled since: possible split of A on ${date}`;
    assert.deepEqual(said({ ...other, date }), [near], 'its jump is on another date');
  }
  assert.deepEqual(said(orly, gone, other), [...suspicionWarnings([orly, other]), settled('MSFT')]);
  await importSplits(books, 'ORLY,2025-01-06,15,1');
  assert.deepEqual(said(orly, gone, other), [
    ...suspicionWarnings([other]),
    settled('ORLY', 'MSFT'),
  ]);
  assert.deepEqual(said(orly), [settled('ORLY')]);
  assert.deepEqual(said(...ten, other), suspicionWarnings([...ten, other]));
  assert.equal(currentWarnings(books.database, { warnings: null, warningCodes: '[]' }), undefined);
});

/** A close of 200 before 6 January. */
const FLAT = 'MSFT 2025-01-03 200 200\nMSFT 2025-01-06 200 200\nMSFT 2025-01-07 200 200';
const paid = (cash: number) => [`model-a 2025-01-06 MSFT 2025-01-06 dividend ${cash}`];

test('a dividend above a quarter of the close before it is suspected, until it is confirmed, corrected or an exchange', async () => {
  const rows: [name: string, learn: (books: Books) => unknown, expected: string[], Bars?][] = [
    ['a quarter', (books) => books.setDividend('MSFT', '2025-01-06', 50), []],
    ['more', (books) => books.setDividend('MSFT', '2025-01-06', 50.01), paid(50.01)],
    ['on the weekend', (books) => books.setDividend('MSFT', '2025-01-04', 60), [WEEKEND]],
    ['of the day before', (books) => books.setDividend('MSFT', '2025-01-03', 60), []],
    [
      'a file',
      (books) => importDividends(books, 'MSFT,2025-01-06,60,', 'MSFT,2025-01-09,1,'),
      paid(60),
    ],
    ['a file that confirms it', (books) => importDividends(books, 'MSFT,2025-01-06,60,yes'), []],
    ['a file that does not', (books) => importDividends(books, 'MSFT,2025-01-06,60,no'), paid(60)],
    [
      'in the shares of adjusted prices',
      (books) => {
        books.setDividend('MSFT', '2025-01-06', 400);
        books.setSplit('MSFT', '2025-02-03', 10, 1);
      },
      [],
      { source: 'yahoo' },
    ],
    [
      'prices that contain dividends',
      (books) => books.setDividend('MSFT', '2025-01-06', 60),
      [],
      { source: 'synthetic' },
    ],
  ];
  for (const [name, learn, expected, bars = {}] of rows) {
    const books = await booksOf({ prices: FLAT, ...bars }, [['MSFT', '2025-01-03']]);
    await learn(books);
    assert.deepEqual(suspected(books), expected, name);
  }
  const settling: [name: string, settle: (books: Books) => unknown, expected: string[]][] = [
    ['confirmed', (books) => importDividends(books, 'MSFT,2025-01-06,60,TRUE'), []],
    ['the same again', (books) => importDividends(books, 'MSFT,2025-01-06,60,'), paid(60)],
    ['corrected', (books) => importDividends(books, 'MSFT,2025-01-06,6,'), []],
    ['none', (books) => importDividends(books, 'MSFT,2025-01-06,0,'), []],
    ['a spin-off', exchange('MSFT', '2025-01-06', 'NEW', 1), []],
    ['a spin-off of the day before', exchange('MSFT', '2025-01-03', 'NEW', 1), paid(60)],
  ];
  for (const [name, settle, expected] of settling) {
    const books = await booksOf({ prices: FLAT }, [['MSFT', '2025-01-03']]);
    books.setDividend('MSFT', '2025-01-06', 60);
    await settle(books);
    assert.deepEqual(suspected(books), expected, name);
  }
});
const WEEKEND = 'model-a 2025-01-06 MSFT 2025-01-04 dividend 60';

test('confirmed is kept while the amount is the same, and makes no model-day stale', async () => {
  const books = createBooks();
  for (const { symbol, date, ...bar } of readPrices(FLAT)) books.setBar(symbol, date, bar);
  books.setDividend('MSFT', '2025-01-06', 60);
  await books.day('2025-01-03', [['buy', 'MSFT', 2]]);
  await books.day('2025-01-06');
  assert.deepEqual(suspected(books), paid(60));
  await importDividends(books, 'MSFT,2025-01-06,60,yes');
  await importDividends(books, 'MSFT,2025-01-06,60,');
  assert.deepEqual(suspected(books), []);
  assert.deepEqual((await auditOf(books.database)).stale, []);
  await importDividends(books, 'MSFT,2025-01-06,61,');
  assert.deepEqual(suspected(books), paid(61), 'another amount is not confirmed');
  await importDividends(books, 'MSFT,2025-01-06,61,yes');
  await importDividends(books, 'MSFT,2025-01-06,61,no');
  assert.deepEqual(suspected(books), paid(61), 'taken back');
  await assert.rejects(importDividends(books, 'MSFT,2025-01-06,61,perhaps'), /neither yes nor no/);
});

test('a model without dividends is not suspected of one', async () => {
  const books = createBooks(':memory:', { paysDividends: false });
  for (const { symbol, date, ...bar } of readPrices(FLAT)) books.setBar(symbol, date, bar);
  books.setDividend('MSFT', '2025-01-06', 60);
  await books.day('2025-01-03', [['buy', 'MSFT', 2]]);
  await books.day('2025-01-06');
  assert.deepEqual(suspected(books), []);
});

const SESSIONS = ['2025-01-06', '2025-01-07', '2025-01-08', '2025-01-09', '2025-01-10'];
const ENDED = ['model-a 5 days ORLY 2025-01-06 end null'];
/** ORLY trades last on 3 January; AAPL on these dates. */
async function heldOn(dates: readonly string[], traded = dates, orders: [string, string][] = []) {
  const books = createBooks();
  books.setBar('ORLY', '2025-01-03', { open: 50, close: 51 });
  for (const date of ['2025-01-03', ...traded]) books.setBar('AAPL', date, { open: 9, close: 9 });
  for (const date of ['2025-01-03', ...dates]) {
    const own = [['ORLY', '2025-01-03'], ...orders].filter(([, day]) => day === date);
    await books.day(
      date,
      own.map(([symbol = '']) => ['buy', symbol, 2]),
    );
  }
  return books;
}

test('a symbol may have ended that was held over five sessions on which only others traded', async () => {
  const rows: [name: string, learn: (books: Books) => unknown, expected: string[]][] = [
    ['five sessions', () => {}, ENDED],
    ['a cash merger', exchange('ORLY', '2025-01-06'), []],
    ['a merger later', exchange('ORLY', '2025-01-09', 'NEW'), []],
    ['a spin-off', exchange('ORLY', '2025-01-06', 'NEW', 1), ENDED],
    ['an exchange before', exchange('ORLY', '2025-01-03'), ENDED],
    ['of another symbol', exchange('AAPL', '2025-01-06'), ENDED],
    ['a later bar', (books) => books.setBar('ORLY', '2025-01-13', { open: 50, close: 50 }), []],
  ];
  for (const [name, learn, expected] of rows) {
    const books = await heldOn(SESSIONS);
    await learn(books);
    assert.deepEqual(suspected(books), expected, name);
  }
  const four = SESSIONS.slice(1);
  assert.deepEqual(suspected(await heldOn(four)), [], 'four sessions');
  assert.deepEqual(suspected(await heldOn(SESSIONS, four)), [], 'nothing traded on one of them');
  const books = await heldOn(SESSIONS);
  const said = () => String(describeSuspicions(suspicionsOf(books))[0]?.text);
  assert.match(
    said(),
    /^ORLY on 2025-01-06 \(its file ends with 51 on 2025-01-03\)\. To settle this/,
  );
  assert.match(
    said(),
    /symbol,date,cash,into,numerator,denominator,remains .* ORLY,2025-01-06,CASH,,,, /,
  );
  books.database
    .statement(`INSERT INTO price_data_coverage VALUES ('ORLY', 'massive', '2025-01-01', ?, 't')`)
    .run('2025-01-06');
  assert.match(said(), /^ORLY on 2025-01-06 \(its last close is 51 on 2025-01-03\)/);
});

test('a job warns of what its models held, and no comparison has such a model, until it is settled', async (t) => {
  const days = ['2025-11-10', '2025-11-11', '2025-11-12', '2025-11-13', '2025-11-14', '2025-11-17'];
  const service = await startTestService(t, {
    configuration: {
      models: ['a', 'b', 'c'].map((signature) => ({ signature, enabled: true })),
      agent_config: { stock_symbols: ['OLD', 'FAT', 'OTHER'] },
    },
    prices: `${days.map((date) => `OTHER ${date} 10 11\nFAT ${date} 100 100`).join('\n')}\nOLD 2025-11-10 50 51`,
    agent: scriptedAgent({
      'a 2025-11-10': [[['buy', { symbol: 'OLD', amount: 10 }]]],
      'b 2025-11-10': [[['buy', { symbol: 'FAT', amount: 10 }]]],
    }),
  });
  const { database } = service;
  database
    .statement(
      `INSERT INTO dividends (symbol, ex_date, cash_e6) VALUES ('FAT', '2025-11-12', 30000000)`,
    )
    .run();
  const job = await service.runJob({ start_date: days[0], end_date: days.at(-1) });
  const told = async () => {
    const { warnings, warning_codes: codes } = (await service.get(`/simulate/status/${job.job_id}`))
      .body;
    return codes.map((code: string, index: number) => [code, warnings[index]]);
  };
  const [dividend, end] = [
    /^Large dividend: FAT on 2025-11-12 \(30 a share, after a close of 100\).*FAT,2025-11-12,AMOUNT,yes/,
    /^Possible end: OLD on 2025-11-11 .*OLD,2025-11-11,CASH/,
  ];
  const before = (await told()).filter(([code]: [string]) => code?.startsWith('possible')).sort();
  assert.deepEqual(
    before.map(([code]: [string]) => code),
    ['possible_dividend', 'possible_end'],
  );
  assert.match(before[0][1], dividend);
  assert.match(before[1][1], end);
  const { models } = (await service.get('/performance')).body;
  assert.deepEqual(
    models.map((own: any) => [own.model, own.suspected]),
    [
      [
        'a',
        [{ kind: 'end', symbol: 'OLD', date: '2025-11-11', from: 51, to: null, model_days: 5 }],
      ],
      [
        'b',
        [{ kind: 'dividend', symbol: 'FAT', date: '2025-11-12', from: 100, to: 30, model_days: 1 }],
      ],
      ['c', []],
    ],
  );
  assert.deepEqual(
    models.flatMap((own: any) => own.incomparable.map(({ kind }: any) => `${own.model} ${kind}`)),
    ['a suspected_end', 'b suspected_dividend'],
  );
  const { answer } = (await service.get('/comparison')).body;
  assert.deepEqual(answer.left_out, ['a', 'b']);
  assert.match(
    answer.sentence,
    /Left out until settled: a, b \(possible end of OLD on 2025-11-11, large dividend of FAT on 2025-11-12\)\./,
  );
  const isEnd = async () => (await told()).some(([code]: [string]) => code === 'possible_end');
  const later = `INSERT INTO price_data (symbol, date, open) VALUES ('OLD', '2025-11-18', 50)`;
  database.statement(later).run();
  assert.equal(await isEnd(), false, 'a later bar');
  database.statement(`DELETE FROM price_data WHERE date = '2025-11-18'`).run();
  assert.equal(await isEnd(), true);
  exchange('OLD', '2025-11-11')({ database } as Books);
  database.statement('UPDATE dividends SET confirmed = 1').run();
  const after = (await told()).map(([, words]: [string, string]) => words.split(';')[0]);
  assert.deepEqual(after.filter((words: string) => words.includes('Settled')).sort(), [
    'Settled since: large dividend of FAT on 2025-11-12',
    'Settled since: possible end of OLD on 2025-11-11',
  ]);
  const { sentence } = (await service.get('/comparison')).body.answer;
  assert.match(sentence, /Not compared: a \(1 of its 6 model-days is stale\)\.$/, 'b is compared');
});

test('a job of one day warns of an end that the days before it held too', async (t) => {
  const days = ['2025-11-10', '2025-11-11', '2025-11-12', '2025-11-13', '2025-11-14', '2025-11-17'];
  const service = await startTestService(t, {
    configuration: {
      models: [{ signature: 'a', enabled: true }],
      agent_config: { stock_symbols: ['OLD', 'OTHER'] },
    },
    prices: `${days.map((date) => `OTHER ${date} 10 11`).join('\n')}\nOLD 2025-11-10 50 51`,
    agent: scriptedAgent({ 'a 2025-11-10': [[['buy', { symbol: 'OLD', amount: 10 }]]] }),
  });
  const codes: unknown[] = [];
  for (const date of [...days, days[0]]) {
    const job = await service.runJob({
      ...{ start_date: date, end_date: date, replace_existing: true },
    });
    codes.push(job.warning_codes?.includes('possible_end') ?? false);
  }
  assert.deepEqual(codes, [false, false, false, false, false, true, false]);
});

test('a job names its jumps once, and no dividend that came before a purchase', async (t) => {
  const [first, second, last] = ['2025-11-10', '2025-11-11', '2025-11-12'];
  const service = await startTestService(t, {
    configuration: {
      models: [{ signature: 'a', enabled: true }],
      agent_config: { stock_symbols: ['FELL', 'ALSO', 'FAT'] },
    },
    prices: [
      ...['FELL', 'ALSO'].flatMap((symbol) => [
        `${symbol} ${first} 100 100`,
        ...[second, last].map((date) => `${symbol} ${date} 10 10`),
      ]),
      ...[first, second, last].map((date) => `FAT ${date} 100 100`),
    ].join('\n'),
    agent: scriptedAgent({
      [`a ${first}`]: [[['buy', { symbol: 'FELL', amount: 1 }]]],
      [`a ${second}`]: [[['buy', { symbol: 'FAT', amount: 1 }]]],
    }),
  });
  const dividend = `INSERT INTO dividends (symbol, ex_date, cash_e6) VALUES ('FAT', ?, 30000000)`;
  service.database.statement(dividend).run(second);
  const { warning_codes: codes } = await service.runJob({ start_date: first, end_date: last });
  assert.deepEqual(
    codes.filter((code: string | null) => code?.startsWith('possible')),
    ['possible_split'],
  );
});

test('a bar after the last date of a job settles an end in its package too', async (t) => {
  const days = ['2025-11-10', '2025-11-11', '2025-11-12', '2025-11-13', '2025-11-14', '2025-11-17'];
  const bars = [...days, '2025-11-18'].map((date) => `OTHER ${date} 10 11`);
  const service = await startTestService(t, {
    configuration: {
      models: [{ signature: 'a', enabled: true }],
      agent_config: { stock_symbols: ['OLD', 'OTHER'] },
    },
    prices: [...bars, 'OLD 2025-11-10 50 51', 'OLD 2025-11-18 50 51'].join('\n'),
    agent: scriptedAgent({ 'a 2025-11-10': [[['buy', { symbol: 'OLD', amount: 10 }]]] }),
  });
  const { job_id: jobId } = await service.runJob({ start_date: days[0], end_date: days.at(-1) });
  const target = join(temporaryFolder(), 'paper.db');
  await packageJob({ path: service.database.path, jobId, target });
  const view = await startTestView(t, target);
  for (const place of [service, view]) {
    const [own] = (await place.get('/performance')).body.models;
    assert.deepEqual([own.model_days, own.suspected], [6, []]);
  }
});
