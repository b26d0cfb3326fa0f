import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { CommandDatabase, Database } from '../../src/core/database/database.ts';
import { type Exchange, storeExchanges } from '../../src/core/database/exchanges.ts';
import { scriptedAgent, type Script } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { MASSIVE_KEY, startMassiveServer } from '../support/massive-server.ts';
import { series, startAlphaSupply, startMassiveSupply, WEEK } from '../support/price-supply.ts';
import { storePrices } from '../support/prices.ts';
import { startTestService } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';

/** Which prices a job asks for where symbols are exchanged. */

const [, , WEDNESDAY = '', , FRIDAY = ''] = WEEK;

/** Stores `OLD DATE NEW` as exchanges of one new share for one old one; `-` brings only cash. */
function exchange(database: Database, rows: string): void {
  const exchanges = rows.split(', ').map((row): Exchange => {
    const [symbol = '', date = '', into = '', remains] = row.split(' ');
    const own = { symbol, date, cash: 1_000_000, remains: remains ? 1 : 0 } as const;
    return into === '-'
      ? { ...own, into: '', numerator: null, denominator: null }
      : { ...own, into, cash: 0, numerator: 1, denominator: 1 };
  });
  (database as CommandDatabase).transaction(() => storeExchanges(database, exchanges, 'csv'));
}

const CHAIN = `OLD ${WEDNESDAY} NEW, NEW ${FRIDAY} LAST`;

test('what exchanges bring is asked for, one after the other; what has ended is not', async (t) => {
  const all = series('A NEW LAST', WEEK);
  const { server, supply, database, rows } = await startAlphaSupply(t, { prices: all });
  storePrices(
    database as CommandDatabase,
    `${series('OLD', WEEK.slice(0, 2))}\n${series('A', WEEK)}`,
  );
  exchange(database, CHAIN);
  const asked = { universe: 'OLD A' };
  assert.equal((await supply({ ...asked, downloadsLeft: 0 })).marks, '++---');
  const { marks, warnings } = await supply(asked);
  assert.deepEqual([marks, warnings], ['+++++', []]);
  assert.deepEqual(server.requests, ['NEW compact', 'LAST compact']);
  assert.deepEqual((await supply(asked)).warnings, []);
  assert.equal(server.requests.length, 2);
  assert.deepEqual(rows(`SELECT DISTINCT symbol FROM price_data ORDER BY symbol`), [
    ...['A', 'LAST', 'NEW', 'OLD'],
  ]);
});

/** The exchanges, and what is asked for of a universe of OLD and A, of which nothing is stored. */
const needed: [exchanges: string, requests: string[]][] = [
  [`OLD ${WEDNESDAY} -`, ['A', 'OLD']],
  [`OLD 2020-01-06 -`, ['A']],
  [`OLD 2020-01-06 NEW`, ['A']], // before the job, and not held
  [`OLD ${WEDNESDAY} NEW yes`, ['A', 'NEW', 'OLD']],
  ['OLD 2020-01-06 NEW yes', ['A', 'OLD']],
  [`OLD ${WEDNESDAY} A`, ['A', 'OLD']],
  [`A 2020-01-06 B, B 2021-01-04 A`, ['A', 'OLD']], // it came back
  [`X ${WEDNESDAY} NEW`, ['A', 'OLD']],
  ['OLD 2025-11-24 NEW', ['A', 'OLD']], // after the job
];
test('an exchange counts from its date on, and only of what is in the universe', async (t) => {
  for (const [exchanges, expected] of needed) {
    const { server, supply, database } = await startAlphaSupply(t, {
      prices: series('OLD A NEW', WEEK),
    });
    exchange(database, exchanges);
    await supply({ universe: 'OLD A' });
    const symbols = server.requests.map((request) => request.split(' ')[0]);
    assert.deepEqual(symbols.sort(), expected, exchanges);
  }
});

