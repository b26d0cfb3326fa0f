import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { weekdays, weekdaysBefore } from '../../src/basics/calendar.ts';
import { nasdaq100 } from '../../src/basics/configuration-schema.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import {
  MASSIVE_KEY,
  massiveFaults,
  type MassiveServerOptions,
  startMassiveServer,
} from '../support/massive-server.ts';
import { clockFrom, startTestService, type TestServiceOptions, TODAY } from '../support/service.ts';
import { until } from '../support/until.ts';
import { inLongForm } from '../support/long.ts';

const HISTORY = weekdaysBefore(TODAY, 40);

/** Prices that differ from day to day and from symbol to symbol. */
function prices(symbols: readonly string[], dates: readonly string[]): string {
  const price = (symbol: number, day: number) =>
    (20 + symbol * 7.31 + Math.sin(symbol + day) * 3).toFixed(4);
  return dates
    .flatMap((date, day) =>
      symbols.map(
        (name, symbol) => `${name} ${date} ${price(symbol, day)} ${price(symbol, day + 0.5)}`,
      ),
    )
    .join('\n');
}

interface Setting extends Omit<TestServiceOptions, 'prices'> {
  url: string;
  symbols: readonly string[];
  script?: Script;
}

function start(t: TestContext, { url, symbols, script = {}, settings, ...options }: Setting) {
  return startTestService(t, {
    clock: clockFrom(TODAY),
    configuration: {
      models: [{ signature: 'model-a', enabled: true }],
      agent_config: { stock_symbols: symbols },
    },
    agent: scriptedAgent(script),
    settings: { massiveApiKey: MASSIVE_KEY, massiveBaseUrl: url, ...settings },
    ...options,
  });
}

const serve = (t: TestContext, options: MassiveServerOptions) => startMassiveServer(t, options);

test(
  'a job that is stopped while it downloads asks for nothing twice, and runs once its own dates are there',
  inLongForm,
  async (t) => {
    const dates = weekdays('2025-11-17', '2025-11-21');
    const server = await serve(t, {
      prices: prices(nasdaq100, HISTORY),
      others: 10,
      fault: (_name, index) => (index === 4 ? massiveFaults.hang : undefined),
    });
    const first = await start(t, { url: server.url, symbols: nasdaq100 });
    const { body } = await first.post('/simulate/trigger', {
      start_date: dates[0],
      end_date: dates[4],
    });
    await until('the third date to be requested', () => server.requests.length === 5);
    assert.equal(
      (await first.get(`/simulate/status/${body.job_id}`)).body.status,
      'downloading_data',
    );
    await first.stop();
    // From here on the limit lets the job's own dates pass, and nothing after them.
    const own = ['splits', 'dividends', ...dates];
    server.set({ fault: (name) => (own.includes(name) ? undefined : massiveFaults.limit) });
    const later = await start(t, {
      ...{ url: server.url, symbols: nasdaq100, folder: first.folder },
      settings: { maxRateLimitWaitMs: 0 },
    });
    const status = await later.waitForJob(body.job_id);
    assert.deepEqual(
      [status.status, status.warnings],
      [
        'completed',
        [
          'Of the 10 trading days before 2025-11-17, none have prices: models have less to look back on',
        ],
      ],
    );
    const [stopped, ...again] = server.requests.slice(4);
    assert.deepEqual(
      [...server.requests.slice(0, 4), ...again],
      [...own, '2025-11-14'],
      'only what was under way is asked again',
    );
    assert.equal(stopped, again[0]);
    assert.ok(!JSON.stringify([status, first.logLines, later.logLines]).includes(MASSIVE_KEY));
  },
);

test('the ledger is that of the same prices imported from a file, to the last digit', async (t) => {
  const symbols = ['AAPL', 'BRK.B', 'MSFT', 'ORLY'];
  const table = prices(symbols, HISTORY);
  const script: Script = {
    'model-a 2025-11-17': [
      [
        ['buy', { symbol: 'BRK.B', amount: 37 }],
        ['buy', { symbol: 'AAPL', amount: 5 }],
      ],
    ],
    'model-a 2025-11-19': [
      [
        ['sell', { symbol: 'BRK.B', amount: 12 }],
        ['buy', { symbol: 'ORLY', amount: 71 }],
      ],
    ],
    'model-a 2025-11-21': [[['sell', { symbol: 'ORLY', amount: 71 }]]],
  };
  const server = await serve(t, { prices: table });
  const range = { start_date: '2025-11-17', end_date: '2025-11-24' };
  const downloaded = await start(t, { url: server.url, symbols, script });
  const status = await downloaded.runJob(range);
  assert.deepEqual([status.status, status.warnings], ['completed', null]);
  const imported = await startTestService(t, {
    clock: clockFrom(TODAY),
    configuration: {
      models: [{ signature: 'model-a', enabled: true }],
      agent_config: { stock_symbols: symbols },
    },
    agent: scriptedAgent(script),
    prices: table,
    settings: { autoDownloadPriceData: false, alphaVantageApiKey: 'KEY' },
  });
  await imported.runJob(range);
  const ledger = ledgerOf(downloaded.database, 'model-a');
  assert.equal(ledger.filter((line) => line.includes('buy')).length, 3);
  assert.deepEqual(ledger, ledgerOf(imported.database, 'model-a'));
  const { symbols: covered } = (await downloaded.get('/prices/coverage?symbol=BRK.B')).body;
  assert.deepEqual(
    [
      covered[0].source,
      covered[0].bars,
      covered[0].gaps,
      covered[0].spans.map((span: any) => [span.source, span.start_date, span.end_date]),
    ],
    ['massive', 16, [], [['massive', '2025-11-01', '2025-11-24']]],
  );
});

test('splits and dividends come with the prices, for what is held outside the universe too', async (t) => {
  const table = (symbol: string, open: number, dates: readonly string[]) =>
    dates.map((date) => `${symbol} ${date} ${open} ${open}`).join('\n');
  const before = HISTORY.filter((date) => date < '2025-11-19');
  const after = HISTORY.filter((date) => date >= '2025-11-19');
  const server = await serve(t, {
    prices: [
      table('AAPL', 100, HISTORY),
      table('ORLY', 1500, before),
      table('ORLY', 100, after),
    ].join('\n'),
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
  const first = await start(t, { url: server.url, symbols: ['AAPL', 'ORLY'], script });
  await first.runJob({ start_date: '2025-11-18', end_date: '2025-11-18' });
  await first.stop();
  const requests = server.requests.length;
  const later = await start(t, { url: server.url, symbols: ['AAPL'], folder: first.folder });
  const status = await later.runJob({ start_date: '2025-11-19', end_date: '2025-11-20' });
  assert.deepEqual([status.status, status.warnings], ['completed', null]);
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
