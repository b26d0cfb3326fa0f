import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { findBoard } from '../../src/core/domain/market-rules.ts';
import { configurationInStudy, parseConfiguration } from '../../src/core/settings/configuration.ts';
import { addDays, isWeekday } from '../../src/core/time/calendar.ts';
import { writeControlMarket } from '../../src/features/control-markets/control-market.ts';
import {
  disguisedDividends,
  disguisedRows,
  HEADER,
} from '../../src/features/control-markets/disguised-rows.ts';
import { drawKey, shiftBack } from '../../src/features/control-markets/key.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { storeExchanges } from '../../src/core/database/exchanges.ts';
import {
  dividendCoverage,
  storeDividends,
  storeSplits,
} from '../../src/core/database/splits-and-dividends.ts';
import type { PriceSource } from '../../src/core/database/prices.ts';
import { runInProcess } from '../support/in-process.ts';
import { storePrices } from '../support/prices.ts';
import { copyTemplate } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';
import { temporaryFolder } from '../support/folder.ts';
import { US_RULES } from '../support/market-rules.ts';

const PRICES = `
  AAA 2025-06-05 100 102
  AAA 2025-06-06 104 106
  AAA 2025-06-09 26.5 27
  AAA 2025-06-10 27.25 -
  BBB 2025-06-06 10 11
  BBB 2025-06-10 11 12`;
const SPLIT = [{ symbol: 'AAA', date: '2025-06-09', numerator: 4, denominator: 1 }];
const configuration = {
  models: [],
  agent_config: { stock_symbols: ['AAA', 'BBB', 'NONE'] },
  universes: { small: ['BBB'], empty: ['NONE'] },
};
const SPAN = '--from 2025-06-05 --to 2025-06-10';
const STAMP = { source: 'csv', recordedAt: '2025-07-01T00:00:00.000Z' };

/**
 * Of AAA before its split, on the day of its split and after it; of BBB it is known that there was
 * none.
 */
const DIVIDENDS = [
  { symbol: 'AAA', exDate: '2025-06-05', cash: 9_000_000 },
  { symbol: 'AAA', exDate: '2025-06-06', cash: 800_001, confirmed: 1 },
  { symbol: 'AAA', exDate: '2025-06-09', cash: 2_000_000 },
  { symbol: 'AAA', exDate: '2025-06-10', cash: 500_000 },
];
const KNOWN = [
  { symbol: 'AAA', startDate: '2025-05-01', endDate: '2025-06-30' },
  { symbol: 'BBB', startDate: '2025-06-06', endDate: '2025-06-06' },
  { symbol: 'BBB', startDate: '2025-06-09', endDate: '2025-06-09' },
];

/** A folder with a configuration and a database of these prices, as the program finds them. */
function installed(t: TestContext) {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'configs'));
  writeFileSync(join(cwd, 'configs/default_config.json'), JSON.stringify(configuration));
  copyTemplate(join(cwd, 'data/jobs.db'));
  const database = openDatabase(join(cwd, 'data/jobs.db'), { durability: 'process-end' });
  t.after(() => database.close());
  storePrices(database, PRICES);
  database.transaction(() => {
    storeSplits(database, { symbol: 'AAA', splits: SPLIT, endDate: '2025-06-30' }, STAMP);
    storeDividends(database, { dividends: DIVIDENDS, spans: KNOWN, basis: 'as_paid' }, STAMP);
  });
  const disguise = (args: string) =>
    runInProcess(['disguise', '--seed', ...args.split(' ')], { cwd });
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
  /** The rows of a CSV file, without its header. */
  const rowsOf = (name: string) =>
    read(name)
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
  return { cwd, database, disguise, read, rowsOf };
}

