import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { join } from 'node:path';
import { addDays, weekdaysBefore } from '../../src/core/time/calendar.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { runInProcess } from '../support/in-process.ts';
import { MASSIVE_KEY, startMassiveServer } from '../support/massive-server.ts';
import { faults, type PriceServerOptions, startPriceServer } from '../support/price-server.ts';
import { installProgram, startProgram } from '../support/program.ts';
import { rowsAsText } from '../support/tables.ts';
import { assertLike, like, tableOf } from '../support/text-table.ts';

const KEY = 'SECRET0123456789';
const TODAY = new Date().toISOString().slice(0, 10);
const WEEK = weekdaysBefore(TODAY, 10).slice(0, 5);
const RANGE = ['--from', WEEK[0] as string, '--to', WEEK[4] as string];
const prices = ['AAPL', 'MSFT', 'NVDA']
  .flatMap((symbol) => weekdaysBefore(TODAY, 10).map((date) => `${symbol} ${date} 100 101`))
  .join('\n');

async function install(t: TestContext, options: PriceServerOptions) {
  const server = await startPriceServer(t, { prices, ...options });
  const cwd = installProgram();
  const own = { ALPHAADVANTAGE_API_KEY: KEY, ALPHAVANTAGE_BASE_URL: server.url };
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runInProcess(['download-prices', ...args], { cwd, env: { ...own, ...more } });
  /** What a command leaves that was given the week. */
  const week = async (words = '') => {
    const { code, stdout, stderr } = await run([...RANGE, ...words.split(' ').filter(Boolean)]);
    return { code, lines: stdout.split('\n').slice(0, -1), stdout, stderr };
  };
  const rows = (sql: string) => {
    const database = openDatabase(join(cwd, 'data', 'jobs.db'));
    try {
      return rowsAsText(database, sql);
    } finally {
      database.close();
    }
  };
  return { server, run, week, rows };
}

test('it downloads what is missing, and nothing the second time', async (t) => {
  const { server, week } = await install(t, {});
  const known = '5 of 5 weekdays known for all 3 symbols';
  const { code, lines, stderr } = await week();
  assert.deepEqual([code, stderr, ...lines], [0, '', 'Downloaded 3 of 3 symbols.', known]);
  const again = await week();
  assert.deepEqual(again.lines, ['Nothing to download: every price is known.', known]);
  assert.equal(server.requests.length, 3);
});

test('at the daily quota it says what is missing, keeps what it has, and continues from there', async (t) => {
  const { server, week } = await install(t, {
    fault: (_request, index) => (index === 1 ? faults.dailyQuota(KEY) : undefined),
  });
  const { code, lines, stdout } = await week('--symbols msft,NVDA');
  assert.equal(code, 1);
  const [downloaded, limit, leftOut, known] = lines;
  assert.equal(downloaded, 'Downloaded 1 of 2 symbols.');
  assert.equal(limit, 'Rate limit reached: 1 of 2 symbols downloaded');
  assert.match(leftOut ?? '', /^5 dates left out: /);
  const found = known ?? '';
  assert.match(found, /^0 of 5 weekdays known .*; still missing on some of the others: NVDA$/);
  assert.ok(!stdout.includes(KEY));
  assert.equal((await week('--symbols MSFT,NVDA')).code, 0);
  assert.deepEqual(server.requests, ['MSFT compact', 'NVDA compact', 'NVDA compact']);
});

test('--limit bounds the number of downloads', async (t) => {
  const { server, week } = await install(t, {});
  const { code, lines } = await week('--limit 2');
  assert.deepEqual([code, lines[0]], [1, 'Downloaded 2 of 2 symbols.']);
  assert.deepEqual(server.requests, ['AAPL compact', 'MSFT compact']);
});

test('in DEV it says that the next start resets the database', async (t) => {
  const { run } = await install(t, {});
  const { stdout } = await run(RANGE, { DEPLOYMENT_MODE: 'DEV' });
  assert.match(stdout, /Note: data\/jobs_dev\.db is reset/);
});

const PAID = WEEK[2] as string;
const dividends = `AAPL ${PAID} 0.26\nAAPL 1999-12-01 0.1\nMSFT ${PAID} 0.83\nMSFT ${PAID} 0.17`;
const YESTERDAY = addDays(TODAY, -1);
const KNOWN = `known from ${WEEK[0]} to ${WEEK[4]}`;

