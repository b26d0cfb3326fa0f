import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { join } from 'node:path';
import { addDays, weekdaysBefore } from '../../src/basics/calendar.ts';
import { openDatabase } from '../../src/database/database.ts';
import { runInProcess } from '../support/in-process.ts';
import { MASSIVE_KEY, massiveFaults, startMassiveServer } from '../support/massive-server.ts';
import {
  type Fault,
  faults,
  type PriceServerOptions,
  startPriceServer,
} from '../support/price-server.ts';
import { installProgram, runProgram, startProgram } from '../support/program.ts';
import { rowsAsText } from '../support/tables.ts';
import { inLongForm } from '../support/long.ts';

const KEY = 'SECRET0123456789';
const TODAY = new Date().toISOString().slice(0, 10);
const WEEK = weekdaysBefore(TODAY, 10).slice(0, 5);
const RANGE = ['--from', WEEK[0] as string, '--to', WEEK[4] as string];
const prices = ['AAPL', 'MSFT', 'NVDA']
  .flatMap((symbol) => weekdaysBefore(TODAY, 10).map((date) => `${symbol} ${date} 100 101`))
  .join('\n');

async function install(t: TestContext, options: PriceServerOptions) {
  const server = await startPriceServer(t, { prices, ...options });
  const cwd = installProgram(t);
  const env = {
    ALPHAADVANTAGE_API_KEY: KEY,
    ALPHAVANTAGE_BASE_URL: server.url,
    PRESERVE_DEV_DATA: 'true',
  };
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runInProcess(['download-prices', ...args], { cwd, env: { ...env, ...more } });
  return { server, run, cwd };
}

test('it downloads what is missing, and nothing the second time', async (t) => {
  const { server, run } = await install(t, {});
  const first = await run(RANGE);
  assert.equal(
    first.stdout,
    'Downloaded 3 of 3 symbols.\n5 of 5 weekdays known for all 3 symbols\n',
  );
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const again = await run(RANGE);
  assert.equal(
    again.stdout,
    'Nothing to download: every price is known.\n5 of 5 weekdays known for all 3 symbols\n',
  );
  assert.equal(server.requests.length, 3);
});

test('at the daily quota it says what is missing, keeps what it has, and continues from there', async (t) => {
  const { server, run } = await install(t, {
    fault: (_request, index) => (index === 1 ? faults.dailyQuota(KEY) : undefined),
  });
  const first = await run([...RANGE, '--symbols', 'msft,NVDA']);
  assert.equal(first.code, 1);
  assert.match(
    first.stdout,
    /^Downloaded 1 of 2 symbols\.\nRate limit reached: 1 of 2 symbols downloaded\n5 dates left out: /,
  );
  assert.match(
    first.stdout,
    /\n0 of 5 weekdays known for all 2 symbols; still missing on some of the others: NVDA\n$/,
  );
  assert.ok(!first.stdout.includes(KEY));
  assert.equal((await run([...RANGE, '--symbols', 'MSFT,NVDA'])).code, 0);
  assert.deepEqual(server.requests, ['MSFT compact', 'NVDA compact', 'NVDA compact']);
});

test('--limit bounds the number of downloads', async (t) => {
  const { server, run } = await install(t, {});
  const { code, stdout } = await run([...RANGE, '--limit', '2']);
  assert.equal(code, 1);
  assert.match(stdout, /^Downloaded 2 of 2 symbols\.\n/);
  assert.deepEqual(server.requests, ['AAPL compact', 'MSFT compact']);
});

test('in DEV it says that the next start resets the database', async (t) => {
  const { run } = await install(t, {});
  assert.match(
    (await run(RANGE, { DEPLOYMENT_MODE: 'DEV', PRESERVE_DEV_DATA: '' })).stdout,
    /Note: data\/jobs_dev\.db is reset/,
  );
});

const PAID = WEEK[2] as string;
const dividends = `AAPL ${PAID} 0.26\nAAPL 1999-12-01 0.1\nMSFT ${PAID} 0.83\nMSFT ${PAID} 0.17`;
const YESTERDAY = addDays(TODAY, -1);
const KNOWN = `known from ${WEEK[0]} to ${WEEK[4]}`;

