import { join } from 'node:path';
import { addDays } from '../src/calendar.ts';
import { parseConfiguration } from '../src/configuration.ts';
import { type CommandDatabase, openDatabase } from '../src/database/database.ts';
import { type PositionRow, commitSession, insertSession } from '../src/database/sessions.ts';
import { type Money, fromDollars, money } from '../src/money.ts';
import { type Execution, type Portfolio, buy, valueOf } from '../src/trading/portfolio.ts';
import { percent } from '../src/trading/positions.ts';
import { insertWholeJob } from '../test/support/whole-job.ts';
import { startSameBytes } from './bare-server.ts';
import { besideCalibration } from './figure.ts';
import { memoryBelow, peakMemoryMb } from './memory.ts';
import { longestBeside } from './responses.ts';
import { timedRequest } from './samples.ts';
import {
  type BenchOptions,
  type Measurement,
  type Server,
  PLAIN,
  benchFolder,
  pidOf,
  startServer,
} from './support.ts';

const MODELS = 50;
const DAYS = 1_000;
const SYMBOLS = ['AAPL', 'AMZN', 'GOOGL', 'MSFT', 'NVDA'];
const RECORDS_PER_DAY = 2;
const OPEN = 1;
const CLOSE = 1.5;
const INITIAL_CASH = fromDollars(1_000_000);
const FIRST = '2020-01-01';
const MODEL_DAY_MS = 1_000;
const AIM_MS = 5_000;
const BOUNDS = { minPairs: 6, maxMs: 40_000 };

/** GET /audit of 100,000 positions beside the calibration, and the longest /health meanwhile. */
export async function* measureAudit(options: BenchOptions): AsyncGenerator<Measurement> {
  const folder = benchFolder();
  const database = openDatabase(join(folder, 'data/jobs_dev.db'), { durability: 'process-end' });
  fillWithBooks(database);
  database.close();
  const server = await startServer(['model-0'], { folder });
  const bare = await startSameBytes(`${server.url}/health`);
  const positions = MODELS * DAYS * RECORDS_PER_DAY;
  const audit = () => millisecondsOfAudit(server, positions);
  const what = `/audit of ${positions.toLocaleString('en-US')} positions`;
  yield await besideCalibration(what, audit, {
    belowMs: AIM_MS,
    bounds: BOUNDS,
    isLong: true,
    ...options,
  });
  yield await longestBeside('longest /health meanwhile', { server, bare, work: audit, ...options });
  yield memoryBelow('peak memory of the process after it', peakMemoryMb(pidOf(server.process)));
  bare.stop();
  await server.stop();
}

/**
 * Resolves to the milliseconds of an audit. Rejects if it finds other books than those that the
 * bench has made.
 */
export async function millisecondsOfAudit(
  { url }: Server,
  positions: number,
  signal: AbortSignal | null = null,
): Promise<number> {
  const { ms, body } = await timedRequest(`${url}/audit`, { headers: PLAIN, signal });
  const { status, counts } = JSON.parse(body.toString()) as {
    status: string;
    counts: { positions: number };
  };
  if (status !== 'sound' || counts.positions !== positions)
    throw new Error(`The books of the bench are ${status}: ${JSON.stringify(counts)}`);
  return ms;
}

/** Every model buys a share of two symbols every day. */
function fillWithBooks(database: CommandDatabase): void {
  const dates = Array.from({ length: DAYS }, (_, index) => addDays(FIRST, index));
  const models = Array.from({ length: MODELS }, (_, index) => `model-${index}`);
  const { agent_config: agentConfig } = parseConfiguration({ models: [] }, 'bench');
  const createdAt = '2025-01-02T00:00:00.000Z';
  database.transaction(() => {
    const insert = database.statement(
      `INSERT INTO price_data (symbol, date, open, close, source, recorded_at) VALUES (?, ?, ?, ?, 'csv', '2025-01-01T00:00:00.000Z')`,
    );
    for (const symbol of SYMBOLS) for (const date of dates) insert.run(symbol, date, OPEN, CLOSE);
    insertWholeJob(database, {
      jobId: 'bench',
      startDate: FIRST,
      endDate: dates.at(-1) as string,
      dates,
      runs: models.map((model) => ({ model, startDate: FIRST })),
      replaceExisting: false,
      agentConfig: { ...agentConfig, initial_cash: INITIAL_CASH / 10_000 },
      createdAt,
      warnings: [],
    });
  });
  for (const model of models) database.transaction(() => tradeEveryDay(database, model, dates)); // a transaction per model-day takes minutes
  database.statement(`UPDATE jobs SET status = 'completed', completed_at = ?`).run(createdAt);
}

function tradeEveryDay(database: CommandDatabase, model: string, dates: readonly string[]): void {
  let books: Books = {
    portfolio: { cash: INITIAL_CASH, holdings: new Map() },
    value: INITIAL_CASH,
    sessionId: null,
  };
  for (const day of dates.keys()) books = tradeOn(database, { model, dates, day }, books);
}

/** What a model-day begins with. */
interface Books {
  portfolio: Portfolio;
  value: Money;
  /** The session that ended with it. */
  sessionId: number | null;
}

const MARKS = new Map(SYMBOLS.map((symbol) => [symbol, fromDollars(CLOSE)]));

function tradeOn(
  database: CommandDatabase,
  { model, dates, day }: { model: string; dates: readonly string[]; day: number },
  before: Books,
): Books {
  const [yesterday = null, date = ''] = [dates[day - 1], dates[day]];
  const startedAt = new Date(Date.parse('2025-01-03') + day * MODEL_DAY_MS).toISOString();
  const modelDay = { jobId: 'bench', date, model };
  const start = {
    startedFrom: before.sessionId,
    initialCash: INITIAL_CASH,
    paysDividends: true,
    startedAt,
  };
  const sessionId = insertSession(database, modelDay, start);
  const positions = buyShares(before, day);
  const { cash, holdings, portfolioValue } = positions.at(-1) as PositionRow; // every day has some
  const price = fromDollars(OPEN);
  const prices = [...holdings.keys()].map((symbol) => ({
    symbol,
    heldSince: before.portfolio.holdings.has(symbol) ? yesterday : null,
    open: { price, date },
    close: { price: fromDollars(CLOSE), date },
  }));
  const session = { ...modelDay, sessionId, steps: 1, totalMessages: 0 };
  const toolUsage = [{ toolName: 'buy', calls: RECORDS_PER_DAY, refused: 0, durationMs: 1 }];
  const evidence = { prices, splits: [], dividends: [] };
  const rest = { summary: '', note: null, wording: 1, completedAt: startedAt };
  commitSession(database, session, { positions, toolUsage, evidence, ...rest });
  return { portfolio: { cash, holdings }, value: portfolioValue, sessionId };
}

function buyShares({ portfolio, value }: Books, day: number): PositionRow[] {
  let own = portfolio;
  const price = fromDollars(OPEN);
  return Array.from({ length: RECORDS_PER_DAY }, (_, index) => {
    const symbol = SYMBOLS[(day + index) % SYMBOLS.length] ?? '';
    own = bought(buy(own, { symbol, amount: 1, price }));
    const portfolioValue = valueOf(own, MARKS);
    const dailyProfit = money(portfolioValue - value);
    const action = { actionId: index + 1, actionType: 'buy' as const, symbol, amount: 1, price };
    return {
      ...action,
      ...own,
      portfolioValue,
      dailyProfit,
      dailyReturnPct: percent(dailyProfit / value),
    };
  });
}

function bought({ portfolio, refusal }: Execution): Portfolio {
  if (refusal !== undefined) throw new Error(refusal);
  return portfolio;
}
