import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { prepareOnce, type Reader } from './database.ts';
import { oneOf, query, type RowOf, text } from './rows.ts';
import { jobStatuses } from '../basics/domain.ts';
import type { CalendarDate } from '../basics/calendar.ts';
import type { Steps } from '../basics/turns.ts';
import { adjustedSourcesInSql } from './schema/price-conditions.ts';
import { storeRiskFreeRate } from './state.ts';
import { digestTable, listedTables, storedColumns } from './manifest.ts';
import type { Opening } from './active-days.ts';
import { indexInSteps } from './log-words.ts';
import { changedStarts } from './stale.ts';
import { migrate } from './schema/schema.ts';
import type { Snapshot } from './snapshot.ts';

const JOB = query(
  'SELECT job_id AS jobId, status, end_date AS endDate, agent_config AS agentConfig FROM jobs WHERE job_id = ?',
  {
    jobId: text,
    status: oneOf(jobStatuses),
    endDate: text,
    agentConfig: text,
  },
);

/** A job that a package may hold. */
export type PackagedJob = RowOf<typeof JOB>;

/** Undefined when there is no such job. */
export function packagedJob(reader: Reader, jobId: string): PackagedJob | undefined {
  return JOB.get(reader, jobId);
}

const NEWEST = query('SELECT job_id FROM jobs ORDER BY created_at DESC LIMIT 1000', [text]);

/** The ids of jobs, the newest first. */
export function newestJobs(reader: Reader): string[] {
  return NEWEST.all(reader).map(([jobId]) => jobId);
}

const SYMBOLS = query(
  `SELECT symbol FROM trading_sessions CROSS JOIN session_prices USING (session_id) WHERE job_id = ?1
   UNION
   SELECT symbol FROM trading_sessions AS own CROSS JOIN holdings ON holdings.session_id = own.started_from_session_id
   WHERE own.job_id = ?1`,
  [text],
);

/** Every symbol that the model-days of a job traded or held, or that their start held. */
export function symbolsOfJob(reader: Reader, jobId: string): string[] {
  return SYMBOLS.all(reader, jobId).map(([symbol]) => symbol);
}

/**
 * Copies what belongs to one job into a new database. The other tables of the schema stay empty: an
 * idempotency key is its client's, and the index of words is made anew.
 */

/** Rows that name a job. */
const OF_JOB = ['jobs', 'simulation_runs', 'job_details', 'trading_sessions', 'decisions'];
/** Rows that name a session. */
const OF_SESSION = [
  'positions',
  'holdings',
  'reasoning_logs',
  'served_models',
  'tool_usage',
  'session_prices',
  'session_splits',
  'session_dividends',
];
/** Splits and dividends: all of a symbol, because later splits convert earlier dividends. */
const OF_SYMBOL = [
  'stock_splits',
  'stock_split_coverage',
  'stock_split_spans',
  'stock_split_revisions',
  'dividends',
  'dividend_coverage',
  'dividend_revisions',
];
/** Filled otherwise, or left empty. */
const OTHERS = [
  ...[
    'opening_lots',
    'price_data',
    'price_revisions',
    'price_writes',
    'price_data_coverage',
    'market_days',
  ],
  ...['figure_settings', 'idempotency_keys', 'changed_starts'],
];

/** Every table that this file knows; a test compares it with the schema. */
export const knownTables = [...OF_JOB, ...OF_SESSION, ...OF_SYMBOL, ...OTHERS];

/** Sessions whose rows are copied in one step. */
const SESSIONS_PER_STEP = 50;

/** Which rows belong to a package. */
export interface JobRows {
  jobId: string;
  openings: readonly Opening[];
  /** Whose prices, splits and dividends are copied. */
  symbols: readonly string[];
  /** The last date of prices. */
  lastDate: CalendarDate;
  /** That of the figures. */
  riskFreeRate: number;
}

/**
 * Copies the rows step by step, in the order of their keys. `onStep` receives the fraction that is
 * done.
 */
