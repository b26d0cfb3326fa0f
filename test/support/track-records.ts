import { createRandom, pick, type Random } from '../../src/core/agent/players/simulated-model.ts';
import { addDays, weekdays } from '../../src/core/time/calendar.ts';
import { type DecisionRow, NO_TRADE } from '../../src/core/database/decisions.ts';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { storeDividends } from '../../src/core/database/splits-and-dividends.ts';
import { numberedWrite } from '../../src/core/database/price-writes.ts';
import { finalStatus } from '../../src/core/database/model-days.ts';
import { endJob, setJobStatus } from '../../src/core/database/job-queries.ts';
import { addCoverage, storeBars } from '../../src/core/database/prices.ts';
import type { LedgerRecord } from '../../src/core/database/replay-queries.ts';
import {
  appendMessages,
  commitSession,
  endModelDay,
  insertSession,
  type LogMessage,
  type ModelDay,
} from '../../src/core/database/sessions.ts';
import { parseRun } from '../../src/core/domain/runs.ts';
import { encodeEntry, type Entry } from '../../src/core/settings/entry.ts';
import { type Money, money } from '../../src/core/money/money.ts';
import { percent } from '../../src/core/trading/commit.ts';
import { nasdaq100 } from '../../src/core/settings/default-symbols.ts';
import { insertTestJob, storedEntry } from './jobs.ts';

/**
 * Databases of models that have traded for long, written by the service's own code without running
 * jobs.
 */

export const FIRST_DATE = '2023-10-02';
const INITIAL_CASH = money(100_000 * 10_000);
const BENCHMARK = 'QQQ';
const STAMP = { source: 'csv', recordedAt: '2023-01-01T00:00:00.000Z' } as const;
/** A portfolio grows to about as many holdings. */
const HOLDINGS = 10;

export interface TrackRecords {
  /** The models' names. */
  models: readonly string[];
  days: number;
  /** Each job has this many dates, by default all. */
  datesPerJob?: number;
  /** The share of model-days that fail; a tenth as many jobs lose all their model-days. */
  failures?: number;
}

/** `model-0`, `model-1`, … */
export function modelNames(count: number): string[] {
  return Array.from({ length: count }, (_none, index) => `model-${index}`);
}

/** The dates of such a database. */
export function recordDates(days: number): string[] {
  return weekdays(FIRST_DATE, addDays(FIRST_DATE, Math.ceil((days * 7) / 5) + 7)).slice(0, days);
}

/**
 * Fills a database with models that traded every second day or so, in a universe of 101 symbols,
 * with a benchmark.
 */
export function fillWithTrackRecords(path: string, records: TrackRecords): void {
  const database = openDatabase(path, { durability: 'process-end' });
  const { models, days, datesPerJob = days, failures = 0 } = records;
  const dates = recordDates(days);
  database.transaction(() => {
    const prices = insertPrices(database, dates);
    const accounts = models.map((model) => newAccount(model));
    for (let first = 0; first < dates.length; first += datesPerJob) {
      const own = dates.slice(first, first + datesPerJob);
      const job = `bench-${String(first / datesPerJob).padStart(4, '0')}`;
      runJob(database, { job, dates: own, allDates: dates, accounts, prices, failures });
    }
  });
  database.close();
}

type Prices = Map<string, Map<string, { open: number; close: number }>>;

/** Random walks in whole cents. */
function insertPrices(database: Database, dates: readonly string[]): Prices {
  const random = createRandom('prices');
  const prices: Prices = new Map();
  for (const symbol of [...nasdaq100, BENCHMARK]) {
    let price = 50 + random() * 300;
    const step = () => Math.round((price *= 1 + (random() - 0.495) * 0.02) * 100) / 100;
    const bars = dates.map((date) => {
      const [open, close] = [step(), step()];
      return { symbol, date, open, high: null, low: null, close, volume: 1 };
    });
    storeBars(database, bars, STAMP);
    const span = { symbol, startDate: dates[0] as string, endDate: dates.at(-1) as string };
    addCoverage(database, span, STAMP);
    storeDividends(database, { dividends: [], spans: [span], basis: 'as_paid' }, STAMP);
    prices.set(symbol, new Map(bars.map((bar) => [bar.date, bar])));
  }
  return prices;
}