test('the key: the same for the same seed, another for another one; codes, factors and weeks as documented', () => {
  const symbols = Array.from({ length: 500 }, (_, index) => `S${index}`);
  const from = '2025-06-05';
  const key = drawKey('river', symbols, { weeks: null, from });
  const again = drawKey('river', symbols.toReversed(), { weeks: null, from: '2024-01-01' });
  assert.deepEqual(again, key);
  assert.notDeepEqual(drawKey('rivers', symbols, { weeks: null, from }).disguises, key.disguises);
  assert.deepEqual(drawKey('river', symbols, { weeks: 7, from }), { ...key, weeks: 7 });
  const codes = key.disguises.map(({ code }) => code);
  assert.equal(new Set(codes).size, symbols.length);
  for (const code of codes) assert.match(code, /^[A-Z]{6}$/);
  assert.deepEqual(codes, codes.toSorted());
  const order = key.disguises.map(({ symbol }) => symbol);
  assert.notDeepEqual(order, symbols.toSorted(), 'the order of the codes tells nothing');
  const exponents = key.disguises.map(({ factor }) => Math.log2(factor));
  assert.ok(exponents.every((exponent) => exponent >= -1 && exponent < 1));
  const mean = exponents.reduce((sum, exponent) => sum + exponent, 0) / exponents.length;
  const [least, most] = [Math.min(...exponents), Math.max(...exponents)];
  assert.ok(Math.abs(mean) < 0.1 && least < -0.9 && most > 0.9, `mean ${mean}`);
  const seeds = Array.from({ length: 200 }, (_, seed) => `${seed}`);
  const weeks = seeds.map((seed) => drawKey(seed, [], { weeks: null, from }).weeks);
  const [fewest, latest] = [Math.min(...weeks), Math.max(...weeks)];
  assert.ok(fewest >= 52 && fewest < 100 && latest > 990 && latest <= 1_040);
  assert.ok(isWeekday(shiftBack(from, key)));
  assert.throws(() => drawKey('river', ['A'], { weeks: 6_545, from }), {
    code: 'invalid_dates',
    message: /6545 weeks before 2025-06-05 is before 1900-01-01; give fewer weeks$/,
  });
  assert.equal(shiftBack(from, drawKey('river', ['A'], { weeks: 6_544, from })), '1900-01-04');
});

const bar = { open: 100, high: 110, low: 90, close: 105, volume: 1000 };
const OUT_OF_RANGE =
  /^Cannot disguise AAA: its bar of 2025-06-\d\d would be out of range; try another seed$/;
/** A bar, how it differs from the usual one, and its disguise: prices times, volume over a factor. */
const bars: [bar: object, factor: number, expected: string | RegExp][] = [
  [{ date: '2025-06-06' }, 2, 'CODE,2025-05-30,50,55,45,52.5,2000,disguise\n'], // before its split
  [{ date: '2025-06-09' }, 2, 'CODE,2025-06-02,200,220,180,210,500,disguise\n'],
  [{ date: '2025-06-10' }, 1 / 3, 'CODE,2025-06-03,33.3333,36.6667,30,35,3000,disguise\n'],
  [
    { date: '2025-06-10', high: null, low: null, close: null, volume: null },
    1,
    'CODE,2025-06-03,100,,,,,disguise\n',
  ],
  [{ date: '2025-06-10', volume: 0 }, 2, 'CODE,2025-06-03,200,220,180,210,0,disguise\n'],
  [{ date: '2025-06-06', low: 0.0001 }, 1, OUT_OF_RANGE],
  [{ date: '2025-06-10', open: 9e6 }, 2, OUT_OF_RANGE],
  [{ date: '2025-06-10', volume: 9e14 }, 0.5, OUT_OF_RANGE],
];
test('a disguised bar is in the shares of after all splits, times its factor, rounded as prices are', () => {
  for (const [change, factor, expected] of bars) {
    const options = { symbol: 'AAA', code: 'CODE', factor, weeks: 1, splits: SPLIT };
    const disguised = () => disguisedRows([{ date: '', ...bar, ...change }], options).join('');
    if (typeof expected === 'string') assert.equal(disguised(), expected);
    else assert.throws(disguised, { code: 'no_prices', message: expected });
  }
});

/**
 * Dividends of AAA on Friday 2025-06-06 and Monday 2025-06-09, of 1 dollar → rows of 2 dollars,
 * `DAY AMOUNT`.
 */