export function* copyRows(
  target: PackageFile,
  rows: JobRows,
  onStep: (share: number) => void,
): Steps<void> {
  const { jobId, openings, symbols, lastDate, riskFreeRate } = rows;
  storeRiskFreeRate(target.reader, riskFreeRate);
  target.connection.exec(
    'UPDATE main.price_writes SET number = (SELECT number FROM source.price_writes)',
  );
  for (const table of OF_JOB) copy(target, table, { where: 'job_id = ?', values: [jobId] });
  for (const opening of openings) copyOpening(target, opening);
  target.connection
    .prepare(`INSERT INTO main.changed_starts ${changedStarts('source.trading_sessions')}`)
    .run(jobId);
  const batches = sessionBatches(target, jobId);
  const total = batches.length + symbols.length;
  let done = 0;
  const step = () => onStep((done += 1) / total);
  for (const [first, last] of batches) {
    const values = [first, last, jobId];
    for (const table of OF_SESSION) copy(target, table, { where: OWN_SESSIONS, values });
    step();
    yield null;
  }
  for (const symbol of symbols) {
    copyPrices(target, symbol, lastDate);
    step();
    yield null;
  }
  copy(target, 'market_days', { where: 'date <= ?', values: [lastDate] });
}

const OWN_SESSIONS = `session_id BETWEEN ? AND ? AND session_id IN (SELECT session_id FROM main.trading_sessions WHERE job_id = ?)`;

/** The first and the last session of each step. */
function sessionBatches(
  { connection }: PackageFile,
  jobId: string,
): [first: number, last: number][] {
  const ids = connection
    .prepare('SELECT session_id FROM trading_sessions WHERE job_id = ? ORDER BY session_id')
    .all(jobId)
    .map((row) => Number(row['session_id']));
  const batches: [number, number][] = [];
  for (let start = 0; start < ids.length; start += SESSIONS_PER_STEP) {
    const batch = ids.slice(start, start + SESSIONS_PER_STEP);
    batches.push([batch[0] ?? 0, batch.at(-1) ?? 0]);
  }
  return batches;
}

/**
 * `replaced` gives some columns another value. A message keeps its row number, because a search
 * continues from one.
 */
function copy(
  { connection, reader }: PackageFile,
  table: string,
  {
    where,
    values,
    replaced = {},
  }: { where: string; values: SQLInputValue[]; replaced?: Record<string, string> },
): void {
  const columns = storedColumns(reader, table);
  const chosen = columns.map((column) => replaced[column] ?? column).join(', ');
  connection
    .prepare(
      `INSERT INTO main.${table} (${columns.join(', ')}) SELECT ${chosen} FROM source.${table} WHERE ${where}`,
    )
    .run(...values);
}

function copyPrices(target: PackageFile, symbol: string, lastDate: CalendarDate): void {
  for (const table of OF_SYMBOL) copy(target, table, { where: 'symbol = ?', values: [symbol] });
  const values = [symbol, lastDate];
  copy(target, 'price_revisions', {
    where: `symbol = ?1 AND (date <= ?2 OR ${LATER_REVISION})`,
    values,
  });
  const replaced = { end_date: `min(end_date, '${lastDate}')` };
  copy(target, 'price_data_coverage', {
    where: 'symbol = ? AND start_date <= ?',
    values,
    replaced,
  });
  copy(target, 'price_data', { where: `symbol = ?1 AND (date <= ?2 OR ${LATER_BAR})`, values });
}

/**
 * Whether splits and dividends count for a series depends on the sources of all its bars at the
 * time, and only on whether they are free of split jumps or contain dividends. So for each such
 * source the bar is copied that was there first of the later ones, and of those replaced since, one
 * for each span of time.
 */
const LATER = `symbol = ?1 AND date > ?2 AND source IN (${adjustedSourcesInSql})`;
const LATER_BAR = `date IN (
  SELECT date FROM (SELECT date, min(written) FROM source.price_data WHERE ${LATER} GROUP BY source))`;
const LATER_REVISION = `revision_id IN (
  SELECT min(revision_id) FROM source.price_revisions WHERE ${LATER} GROUP BY source, written, replaced)`;

/**
 * The close of the session: its date, its note and one position, with the prices that valued it and
 * the lots.
 */
