import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { storeExchanges } from '../../src/core/database/exchanges.ts';
import { money } from '../../src/core/money/money.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import {
  benchmarkReturns,
  equalWeightLevels,
  memberLevels,
} from '../../src/features/performance/benchmark.ts';
import { exchangeLots, sumCost } from '../../src/features/performance/lots.ts';
import { readSymbolLevels } from '../../src/features/performance/symbol-levels.ts';
import { scriptedAgent, type Script } from '../support/agents.ts';
import { readExchanges } from '../support/exchanges.ts';
import { temporaryFolder } from '../support/folder.ts';
import { storePrices } from '../support/prices.ts';
import { startTestService } from '../support/service.ts';
import { tableOf } from '../support/text-table.ts';
import { startTestView } from '../support/view.ts';

/** What exchanges do to costs, profits and benchmarks. */

async function serve(
  t: TestContext,
  {
    prices,
    exchanges,
    script,
    terms = {},
  }: Record<'prices' | 'exchanges', string> & { script: Script; terms?: object },
) {
  const symbols = ['FLAT', 'GE', 'WRK', 'ATVI', 'FB', 'SIVB'].filter((symbol) =>
    prices.includes(`${symbol} `),
  );
  const service = await startTestService(t, {
    configuration: {
      models: [{ signature: 'a', enabled: true }],
      agent_config: { stock_symbols: symbols, ...terms },
    },
    prices,
    agent: scriptedAgent(script),
  });
  service.database.transaction(() =>
    storeExchanges(service.database, readExchanges(exchanges), 'csv'),
  );
  return service;
}

const buy = (symbol: string, amount = 10): Script[string] => [[['buy', { symbol, amount }]]];
const sell = (symbol: string, amount = 10): Script[string] => [[['sell', { symbol, amount }]]];

interface Case {
  prices: string;
  exchanges: string;
  script: Script;
  dates: [start: string, end: string];
  terms?: object;
  expected: string;
}

/**
 * Below each: what is held, with its cost and unrealised profit; the round trips with theirs; the
 * realised profit; and that of each symbol as all = realised + unrealised.
 */