/** A model's portfolio, and the last session that ended in it. */
interface Account {
  model: string;
  random: Random;
  cash: number;
  held: Map<string, number>;
  last: { sessionId: number; date: string; value: number } | null;
}

function newAccount(model: string): Account {
  return { model, random: createRandom(model), cash: INITIAL_CASH, held: new Map(), last: null };
}

interface Job {
  job: string;
  dates: readonly string[];
  allDates: readonly string[];
  accounts: readonly Account[];
  prices: Prices;
  failures: number;
}

function runJob(
  database: Database,
  { job, dates, allDates, accounts, prices, failures }: Job,
): void {
  const random = createRandom(job);
  const [first, last] = [dates[0] as string, dates.at(-1) as string];
  const at = (date: string, second = 0) => `${date}T21:00:${String(second).padStart(2, '0')}.000Z`;
  const cutoff = allDates[Math.floor(allDates.length / 3)] as string;
  const families = [...new Set(accounts.map(({ model }) => familyOf(model)))];
  const runs = accounts.map(({ model }) => {
    const family = familyOf(model);
    const own = families.indexOf(family) % 5 === 4 ? cutoff : null;
    return { model, startDate: first, family, entry: encodeEntry(entryOf(model, own)) };
  });
  const terms = { max_steps: 30, stock_symbols: null, dividends: true };
  insertTestJob(database, {
    jobId: job,
    startDate: first,
    endDate: last,
    dates,
    runs,
    replaceExisting: false,
    agentConfig: { ...terms, initial_cash: INITIAL_CASH / 10_000 },
    createdAt: at(first),
    warnings: [],
  });
  setJobStatus(database, job, { status: 'running', at: at(first, 1) });
  const isLost = random() < failures / 10;
  for (const date of dates)
    for (const account of accounts) {
      const fails = isLost || random() < failures;
      const times = { startedAt: at(date, 2), completedAt: at(date, 31) };
      runDay(database, account, { job, date, prices, fails, ...times });
    }
  endJob(database, job, { status: finalStatus(database, job), error: null, at: at(last, 59) });
}

/** `gpt-5#2` is a run of `gpt-5`. */
function familyOf(model: string): string {
  return parseRun(model).family;
}

function entryOf(model: string, cutoff: string | null): Entry {
  return {
    ...JSON.parse(storedEntry(familyOf(model))),
    ...{ run: parseRun(model).run, kind: 'provider', url: 'http://127.0.0.1:8000/v1' },
    ...{ parameters: { temperature: 0.7 }, notes: false, knowledge_cutoff: cutoff },
    price_per_million_tokens: { input: 1.25, output: 10 },
    tools: ['buy', 'sell', 'get_price', 'get_portfolio', 'calculate'],
  };
}

interface Day {
  job: string;
  date: string;
  prices: Prices;
  fails: boolean;
  startedAt: string;
  completedAt: string;
}