function copyOpening({ connection }: PackageFile, { sessionId, initialCash, lots }: Opening): void {
  const run = (sql: string, ...values: SQLInputValue[]) => connection.prepare(sql).run(...values);
  run(
    `INSERT INTO trading_sessions (session_id, date, model, status, initial_cash_e4, started_at, completed_at, note)
     SELECT session_id, date, model, 'opening', ?, completed_at, completed_at, note FROM source.trading_sessions WHERE session_id = ?`,
    ...[initialCash, sessionId],
  );
  run(
    `INSERT INTO positions (position_id, session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4,
       daily_return_pct)
     SELECT position_id, session_id, 1, 'no_trade', cash_e4, portfolio_value_e4, daily_profit_e4, daily_return_pct
     FROM source.positions WHERE session_id = ? ORDER BY action_id DESC LIMIT 1`,
    sessionId,
  );
  run(
    'INSERT INTO holdings (session_id, symbol, quantity) SELECT session_id, symbol, quantity FROM source.holdings WHERE session_id = ?',
    sessionId,
  );
  run(
    `INSERT INTO session_prices (session_id, symbol, date, close_e4, close_date)
     SELECT session_id, symbol, date, close_e4, close_date FROM source.session_prices
     WHERE session_id = ? AND symbol IN (SELECT symbol FROM source.holdings WHERE session_id = ?)`,
    ...[sessionId, sessionId],
  );
  const insertLot = connection.prepare('INSERT INTO opening_lots VALUES (?, ?, ?, ?, ?, ?)');
  const counts = new Map<string, number>();
  for (const { symbol, date, quantity, cost } of lots) {
    const lot = (counts.get(symbol) ?? 0) + 1;
    counts.set(symbol, lot);
    insertLot.run(sessionId, symbol, lot, date, quantity, cost);
  }
}

/** A new database that is filled from a snapshot of another one, attached to it as `source`. */
export interface PackageFile {
  connection: DatabaseSync;
  /** Reads the new database. */
  reader: Reader;
}

/**
 * Makes a database at `path` in one transaction: `fill` writes the rows, whose triggers do not run,
 * so that they stay as they are; the indexes are made afterwards. Then the manifest is written.
 * Throws when a row refers to one that is missing.
 */
export function* makePackage(
  path: string,
  { url }: Pick<Snapshot, 'url'>,
  fill: (file: PackageFile) => Steps<void>,
): Steps<void> {
  const connection = new DatabaseSync(pathToFileURL(path), { enableForeignKeyConstraints: false });
  const file = {
    connection,
    reader: { path, statement: prepareOnce(connection), close: () => connection.close() },
  };
  try {
    // Nothing is lost when this fails: the file has a temporary name until it is complete and
    // flushed.
    connection.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    migrate(connection);
    connection.prepare('ATTACH ? AS source').run(`${url}${url.includes('?') ? '&' : '?'}mode=ro`);
    connection.exec('BEGIN');
    const dropped = dropIndexesAndTriggers(connection);
    yield* fill(file);
    for (const sql of dropped) connection.exec(sql);
    yield* indexInSteps(file.reader); // a view writes nothing
    yield* writeManifest(file);
    checkReferences(connection);
    connection.exec('COMMIT');
  } finally {
    connection.close();
  }
}

/**
 * Removes the indexes and triggers of an empty schema, and returns the statements that make them
 * again.
 */
function dropIndexesAndTriggers(connection: DatabaseSync): string[] {
  const sql = `SELECT type, name, sql FROM main.sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`;
  const found = connection.prepare(sql).all();
  for (const { type, name } of found) connection.exec(`DROP ${type} main.${name}`);
  return found.map((row) => String(row['sql']));
}

function* writeManifest({ connection, reader }: PackageFile): Steps<void> {
  const insert = connection.prepare('INSERT INTO package_manifest VALUES (?, ?, ?)');
  for (const name of listedTables(reader)) {
    const { table, rows, sha256 } = yield* digestTable(reader, name);
    insert.run(table, rows, sha256);
  }
}

function checkReferences(connection: DatabaseSync): void {
  const [row] = connection
    .prepare('SELECT "table" AS child, parent FROM main.pragma_foreign_key_check')
    .all();
  if (row === undefined) return;
  const what = `a row of ${row['child']} refers to a row of ${row['parent']} that is missing`;
  throw new Error(`${what}; the command check names all damage`);
}