test('--dividends downloads dividends and no prices, and nothing the second time', async (t) => {
  const { server, run, cwd } = await install(t, { dividends });
  const first = await run([...RANGE, '--dividends']);
  assert.equal(
    first.stdout,
    `Downloaded the dividends of 3 of 3 symbols.\nDividends of 3 of 3 symbols ${KNOWN}\n`,
  );
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const again = await run([...RANGE, '--dividends']);
  assert.equal(
    again.stdout,
    `Nothing to download: every dividend is known.\nDividends of 3 of 3 symbols ${KNOWN}\n`,
  );
  assert.deepEqual(server.requests, ['AAPL dividends', 'MSFT dividends', 'NVDA dividends']);
  const database = openDatabase(join(cwd, 'data', 'jobs.db'));
  t.after(() => database.close());
  assert.deepEqual(
    rowsAsText(
      database,
      'SELECT symbol, ex_date, cash_e6, basis, source FROM dividends ORDER BY symbol, ex_date',
    ),
    [
      'AAPL 1999-12-01 100000 as_paid alpha-vantage',
      `AAPL ${PAID} 260000 as_paid alpha-vantage`,
      `MSFT ${PAID} 1000000 as_paid alpha-vantage`,
    ],
  );
  assert.deepEqual(
    rowsAsText(
      database,
      'SELECT symbol, start_date, end_date FROM dividend_coverage ORDER BY symbol',
    ),
    [
      `AAPL 1999-12-01 ${YESTERDAY}`,
      `MSFT 2000-01-01 ${YESTERDAY}`,
      `NVDA 2000-01-01 ${YESTERDAY}`,
    ],
  );
  assert.deepEqual(rowsAsText(database, 'SELECT symbol FROM price_data'), []);
});

test('--dividends: one row without an amount leaves only its date unknown, and is counted where its date was not asked for', async (t) => {
  const { run, cwd } = await install(t, {
    dividends: `AAPL ${PAID} None\nAAPL 1999-12-01 None\nMSFT 1999-12-01 None\nMSFT ${PAID} 0.83`,
  });
  const { stdout, code } = await run([...RANGE, '--dividends']);
  assert.equal(code, 1);
  assert.equal(
    stdout,
    [
      'Downloaded the dividends of 3 of 3 symbols.',
      `1 of the provider's splits and dividends could not be used: AAPL (a dividend that cannot be read, so only ${PAID} is unknown: no dividend and no split)`,
      "2 of the provider's splits and dividends, outside the dates asked for, cannot be read and were skipped",
      `Dividends of 2 of 3 symbols ${KNOWN}; still unknown on some of these dates: AAPL`,
      '',
    ].join('\n'),
  );
  const database = openDatabase(join(cwd, 'data', 'jobs.db'));
  t.after(() => database.close());
  assert.deepEqual(
    rowsAsText(
      database,
      `SELECT start_date, end_date < '${PAID}' FROM dividend_coverage WHERE symbol = 'AAPL'`,
    ),
    ['2000-01-01 1', `${addDays(PAID, 1)} 0`],
  );
});

test('--dividends up to today needs what is known through yesterday', async (t) => {
  const { server, run } = await install(t, { dividends });
  const toToday = ['--from', WEEK[0] as string, '--to', TODAY, '--symbols', 'AAPL', '--dividends'];
  assert.deepEqual(
    [(await run(toToday)).code, (await run(toToday)).code, server.requests],
    [0, 0, ['AAPL dividends']],
  );
});