test('a day that lacks an old share is complete, one that lacks a new one is asked for; a universe may be of one that ends', async (t) => {
  const prices = `${series('OLD', WEEK.slice(0, 2))}\n${series('NEW LAST', WEEK)}`;
  const { server, supply, database, rows } = await startMassiveSupply(t, { prices });
  exchange(database, CHAIN);
  const members = [{ symbol: 'OLD', from: '2020-01-01', to: '9999-12-31' }];
  const { marks, warnings } = await supply({ universe: 'OLD', members });
  assert.deepEqual([marks, warnings], ['+++++', []]);
  const days = server.requests.filter((request) => request.startsWith('2025'));
  assert.deepEqual(days, WEEK);
  const bars = rows('SELECT symbol, count(*) FROM price_data GROUP BY symbol ORDER BY symbol');
  assert.deepEqual(bars, ['LAST 5', 'NEW 5', 'OLD 2']);
  const before = server.requests.length;
  assert.equal((await supply({ universe: 'OLD' })).marks, '+++++');
  assert.equal(server.requests.length, before);
});

test('in DEV without a key, what exchanges bring gets synthetic prices from its date on, and what is held of it', async (t) => {
  const configuration = (stock_symbols: string[]) => ({
    models: [{ signature: 'a', enabled: true }],
    agent_config: { stock_symbols, open: 'hidden' },
  });
  const script: Script = { [`a ${WEEK[0]}`]: [[['buy', { symbol: 'OLD', amount: 10 }]]] };
  const service = await startTestService(t, {
    settings: { deploymentMode: 'DEV' },
    configuration: configuration(['OLD', 'A']),
    agent: scriptedAgent(script),
  });
  exchange(service.database, `OLD ${WEDNESDAY} NEW, A ${WEDNESDAY} SPUN yes`);
  const run = async (start: string, end: string) => {
    const job = await service.runJob({ start_date: start, end_date: end });
    assert.deepEqual([job.status, job.warnings], ['completed', null], JSON.stringify(job.details));
  };
  const spans = () =>
    rowsAsText(
      service.database,
      `SELECT symbol, min(date) < '2025-11-01', max(date) FROM price_data WHERE source = 'synthetic' GROUP BY symbol`,
    );
  await run(WEEK[0] ?? '', WEEK[3] ?? '');
  const [, tuesday, , thursday] = WEEK;
  assert.deepEqual(spans(), [
    `A 1 ${thursday}`,
    `NEW 1 ${thursday}`,
    `OLD 1 ${tuesday}`,
    `SPUN 1 ${thursday}`,
  ]);
  await run(FRIDAY, FRIDAY);
  assert.equal(spans()[1], `NEW 1 ${FRIDAY}`, 'it is held');
});

test('a job whose model holds what is exchanged downloads the new share, and trades through', async (t) => {
  const server = await startMassiveServer(t, {
    prices: series('A NEW', WEEK, { open: 60, close: 61 }),
  });
  const script: Script = { [`a ${WEEK[0]}`]: [[['buy', { symbol: 'OLD', amount: 10 }]]] };
  const configuration = (stock_symbols: string[]) => ({
    models: [{ signature: 'a', enabled: true }],
    agent_config: { stock_symbols },
  });
  const service = await startTestService(t, {
    settings: { massiveApiKey: MASSIVE_KEY, massiveBaseUrl: server.url, priceHistoryDays: 0 },
    configuration: configuration(['OLD', 'A']),
    prices: `${series('OLD A', WEEK.slice(0, 2), { open: 50, close: 51 })}`,
    agent: scriptedAgent(script),
  });
  await service.runJob({ start_date: WEEK[0], end_date: WEEK[1] });
  exchange(service.database, `OLD ${WEDNESDAY} NEW`);
  writeFileSync(service.settings.configurationPath, JSON.stringify(configuration(['A'])));
  const job = await service.runJob({ start_date: WEDNESDAY, end_date: WEDNESDAY });
  const warnings = (job.warnings ?? []).filter((words: string) => !words.includes('other terms'));
  assert.deepEqual([job.status, warnings], ['completed', []]);
  assert.deepEqual(
    ledgerOf(service.database, 'a').filter((line) => line.startsWith(WEDNESDAY)),
    ledger(`${WEDNESDAY} exchange OLD 10 0 => 9500 9500 -510
      ${WEDNESDAY} received NEW 10 60 => 9500 10110 100 NEW:10
      ${WEDNESDAY} no_trade => 9500 10110 100 NEW:10`),
  );
});
