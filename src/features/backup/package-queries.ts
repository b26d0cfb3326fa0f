import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setImmediate as nextRound } from 'node:timers/promises';
import { prepareOnce, type Reader } from '#database/database.ts';
import { integer, reads, text, type RowOf } from '#database/rows.ts';
import { adjustedSourcesInSql } from '#database/schema/price-conditions.ts';
import { storeRiskFreeRate } from '#database/state.ts';
import { digestTable, listedTables } from '#database/manifest.ts';
import { rebuildDocumentIndex } from '#database/document-words.ts';
import { rebuildLogIndex } from '#database/log-words.ts';
import { IS_RENAME } from '#database/exchanges.ts';
import { createSchema } from '#database/schema/schema.ts';
import { CHANGED_STARTS } from '#database/stale.ts';
import type { Money } from '#money/money.ts';
import type { OpeningLot } from '../performance/holdings-queries.ts';

/** The ids of jobs, the newest first. */
export const newestJobs = reads(
  'column',
  'SELECT job_id FROM jobs ORDER BY created_at DESC LIMIT 1000',
  [text],
);

/** Every symbol that the model-days of a job traded or held, or that their start held. */
export const symbolsOfJob = reads(
  'column',
  `SELECT symbol FROM trading_sessions CROSS JOIN session_prices USING (session_id) WHERE job_id = ?1
   UNION
   SELECT symbol FROM trading_sessions AS own CROSS JOIN holdings ON holdings.session_id = own.started_from_session_id
   WHERE own.job_id = ?1`,
  [text],
  (jobId: string) => [jobId],
);

/** All that some symbols may ever have been named before, whose closes were their price limits'. */
export const formerNames = reads(
  'column',
  `WITH RECURSIVE renames AS (
     SELECT symbol, into_symbol FROM exchanges WHERE ${IS_RENAME}
     UNION SELECT symbol, into_symbol FROM exchange_revisions WHERE ${IS_RENAME}),
   names (symbol) AS (
     SELECT value FROM json_each(?)
     UNION SELECT renames.symbol FROM names JOIN renames ON into_symbol = names.symbol)
   SELECT symbol FROM names`,
  [text],
  (symbols: readonly string[]) => [symbols],
);

/** Which rows belong to a package. */
export interface JobRows {
  jobId: string;
  openings: readonly Opening[];
  /** Whose prices, splits and dividends stay. */
  symbols: readonly string[];
  /** Risk-free rate of the package's figures. */
  riskFreeRate: number;
}

/** What the statements below refer to: tables of their connection, not of the file. */
const OWN_TABLES = `
  CREATE TEMP TABLE own_job (job_id TEXT);
  CREATE TEMP TABLE own_symbols (symbol TEXT PRIMARY KEY);
  CREATE TEMP TABLE own_openings (session_id INTEGER PRIMARY KEY, initial_cash_e4 INTEGER);`;

/** Last date whose prices stay; only the job is left by then. */
const LAST_DATE = '(SELECT end_date FROM jobs)';

/** From when on its returns count: of its first session, or of an opening. */
const FIRST_DATE = '(SELECT min(date) FROM trading_sessions)';

const OF_JOB = 'job_id = (SELECT job_id FROM own_job)';

const IS_OPENING = 'session_id IN (SELECT session_id FROM own_openings)';

const OF_SESSION = `session_id IN (SELECT session_id FROM trading_sessions WHERE ${OF_JOB})`;

/** Splits and dividends: all of a symbol, because later splits convert earlier dividends. */
const OF_SYMBOL = 'symbol IN (SELECT symbol FROM own_symbols)';

/** By then, only the job's own sessions are left. */
const SHOWN = 'version IN (SELECT version FROM document_sessions)';

const NONE = 'FALSE';

/**
 * Whether splits and dividends count for a series depends on the sources of all its bars at the
 * time, and only on whether they are free of split jumps or contain dividends. So for each such
 * source the bar stays that was there first of the later ones, and of those replaced since, one for
 * each span of time.
 */
const LATER = `${OF_SYMBOL} AND date > ${LAST_DATE} AND source IN (${adjustedSourcesInSql})`;

const LATER_BAR = `(symbol, date) IN (SELECT symbol, date FROM (
  SELECT symbol, date, min(written) FROM price_data WHERE ${LATER} GROUP BY symbol, source))`;

/** A later bar says that a symbol without one on the last date has not ended. */
const NOT_ENDED = `(symbol, date) IN (SELECT symbol, min(date) FROM price_data AS later
  WHERE ${OF_SYMBOL} AND date > ${LAST_DATE} AND NOT EXISTS (
    SELECT 1 FROM price_data AS last WHERE last.symbol = later.symbol AND last.date = ${LAST_DATE}) GROUP BY symbol)`;