/** A model-day: its session with the whole conversation, and what it ended with. */
function runDay(database: Database, account: Account, day: Day): void {
  const { job, date, fails, startedAt, completedAt } = day;
  const modelDay = { jobId: job, date, model: account.model };
  const startedFrom = account.last?.sessionId ?? null;
  const write = numberedWrite(database);
  const terms = { initialCash: INITIAL_CASH, paysDividends: true };
  const start = { startedFrom, ...terms, startedAt, morningWrite: write };
  const sessionId = insertSession(database, modelDay, start);
  const morning = new Set(account.held.keys());
  const actions = fails || account.random() < 0.5 ? [] : trade(account, day);
  const isRefused = account.random() < 0.1;
  const messages = conversation(account, { date, actions, isRefused, fails });
  appendMessages(database, sessionId, { firstIndex: 0, messages, timestamp: startedAt });
  insertUsage(database, modelDay);
  const session = { ...modelDay, sessionId, steps: 2, totalMessages: messages.length };
  if (fails)
    return endModelDay(database, modelDay, { status: 'failed', error: FAILURE, completedAt });
  const { positions, evidence } = booksOf(account, { day, actions, morning });
  const summary = messages.at(-1)?.content ?? '';
  const toolUsage = (['buy', 'sell'] as const).flatMap((toolName) => {
    const refused = Number(isRefused && toolName === 'buy');
    const calls = actions.filter(({ type }) => type === toolName).length + refused;
    return calls === 0 ? [] : [{ toolName, calls, refused, durationMs: 1 }];
  });
  commitSession(database, session, {
    decisions: decisionsOf(actions, isRefused ? messages.at(-2)?.content : undefined),
    ...{
      positions,
      evidence,
      toolUsage,
      summary,
      note: null,
      confidence: null,
      isUnread: false,
      unfilled: [],
    },
    ...{ wording: 1, commitWrite: write, completedAt },
  });
  account.last = { sessionId, date, value: positions.at(-1)?.portfolioValue ?? 0 };
}

/** Where `conversation` has the results: trades, then perhaps a refusal. */
function decisionsOf(actions: readonly Action[], refusal: string | undefined): DecisionRow[] {
  const trades = actions.map(({ type, symbol }, index): DecisionRow => {
    const side = type === 'sell' ? type : 'buy';
    return { ...NO_TRADE, message_index: 3 + index, action_id: index + 1, side, symbol };
  });
  const { error: detail } = JSON.parse(refusal ?? '{}');
  const refused = { ...NO_TRADE, message_index: 3 + actions.length, side: 'buy' as const };
  const refusals =
    refusal === undefined ? [] : [{ ...refused, symbol: 'NVDA', amount: 90_000, detail }];
  return [...trades, ...refusals, ...(trades.length === 0 ? [NO_TRADE] : [])];
}

const FAILURE = 'The endpoint answered 503 to the last of 4 requests: overloaded';

function insertUsage(database: Database, { jobId, date, model }: ModelDay): void {
  database
    .statement(
      `UPDATE job_details SET steps = 2, requests = 2, prompt_tokens = 20000, completion_tokens = 1000, cost_usd = 0.05
       WHERE job_id = ? AND date = ? AND model = ?`,
    )
    .run(jobId, date, model);
}

/** An executed order, with cash and holdings after it. */
interface Action {
  type: 'buy' | 'sell' | 'no_trade';
  symbol: string | null;
  amount: number | null;
  price: Money | null;
  cash: number;
  holdings: ReadonlyMap<string, number>;
}

/** Sells two of ten holdings or more, and buys two others for a tenth of the cash each. */
function trade(account: Account, { prices, date }: Day): Action[] {
  const actions: Action[] = [];
  const order = (type: 'buy' | 'sell', symbol: string, amount: number) => {
    const price = priceOf(prices, symbol, { date, at: 'open' });
    const left = (account.held.get(symbol) ?? 0) + (type === 'buy' ? amount : -amount);
    account.cash += amount * price * (type === 'buy' ? -1 : 1);
    if (left === 0) account.held.delete(symbol);
    else account.held.set(symbol, left);
    const holdings = new Map(account.held);
    actions.push({ type, symbol, amount, price, cash: account.cash, holdings });
  };
  for (let count = 0; count < 2 && account.held.size >= HOLDINGS - 1; count += 1)
    order('sell', ...pick(account.random, [...account.held]));
  for (let count = 0; count < 2; count += 1) {
    const symbol = pick(account.random, nasdaq100);
    const amount = Math.floor(account.cash / 10 / priceOf(prices, symbol, { date, at: 'open' }));
    if (amount > 0) order('buy', symbol, amount);
  }
  return actions;
}

interface Traded {
  day: Day;
  actions: readonly Action[];
  /** The symbols held in the morning. */
  morning: ReadonlySet<string>;
}

/**
 * What a completed day commits: its positions, valued at the close, and the prices that they were
 * computed from.
 */
