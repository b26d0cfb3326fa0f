import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import { parseConfiguration } from '../../src/core/settings/configuration.ts';
import {
  type CommandDatabase,
  type Database,
  openDatabase,
} from '../../src/core/database/database.ts';
import { countDocuments } from '../../src/core/database/document-queries.ts';
import { morningWrite, nextWrite } from '../../src/core/database/price-writes.ts';
import type { Bar } from '../../src/core/database/prices.ts';
import type { DividendBasis } from '../../src/core/database/splits-and-dividends.ts';
import type { ModelDay } from '../../src/core/database/sessions.ts';
import { fromDollars } from '../../src/core/money/money.ts';
import { emptyAuditReport, type Finding, replayLedger } from '../../src/core/verify/replay.ts';
import { type Market, openMarket } from '../../src/core/trading/market.ts';
import type { NewsSearch } from '../../src/core/trading/news.ts';
import { temporaryFolder } from './folder.ts';
import { insertTestJob, storedEntry } from './jobs.ts';
import { readPrices, rowsOf } from './prices.ts';
import { emptyTables } from './tables.ts';
import { openSession, type TradingSession } from '../../src/core/trading/session.ts';
import { offeredToolNames } from '../../src/core/trading/tools.ts';
import { orderTerms } from '../../src/core/trading/orders.ts';
import { staleNow } from './stale.ts';

export const SYMBOLS = ['AAPL', 'MSFT', 'ORLY'];
export const MODELS = ['model-a', 'model-b'];
/**
 * When these books begin: in the past, because the revision log's triggers know only the real time.
 */
export const START = '2020-01-01T00:00:00.000Z';
const INITIAL_CASH = 10_000;

export type Order = [tool: 'buy' | 'sell', symbol: string, amount: number];

/**
 * A database whose model-days are made by the service's own session, without models, on a clock
 * that tests set.
 */
export interface Books {
  database: CommandDatabase;
  /** The time, which passes by a second with every look at it. */
  now(): string;
  wait(seconds: number): void;
  /** Opens a session of a new job, and logs its prompt. */
  open(date: string, model?: string, options?: OpenOptions): Promise<TradingSession>;
  /** Opens a model-day again, whose session was left. */
  reopen(modelDay: ModelDay, options?: OpenOptions): Promise<TradingSession>;
  /** Trades and commits. */
  complete(session: TradingSession, orders?: readonly Order[]): Promise<void>;
  day(date: string, orders?: readonly Order[], model?: string): Promise<void>;
  fail(date: string): Promise<void>;
  /** What writes from now on: an import, or another program, which gives its writes no number. */
  writer: 'import' | 'another program';
  /** A close of null is not known. */
  setBar(
    symbol: string,
    date: string,
    bar: Partial<Bar> & { open: number; close: number | null; source?: string },
  ): void;
  setSplit(symbol: string, date: string, numerator: number, denominator: number): void;
  /** Cash per share in dollars. */
  setDividend(symbol: string, exDate: string, cash: number, basis?: DividendBasis): void;
  /** Shares of another symbol for old ones; cash per old share in dollars. */
  setExchange(
    symbol: string,
    date: string,
    into: string,
    ratio: [newShares: number, oldShares: number],
    more?: { cash?: number; remains?: boolean },
  ): void;
  remove(
    table: 'price_data' | 'stock_splits' | 'dividends' | 'exchanges',
    symbol: string,
    date: string,
  ): void;
}

interface OpenOptions {
  news?: NewsSearch | null;
  hasNotes?: boolean;
  universe?: ReadonlySet<string>;
  change?: (market: Market) => Market;
}

const PLAIN = { tokenPrices: null, news: null, decider: null, hasNotes: true };
const OPTIONS = { universe: new Set(SYMBOLS), ...PLAIN };
const OFFERED = offeredToolNames({ hasNews: true, hasNotes: true, hasDocuments: true });
const NOTHING_MORE = { reasoning: null, usage: null, note: null };
const EMPTY_ANSWER = { type: 'answer', content: '', ...NOTHING_MORE } as const;

/** One tool call in an answer of its own. */
export function callIn(session: TradingSession, name: string, args: object) {
  const toolCalls = [{ id: '1', name, arguments: JSON.stringify(args) }];
  return session.answer({ ...EMPTY_ANSWER, toolCalls });
}

/** The documents of a morning, as a job counts them. */
function countedOn({ prices, date }: Market) {
  const steps = [...countDocuments({ ...prices, date, symbols: null }, new Set(SYMBOLS))];
  return steps.at(-1) ?? { counts: [], hash: 0 };
}