const spansOfDividends: [known: string, rows: string, source?: PriceSource][] = [
  ['', '06 2, 09 2'],
  ['2025-01-01 2025-12-31', '05 0, 10 0, 06 2, 09 2'],
  ['2025-06-09 2025-12-31', '09 0, 10 0, 06 2, 09 2'],
  ['2025-06-09 2025-06-09', '09 0, 06 2, 09 2'],
  ['2025-06-05 2025-06-05, 2025-06-09 2025-06-10', '06 2, 09 2'],
  ['', '05 0, 10 0', 'stooq'], // contained in the prices
];
const listOf = (text: string) => (text === '' ? [] : text.split(', ').map((one) => one.split(' ')));
const ofTwo = { symbol: 'AAA', code: 'CODE', factor: 2, weeks: 1, splits: [] };
const inJune = { from: '2025-06-05', to: '2025-06-10' };
/** A database in which AAA pays so many millionths of a dollar on dates. */
function paying(cash: number, exDates: string[], source?: PriceSource) {
  const database = openDatabase(':memory:');
  storePrices(database, PRICES, source);
  const dividends = exDates.map((exDate) => ({ symbol: 'AAA', exDate, cash }));
  const stamp = { ...STAMP, source: 'manual' };
  storeDividends(database, { dividends, spans: [], basis: 'as_paid' }, stamp);
  return database;
}
test('disguised dividends come with the spans in which they are complete', () => {
  for (const [known, rows, source] of spansOfDividends) {
    const database = paying(1_000_000, ['2025-06-06', '2025-06-09'], source);
    for (const [from = '', to = ''] of listOf(known))
      database
        .statement(`INSERT INTO dividend_coverage VALUES ('AAA', 'csv', ?, ?, 't')`)
        .run(from, to);
    assert.deepEqual(
      disguisedDividends(database, ofTwo, inJune).map(({ row }) => row),
      listOf(rows).map(([day, amount]) => `CODE,${addDays(`2025-06-${day}`, -7)},${amount},\n`),
    );
  }
});

test('a disguised dividend above the highest is refused', () => {
  const database = paying(600_000_000_000, ['2025-06-06']);
  assert.throws(() => disguisedDividends(database, ofTwo, inJune), {
    code: 'no_prices',
    message:
      'Cannot disguise AAA: its dividend of 2025-06-06 would be out of range; try another seed',
  });
});

test('disguise writes prices and dividends, and import-prices takes them as an adjusted series with coverage', async (t) => {
  const { cwd, database, disguise, read, rowsOf } = installed(t);
  const first = await disguise(`river ${SPAN} --out control`);
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const files = ['dividends.csv', 'key.csv', 'prices.csv', 'universe.json'];
  assert.deepEqual(readdirSync(join(cwd, 'control')).sort(), files);
  const keys = rowsOf('control/key.csv');
  assert.match(read('control/key.csv'), /^code,symbol,factor,weeks\n/);
  const codeOf = Object.fromEntries(keys.map(([code, symbol]) => [symbol, code]));
  assert.deepEqual(Object.keys(codeOf).sort(), ['AAA', 'BBB']);
  assert.deepEqual(JSON.parse(read('control/universe.json')), {
    universes: { control: keys.map(([code]) => code) },
  });
  const weeks = Number(keys[0]?.[3]);
  const lastDate = addDays('2025-06-10', -7 * weeks);
  const said = `control: 6 bars and 3 dividends of 2 symbols, … to ${lastDate}, ${weeks} week…
  left out, without prices then: NONE
…Next: npx trading-simulation-service import-prices control/prices.csv control/dividends.csv, …, npx trading-simulation-service trigger --universe control\n`;
  assert.match(first.stdout, like(said));
  const prices = read('control/prices.csv');
  assert.equal(prices.slice(0, HEADER.length), 'symbol,date,open,high,low,close,volume,source\n');
  assert.equal(prices.split('\n').length, 8);
  const dividends = rowsOf('control/dividends.csv');
  assert.match(read('control/dividends.csv'), /^symbol,ex_date,amount,confirmed\n/);
  const factor = Number(keys.find(([, symbol]) => symbol === 'AAA')?.[2]);
  const disguised = (millionths: number) => `${Math.round(millionths * factor) / 1e6}`;
  const back = (date: string) => addDays(date, -7 * weeks);
  const expected = [
    ['AAA', '2025-06-05', '0'], // the ends of what is known; there is no close before the first date to be paid on
    ['AAA', '2025-06-10', '0'],
    ['AAA', '2025-06-06', disguised(800_001 / 4)],
    ['AAA', '2025-06-09', disguised(2_000_000 / 4)], // before the split of its day
    ['AAA', '2025-06-10', disguised(500_000)],
    ['BBB', '2025-06-06', '0'], // the weekend between its two spans needs no dividends
    ['BBB', '2025-06-09', '0'],
  ].map(([symbol = '', date = '', amount]) => {
    const isConfirmed = date === '2025-06-06' && symbol === 'AAA';
    return [codeOf[symbol], back(date), amount, isConfirmed ? 'yes' : ''];
  });
  const byCode = (one: unknown[], other: unknown[]) =>
    String(one[0]).localeCompare(String(other[0]));
  assert.deepEqual(dividends.toSorted(byCode), expected.toSorted(byCode));
  const given = prices + read('control/dividends.csv') + read('control/universe.json');
  assert.doesNotMatch(given, /AAA|BBB|NONE|2025/);

  assert.equal((await disguise(`river ${SPAN} --out again`)).code, 0);
  for (const name of files) assert.equal(read(`again/${name}`), read(`control/${name}`));

  const csv = ['control/prices.csv', 'control/dividends.csv'];
  const imported = await runInProcess(['import-prices', ...csv], { cwd });
  const { stdout } = imported;
  assert.match(stdout, /control market CSV\n {2}imported 6 bars \(6 new or changed\) of 2 symbols/);
  assert.match(stdout, /CSV of dividends\n {2}imported 3 dividends \(3 new, .*\) of 2 symbols/);
  const spans = dividendCoverage(database, [codeOf['AAA'] ?? ''], { from: '', to: '~' });
  const covered = spans.map(({ startDate, endDate }) => `${startDate} ${endDate}`);
  assert.deepEqual(covered, [`${back('2025-06-05')} ${back('2025-06-10')}`]);
  const series = `SELECT symbol, count(*), max(source) FROM price_data GROUP BY symbol`;
  const found = rowsAsText(database, series);
  assert.ok(found.includes(`${codeOf['AAA']} 4 disguise`) && found.includes('AAA 4 csv'));
  const ends = `SELECT end_date FROM price_data_coverage
    WHERE symbol = '${codeOf['AAA']}' AND source = 'disguise'`;
  assert.deepEqual(rowsAsText(database, ends), [back('2025-06-09')], 'to the last complete bar');
});

