import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { weekdaysBefore } from '../../src/basics/calendar.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { faults, type PriceServerOptions, startPriceServer } from '../support/price-server.ts';
import { clockFrom, startTestService, TODAY } from '../support/service.ts';
import { until } from '../support/until.ts';

const KEY = 'SECRET0123456789';
const HISTORY = weekdaysBefore(TODAY, 100);
const series = (symbol: string, dates: readonly string[], open = 100, close = 100) =>
  dates.map((date) => `${symbol} ${date} ${open} ${close}`).join('\n');

async function start(
  t: TestContext,
  {
    script = {},
    symbols = ['AAPL', 'ORLY'],
    folder,
    today = TODAY,
    ...options
  }: PriceServerOptions & { script?: Script; symbols?: string[]; folder?: string; today?: string },
) {
  const server = await startPriceServer(t, options);
  const service = await startTestService(t, {
    clock: clockFrom(today),
    ...(folder !== undefined && { folder }),
    configuration: {
      models: [{ signature: 'model-a', enabled: true }],
      agent_config: { stock_symbols: symbols },
    },
    agent: scriptedAgent(script),
    settings: { alphaVantageApiKey: KEY, alphaVantageBaseUrl: server.url },
  });
  return { server, service };
}

const buy = (symbol: string, amount: number): Script[string] => [[['buy', { symbol, amount }]]];

test('a split multiplies the holding on its day', async (t) => {
  const splitDay = '2025-11-19';
  const { service } = await start(t, {
    prices: [
      series('AAPL', HISTORY),
      series(
        'ORLY',
        HISTORY.filter((date) => date < splitDay),
        1500,
        1500,
      ),
      series(
        'ORLY',
        HISTORY.filter((date) => date >= splitDay),
        100,
        101,
      ),
    ].join('\n'),
    splits: `ORLY ${splitDay} 15.0000`,
    script: { 'model-a 2025-11-18': buy('ORLY', 2) },
  });
  const status = await service.runJob({ start_date: '2025-11-18', end_date: '2025-11-20' });
  assert.deepEqual([status.status, status.warnings], ['completed', null]);
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-18 buy ORLY 2 1500    => 7000 10000 0 ORLY:2
      2025-11-19 split ORLY 28 100  => 7000 10030 30 ORLY:30
      2025-11-19 no_trade           => 7000 10030 30 ORLY:30
      2025-11-20 no_trade           => 7000 10030 0 ORLY:30`),
  );
});

test('at the daily quota the job continues with the complete dates, and its warnings name the rest', async (t) => {
  const { server, service } = await start(t, {
    prices: `${series('AAPL', HISTORY)}\n${series('ORLY', HISTORY)}`,
    fault: (_request, index) => (index > 0 ? faults.dailyQuota(KEY) : undefined),
  });
  const status = await service.runJob({ start_date: '2025-11-20', end_date: '2025-11-21' });
  assert.deepEqual(
    [status.status, status.error],
    ['failed', 'No trading dates available after price data preparation'],
  );
  assert.deepEqual(status.warnings, [
    'Rate limit reached: 1 of 2 symbols downloaded',
    "2 dates left out: 2025-11-20, 2025-11-21; try again tomorrow, when the provider's daily quota is reset",
    'Skipped 2 dates without price data: 2025-11-20, 2025-11-21',
  ]);
  const [failed] = service.logLines.filter(({ message }) => message === 'price request failed');
  assert.deepEqual(
    [failed?.level, failed?.['source'], failed?.['problem']],
    ['WARNING', 'alpha-vantage', 'daily_quota'],
  );
  assert.ok(!JSON.stringify([status, service.logLines]).includes(KEY));
  server.set({ fault: () => undefined });
  const again = await service.runJob({ start_date: '2025-11-20', end_date: '2025-11-21' });
  assert.deepEqual([again.status, again.warnings], ['completed', null]);
  assert.deepEqual(
    server.requests,
    ['AAPL compact', 'ORLY compact', 'ORLY compact'],
    'a quota is not remembered',
  );
});

test('holdings outside the universe are downloaded too, and block nothing', async (t) => {
  const prices = `${series('AAPL', HISTORY)}\n${series('ORLY', HISTORY, 100, 110)}`;
  const script = { 'model-a 2025-11-12': buy('ORLY', 1) };
  const first = await start(t, { prices, script, today: '2025-11-13' });
  await first.service.runJob({ start_date: '2025-11-12', end_date: '2025-11-12' });
  await first.service.stop();
  const later = await start(t, {
    prices,
    symbols: ['AAPL'],
    folder: first.service.folder,
    fault: (request) => (request === 'ORLY compact' ? faults.dailyQuota(KEY) : undefined),
  });
  const ask = () =>
    later.service.runJob({
      start_date: '2025-11-20',
      end_date: '2025-11-20',
      replace_existing: true,
    });
  assert.equal((await ask()).status, 'completed');
  assert.deepEqual(later.server.requests, ['AAPL compact', 'ORLY compact']);
  later.server.set({ fault: () => undefined });
  await ask();
  assert.deepEqual(later.server.requests, ['AAPL compact', 'ORLY compact', 'ORLY compact']);
  assert.deepEqual(
    ledgerOf(later.service.database, 'model-a').at(-1),
    '2025-11-20 no_trade => 9900 10010 0 ORLY:1',
  );
});

test('the service stops immediately while it waits for a rate limit, and the job continues at the next start', async (t) => {
  const prices = `${series('AAPL', HISTORY)}\n${series('ORLY', HISTORY)}`;
  const { server, service } = await start(t, { prices, fault: () => faults.perSecond });
  const { body } = await service.post('/simulate/trigger', {
    start_date: '2025-11-20',
    end_date: '2025-11-20',
  });
  await until('the provider to be asked', () => server.requests.length > 0);
  assert.equal(
    (await service.get(`/simulate/status/${body.job_id}`)).body.status,
    'downloading_data',
  );
  const { length } = server.requests;
  await service.stop();
  assert.equal(server.requests.length, length, 'after its wait it would have asked again');
  const later = await start(t, { prices, folder: service.folder });
  assert.equal((await later.service.waitForJob(body.job_id)).status, 'completed');
});

test('a trigger and a status get responses while prices are downloaded', async (t) => {
  let release = () => {};
  const { server, service } = await start(t, {
    prices: `${series('AAPL', HISTORY)}\n${series('ORLY', HISTORY)}`,
    fault: (_request, index) =>
      index === 0 ? (response) => void (release = () => response.writeHead(503).end()) : undefined,
  });
  const { body } = await service.post('/simulate/trigger', {
    start_date: '2025-11-20',
    end_date: '2025-11-20',
  });
  await until('the provider to be asked', () => server.requests.length > 0);
  const refused = await service.post('/simulate/trigger', {
    start_date: '2025-11-20',
    end_date: '2025-11-20',
  });
  assert.match(refused.body.detail, /already running or pending/, 'downloading_data is unfinished');
  release();
  assert.equal((await service.waitForJob(body.job_id)).status, 'completed');
});