test('--dividends downloads dividends and no prices, and nothing the second time', async (t) => {
  const { server, week, rows } = await install(t, { dividends });
  const known = `Dividends of 3 of 3 symbols ${KNOWN}`;
  const { code, lines, stderr } = await week('--dividends');
  const downloaded = 'Downloaded the dividends of 3 of 3 symbols.';
  assert.deepEqual([code, stderr, ...lines], [0, '', downloaded, known]);
  const again = await week('--dividends');
  assert.deepEqual(again.lines, ['Nothing to download: every dividend is known.', known]);
  assert.deepEqual(server.requests, ['AAPL dividends', 'MSFT dividends', 'NVDA dividends']);
  const columns = 'symbol, ex_date, cash_e6, basis, source';
  assert.deepEqual(rows(`SELECT ${columns} FROM dividends ORDER BY symbol, ex_date`), [
    'AAPL 1999-12-01 100000 as_paid alpha-vantage',
    `AAPL ${PAID} 260000 as_paid alpha-vantage`,
    `MSFT ${PAID} 1000000 as_paid alpha-vantage`,
  ]);
  assert.deepEqual(
    rows('SELECT symbol, start_date, end_date FROM dividend_coverage ORDER BY symbol'),
    ['AAPL 1999-12-01', 'MSFT 2000-01-01', 'NVDA 2000-01-01'].map((row) => `${row} ${YESTERDAY}`),
  );
  assert.deepEqual(rows('SELECT symbol FROM price_data'), []);
});

test('--dividends: one row without an amount leaves only its date unknown, and is counted where its date was not asked for', async (t) => {
  const { week, rows } = await install(t, {
    dividends: `AAPL ${PAID} None\nAAPL 1999-12-01 None\nMSFT 1999-12-01 None\nMSFT ${PAID} 0.83`,
  });
  const { code, lines } = await week('--dividends');
  assert.equal(code, 1);
  assertLike(lines, [
    'Downloaded the dividends of 3 of 3 symbols.',
    `Rejected 1 …splits and dividends: AAPL (…only ${PAID} is unknown: no dividend and no split)`,
    'Skipped 2 …splits and dividends: unreadable…',
    `Dividends of 2 of 3 symbols ${KNOWN}; still unknown on some of these dates: AAPL`,
  ]);
  assert.deepEqual(
    rows(`SELECT start_date, end_date < '${PAID}' FROM dividend_coverage WHERE symbol = 'AAPL'`),
    ['2000-01-01 1', `${addDays(PAID, 1)} 0`],
  );
});

test('--dividends up to today needs what is known through yesterday', async (t) => {
  const { server, run } = await install(t, { dividends });
  const toToday = ['--from', WEEK[0] as string, '--to', TODAY, '--symbols', 'AAPL', '--dividends'];
  for (const _ of ['once', 'again']) assert.equal((await run(toToday)).code, 0);
  assert.deepEqual(server.requests, ['AAPL dividends']);
});

test('--dividends keeps what it has at the daily quota, and continues from there', async (t) => {
  const { server, week } = await install(t, {
    dividends,
    fault: (_request, index) => [undefined, faults.empty, faults.dailyQuota(KEY)][index],
  });
  const { code, lines, stdout } = await week('--dividends');
  assertLike(lines, [
    'Downloaded the dividends of 1 of 3 symbols.',
    "Rate limit reached: 1 of 3 symbols downloaded; try again tomorrow, when the provider's daily quota is reset",
    '…for MSFT: the response has no "data" with dividends',
    `Dividends of 1 of 3 symbols ${KNOWN}; still unknown on some of these dates: MSFT, NVDA`,
  ]);
  assert.deepEqual([code, stdout.includes(KEY)], [1, false]);
  assert.equal((await week('--dividends --limit 1')).code, 1);
  assert.equal((await week('--dividends --limit 1')).code, 0);
  assert.deepEqual(server.requests.slice(3), ['MSFT dividends', 'NVDA dividends']);
});