const LATER_REVISION = `revision_id IN (
  SELECT min(revision_id) FROM price_revisions WHERE ${LATER} GROUP BY symbol, source, written, replaced)`;

/**
 * Which rows of each table stay, in the order in which the others are deleted. An idempotency key
 * is its client's, and an announcement its service's. Of an opening stay the session, its last position, and what it held with the
 * prices of that. A test compares the tables with the schema.
 */
export const KEPT_ROWS: Readonly<Record<string, string>> = {
  jobs: OF_JOB,
  simulation_runs: OF_JOB,
  job_details: OF_JOB,
  trading_sessions: `${OF_JOB} OR ${IS_OPENING}`,
  positions: `${OF_SESSION} OR position_id IN (SELECT position_id FROM (
    SELECT position_id, max(action_id) FROM positions WHERE ${IS_OPENING} GROUP BY session_id))`,
  holdings: `${OF_SESSION} OR ${IS_OPENING}`,
  session_prices: `${OF_SESSION} OR ${IS_OPENING} AND (session_id, symbol) IN (SELECT session_id, symbol FROM holdings)`,
  reasoning_logs: OF_SESSION,
  decisions: OF_SESSION,
  tool_usage: OF_SESSION,
  session_splits: OF_SESSION,
  session_dividends: OF_SESSION,
  session_exchanges: OF_SESSION,
  changed_starts: OF_SESSION,
  document_sessions: OF_SESSION,
  document_texts: SHOWN,
  documents: SHOWN,
  document_imports: 'import_id IN (SELECT import_id FROM documents)',
  opening_lots: NONE,
  announcements: NONE,
  price_writes: 'TRUE',
  price_data: `${OF_SYMBOL} AND date <= ${LAST_DATE} OR ${LATER_BAR} OR ${NOT_ENDED}`,
  price_revisions: `${OF_SYMBOL} AND date <= ${LAST_DATE} OR ${LATER_REVISION}`,
  price_data_coverage: `${OF_SYMBOL} AND start_date <= ${LAST_DATE}`,
  market_days: `date <= ${LAST_DATE}`,
  factors: `date BETWEEN ${FIRST_DATE} AND ${LAST_DATE}`,
  stock_splits: OF_SYMBOL,
  stock_split_coverage: OF_SYMBOL,
  stock_split_spans: OF_SYMBOL,
  stock_split_revisions: OF_SYMBOL,
  dividends: OF_SYMBOL,
  dividend_coverage: OF_SYMBOL,
  dividend_revisions: OF_SYMBOL,
  exchanges: OF_SYMBOL,
  exchange_revisions: OF_SYMBOL,
  figure_settings: NONE,
  idempotency_keys: NONE,
  package_manifest: NONE,
};

/**
 * The close of a session of another job: its date, its note and one position, with the closes that
 * valued it.
 */
const OPENINGS = `
  UPDATE trading_sessions SET job_id = NULL, status = 'opening', started_from_session_id = NULL,
    initial_cash_e4 = (SELECT initial_cash_e4 FROM own_openings AS own WHERE own.session_id = trading_sessions.session_id),
    session_summary = NULL, confidence = NULL, error = NULL, steps = 0, total_messages = 0, started_at = completed_at,
    morning_write = 0, commit_write = 0, pays_dividends = 0, wording = NULL, documents = NULL, unread = 0
  WHERE ${IS_OPENING};
  UPDATE positions SET action_id = 1, action_type = 'no_trade', symbol = NULL, amount = NULL, price_e4 = NULL
  WHERE ${IS_OPENING};
  UPDATE session_prices SET held_since = NULL, open_e4 = NULL, open_date = NULL
  WHERE ${IS_OPENING};`;

/**
 * Makes a package of a copy of a database: deletes whatever does not belong to one job, and writes
 * the manifest. The copy is then written anew, so that no remains of deleted rows are in it. Throws
 * when a row refers to one that is missing, or when another program has added a column.
 * `readJobRows` reads which rows belong to it; `onPause` is called between two statements.
 */