const cases: Record<string, Case> = {
  'GE and GEV: 79.74 % of the cost remains, and half a share is sold': {
    prices: `
      GE  2024-04-01 170 175
      GE  2024-04-02 138 140
      GEV 2024-04-02 140.25 135`,
    exchanges: 'GE 2024-04-02 0 GEV 1 4 yes',
    script: { 'a 2024-04-01': buy('GE') },
    dates: ['2024-04-01', '2024-04-02'],
    // By opens 1380 and 2.5 x 140.25 = 350.625; a fifth of 344.4204 is sold for 70.125.
    expected: `GE 10 2024-04-01 1355.5796 44.4204; GEV 2 2024-04-01 275.5363 -5.5363
      | trips: | realised 1.2409 | GE 44.4204 = 0 + 44.4204; GEV -4.2954 = 1.2409 + -5.5363`,
  },
  'with a hidden open too, where the half is lost': {
    prices: `
      GE  2024-03-28 170 170
      GE  2024-04-01 170 175
      GE  2024-04-02 138 140
      GEV 2024-04-02 140.25 135`,
    exchanges: 'GE 2024-04-02 0 GEV 1 4 yes',
    script: { 'a 2024-04-01': buy('GE') },
    dates: ['2024-04-01', '2024-04-02'],
    terms: { open: 'hidden' },
    expected: `GE 10 2024-04-01 1355.5796 44.4204; GEV 2 2024-04-01 275.5363 -5.5363
      | trips: | realised -68.8841 | GE 44.4204 = 0 + 44.4204; GEV -74.4204 = -68.8841 + -5.5363`,
  },
  'WRK and SW: the cash takes 5 / 54 of the cost': {
    prices: `
      WRK 2024-07-05 50 51
      SW  2024-07-08 49 48
      SW  2024-07-09 50 50
      FLAT 2024-07-08 1 1
      FLAT 2024-07-09 1 1`,
    exchanges: 'WRK 2024-07-08 5 SW 1 1',
    script: { 'a 2024-07-05': buy('WRK'), 'a 2024-07-09': sell('SW', 4) },
    dates: ['2024-07-05', '2024-07-09'],
    // 50 - 500 x 5 / 54 = 3.7037; four of ten shares that cost 453.7037 are sold for 200.
    expected: `SW 6 2024-07-05 272.2222 27.7778 | trips: SW 4 2024-07-05 2024-07-09 18.5185
      | realised 22.2222 | SW 46.2963 = 18.5185 + 27.7778; WRK 3.7037 = 3.7037 + 0`,
  },
  'a cash merger ends a round trip': {
    prices: 'ATVI 2023-10-12 94 94.42\nFLAT 2023-10-13 1 1',
    exchanges: 'ATVI 2023-10-13 95',
    script: { 'a 2023-10-12': buy('ATVI') },
    dates: ['2023-10-12', '2023-10-13'],
    expected: `| trips: ATVI 10 2023-10-12 2023-10-13 10 | realised 10 | ATVI 10 = 10 + 0`,
  },
  'a worthless end is one with a loss': {
    prices: 'SIVB 2023-03-27 0.4 0.4\nFLAT 2023-03-28 1 1',
    exchanges: 'SIVB 2023-03-28 0',
    script: { 'a 2023-03-27': buy('SIVB') },
    dates: ['2023-03-27', '2023-03-28'],
    expected: `| trips: SIVB 10 2023-03-27 2023-03-28 -4 | realised -4 | SIVB -4 = -4 + 0`,
  },
  'a rename carries the cost and the date over': {
    prices: `
      FB   2022-06-08 190 195
      FB   2022-06-09 1 1
      META 2022-06-09 198 200
      META 2022-06-10 180 175
      FLAT 2022-06-08 1 1
      FLAT 2022-06-09 1 1
      FLAT 2022-06-10 1 1.5`,
    exchanges: 'FB 2022-06-09 0 META 1 1',
    script: { 'a 2022-06-08': buy('FB'), 'a 2022-06-10': sell('META', 4) },
    dates: ['2022-06-08', '2022-06-10'],
    expected: `META 6 2022-06-08 1140 -90 | trips: META 4 2022-06-08 2022-06-10 -40
      | realised -40 | FB 0 = 0 + 0; META -130 = -40 + -90`,
  },
  'what arrives beside shares that were bought later is sold before them': {
    prices: `
      FB   2022-06-07 190 190
      GE   2022-06-08 100 160
      FB   2022-06-08 190 190
      GE   2022-06-09 200 210`,
    exchanges: 'FB 2022-06-09 0 GE 1 1',
    script: {
      'a 2022-06-07': buy('FB'),
      'a 2022-06-08': buy('GE', 5),
      'a 2022-06-09': sell('GE', 4),
    },
    dates: ['2022-06-07', '2022-06-09'],
    expected: `GE 11 2022-06-07 1640 670 | trips: GE 4 2022-06-07 2022-06-09 40
      | realised 40 | FB 0 = 0 + 0; GE 710 = 40 + 670`,
  },
};
for (const [name, { expected, dates, ...own }] of Object.entries(cases))
  test(`costs and profits: ${name}`, async (t) => {
    const service = await serve(t, own);
    const job = await service.runJob({ start_date: dates[0], end_date: dates[1] });
    assert.equal(job.status, 'completed', JSON.stringify(job.details));
    const { body } = await service.get('/performance?details=true');
    const [
      { details, trading, round_trips: trips, open_positions: held, profit, incomparable, curve },
    ] = body.models;
    const found = [
      held
        .map((one: any) =>
          [one.symbol, one.quantity, one.since, one.cost_basis, one.unrealised_profit].join(' '),
        )
        .join('; '),
      `trips: ${trips.latest.map((one: any) => [one.symbol, one.quantity, one.buy_date, one.sell_date, one.profit].join(' ')).join('; ')}`,
      `realised ${trading.realised_profit}`,
      details.symbols
        .toSorted((one: any, other: any) => one.symbol.localeCompare(other.symbol))
        .map(
          (one: any) =>
            `${one.symbol} ${one.profit} = ${one.realised_profit} + ${one.unrealised_profit}`,
        )
        .join('; '),
    ]
      .join(' | ')
      .replaceAll(/\s+/g, ' ')
      .trim();
    assert.equal(found, expected.replaceAll(/\s+/g, ' ').trim());
    const orders = Object.keys(own.script).length;
    assert.equal(trading.trades, orders, 'an exchange is no trade');
    assert.equal(trading.commission, 0);
    if (orders === 1) assert.equal(trading.sold, 0);
    assert.deepEqual(incomparable, [], 'and no suspected split');
    assert.equal(curve.at(-1).value, 10_000 + profit);
  });

