import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { weekdaysBefore } from '../../src/core/time/calendar.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { MASSIVE_KEY, startMassiveServer } from '../support/massive-server.ts';
import { faults, type PriceServerOptions, startPriceServer } from '../support/price-server.ts';
import {
  clockFrom,
  startTestService,
  type TestService,
  type TestServiceOptions,
  TODAY,
} from '../support/service.ts';
import { until } from '../support/until.ts';

/** Jobs whose prices come by date, from Massive, or by symbol, from Alpha Vantage. */

const KEY = 'SECRET0123456789';
const HISTORY = weekdaysBefore(TODAY, 100);
const series = (symbol: string, price: number, dates: readonly string[] = HISTORY) =>
  dates.map((date) => `${symbol} ${date} ${price} ${price}`).join('\n');
const TWO = `${series('AAPL', 100)}\n${series('ORLY', 100)}`;
const DAY = { start_date: '2025-11-20', end_date: '2025-11-20' };

interface Setting extends TestServiceOptions {
  symbols: readonly string[];
  script?: Script;
}

function start(t: TestContext, { symbols, script = {}, ...options }: Setting) {
  return startTestService(t, {
    clock: clockFrom(TODAY),
    configuration: {
      models: [{ signature: 'model-a', enabled: true }],
      agent_config: { stock_symbols: symbols },
    },
    agent: scriptedAgent(script),
    ...options,
  });
}

const from = (massiveBaseUrl: string) => ({ massiveApiKey: MASSIVE_KEY, massiveBaseUrl });

async function startBySymbol(t: TestContext, options: PriceServerOptions, folder?: string) {
  const server = await startPriceServer(t, options);
  const service = await start(t, {
    symbols: ['AAPL', 'ORLY'],
    ...(folder !== undefined && { folder }),
    settings: { alphaVantageApiKey: KEY, alphaVantageBaseUrl: server.url },
  });
  return { server, service };
}

const statusOf = async (service: TestService, jobId: string) =>
  (await service.get(`/simulate/status/${jobId}`)).body.status;

test('splits and dividends come with the prices, for what is held outside the universe too', async (t) => {
  const before = HISTORY.filter((date) => date < '2025-11-19');
  const after = HISTORY.filter((date) => date >= '2025-11-19');
  const own = [series('AAPL', 100), series('ORLY', 1500, before), series('ORLY', 100, after)];
  const server = await startMassiveServer(t, {
    prices: own.join('\n'),
    splits: 'ORLY 2025-11-19 1 15\nAAPL 2024-01-02 1 2',
    dividends: 'ORLY 2025-11-19 3\nAAPL 2025-11-20 0.25\nMSFT 2025-11-19 9',
  });
  const script: Script = {
    'model-a 2025-11-18': [
      [
        ['buy', { symbol: 'ORLY', amount: 2 }],
        ['buy', { symbol: 'AAPL', amount: 4 }],
      ],
    ],
  };
  const settings = from(server.url);
  const first = await start(t, { symbols: ['AAPL', 'ORLY'], script, settings });
  await first.runJob({ start_date: '2025-11-18', end_date: '2025-11-18' });
  await first.stop();
  const requests = server.requests.length;
  const later = await start(t, { symbols: ['AAPL'], folder: first.folder, settings });
  const status = await later.runJob({ start_date: '2025-11-19', end_date: '2025-11-20' });
  assert.equal(status.status, 'completed');
  assert.match(String(status.warnings), /^New days, from 2025-11-19 on, .*: universe: [^;]+$/);
  assert.deepEqual(server.requests.slice(requests), ['dividends', '2025-11-19', '2025-11-20']);
  assert.deepEqual(
    ledgerOf(later.database, 'model-a').slice(2),
    ledger(`
      2025-11-19 dividend ORLY 2 3    => 6606 7206 -2794 AAPL:4 ORLY:2
      2025-11-19 split ORLY 28 100    => 6606 10006 6 AAPL:4 ORLY:30
      2025-11-19 no_trade             => 6606 10006 6 AAPL:4 ORLY:30
      2025-11-20 dividend AAPL 4 0.25 => 6607 10007 1 AAPL:4 ORLY:30
      2025-11-20 no_trade             => 6607 10007 1 AAPL:4 ORLY:30`),
  );
});

test('at the daily quota the job continues with the complete dates, and its warnings name the rest', async (t) => {
  const range = { ...DAY, end_date: '2025-11-21' };
  const { server, service } = await startBySymbol(t, {
    prices: TWO,
    fault: (_request, index) => (index > 0 ? faults.dailyQuota(KEY) : undefined),
  });
  const status = await service.runJob(range);
  assert.deepEqual(
    [status.status, status.error],
    ['failed', 'The job could not run: there are no prices for any of its dates'],
  );
  assert.deepEqual(status.warnings, [
    'Rate limit reached: 1 of 2 symbols downloaded',
    "2 dates left out: 2025-11-20, 2025-11-21; try again tomorrow, when the provider's daily quota is reset",
    'Skipped 2 dates without prices: 2025-11-20, 2025-11-21',
  ]);
  const [failed] = service.logLines.filter(({ message }) => message === 'price request failed');
  assert.deepEqual(
    [failed?.level, failed?.['source'], failed?.['problem']],
    ['WARNING', 'alpha-vantage', 'daily_quota'],
  );
  assert.ok(!JSON.stringify([status, service.logLines]).includes(KEY));
  server.set({ fault: () => undefined });
  const again = await service.runJob(range);
  assert.deepEqual([again.status, again.warnings], ['completed', null]);
  assert.deepEqual(
    server.requests,
    ['AAPL compact', 'ORLY compact', 'ORLY compact'],
    'a quota is not remembered',
  );
});

test('a download answers triggers and statuses, ends with the service, and continues at the next start', async (t) => {
  const { server, service } = await startBySymbol(t, {
    prices: TWO,
    fault: (_request, index) => (index > 0 ? faults.perSecond : undefined),
  });
  const { body } = await service.post('/simulate/trigger', DAY);
  await until('the provider to be asked', () => server.requests.length > 1);
  assert.equal(await statusOf(service, body.job_id), 'downloading_data');
  const refused = await service.post('/simulate/trigger', DAY);
  assert.match(refused.body.detail, /already running or pending/, 'downloading_data is unfinished');
  const { length } = server.requests;
  await service.stop();
  assert.equal(server.requests.length, length, 'after its wait it would have asked again');
  const later = await startBySymbol(t, { prices: TWO }, service.folder);
  assert.equal((await later.service.waitForJob(body.job_id)).status, 'completed');
  assert.deepEqual(later.server.requests, ['ORLY compact'], 'what came is not asked for again');
});
