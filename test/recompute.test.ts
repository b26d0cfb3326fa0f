import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { weekdays } from '../src/core/time/calendar.ts';
import { createRandom } from '../src/core/agent/players/simulated-model.ts';
import { realAgentHere } from './support/agent-here.ts';
import { isLong } from './support/long.ts';
import { naiveFigures } from './support/naive-performance.ts';
import { importFile } from '../src/features/price-files/import.ts';
import { assertReplays } from './support/replays.ts';
import { type ActionRecord, closeOf, findErrors, readMergedFile } from './support/recompute.ts';
import { clockFrom, startTestService, type TestService } from './support/service.ts';

const SYMBOLS = ['AAPL', 'BRK-B', 'MSFT', 'NVDA', 'ORLY', 'QCOM'];
const MODELS = ['gpt-5', 'claude-sonnet-4.5', 'deepseek-v3.1', 'qwen3-max'].slice(
  0,
  isLong ? 4 : 2,
);
const HOLIDAY = '2025-09-01';
const FIRST = '2025-08-01';
/**
 * In short too few days for risk: on random ledgers test/performance/report.test.ts compares that
 * with naive formulas.
 */
const LAST = isLong ? '2025-09-26' : '2025-09-12';

/**
 * A made-up file in the AI-Trader family's merged format: six symbols, eight weeks, a holiday, a
 * newest day without a close.
 */
function makeMergedFile(): string {
  const random = createRandom('recompute');
  const lines = SYMBOLS.map((symbol) => {
    let price = 20 + random() * 400;
    const days: Record<string, Record<string, string>> = {};
    for (const date of weekdays(FIRST, LAST)) {
      if (date === HOLIDAY || (symbol === 'QCOM' && random() < 0.1)) continue;
      const open = (price *= 1 + (random() - 0.5) * 0.06);
      const close = (price *= 1 + (random() - 0.5) * 0.06);
      days[date] = { '1. buy price': open.toFixed(4) };
      if (date === LAST) continue;
      Object.assign(days[date], {
        '2. high': (Math.max(open, close) * 1.01).toFixed(4),
        '3. low': (Math.min(open, close) * 0.99).toFixed(4),
        '4. sell price': close.toFixed(4),
        '5. volume': '1000',
      });
    }
    return JSON.stringify({ 'Meta Data': { '2. Symbol': symbol }, 'Time Series (Daily)': days });
  });
  return `${lines.join('\n')}\n`;
}

test('an independent bookkeeper derives every figure from only the records and the price file', async (t) => {
  const models = MODELS.map((signature) => ({
    signature,
    enabled: true,
  }));
  const service = await startTestService(t, {
    agent: await realAgentHere(),
    configuration: { models, agent_config: { stock_symbols: SYMBOLS, initial_cash: 10_000 } },
    clock: clockFrom('2025-09-29'),
  });
  const file = makeMergedFile();
  const path = join(service.folder, 'merged.jsonl');
  writeFileSync(path, file);
  const { bars } = await importFile(service.database, path, {
    clock: clockFrom('2025-09-29'),
  });
  assert.ok(bars > 150);

  const first = await service.runJob({ start_date: '2025-08-28', end_date: '2025-09-03' });
  assert.deepEqual(
    [first.status, first.warnings],
    ['completed', [`Skipped 1 date without prices: ${HOLIDAY}`]],
  );
  const second = await service.runJob({ end_date: LAST, models: MODELS.slice(1) });
  assert.equal(second.status, 'completed');

  const { results } = (await service.get('/results')).body;
  assert.deepEqual(findErrors(results, file, 10_000), []);
  const audit = (await service.get('/audit')).body;
  assert.deepEqual(
    [audit.status, audit.counts.positions],
    ['sound', results.length],
    'the service comes to the same',
  );
  await assertReplays(service.database);
  const tradingDays = weekdays('2025-08-28', LAST).filter((date) => date !== HOLIDAY);
  assert.equal(new Set(results.map(({ date }: { date: string }) => date)).size, tradingDays.length);
  const trades = results.filter(
    ({ action_type }: { action_type: string }) => action_type !== 'no_trade',
  );
  assert.ok(
    trades.length > (isLong ? 12 : 6) * (MODELS.length - 1) &&
      trades.some(({ action_type }: { action_type: string }) => action_type === 'sell'),
    'models really trade',
  );
  await checkPerformance(service, results);
  for (const model of MODELS)
    await checkHoldings(
      service,
      file,
      results.filter((record: ActionRecord) => record.model === model),
    );
});

/**
 * The figures of GET /performance against those that a naive implementation makes of the records of
 * GET /results.
 */