test('by symbol, in a part of a chain what an exchange moves counts at its value that morning', async (t) => {
  const service = await serve(t, cases['a rename carries the cost and the date over'] as Case);
  await service.runJob({ start_date: '2022-06-08', end_date: '2022-06-10' });
  const { body } = await service.get('/performance?details=true&start_date=2022-06-09');
  const profits = body.models[0].details.symbols.map((one: Record<string, unknown>) => [
    one['symbol'],
    one['profit'],
  ]);
  // Ten shares: 1950 at the close before, 1980 at the open; then 4 are sold for 720, 6 are worth 1050.
  assert.deepEqual(profits, [
    ['FB', 30],
    ['META', -210],
  ]);
});

test('the table of actions has both kinds, that of trades neither', async (t) => {
  const service = await serve(t, cases['WRK and SW: the cash takes 5 / 54 of the cost'] as Case);
  await service.runJob({ start_date: '2024-07-05', end_date: '2024-07-09' });
  const rows = async (table: string) => {
    const response = await fetch(`${service.url}/performance?format=csv&table=${table}`);
    const [, ...lines] = (await response.text()).trim().split(/\r?\n/);
    return lines.map((line) => line.split(',').slice(1, 6).join(' '));
  };
  const trades = ['2024-07-05 buy WRK 10 50', '2024-07-09 sell SW 4 50'];
  const exchanged = ['2024-07-08 exchange WRK 10 5', '2024-07-08 received SW 10 49'];
  assert.deepEqual(await rows('trades'), trades);
  assert.deepEqual(await rows('actions'), [trades[0], ...exchanged, trades[1]]);
  const { results } = (await service.get('/results?date=2024-07-08')).body;
  assert.deepEqual(
    results.map((one: any) => [one.action_type, one.amount, one.price].join(' ')),
    ['exchange 10 5', 'received 10 49', 'no_trade  '],
  );
});

test('a package continues with the lots that exchanges before it left, and has the same universe', async (t) => {
  const script: Script = { 'a 2022-06-08': buy('FB'), 'a 2022-06-10': sell('META', 4) };
  const { prices, exchanges } = cases['a rename carries the cost and the date over'] as Case;
  const service = await serve(t, {
    // GE is never held: what it becomes is in the package for the universe's curve.
    prices: `${prices}\nGE 2022-06-08 10 10\nGE 2022-06-09 10 10\nGEV 2022-06-10 12 13`,
    exchanges: `${exchanges}\nGE 2022-06-10 0 GEV 1 1`,
    script,
  });
  await service.runJob({ start_date: '2022-06-08', end_date: '2022-06-09' });
  const { job_id: jobId } = await service.runJob({
    start_date: '2022-06-10',
    end_date: '2022-06-10',
  });
  const target = join(temporaryFolder(), 'paper.db');
  await packageJob({ path: service.settings.databasePath, jobId, target });
  const file = new DatabaseSync(target, { readOnly: true });
  const lots = file.prepare('SELECT symbol, bought_on, quantity, cost_e4 FROM opening_lots').all();
  file.close();
  assert.deepEqual(
    lots.map((lot) => Object.values(lot).join(' ')),
    ['META 2022-06-08 10 19000000'],
  );
  const view = await startTestView(t, target);
  const path = `/performance?job_id=${jobId}&details=true`;
  for (const benchmark of ['universe', 'FB']) {
    const [ours, its] = await Promise.all(
      [service, view].map(async ({ get }) => (await get(`${path}&benchmark=${benchmark}`)).body),
    );
    assert.deepEqual(its.models, ours.models, benchmark);
    assert.deepEqual(its.benchmark, ours.benchmark, benchmark);
  }
});

/** Of days of November 2025, below their names; a price is `open/close`, or one number for both. */
const CURVES = tableOf<
  [name: string, of: string, prices: string, exchanges: string, closes: string]