/** The exit code, options after `--seed S` and the message. */
const refusals = tableOf<[code: string, options: string, message: string]>(`
  1 | SPAN --out configs                | Cannot create the folder configs: it is not empty
  1 | SPAN --out configs/default_config.json | Cannot create the folder …: ENOTDIR…
  1 | SPAN --out no/such                | Cannot create the folder no/such: there is no such file or folder…
  1 | --from 2025-01-01 --to 2025-01-31 --out new | …: no price of the universe is stored from 2025-01-01 to…
  1 | SPAN --universe empty --out new   | …no price of the universe is stored…
  1 | SPAN --universe big --out new     | Universe 'big' is not in the server configuration: it names small, empty
  1 | SPAN --weeks 9999 --out new       | …9999 weeks before 2025-06-05 is before 1900-01-01…
  2 | --from 2025-06-05 --to 2025-06-04 --out new | …--from 2025-06-05 is after --to 2025-06-04…
  2 | --from 2025-06-05 --to 2999-01-01 --out new | …--to 2999-01-01 is in the future…
  2 | --from soon --to 2025-06-04 --out new | …--from: expected a date…
  2 | SPAN --weeks 0 --out new          | …--weeks: expected a whole number from 1 to 99999, got 0…
  2 | SPAN --mask symbols --weeks 9 --out new | …--weeks: --mask symbols keeps the real dates; leave one of them out…
  2 | SPAN --mask weekdays --out new    | …--mask: expected symbols, dates or both, not weekdays…
  2 | SPAN --name '' --out new          | …--name needs a value: --name CONTROL…
  2 | SPAN --out ''                     | Cannot run disguise: --out needs a value: --out FOLDER.…
  1 | SPAN --out nowhere                | …: it is a symbolic link that leads nowhere
  1 | SPAN --out data/other.db-wal      | …: SQLite uses such a name for the log of a database
  1 | SPAN --out owner.lock             | …: the service uses that name
  2 | SPAN --universe small --name small --out new | …--name: small is the universe to disguise…
`);
test('disguise refuses what cannot be done, and leaves nothing behind', async (t) => {
  const { cwd, disguise } = installed(t);
  symlinkSync('no-such-folder', join(cwd, 'nowhere'));
  const before = readdirSync(cwd).sort();
  for (const [code, options, message] of refusals) {
    const ended = await disguise(`river ${options.replace('SPAN', SPAN).replace(" ''", ' ')}`);
    assert.match(ended.stderr.trimEnd(), like(message), options);
    const left = [ended.code, ended.stdout, readdirSync(cwd).sort()];
    assert.deepEqual(left, [Number(code), '', before], options);
  }
  assert.match((await disguise(` ${SPAN} --out new`)).stderr, /--seed needs a value: --seed S/);
  assert.deepEqual(readdirSync(join(cwd, 'configs')), ['default_config.json']);
});