/** Books in a database of their own at a path, or in one that is given, which is emptied. */
export function createBooks(
  place: string | CommandDatabase = ':memory:',
  {
    paysDividends = true,
    news = null,
    hasDocuments = false,
    terms = {},
  }: {
    paysDividends?: boolean;
    news?: NewsSearch | null;
    hasDocuments?: boolean;
    terms?: object;
  } = {},
): Books {
  const database = typeof place === 'string' ? openDatabase(place) : place;
  if (typeof place !== 'string') emptyTables(place);
  const usual = { dividends: paysDividends, stock_symbols: SYMBOLS, initial_cash: INITIAL_CASH };
  const asked = { models: [], agent_config: { ...usual, ...terms } };
  const { agent_config: agentConfig } = parseConfiguration(asked, 'test');
  let ms = Date.parse(START);
  const clock = () => new Date((ms += 1_000));
  const now = () => clock().toISOString();
  const context = { database, clock };
  let jobs = 0;
  const reopen: Books['reopen'] = (modelDay, { change, ...options } = {}) => {
    const write = database.transaction(() => morningWrite(database, modelDay));
    const own = openMarket({ reader: database, write }, modelDay.date, SYMBOLS);
    const market = change?.(own) ?? own;
    return openSession(context, modelDay, {
      ...OPTIONS,
      ...orderTerms(agentConfig),
      initialCash: fromDollars(agentConfig.initial_cash),
      news,
      paysDividends,
      market,
      ...(hasDocuments && { offered: OFFERED, documents: countedOn(market) }),
      ...options,
    });
  };
  const open: Books['open'] = async (date, model = 'model-a', options) => {
    const jobId = `job-${(jobs += 1)}`;
    const createdAt = now();
    const entry = storedEntry(model, { hasNews: news !== null, hasDocuments });
    const job = {
      ...{
        startDate: date,
        endDate: date,
        dates: [date],
        runs: [{ model, startDate: date, entry }],
      },
      ...{ jobId, replaceExisting: false, agentConfig, createdAt, warnings: [] },
    };
    database.transaction(() => insertTestJob(database, job));
    database
      .statement(`UPDATE jobs SET status = 'completed', completed_at = ? WHERE job_id = ?`)
      .run(createdAt, jobId);
    const session = await reopen({ jobId, date, model }, options);
    await session.prompt(firstMessages(session.brief));
    return session;
  };
  const complete = async (session: TradingSession, orders: readonly Order[] = []) => {
    for (const [name, symbol, amount] of orders) await callIn(session, name, { symbol, amount });
    await session.answer({ ...EMPTY_ANSWER, content: 'done', toolCalls: [] });
    await session.end({ status: 'finished', summary: 'done' });
  };
  const write = () => (books.writer === 'import' ? nextWrite(database) : null);
  const books: Books = {
    writer: 'import',
    database,
    now,
    wait: (seconds) => void (ms += seconds * 1_000),
    open,
    reopen,
    complete,
    day: async (date, orders, model) => complete(await open(date, model), orders),
    fail: async (date) => (await open(date)).end({ status: 'failed', error: 'broken' }),
    setBar(symbol, date, { open, high = null, low = null, close, volume = null, source = 'csv' }) {
      database
        .statement(
          `INSERT INTO price_data (symbol, date, open, high, low, close, volume, source, written) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET open = excluded.open, close = excluded.close, written = excluded.written`,
        )
        .run(symbol, date, open, high, low, close, volume, source, write());
    },
    setSplit(symbol, date, numerator, denominator) {
      database
        .statement(
          `INSERT INTO stock_splits (symbol, date, numerator, denominator, written) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET numerator = excluded.numerator, denominator = excluded.denominator, written = excluded.written`,
        )
        .run(symbol, date, numerator, denominator, write());
    },
    setDividend(symbol, exDate, cash, basis = 'as_paid') {
      database
        .statement(
          `INSERT INTO dividends (symbol, ex_date, cash_e6, basis, written) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET cash_e6 = excluded.cash_e6, basis = excluded.basis, written = excluded.written`,
        )
        .run(symbol, exDate, Math.round(cash * 1_000_000), basis, write());
    },
    setExchange(symbol, day, into, [numerator, denominator], { cash = 0, remains = false } = {}) {
      database
        .statement(
          `INSERT INTO exchanges (symbol, date, into_symbol, cash_e6, numerator, denominator, remains, source, written)
           VALUES (?, ?, ?, ?, ?, ?, ?, 'csv', ?) ON CONFLICT DO UPDATE SET cash_e6 = excluded.cash_e6, numerator = excluded.numerator,
             denominator = excluded.denominator, remains = excluded.remains, written = excluded.written`,
        )
        .run(
          symbol,
          day,
          into,
          Math.round(cash * 1_000_000),
          numerator,
          denominator,
          remains ? 1 : 0,
          write(),
        );
    },
    remove(table, symbol, date) {
      const day = table === 'dividends' ? 'ex_date' : 'date';
      database.statement(`DELETE FROM ${table} WHERE symbol = ? AND ${day} = ?`).run(symbol, date);
    },
  };
  return books;
}