>(`
  a rename                       | QQQ | QQQ 10 100, QQQ 11 110, NEW 12 121, NEW 13 133.1 | QQQ 12 0 NEW 1 1 | 10 1, 11 1.1, 12 1.21, 13 1.331
  over two names                 | QQQ | QQQ 10 100, MID 11 55, NEW 12 242                | QQQ 11 0 MID 2 1, MID 12 0 NEW 1 2 | 10 1, 11 1.1, 12 2.42
  two names on one date          | QQQ | QQQ 10 100, NEW 12 60                            | QQQ 12 0 MID 1 1, MID 12 0 NEW 2 1 | 10 1, 12 1.2
  bars of the old name after it  | QQQ | QQQ 10 100, QQQ 11 9, NEW 11 110, QQQ 12 9       | QQQ 11 0 NEW 1 1 | 10 1, 11 1.1
  cash buys more of the new one  | QQQ | QQQ 10 100, NEW 11 160, NEW 12 176               | QQQ 11 20 NEW 1 2 | 10 1, 11 1, 12 1.1
  and the dividend of that date  | PAY | PAY 10 100, NEW 11 160, NEW 12 176               | PAY 11 20 NEW 1 2 | 10 1, 11 1.1, 12 1.21
  a spin-off counts as it closes | QQQ | QQQ 10 100, QQQ 11 80, NEW 11 40/44, QQQ 12 88   | QQQ 11 0 NEW 1 2 yes | 10 1, 11 1.02, 12 1.122
  what it brought ends later     | QQQ | QQQ 10 100, QQQ 11 80, NEW 11 40/44, QQQ 12 88   | QQQ 11 0 NEW 1 2 yes, NEW 12 50 | 10 1, 11 1.02, 12 1.122
  an end in cash                 | QQQ | QQQ 10 100, QQQ 11 105                           | QQQ 12 110 | 10 1, 11 1.05, 12 1.1
  it is exchanged that morning   | QQQ | QQQ 10 40, QQQ 11 38, NEW 11 21                  | QQQ 11 0 MID 1 2 yes, MID 11 0 NEW 1 1 | 10 1, 11 1.2125
  into cash and others           | QQQ | QQQ 10 40, QQQ 11 38, NEW 11 21, TWO 11 4        | QQQ 11 0 MID 1 2 yes, MID 11 4 NEW 1 2, NEW 11 1 TWO 1 2 yes | 10 1, 11 1.15
  into cash                      | QQQ | QQQ 10 40, QQQ 11 38                             | QQQ 11 0 MID 1 2 yes, MID 11 4 | 10 1, 11 1
  and where its last bar is known | QQQ | QQQ 10 40, MID 10 9, QQQ 11 38                  | QQQ 11 0 MID 1 2 yes, MID 11 4 | 10 1, 11 1
  what it brought spins off      | QQQ | QQQ 10 40, QQQ 11 38, MID 11 3, NEW 11 1         | QQQ 11 0 MID 1 2 yes, MID 11 0 NEW 1 1 yes | 10 1, 11 1
  both parts of a split-up do too | QQQ | QQQ 10 40, NEW 11 21, TWO 11 11                  | QQQ 11 0 MID 1 1, QQQ 11 0 NIX 1 2, MID 11 0 NEW 2 1, NIX 11 1 TWO 1 1 | 10 1, 11 1.2
  of a member                    | all | AAA 10 40, BBB 10 100, AAA 11 38, BBB 11 100, NEW 11 21 | AAA 11 0 MID 1 2 yes, MID 11 0 NEW 1 1 | 10 1, 11 1.10625
  two new shares for one         | QQQ | QQQ 10 100, NEW 11 33, TWO 11 44, NEW 12 66      | QQQ 11 0 NEW 2 1, QQQ 11 0 TWO 1 1 | 10 1, 11 1.1, 12 2.2
  a member leaves with it        | all | AAA 10 100, BBB 10 100, NEW 11 130, BBB 11 110, NEW 12 260, BBB 12 121 | AAA 11 0 NEW 1 1 | 10 1, 11 1.2, 12 1.32
  a member ends in cash          | all | AAA 10 100, BBB 10 100, BBB 11 110, BBB 12 121    | AAA 11 130 | 10 1, 11 1.2, 12 1.32
  on a date without trading      | all | AAA 10 100, BBB 10 100, BBB 12 110, BBB 13 121    | AAA 11 0 | 10 1, 12 0.55, 13 0.605
  a worthless universe           | all | AAA 10 100                                       | AAA 11 0 | 10 1, 11 0
`);
test('the levels of a benchmark over exchanges, and of the universe', () => {
  for (const [name, of, prices, exchanges, expected] of CURVES) {
    const database = openDatabase(':memory:');
    const dated = (text: string) =>
      text.replaceAll(', ', '\n').replaceAll(/^(\w+) /gm, '$1 2025-11-');
    const bars = dated(prices).replaceAll(
      /([\d.]+)(?:\/([\d.]+))?$/gm,
      (_, open, close = open) => `${open} ${close}`,
    );
    storePrices(database, bars, 'csv');
    storeExchanges(database, readExchanges(dated(exchanges)), 'csv');
    database
      .statement(
        "INSERT INTO dividends (symbol, ex_date, cash_e6, basis) VALUES ('PAY', '2025-11-11', 10000000, 'as_paid')",
      )
      .run();
    const read = (symbol: string, isMember: boolean) =>
      readSymbolLevels(database, symbol, {
        from: '2025-11-10',
        to: '2025-11-14',
        paysDividends: true,
        isMember,
      });
    const all = ['AAA', 'BBB'].map((symbol) => [symbol, read(symbol, true)] as const);
    const always = ['AAA', 'BBB'].map((symbol) => ({
      symbol,
      from: '2025-01-01',
      to: '2026-01-01',
    }));
    const found =
      of === 'all'
        ? [memberLevels(all, always), equalWeightLevels(all.map(([, own]) => own))]
        : [read(of, false)];
    for (const [place, levels] of found.entries()) {
      const first = levels[0]?.close ?? NaN;
      const closes = levels.map(
        ({ date, close }) => `${date.slice(-2)} ${Math.round((close / first) * 1e6) / 1e6}`,
      );
      // The equal-weight curve has a level on that date itself.
      const wanted = place === 1 ? expected.replace('12 0.55', '11 0.5, 12 0.55') : expected;
      assert.equal(closes.join(', '), wanted, name);
      assert.ok(
        levels.every(({ open }) => Number.isFinite(open)),
        name,
      );
    }
  }
});