const maskings: [mask: string, hasRealNames: boolean, weeks: number, said: RegExp][] = [
  ['symbols', false, 0, /2025-06-05 to 2025-06-10, on the real dates$/m],
  ['dates', true, 9, /9 weeks earlier\n[^]*import it in another folder, into a database of its/],
  ['both', false, 9, /9 weeks earlier$/m],
];

test('a mask hides the symbols, the dates or both; factors, volumes and exchanges are the same in all', async (t) => {
  const { cwd, database, disguise, read, rowsOf } = installed(t);
  const parts = { symbol: 'BBB', date: '2025-06-10', cash: 500_000, remains: 1 } as const;
  const spun = { ...parts, into: 'SPUN', numerator: 1, denominator: 1 };
  database.transaction(() => storeExchanges(database, [spun], 'csv'));
  const given = new Set<string>();
  for (const [mask, hasRealNames, weeks, said] of maskings) {
    const shift = mask === 'symbols' ? '' : ' --weeks 9';
    const ended = await disguise(`river ${SPAN}${shift} --mask ${mask} --out ${mask}`);
    assert.deepEqual([ended.code, ended.stderr], [0, ''], mask);
    assert.match(ended.stdout, said, mask);
    assert.match(
      ended.stdout,
      /3 dividends and 1 exchange of 3 symbols, [^]* \w+\/exchanges.csv, /,
    );
    const universe = JSON.parse(read(`${mask}/universe.json`)).universes.control;
    const codeOf = new Map(rowsOf(`${mask}/key.csv`).map(([code, symbol]) => [symbol, code]));
    assert.deepEqual(universe, [codeOf.get('AAA'), codeOf.get('BBB')].sort(), mask);
    const [[old, date, cash, into, ...terms] = []] = rowsOf(`${mask}/exchanges.csv`);
    assert.deepEqual([old, into], [codeOf.get('BBB'), codeOf.get('SPUN')], mask);
    assert.equal(date, weeks === 0 ? '2025-06-10' : '2025-04-08', mask);
    if (mask === 'both')
      assert.match(
        (await runInProcess(['import-prices', 'both/exchanges.csv'], { cwd })).stdout,
        /imported 1 exchange \(1 new, changed or removed\) of 1 symbol, 2025-04-08/,
      );
    const [key, prices] = [rowsOf(`${mask}/key.csv`), rowsOf(`${mask}/prices.csv`)];
    for (const [code, symbol, , own] of key)
      assert.deepEqual([code === symbol, own], [hasRealNames, `${weeks}`], mask);
    assert.equal(prices[0]?.[1]?.slice(0, 7), weeks === 0 ? '2025-06' : '2025-04', mask);
    const factors = key.map(([, symbol, factor]) => `${symbol} ${factor}`).sort();
    const values = prices.map(([, , ...rest]) => rest.join()).sort();
    given.add([...factors, ...values, cash, ...terms].join('\n'));
  }
  assert.equal(given.size, 1);
});

test('a symbol without prices that an exchange brings on the way to another keeps its place in the chain', async (t) => {
  const { database, disguise, read, rowsOf } = installed(t);
  const taken = { cash: 0, numerator: 1, denominator: 1, remains: 0 } as const;
  const chain = [
    { ...taken, symbol: 'AAA', date: '2025-06-09', into: 'NONE' },
    { ...taken, symbol: 'NONE', date: '2025-06-10', into: 'BBB' },
  ];
  database.transaction(() => storeExchanges(database, chain, 'csv'));
  assert.equal((await disguise(`river ${SPAN} --out control`)).code, 0);
  const codes = new Map(rowsOf('control/key.csv').map(([code, symbol]) => [symbol, code]));
  const arrives = rowsOf('control/exchanges.csv').map(([old, , , into]) => [old, into]);
  const [first, way, last] = ['AAA', 'NONE', 'BBB'].map((symbol) => codes.get(symbol));
  assert.deepEqual(
    arrives.sort(),
    [
      [first, way],
      [way, last],
    ].sort(),
  );
  const { universes } = JSON.parse(read('control/universe.json'));
  assert.deepEqual(universes.control, [first, last].sort());
});