const STRANGERS = [
  'No price of APPL is known on any date; did you mean "AAPL"?',
  'No price of QQQQQQQQ is known on any date; …',
];
for (const more of ['', ' --dividends']) {
  test(`a symbol that no provider knows is an error with the nearest name${more}`, async (t) => {
    const { week } = await install(t, { fault: () => faults.unknownSymbol });
    for (const time of ['first', 'second']) {
      const { code, stdout, stderr } = await week(`--symbols APPL,QQQQQQQQ${more}`);
      if (time === 'first') assert.match(stdout, /does not know 2 symbols: APPL, QQQQQQQQ/);
      const strangers = stderr.split('\n').filter((line) => line.startsWith('No price'));
      assert.equal(code, 1, time);
      assertLike(strangers, STRANGERS, time);
    }
  });
}

const wrong = tableOf<[args: string, code: string, says: string]>(`
                                    | 2 | Cannot run download-prices: --from DATE is missing; --to DATE is missing. Run "npx trading-simulation-service download-prices --help" to see what it takes.
  --from 2025-02-30 --to 2025-03-04 | 2 | …: --from: expected a date YYYY-MM-DD, got 2025-02-30…
  --from 2025-02-05 --to 2025-02-03 | 2 | …: --from 2025-02-05 is after --to…
  --from 2025-02-05 --to 2999-01-01 | 2 | …: --to 2999-01-01 is in the future…
  --from 2025-02-01 --to 2025-02-02 | 2 | …has no weekday…
  RANGE --symbols AAPL,../x         | 2 | …: --symbols: "../x" is not a ticker symbol…
  RANGE --limit 0                   | 2 | …: --limit: expected a whole number from 1 to 999999, got 0…
  RANGE --limit 99999999            | 2 | …: --limit: expected a whole number from 1 to 999999, got 99999999…
  RANGE --fast                      | 2 | …there is no option --fast.…
  RANGE --dividends                 | 1 | Cannot download dividends by symbol: ALPHAADVANTAGE_API_KEY is not set…
  RANGE                             | 1 | Cannot download prices: neither MASSIVE_API_KEY nor ALPHAADVANTAGE_API_KEY is set…`);
test('wrong usage and a missing key are reported without a request', async (t) => {
  const { server, run } = await install(t, {});
  for (const [words, code, says] of wrong) {
    const args = words.replace('RANGE', RANGE.join(' ')).split(' ').filter(Boolean);
    const massive = words.endsWith('--dividends') && { MASSIVE_API_KEY: KEY };
    const env = code === '1' ? { ALPHAADVANTAGE_API_KEY: '', ...massive } : {};
    const ended = await run(args, env);
    assert.equal(ended.code, Number(code), words);
    assert.match(ended.stderr.trimEnd(), like(says));
  }
  assert.deepEqual(server.requests, []);
});

/** Starts the command, and kills it at a request that its server leaves open. */
async function killAt(
  index: number,
  server: { set(options: PriceServerOptions): void },
  ...start: Parameters<typeof startProgram>
): Promise<void> {
  const asked = Promise.withResolvers<void>();
  server.set({
    fault(_name, number) {
      if (number !== index) return undefined;
      asked.resolve();
      return faults.hang;
    },
  });
  const program = startProgram(...start);
  await asked.promise;
  program.process.kill('SIGKILL');
  await program.ended;
}

test('from Massive it downloads days, with the trading days before them; killed in the middle, it asks for nothing twice', async (t) => {
  const history = weekdaysBefore(WEEK[0] as string, 10);
  const days = [...history, ...WEEK].flatMap((date) =>
    ['AAPL', 'MSFT'].map((symbol) => `${symbol} ${date} 100 101`),
  );
  const cwd = installProgram();
  const server = await startMassiveServer(t, { prices: days.join('\n') });
  const env = { POLYGON_API_KEY: MASSIVE_KEY, MASSIVE_BASE_URL: server.url };
  const args = ['download-prices', ...RANGE, '--symbols', 'AAPL,MSFT'];
  await killAt(4, server, args, { cwd, env });
  const again = await runInProcess(args, { cwd, env });
  assert.equal(again.stdout, 'Downloaded 3 of 3 days.\n5 of 5 weekdays known for all 2 symbols\n');
  assert.deepEqual([again.code, again.stderr], [0, '']);
  const { stdout } = await runInProcess(args, { cwd, env });
  assert.match(stdout, /^Nothing to download: every price is known\.\n/);
  const [first, second, ...later] = WEEK;
  assert.deepEqual(server.requests, [
    ...['splits', 'dividends', first, second, later[0]],
    ...[...later, ...history.reverse()],
  ]);
});
