import { firstMessages } from '../../src/agent/prompt.ts';
import { parseConfiguration } from '../../src/basics/configuration.ts';
import { type CommandDatabase, type Database, openDatabase } from '../../src/database/database.ts';
import { morningWrite, nextWrite } from '../../src/database/price-writes.ts';
import type { DividendBasis } from '../../src/database/splits-and-dividends.ts';
import type { ModelDay } from '../../src/database/sessions.ts';
import { fromDollars } from '../../src/basics/money.ts';
import { emptyReport, type Finding, replayLedger } from '../../src/verify/replay.ts';
import { openMarket } from '../../src/trading/market.ts';
import type { NewsSearch } from '../../src/trading/news.ts';
import { insertTestJob, storedEntry } from './jobs.ts';
import { readPrices } from './prices.ts';
import { emptyTables } from './tables.ts';
import { openSession, type Session } from '../../src/trading/session.ts';
import { NO_COSTS } from '../../src/trading/portfolio.ts';
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
  database: Database;
  /** The time, which passes by a second with every look at it. */
  now(): string;
  wait(seconds: number): void;
  /** Opens a session of a new job, and logs its prompt. */
  open(date: string, model?: string): Promise<Session>;
  /** Opens a model-day again, whose session was left. */
  reopen(modelDay: ModelDay): Promise<Session>;
  /** Trades and commits. */
  complete(session: Session, orders?: readonly Order[]): Promise<void>;
  day(date: string, orders?: readonly Order[], model?: string): Promise<void>;
  fail(date: string): Promise<void>;
  /** What writes from now on: an import, or another program, which gives its writes no number. */
  writer: 'import' | 'another program';
  /** A close of null is not known. */
  setBar(
    symbol: string,
    date: string,
    bar: { open: number; close: number | null; source?: string },
  ): void;
  setSplit(symbol: string, date: string, numerator: number, denominator: number): void;
  /** Cash per share in dollars. */
  setDividend(symbol: string, exDate: string, cash: number, basis?: DividendBasis): void;
  remove(table: 'price_data' | 'stock_splits' | 'dividends', symbol: string, date: string): void;
}

const OPTIONS = {
  universe: new Set(SYMBOLS),
  initialCash: fromDollars(INITIAL_CASH),
  tokenPrices: null,
  news: null,
  costs: NO_COSTS,
  hasNotes: true,
};
const EMPTY_ANSWER = {
  type: 'answer',
  content: '',
  reasoning: null,
  usage: null,
  note: null,
} as const;

/** Books in a database of their own at a path, or in one that is given, which is emptied. */
export function createBooks(
  place: string | CommandDatabase = ':memory:',
  { paysDividends = true, news = null }: { paysDividends?: boolean; news?: NewsSearch | null } = {},
): Books {
  const database = typeof place === 'string' ? openDatabase(place) : place;
  if (typeof place !== 'string') emptyTables(place);
  const { agent_config: agentConfig } = parseConfiguration(
    {
      models: [],
      agent_config: {
        dividends: paysDividends,
        stock_symbols: SYMBOLS,
        initial_cash: INITIAL_CASH,
      },
    },
    'test',
  );
  let ms = Date.parse(START);
  const clock = () => new Date((ms += 1_000));
  const now = () => clock().toISOString();
  const context = { database, clock };
  let jobs = 0;
  const reopen = (modelDay: ModelDay) => {
    const write = database.transaction(() => morningWrite(database, modelDay));
    const market = openMarket({ reader: database, write }, modelDay.date, SYMBOLS);
    return openSession(context, modelDay, { ...OPTIONS, news, paysDividends, market });
  };
  const open = async (date: string, model = 'model-a') => {
    const jobId = `job-${(jobs += 1)}`;
    const createdAt = now();
    const range = {
      startDate: date,
      endDate: date,
      dates: [date],
      runs: [{ model, startDate: date, entry: storedEntry(model, { hasNews: news !== null }) }],
    };
    database.transaction(() =>
      insertTestJob(database, {
        ...range,
        jobId,
        replaceExisting: false,
        agentConfig,
        createdAt,
        warnings: [],
      }),
    );
    database
      .statement(`UPDATE jobs SET status = 'completed', completed_at = ? WHERE job_id = ?`)
      .run(createdAt, jobId);
    const session = await reopen({ jobId, date, model });
    await session.prompt(firstMessages(session.brief));
    return session;
  };
  const complete = async (session: Session, orders: readonly Order[] = []) => {
    for (const [name, symbol, amount] of orders) {
      const toolCalls = [{ id: '1', name, arguments: JSON.stringify({ symbol, amount }) }];
      await session.answer({ ...EMPTY_ANSWER, toolCalls });
    }
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
    setBar(symbol, date, { open: first, close, source = 'csv' }) {
      database
        .statement(
          `INSERT INTO price_data (symbol, date, open, close, source, written) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET open = excluded.open, close = excluded.close, written = excluded.written`,
        )
        .run(symbol, date, first, close, source, write());
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
    remove(table, symbol, date) {
      const day = table === 'dividends' ? 'ex_date' : 'date';
      database.statement(`DELETE FROM ${table} WHERE symbol = ? AND ${day} = ?`).run(symbol, date);
    },
  };
  return books;
}

const PRICES = `
  AAPL 2025-01-03 100 101
  AAPL 2025-01-06 102 103
  AAPL 2025-01-07 104 105
  AAPL 2025-01-08 106 107
  MSFT 2025-01-03 200 198
  MSFT 2025-01-06 196 194
  ORLY 2025-01-06 30 33
  ORLY 2025-01-08 20 22`;

/** Four days: trades, a sale, a day without a trade, a split with a fraction paid in cash. */
export async function fourDays(path?: string): Promise<Books> {
  const books = createBooks(path);
  for (const { symbol, date, ...bar } of readPrices(PRICES)) books.setBar(symbol, date, bar);
  books.setSplit('ORLY', '2025-01-08', 3, 2);
  books.wait(3600);
  await books.day('2025-01-03', [
    ['buy', 'AAPL', 10],
    ['buy', 'MSFT', 5],
  ]);
  await books.day('2025-01-06', [
    ['sell', 'MSFT', 5],
    ['buy', 'ORLY', 7],
  ]);
  await books.day('2025-01-07');
  await books.day('2025-01-08', [['buy', 'AAPL', 1]]);
  books.wait(3600);
  return books;
}

/**
 * What the audit says of books: of each model-day the first sentence, as
 * `model date (status if not active): sentence`.
 */
export async function auditOf(
  database: Database,
): Promise<{ problems: string[]; unverifiable: string[]; stale: string[] }> {
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
  const report = emptyReport();
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