test('an empty folder is taken; a universe and a name can be chosen; without known dividends there are three files', async (t) => {
  const { cwd, database, disguise, read, rowsOf } = installed(t);
  mkdirSync(join(cwd, 'empty'));
  const args = `x ${SPAN} --weeks 3 --universe small --name other --out`;
  assert.equal((await disguise(`${args} empty`)).code, 0);
  assert.deepEqual(Object.keys(JSON.parse(read('empty/universe.json')).universes), ['other']);
  const dates = rowsOf('empty/prices.csv').map(([, date]) => date);
  assert.deepEqual(dates, ['2025-05-16', '2025-05-20']);

  database.statement('DELETE FROM dividend_coverage').run();
  assert.match(
    (await disguise(`${args} without`)).stdout,
    /^without: 2 bars and 0 dividends of 1 symbol, [^]*Next: npx trading-simulation-service import-prices without\/prices.csv, merge/,
  );
  const files = ['key.csv', 'prices.csv', 'universe.json'];
  assert.deepEqual(readdirSync(join(cwd, 'without')).sort(), files);
});

test('codes have the lots and limits of their symbols, as a study, where the market has several', async (t) => {
  for (const [market, boards] of [
    ['us', null],
    [{ base: 'us', symbols: 'AAA,5,5,0.2' }, ['5,5,0.2', '1,1,']],
    [{ base: 'us', symbols: '*,5,5,' }, null],
  ] as const) {
    const { cwd, disguise, read, rowsOf } = installed(t);
    const terms = { ...configuration.agent_config, market };
    const edited = JSON.stringify({ ...configuration, agent_config: terms });
    writeFileSync(join(cwd, 'configs/default_config.json'), edited);
    const { stdout } = await disguise(`river ${SPAN} --out control`);
    assert.match(
      stdout,
      boards === null ? /trigger --universe control/ : /trigger --study control/,
    );
    const { universes, studies } = JSON.parse(read('control/universe.json'));
    assert.doesNotMatch(read('control/universe.json'), /AAA|BBB/, 'only the key has real symbols');
    if (boards === null) assert.equal(studies, undefined);
    else {
      const codes = new Map(rowsOf('control/key.csv').map(([code, symbol]) => [symbol, code]));
      const lines = studies.control.market.symbols.split('\n');
      const expected = boards.map((row, at) => `${codes.get(['AAA', 'BBB'][at])},${row}`);
      assert.deepEqual(lines.slice(0, 2).sort(), expected.sort());
      const merged = { ...configuration, agent_config: terms, universes, studies };
      const { agent_config: own } = configurationInStudy(
        parseConfiguration(merged, 'merged'),
        'control',
      ).configuration;
      assert.equal(findBoard(own.market, codes.get('AAA') ?? '').step, 5);
      assert.equal(own.market.currency, 'USD');
    }
  }
});

test('a control market that is stopped or fails half-way leaves nothing', async (t) => {
  const { cwd, database } = installed(t);
  const key = drawKey('river', ['AAA', 'BBB'], { weeks: 1, from: '2025-06-05' });
  const span = { key, from: '2025-06-05', to: '2025-06-10', name: 'control', rules: US_RULES };
  const out = join(cwd, 'new');
  const stopping = new AbortController();
  const stopped = writeControlMarket(database.path, out, {
    ...span,
    signal: stopping.signal,
    onProgress: () => {
      assert.match(readdirSync(cwd).join('\n'), /^new\..*\.unfinished$/m);
      stopping.abort();
    },
  });
  await assert.rejects(stopped, { name: 'AbortError' });
  storePrices(database, 'BBB 2025-06-09 10000000 10000000');
  const disguises = key.disguises.map((disguise) => ({ ...disguise, factor: 2 }));
  const { signal } = new AbortController();
  const wide = { ...span, key: { disguises, weeks: 1 }, signal };
  const failed = writeControlMarket(database.path, out, wide);
  await assert.rejects(failed, {
    code: 'no_prices',
    message: /^Cannot disguise BBB: its bar of 2025-06-09 would/,
  });
  assert.deepEqual([existsSync(out), readdirSync(cwd).sort()], [false, ['configs', 'data']]);
});