/** Stores a table of prices. */
export function setBars(books: Books, prices: string, source = 'csv'): void {
  for (const bar of readPrices(prices)) books.setBar(bar.symbol, bar.date, { ...bar, source });
}

/** Tells `SYMBOL DATE CASH [BASIS]` or `SYMBOL DATE NEW:OLD`, and takes `-TABLE SYMBOL DATE` back. */
export function tell(books: Books, news: string): void {
  for (const line of news.split(', ').filter((one) => one !== '')) {
    const [symbol = '', date = '', what = '', basis] = line.split(' ');
    const [first = NaN, denominator] = what.split(':').map(Number);
    if (symbol.startsWith('-')) books.remove(symbol.slice(1) as 'dividends', date, what);
    else if (denominator !== undefined) books.setSplit(symbol, date, first, denominator);
    else books.setDividend(symbol, date, first, basis as DividendBasis | undefined);
  }
}

/** The days of a ledger, with the orders that it has. */
export async function tradeAlong(books: Books, ledger: string): Promise<void> {
  for (const [date, rows] of Map.groupBy(rowsOf(ledger), ([day = '']) => day)) {
    const orders = rows.filter(([, type]) => type === 'buy' || type === 'sell');
    await books.day(
      date,
      orders.map(([, type, symbol = '', amount]) => [type as 'buy', symbol, Number(amount)]),
    );
  }
}

export const PRICES = `
  AAPL 2025-01-03 100 101
  AAPL 2025-01-06 102 103
  AAPL 2025-01-07 104 105
  AAPL 2025-01-08 106 107
  MSFT 2025-01-03 200 198
  MSFT 2025-01-06 196 194
  ORLY 2025-01-06 30 33
  ORLY 2025-01-08 20 22`;

/** Positions 1 to 7 of sessions 1 to 4. */
export const FOUR_DAYS = `
  2025-01-03 buy AAPL 10 100 => 9000 10010 10 AAPL:10
  2025-01-03 buy MSFT 5 200  => 8000 10000 0 AAPL:10 MSFT:5
  2025-01-06 sell MSFT 5 196 => 8980 10010 10 AAPL:10
  2025-01-06 buy ORLY 7 30   => 8770 10031 31 AAPL:10 ORLY:7
  2025-01-07 no_trade        => 8770 10051 20 AAPL:10 ORLY:7
  2025-01-08 split ORLY 3 20 => 8780 10070 19 AAPL:10 ORLY:10
  2025-01-08 buy AAPL 1 106  => 8674 10071 20 AAPL:11 ORLY:10`;

/** Four days: trades, a sale, a day without a trade, a split with a fraction paid in cash. */
export async function fourDays(path?: string): Promise<Books> {
  const books = createBooks(path);
  setBars(books, PRICES);
  tell(books, 'ORLY 2025-01-08 3:2');
  books.wait(3600);
  await tradeAlong(books, FOUR_DAYS);
  books.wait(3600);
  return books;
}

let closed: Promise<string> | undefined;

/** The books of `fourDays` as a file that nothing has open: made once, then copied. */
export async function fourDaysAt(path: string): Promise<void> {
  closed ??= (async () => {
    const template = join(temporaryFolder(), 'four-days.db');
    (await fourDays(template)).database.close();
    return template;
  })();
  copyFileSync(await closed, path);
}

type Audit = Record<'problems' | 'unverifiable' | 'stale', string[]>;
export const SOUND: Audit = { problems: [], unverifiable: [], stale: [] };

/**
 * What the audit says of books: of each model-day the first sentence, as
 * `model date (status if not active): sentence`.
 */
export async function auditOf(database: Database): Promise<Audit> {
  const { problems, unverifiable } = await replayOf(database);
  return {
    problems: firstOfEachDay(problems),
    unverifiable: firstOfEachDay(unverifiable),
    stale: staleNow(database),
  };
}

function firstOfEachDay(lines: readonly string[]): string[] {
  const dayOf = (line: string | undefined) => line?.slice(0, line.indexOf(': '));
  return lines.filter((line, index) => dayOf(line) !== dayOf(lines[index - 1]));
}

/**
 * What the replay of books finds: how many model-days are the same, and a line per sentence of each
 * list.
 */
export async function replayOf(database: Database) {
  const report = emptyAuditReport();
  await replayLedger(database, report);
  const { same, modelDays, superseded, problems, unverifiable, fromOutside } = report;
  return {
    same: `${same} of ${modelDays}`,
    superseded: `${superseded.same} of ${superseded.modelDays}`,
    problems: linesOf(problems.first),
    unverifiable: linesOf(unverifiable.first),
    fromOutside,
  };
}

export function linesOf(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ model, date, status, sentences }) =>
    sentences.map(
      (sentence) => `${model} ${date}${status === 'active' ? '' : ` (${status})`}: ${sentence}`,
    ),
  );
}