test('a member that was exchanged leaves the universe once, also two weeks later', () => {
  const levels = (...closes: [day: string, close: number, isEnd?: boolean][]) =>
    closes.map(([day, close, isEnd = false]) => {
      return { date: `2025-11-${day}`, open: close, close, isEnd };
    });
  const ended = levels(['10', 1], ['11', 1, true]);
  const other = levels(['10', 1], ['11', 1], ['20', 1], ['26', 2]);
  assert.equal(equalWeightLevels([ended, other]).at(-1)?.close, 2);
});

test('after all is lost a benchmark has no return, not a wrong one', () => {
  const levels = [
    { date: '2025-11-10', open: 1, close: 0 },
    { date: '2025-11-11', open: 0, close: 0 },
  ];
  const days = ['10', '11'].map((day) => ({
    date: `2025-11-${day}`,
    ...{ startDate: day === '10' ? null : '2025-11-10', paysDividends: true },
  }));
  assert.deepEqual(benchmarkReturns({ withDividends: levels, ofPrices: levels }, days), [-1, null]);
});

test('without any value the cost goes with the shares, and none is realised', () => {
  const action = { price: null, cash: money(0), change: money(0), open: 0, received: [] };
  const received = {
    ...action,
    actionType: 'received' as const,
    symbol: 'NEW',
    amount: 5,
    ratio: 1,
  };
  for (const [left, kept] of [
    [5, 'NEW 500'],
    [0, 'OLD 500, NEW 0'],
  ] as const) {
    const lot = { date: '2025-11-10', quantity: 5, cost: money(500) };
    const book = new Map([['OLD', [lot]]]);
    const exchange = { ...action, actionType: 'exchange' as const, received: [received] };
    const old = { ...exchange, symbol: 'OLD', amount: left };
    const parts = exchangeLots(book, old, '2025-11-11');
    const costs = [...book].map(([symbol, lots]) => `${symbol} ${sumCost(lots)}`);
    assert.equal(costs.join(', '), kept);
    assert.deepEqual(
      parts.map(({ profit }) => profit),
      [0, 0],
    );
  }
});
