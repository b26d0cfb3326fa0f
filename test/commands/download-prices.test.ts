import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { weekdaysBefore } from '../../src/calendar.ts';
import { runInProcess } from '../support/in-process.ts';
import { type PriceServerOptions, faults, startPriceServer } from '../support/price-server.ts';
import { installProgram, runProgram, startProgram } from '../support/program.ts';

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
  const env = { ALPHAADVANTAGE_API_KEY: KEY, ALPHAVANTAGE_BASE_URL: server.url, PRESERVE_DEV_DATA: 'true' };
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runInProcess(['download-prices', ...args], { cwd, env: { ...env, ...more } });
  return { server, run };
}

test('it downloads what is missing, and nothing the second time', async (t) => {
  const { server, run } = await install(t, {});
  const first = await run(RANGE);
  assert.equal(first.stdout, 'Downloaded 3 of 3 symbols.\n5 of 5 weekdays known for all 3 symbols\n');
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const again = await run(RANGE);
  assert.equal(again.stdout, 'Nothing to download: every price is known.\n5 of 5 weekdays known for all 3 symbols\n');
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
  assert.match(first.stdout, /\n0 of 5 weekdays known for all 2 symbols; still missing on some of the others: NVDA\n$/);
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

const wrong: [name: string, args: string[], code: number, stderr: RegExp, env?: Record<string, string>][] = [
  ['without dates', [], 2, /^Cannot run download-prices: --from DATE is missing; --to DATE is missing\. Run "node server\.js download-prices --help" to see what it takes\.\n$/],
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
  ['with a future date', ['--from', '2025-02-05', '--to', '2999-01-01'], 2, /: --to 2999-01-01 is in the future/],
  ['with only a weekend', ['--from', '2025-02-01', '--to', '2025-02-02'], 2, /has no weekday/],
  ['with a strange symbol', [...RANGE, '--symbols', 'AAPL,../x'], 2, /: --symbols: "\.\.\/x" is not a ticker symbol/],
  ['with a strange limit', [...RANGE, '--limit', '0'], 2, /: --limit: expected a whole number from 1, got 0/],
  ['with an unknown option', [...RANGE, '--fast'], 2, /there is no option --fast\./],
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

test('downloads are kept when the process is killed in the middle', async (t) => {
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
  assert.deepEqual(server.requests, ['AAPL compact', 'MSFT compact', 'NVDA compact', 'NVDA compact']);
});
