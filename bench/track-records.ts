import { createRandom, pick } from '../src/agent/players/random.ts';
import { addDays, weekdays } from '../src/calendar.ts';
import { type Database, openDatabase } from '../src/database/database.ts';
import { addCoverage, storeBars } from '../src/database/prices.ts';
import { nasdaq100 } from '../src/universe.ts';

const START = '2023-10-02';
const INITIAL_CASH_E4 = 100_000 * 10_000;
const BENCHMARK = 'QQQ';
const STAMP = { source: 'csv', recordedAt: '2025-01-01T00:00:00.000Z' } as const;
const MODEL_DAY_AT = '2025-02-01T00:00:00.000Z';
const JOB = 'bench';
const HOLDINGS = 10;

type Prices = Map<string, { open: number; close: number }[]>;

/** Fills a database with models that traded every second day or so, in a universe of 101 symbols, with a benchmark. */
export function fillWithTrackRecords(path: string, { models, days }: { models: number; days: number }): void {
  const database = openDatabase(path, { durability: 'process-end' });
  const dates = weekdays(START, addDays(START, Math.ceil((days * 7) / 5) + 7)).slice(0, days);
  database.transaction(() => {
    const prices = insertPrices(database, dates);
    insertJob(database, dates, models);
    for (let model = 0; model < models; model += 1) insertModel(database, `model-${model}`, { dates, prices });
  });
  database.close();
}

/** Random walks in whole cents. */
function insertPrices(database: Database, dates: readonly string[]): Prices {
  const random = createRandom('prices');
  const prices: Prices = new Map();
  for (const symbol of [...nasdaq100, BENCHMARK]) {
    let price = 50 + random() * 300;
    const step = () => Math.round((price *= 1 + (random() - 0.495) * 0.02) * 100) / 100;
    const bars = dates.map((date) => ({ symbol, date, open: step(), high: null, low: null, close: step(), volume: 1 }));
    storeBars(database, bars, STAMP);
    addCoverage(database, { symbol, startDate: dates[0] as string, endDate: dates.at(-1) as string }, STAMP);
    prices.set(symbol, bars);
  }
  return prices;
}

function insertJob(database: Database, dates: readonly string[], models: number): void {
  database
    .statement(
      `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at, completed_at)
       VALUES (?, 'completed', ?, ?, ?, 0, '{}', ?, ?)`,
    )
    .run(JOB, dates[0] as string, dates.at(-1) as string, JSON.stringify(dates), MODEL_DAY_AT, MODEL_DAY_AT);
  for (let model = 0; model < models; model += 1) {
    database
      .statement(
        'INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at) VALUES (?, ?, ?, ?, ?)',
      )
      .run(JOB, `model-${model}`, model, dates[0] as string, MODEL_DAY_AT);
  }
}

interface Account {
  cash: number;
  held: Map<string, number>;
  sessionId: number | null;
  value: number;
}

function insertModel(
  database: Database,
  model: string,
  { dates, prices }: { dates: readonly string[]; prices: Prices },
): void {
  const random = createRandom(model);
  const account: Account = { cash: INITIAL_CASH_E4, held: new Map(), sessionId: null, value: INITIAL_CASH_E4 };
  dates.forEach((date, day) => {
    const sessionId = insertSession(database, { model, date, startedFrom: account.sessionId });
    const actions = random() < 0.5 ? [] : trade(account, { random, prices, day });
    const value = [...account.held].reduce(
      (sum, [symbol, quantity]) => sum + quantity * priceOf(prices, symbol, { day, at: 'close' }),
      account.cash,
    );
    const rows = actions.length === 0 ? [['no_trade', null, null, null, account.cash] as const] : actions;
    rows.forEach(([type, symbol, amount, price, cash], index) => {
      const { lastInsertRowid } = database
        .statement(
          `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4, daily_return_pct, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0.1, ?)`,
        )
        .run(sessionId, index + 1, type, symbol, amount, price, cash, value, value - account.value, MODEL_DAY_AT);
      const insertHolding = database.statement('INSERT INTO holdings VALUES (?, ?, ?)');
      for (const [held, quantity] of account.held) insertHolding.run(lastInsertRowid, held, quantity);
    });
    account.sessionId = sessionId;
    account.value = value;
  });
}

function insertSession(
  database: Database,
  { model, date, startedFrom }: { model: string; date: string; startedFrom: number | null },
): number {
  database
    .statement(
      `INSERT INTO job_details (job_id, date, model, status, started_at, completed_at, prompt_tokens, completion_tokens, cost_usd)
       VALUES (?, ?, ?, 'completed', ?, ?, 20000, 1000, 0.05)`,
    )
    .run(JOB, date, model, MODEL_DAY_AT, MODEL_DAY_AT);
  const inserted = database
    .statement(
      `INSERT INTO trading_sessions (job_id, date, model, status, started_from_session_id, initial_cash_e4, started_at, completed_at)
       VALUES (?, ?, ?, 'active', ?, ?, ?, ?)`,
    )
    .run(JOB, date, model, startedFrom, startedFrom === null ? INITIAL_CASH_E4 : null, MODEL_DAY_AT, MODEL_DAY_AT);
  return Number(inserted.lastInsertRowid);
}

type Action = readonly [type: string, symbol: string | null, amount: number | null, price: number | null, cash: number];

/** Sells two of ten holdings or more, and buys two others for a tenth of the cash each. */
function trade(
  account: Account,
  { random, prices, day }: { random: () => number; prices: Prices; day: number },
): Action[] {
  const actions: Action[] = [];
  for (let count = 0; count < 2 && account.held.size >= HOLDINGS - 1; count += 1) {
    const [symbol, quantity] = pick(random, [...account.held]);
    const price = priceOf(prices, symbol, { day, at: 'open' });
    account.cash += quantity * price;
    account.held.delete(symbol);
    actions.push(['sell', symbol, quantity, price, account.cash]);
  }
  for (let count = 0; count < 2; count += 1) {
    const symbol = pick(random, nasdaq100);
    const price = priceOf(prices, symbol, { day, at: 'open' });
    const amount = Math.floor(account.cash / 10 / price);
    if (amount === 0) continue;
    account.cash -= amount * price;
    account.held.set(symbol, (account.held.get(symbol) ?? 0) + amount);
    actions.push(['buy', symbol, amount, price, account.cash]);
  }
  return actions;
}

function priceOf(prices: Prices, symbol: string, { day, at }: { day: number; at: 'open' | 'close' }): number {
  return Math.round((prices.get(symbol)?.[day]?.[at] ?? 0) * 10_000);
}