export async function keepJob(
  copy: string,
  readRows: (reader: Reader) => JobRows,
  onPause: () => void,
): Promise<void> {
  const connection = new DatabaseSync(copy, { enableForeignKeyConstraints: false });
  const reader = { path: copy, statement: prepareOnce(connection), close() {} };
  try {
    // Nothing is lost when this fails: the file has a temporary name until it is complete and
    // flushed.
    connection.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    const rows = readRows(reader);
    connection.exec(`BEGIN; ${OWN_TABLES}`);
    nameOwn(reader, rows);
    const dropped = dropForeignObjects(connection);
    const starts = `INSERT OR IGNORE INTO changed_starts ${CHANGED_STARTS}`;
    reader.statement(starts).run(rows.jobId);
    for (const [table, kept] of Object.entries(KEPT_ROWS)) {
      connection.exec(`DELETE FROM ${table} WHERE (${kept}) IS NOT TRUE`);
      await nextRound();
      onPause();
    }
    connection.exec(OPENINGS);
    connection.exec(`UPDATE price_data_coverage SET end_date = min(end_date, ${LAST_DATE})`);
    storeRiskFreeRate(reader, rows.riskFreeRate);
    storeLots(reader, rows.openings);
    rebuildLogIndex(reader); // a view writes nothing
    rebuildDocumentIndex(reader);
    for (const sql of dropped) connection.exec(sql);
    writeManifest(reader);
    checkReferences(connection);
    connection.exec('COMMIT; VACUUM');
  } finally {
    connection.close();
  }
}

/** Fills the tables that say what belongs to the job. */
function nameOwn(reader: Reader, { jobId, symbols, openings }: JobRows): void {
  const run = (sql: string, ...values: SQLInputValue[]) => reader.statement(sql).run(...values);
  run('INSERT INTO own_job VALUES (?)', jobId);
  for (const symbol of symbols) run('INSERT INTO own_symbols VALUES (?)', symbol);
  for (const { sessionId, initialCash } of openings)
    run('INSERT INTO own_openings VALUES (?, ?)', sessionId, initialCash);
}

const OBJECTS = `SELECT type, name, sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY sql LIKE 'CREATE VIRTUAL %' DESC`;

/**
 * Leaves only the tables of the schema in a copy, without what other programs have added to it,
 * and without indexes and triggers. Returns the statements that make those of the schema.
 */
function dropForeignObjects(copy: DatabaseSync): string[] {
  const ours = new DatabaseSync(':memory:');
  try {
    createSchema(ours);
    const objects = ours.prepare(OBJECTS).all();
    const tables = new Set(objects.flatMap(({ type, name }) => (type === 'table' ? [name] : [])));
    for (const { type, name } of copy.prepare(OBJECTS).all())
      if (type !== 'table' || !tables.has(name))
        copy.exec(`DROP ${type} IF EXISTS "${String(name).replaceAll('"', '""')}"`);
      else if (columnNames(copy, name) !== columnNames(ours, name))
        throw new Error(`another program has added a column to the table ${name}`);
    return objects.flatMap(({ type, sql }) => (type === 'table' ? [] : [String(sql)]));
  } finally {
    ours.close();
  }
}

function columnNames(connection: DatabaseSync, table: unknown): string {
  const columns = connection.prepare('SELECT name FROM pragma_table_xinfo(?)');
  return JSON.stringify(columns.all(String(table)));
}

function storeLots(reader: Reader, openings: readonly Opening[]): void {
  const insert = reader.statement('INSERT INTO opening_lots VALUES (?, ?, ?, ?, ?, ?)');
  for (const { sessionId, lots } of openings) {
    const counts = new Map<string, number>();
    for (const { symbol, date, quantity, cost } of lots) {
      const lot = (counts.get(symbol) ?? 0) + 1;
      counts.set(symbol, lot);
      insert.run(sessionId, symbol, lot, date, quantity, cost);
    }
  }
}

function writeManifest(reader: Reader): void {
  const insert = reader.statement('INSERT INTO package_manifest VALUES (?, ?, ?)');
  for (const name of listedTables(reader)) {
    const { table, rows, sha256 } = digestTable(reader, name);
    insert.run(table, rows, sha256);
  }
}

function checkReferences(connection: DatabaseSync): void {
  const [row] = connection
    .prepare('SELECT "table" AS child, parent FROM pragma_foreign_key_check')
    .all();
  if (row === undefined) return;
  const what = `a row of ${row['child']} refers to a row of ${row['parent']} that is missing`;
  throw new Error(`${what}; the command check names all damage`);
}

/** A session that belongs to no model-day of a job, and from which one of its sessions started. */
export type OutsideStart = RowOf<typeof outsideStarts>;

/** The sessions outside a job from which its sessions started. */
export const outsideStarts = reads(
  'all',
  `SELECT DISTINCT {past}
   FROM trading_sessions AS own JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   WHERE own.job_id = ?1 AND past.job_id IS NOT ?1 ORDER BY past.session_id`,
  { sessionId: integer, model: text },
  (jobId: string) => [jobId],
);

/** What a package needs to know of a session from which a chain of its job continues. */
export interface Opening {
  sessionId: number;
  /** Of the model's first completed day; null when unknown. */
  initialCash: Money | null;
  /** Of everything that is held at its close, by symbol and oldest first. */
  lots: readonly Omit<OpeningLot, 'sessionId'>[];
}