async function checkPerformance(
  service: TestService,
  results: readonly ActionRecord[],
): Promise<void> {
  const { models } = (await service.get('/performance')).body;
  assert.equal(models.length, MODELS.length);
  for (const reported of models) {
    const records = results.filter(({ model }) => model === reported.model);
    const {
      wins,
      cost,
      open_positions: open,
      ...rest
    } = naiveFigures(records, { initialCash: 10_000 });
    const naive = { ...rest, ...wins };
    const figures = {
      ...reported,
      ...reported.trading,
      ...reported.round_trips,
      ...reported.max_drawdown,
    };
    for (const [name, expected] of Object.entries(naive)) {
      if (expected === null) assert.equal(figures[name], null, name);
      else
        assert.ok(
          Math.abs(figures[name] - expected) < 1e-3,
          `${name} is ${figures[name]}, should be ${expected}`,
        );
    }
    const positions: { symbol: string; quantity: number; since: string; cost_basis: number }[] =
      reported.open_positions;
    assert.deepEqual(
      positions.map(({ symbol, quantity, since }) => [symbol, quantity, since]),
      open,
    );
    assert.ok(
      Math.abs(positions.reduce((sum, { cost_basis }) => sum + cost_basis, 0) - cost) < 0.01,
    );
    assert.equal(
      reported.sharpe_ratio === null,
      !isLong || reported.model === MODELS[0],
      'enough days for risk, but of the first model',
    );
  }
}

/**
 * GET /holdings and the profit by symbol, against what the records and the price file make of them
 * in whole 1/10000 dollars.
 */
async function checkHoldings(
  service: TestService,
  file: string,
  records: readonly ActionRecord[],
): Promise<void> {
  const prices = readMergedFile(file);
  const closings = records.filter((record, index) => records[index + 1]?.date !== record.date);
  const model = closings[0]?.model ?? '';
  const { days } = (await service.get(`/holdings?model=${model}`)).body;
  const unitsOf = (dollars: number) => BigInt(Math.round(dollars * 10_000));
  const shown = days.map(({ date, cash, value, holdings }: any) => [
    date,
    cash,
    value,
    new Set(
      holdings.map(
        (one: any) => `${one.symbol} ${one.quantity} ${unitsOf(one.price)} ${unitsOf(one.value)}`,
      ),
    ),
  ]);
  const expected = closings.map(({ date, cash, portfolio_value, holdings }) => {
    const valued = holdings.map(({ symbol, quantity }) => {
      const price = closeOf(prices.get(symbol) ?? {}, date);
      return `${symbol} ${quantity} ${price} ${price * BigInt(quantity)}`;
    });
    return [date, cash, portfolio_value, new Set(valued)];
  });
  assert.deepEqual(shown, expected);
  for (const { holdings, cash_weight: cashWeight } of days) {
    assert.ok(
      Math.abs(holdings.reduce((sum: number, { weight }: any) => sum + weight, cashWeight) - 1) <
        1e-8,
    );
    assert.deepEqual(
      holdings,
      holdings.toSorted((one: any, other: any) => other.value - one.value),
    );
  }
  const last = closings.at(-1);
  const { symbols } = (await service.get(`/performance?model=${model}&details=true`)).body.models[0]
    .details;
  const profits = new Map<string, bigint>();
  const add = (symbol: string | null, units: bigint) =>
    symbol !== null && profits.set(symbol, (profits.get(symbol) ?? 0n) + units);
  for (const { action_type: type, symbol, amount, price } of records)
    add(symbol, unitsOf(price ?? 0) * BigInt(amount ?? 0) * (type === 'buy' ? -1n : 1n));
  for (const { symbol, quantity } of last?.holdings ?? [])
    add(symbol, closeOf(prices.get(symbol) ?? {}, last?.date ?? '') * BigInt(quantity));
  assert.deepEqual(new Map(symbols.map((one: any) => [one.symbol, unitsOf(one.profit)])), profits);
  assert.ok(symbols.length > 1 && days.length === closings.length);
}

test('the bookkeeper notices a wrong figure', () => {
  const file = JSON.stringify({
    'Meta Data': { '2. Symbol': 'AAPL' },
    'Time Series (Daily)': { '2025-09-01': { '1. buy price': '100', '4. sell price': '101' } },
  });
  const record = {
    date: '2025-09-01',
    model: 'm',
    action_id: 1,
    action_type: 'buy',
    symbol: 'AAPL',
    amount: 2,
    price: 100,
    cash: 800,
    portfolio_value: 1002,
    daily_profit: 2,
    daily_return_pct: 0.2,
    holdings: [{ symbol: 'AAPL', quantity: 2 }],
  };
  assert.deepEqual(findErrors([record], file, 1000), []);
  for (const wrong of [
    { cash: 800.0001 },
    { portfolio_value: 1000 },
    { daily_profit: 0 },
    { price: 101 },
    { holdings: [] },
    { daily_return_pct: 0 },
  ]) {
    assert.notDeepEqual(
      findErrors([{ ...record, ...wrong }], file, 1000),
      [],
      JSON.stringify(wrong),
    );
  }
});