test('--dividends keeps what it has at the daily quota, and continues from there', async (t) => {
  const { server, run } = await install(t, {
    dividends,
    fault: (_request, index) => [undefined, faults.empty, faults.dailyQuota(KEY)][index],
  });
  const first = await run([...RANGE, '--dividends']);
  assert.deepEqual(first.stdout.replace(/(limit reached).*/, '$1').split('\n'), [
    'Downloaded the dividends of 1 of 3 symbols.',
    'Rate limit reached',
    'The price provider\'s responses for MSFT could not be used: the response has no "data" with dividends',
    `Dividends of 1 of 3 symbols ${KNOWN}; still unknown on some of these dates: MSFT, NVDA`,
    '',
  ]);
  assert.match(
    first.stdout,
    /Rate limit reached: 1 of 3 symbols downloaded; try again tomorrow, when the provider's daily quota is reset/,
  );
  assert.deepEqual([first.code, first.stdout.includes(KEY)], [1, false]);
  assert.equal((await run([...RANGE, '--dividends', '--limit', '1'])).code, 1);
  assert.equal((await run([...RANGE, '--dividends', '--limit', '1'])).code, 0);
  assert.deepEqual(server.requests.slice(3), ['MSFT dividends', 'NVDA dividends']);
});

const stopped: [name: string, fault: Fault, requests: number, stdout: RegExp][] = [
  [
    'a bad key',
    faults.badKey,
    1,
    /does not accept the key in ALPHAADVANTAGE_API_KEY \(.*: 0 of 3 symbols downloaded/,
  ],
  [
    'three responses that cannot be read',
    faults.html,
    3,
    /The price provider cannot be reached \(.*Welcome to the hotel/,
  ],
  [
    'symbols that are not known',
    faults.unknownSymbol,
    3,
    /does not know 3 symbols: AAPL, MSFT, NVDA\nDividends of 0 of 3/,
  ],
];
for (const [name, fault, requests, stdout] of stopped) {
  test(`--dividends says what is wrong after ${name}`, async (t) => {
    const { server, run } = await install(t, { fault: () => fault });
    const ended = await run([...RANGE, '--dividends']);
    assert.match(ended.stdout, stdout);
    assert.deepEqual([ended.code, server.requests.length], [1, requests]);
  });
}

const STRANGERS = [
  'No price of APPL is known on any date; did you mean "AAPL"?',
  'No price of QQQQQQQQ is known on any date; is it a ticker symbol of a US exchange?',
];
for (const more of [[], ['--dividends']]) {
  test(`a symbol that no provider knows is an error with the nearest name${more.map((one) => `, ${one}`).join('')}`, async (t) => {
    const { run } = await install(t, { fault: () => faults.unknownSymbol });
    const { code, stdout, stderr } = await run([...RANGE, '--symbols', 'APPL,QQQQQQQQ', ...more]);
    assert.match(stdout, /does not know 2 symbols: APPL, QQQQQQQQ/);
    assert.deepEqual(
      [code, stderr.split('\n').filter((line) => line.startsWith('No price'))],
      [1, STRANGERS],
    );
    const again = await run([...RANGE, '--symbols', 'APPL,QQQQQQQQ', ...more]);
    assert.deepEqual(
      [again.code, again.stderr.split('\n').filter((line) => line.startsWith('No price'))],
      [1, STRANGERS],
    );
  });
}

const wrong: [
  name: string,
  args: string[],
  code: number,
  stderr: RegExp,
  env?: Record<string, string>,
][] = [
  [
    'without dates',
    [],
    2,
    /^Cannot run download-prices: --from DATE is missing; --to DATE is missing\. Run "node server\.js download-prices --help" to see what it takes\.\n$/,
  ],
  [
    'with a date that does not exist',
    ['--from', '2025-02-30', '--to', '2025-03-04'],
    2,
    /: --from: expected a date YYYY-MM-DD, got 2025-02-30/,
  ],
  [
    'with dates the wrong way round',
    ['--from', '2025-02-05', '--to', '2025-02-03'],
    2,
    /: --from 2025-02-05 is after --to/,
  ],
  [
    'with a future date',
    ['--from', '2025-02-05', '--to', '2999-01-01'],
    2,
    /: --to 2999-01-01 is in the future/,
  ],
  ['with only a weekend', ['--from', '2025-02-01', '--to', '2025-02-02'], 2, /has no weekday/],
  [
    'with a strange symbol',
    [...RANGE, '--symbols', 'AAPL,../x'],
    2,
    /: --symbols: "\.\.\/x" is not a ticker symbol/,
  ],
  [
    'with a strange limit',
    [...RANGE, '--limit', '0'],
    2,
    /: --limit: expected a whole number from 1 to 999999, got 0/,
  ],
  [
    'with too high a limit',
    [...RANGE, '--limit', '99999999'],
    2,
    /: --limit: expected a whole number from 1 to 999999, got 99999999/,
  ],
  ['with an unknown option', [...RANGE, '--fast'], 2, /there is no option --fast\./],
  [
    "with dividends and only the other provider's key",
    [...RANGE, '--dividends'],
    1,
    /Cannot download dividends by symbol: ALPHAADVANTAGE_API_KEY is not set/,
    { ALPHAADVANTAGE_API_KEY: '', MASSIVE_API_KEY: KEY },
  ],
  [
    'without a key',
    RANGE,
    1,
    /Cannot download prices: neither MASSIVE_API_KEY nor ALPHAADVANTAGE_API_KEY is set/,
    { ALPHAADVANTAGE_API_KEY: '' },
  ],
];
for (const [name, args, code, stderr, env] of wrong) {
  test(`${name} it says what is wrong`, async (t) => {
    const { server, run } = await install(t, {});
    const ended = await run(args, env);
    assert.equal(ended.code, code);
    assert.match(ended.stderr, stderr);
    assert.deepEqual(server.requests, []);
  });
}

test('downloads are kept when the process is killed in the middle', inLongForm, async (t) => {
  const third = Promise.withResolvers<void>();
  const server = await startPriceServer(t, {
    prices,
    fault(_request, index) {
      if (index !== 2) return undefined;
      third.resolve();
      return faults.hang;
    },
  });
  const cwd = installProgram(t);
  const env = { ALPHAADVANTAGE_API_KEY: KEY, ALPHAVANTAGE_BASE_URL: server.url };
  const program = startProgram(['download-prices', ...RANGE], { cwd, env });
  await third.promise;
  program.process.kill('SIGKILL');
  await program.ended;
  assert.equal((await runProgram(['download-prices', ...RANGE], { cwd, env })).code, 0);
  assert.deepEqual(server.requests, [
    'AAPL compact',
    'MSFT compact',
    'NVDA compact',
    'NVDA compact',
  ]);
});

test('from Massive it downloads days, with the trading days before them; killed in the middle, it asks for nothing twice', async (t) => {
  const history = weekdaysBefore(WEEK[0] as string, 10);
  const days = [...history, ...WEEK].flatMap((date) =>
    ['AAPL', 'MSFT'].map((symbol) => `${symbol} ${date} 100 101`),
  );
  const fifth = Promise.withResolvers<void>();
  const server = await startMassiveServer(t, {
    prices: days.join('\n'),
    fault(_request, index) {
      if (index !== 4) return undefined;
      fifth.resolve();
      return massiveFaults.hang;
    },
  });
  const cwd = installProgram(t);
  const env = { POLYGON_API_KEY: MASSIVE_KEY, MASSIVE_BASE_URL: server.url };
  const program = startProgram(['download-prices', ...RANGE, '--symbols', 'AAPL,MSFT'], {
    cwd,
    env,
  });
  await fifth.promise;
  program.process.kill('SIGKILL');
  await program.ended;
  const run = () =>
    runInProcess(['download-prices', ...RANGE, '--symbols', 'AAPL,MSFT'], { cwd, env });
  const again = await run();
  assert.equal(again.stdout, 'Downloaded 3 of 3 days.\n5 of 5 weekdays known for all 2 symbols\n');
  assert.deepEqual([again.code, again.stderr], [0, '']);
  assert.match((await run()).stdout, /^Nothing to download: every price is known\.\n/);
  const [first, second, ...later] = WEEK;
  assert.deepEqual(server.requests, [
    'splits',
    'dividends',
    first,
    second,
    later[0],
    ...later,
    ...history.reverse(),
  ]);
});