function booksOf(account: Account, { day: { date, prices }, actions, morning }: Traded) {
  const nothing = { type: 'no_trade', symbol: null, amount: null, price: null } as const;
  const none: Action = { ...nothing, cash: account.cash, holdings: account.held };
  const before = account.last?.value ?? INITIAL_CASH;
  const close = (symbol: string) => priceOf(prices, symbol, { date, at: 'close' });
  const positions = (actions.length > 0 ? actions : [none]).map(
    ({ type, cash, ...action }, index): LedgerRecord => {
      const value = action.holdings
        .entries()
        .reduce((sum, [symbol, quantity]) => sum + quantity * close(symbol), cash);
      const profit = value - before;
      const portfolioValue = money(value);
      const marked = { cash: money(cash), portfolioValue, dailyProfit: money(profit) };
      const dailyReturnPct = percent(profit / before);
      return { actionId: index + 1, actionType: type, ...action, ...marked, dailyReturnPct };
    },
  );
  const traded = positions.flatMap(({ symbol }) => symbol ?? []);
  const used = new Set([...morning, ...traded, ...account.held.keys()]);
  const evidence = [...used].map((symbol) => ({
    symbol,
    heldSince: morning.has(symbol) ? (account.last?.date ?? null) : null,
    ...{ open: priceOf(prices, symbol, { date, at: 'open' }), openDate: date },
    ...{ close: close(symbol), closeDate: date },
  }));
  return { positions, evidence: { prices: evidence, splits: [], dividends: [], exchanges: [] } };
}

function priceOf(
  prices: Prices,
  symbol: string,
  { date, at }: { date: string; at: 'open' | 'close' },
): Money {
  return money(Math.round((prices.get(symbol)?.get(date)?.[at] ?? 0) * 10_000));
}

interface Talk {
  date: string;
  actions: readonly Action[];
  isRefused: boolean;
  fails: boolean;
}

const TASK =
  'You trade a portfolio of shares. Use the tools, then say in a few words what you did and why.';
const REASONS = [
  'Its margins have grown for three quarters, and the market has not priced that in.',
  'The price fell five days in a row without news; I expect it to return to its mean.',
  'I want less of my portfolio to depend on one sector before the report next week.',
  'Momentum is on its side: it closed above its 50-day average with rising volume.',
];

/**
 * The brief, an answer with all orders, their results, and a last answer; a failed day ends after
 * the brief.
 */
function conversation(
  { random, cash }: Account,
  { date, actions, isRefused, fails }: Talk,
): LogMessage[] {
  const asked = JSON.stringify({ date, cash: cash / 10_000, universe: 'NASDAQ-100' });
  const brief: LogMessage[] = [
    { role: 'system', content: TASK },
    { role: 'user', content: asked },
  ];
  if (fails) return brief;
  const orders = actions.map(({ type, symbol, amount, price, cash: left }) => {
    const paid = { price: (price ?? 0) / 10_000, cash: left / 10_000 };
    const result = { executed: type, symbol, amount, ...paid };
    return { name: String(type), arguments: { symbol, amount }, result: result as object };
  });
  const error = `Cannot buy 90000 NVDA: cash is ${(cash / 10_000).toFixed(2)}`;
  if (isRefused)
    orders.push({ name: 'buy', arguments: { symbol: 'NVDA', amount: 90_000 }, result: { error } });
  const content = `Done for ${date}. ${pick(random, REASONS)}`;
  const last: LogMessage = { role: 'assistant', content, summary: null };
  if (orders.length === 0) return [...brief, last];
  const calls = orders.map(({ name, arguments: given }, index) => ({
    id: `call_${index}`,
    name,
    arguments: JSON.stringify(given),
  }));
  const words = { content: pick(random, REASONS), summary: null };
  const answer: LogMessage = { role: 'assistant', ...words, toolCalls: JSON.stringify(calls) };
  const results = orders.map(({ name, arguments: given, result }): LogMessage => {
    const call = { toolName: name, toolInput: JSON.stringify(given) };
    return { role: 'tool', content: JSON.stringify(result), ...call };
  });
  return [...brief, answer, ...results, last];
}
