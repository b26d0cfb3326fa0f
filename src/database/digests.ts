import { sha256 } from '../basics/hash.ts';
import type { Reader } from './database.ts';
import { type Column, flag, integer, orNull, type Query, query, real, text } from './rows.ts';
import { count } from '../basics/sentences.ts';
import type { Steps } from '../basics/turns.ts';

/**
 * Digests of what a committed model-day consists of, in parts. Each is the SHA-256 of the rows as
 * JSON, as base64url: an array for each table below, of an array for each row, in order. The
 * columns are frozen: a digest of others would be another digest.
 */
const PARTS = {
  session: [
    rows('trading_sessions WHERE session_id = ?', {
      ...{
        session_id: integer,
        job_id: orNull(text),
        date: text,
        model: text,
        started_from_session_id: orNull(integer),
      },
      ...{
        initial_cash_e4: orNull(integer),
        pays_dividends: integer,
        session_summary: orNull(text),
        note: orNull(text),
      },
      ...{
        steps: integer,
        total_messages: integer,
        started_at: text,
        completed_at: orNull(text),
        wording: orNull(integer),
      },
    }),
  ],
  conversation: [
    rows('reasoning_logs WHERE session_id = ? ORDER BY message_index', {
      ...{
        message_index: integer,
        role: text,
        content: text,
        summary: orNull(text),
        tool_name: orNull(text),
      },
      ...{
        tool_input: orNull(text),
        tool_calls: orNull(text),
        carried: orNull(text),
        timestamp: text,
        served: orNull(text),
      },
    }),
  ],
  positions: [
    rows('positions WHERE session_id = ? ORDER BY action_id', {
      ...{
        position_id: integer,
        action_id: integer,
        action_type: text,
        symbol: orNull(text),
        amount: orNull(integer),
      },
      ...{
        price_e4: orNull(integer),
        cash_e4: integer,
        portfolio_value_e4: integer,
        daily_profit_e4: integer,
      },
      ...{ daily_return_pct: orNull(real) },
    }),
    rows('holdings WHERE session_id = ? ORDER BY symbol', { symbol: text, quantity: integer }),
  ],
  evidence: [
    rows('session_prices WHERE session_id = ? ORDER BY symbol', {
      ...{
        symbol: text,
        date: text,
        held_since: orNull(text),
        open_e4: orNull(integer),
        open_date: orNull(text),
      },
      ...{ close_e4: orNull(integer), close_date: orNull(text) },
    }),
    rows('session_splits WHERE session_id = ? ORDER BY symbol, date', {
      ...{ symbol: text, date: text, numerator: integer, denominator: integer },
    }),
    rows('session_dividends WHERE session_id = ? ORDER BY symbol, ex_date', {
      ...{
        symbol: text,
        ex_date: text,
        cash_e6: integer,
        basis: text,
        splits: text,
        paid_e6: integer,
      },
    }),
  ],
  tool_usage: [
    rows('tool_usage WHERE session_id = ? ORDER BY tool_name', {
      tool_name: text,
      calls: integer,
      refused: integer,
      duration_ms: real,
    }),
  ],
  usage: [
    rows(
      'trading_sessions AS own JOIN job_details AS used USING (job_id, date, model) WHERE session_id = ?',
      {
        ...{
          'used.steps': integer,
          requests: integer,
          prompt_tokens: orNull(integer),
          completion_tokens: orNull(integer),
        },
        ...{
          cached_tokens: orNull(integer),
          reasoning_tokens: orNull(integer),
          cost_usd: orNull(real),
        },
        ...{ 'used.started_at': orNull(text), 'used.completed_at': orNull(text) },
      },
    ),
  ],
  terms: [
    rows('trading_sessions AS own JOIN jobs USING (job_id) WHERE session_id = ?', {
      ...{
        start_date: text,
        end_date: text,
        dates: text,
        replace_existing: integer,
        agent_config: text,
      },
      ...{ universe: orNull(text), deployment_mode: text, created_at: text },
    }),
    rows(
      'trading_sessions AS own JOIN simulation_runs USING (job_id, model) WHERE session_id = ?',
      {
        ...{
          run_id: integer,
          model_index: integer,
          start_date: text,
          created_at: text,
          entry: text,
          family: text,
        },
      },
    ),
  ],
};

function rows(from: string, columns: Record<string, Column<unknown>>): Query<unknown> {
  return query(`SELECT ${Object.keys(columns).join(', ')} FROM ${from}`, Object.values(columns));
}

export type Part = keyof typeof PARTS;

/** In words, for the sentences of a check. */
export const partNames: Record<Part, string> = {
  session: 'its session',
  conversation: 'its conversation',
  positions: 'its positions or holdings',
  evidence: 'the prices, splits and dividends that it used',
  tool_usage: 'its tool usage',
  usage: 'its tokens, cost or times',
  terms: 'its job or its entry',
};

const parts = Object.keys(PARTS) as Part[];

function digestOf(reader: Reader, sessionId: number, part: Part): string {
  const tables = PARTS[part].map((table) => JSON.stringify(table.all(reader, sessionId)));
  return sha256(`[${tables.join()}]`).toString('base64url');
}

/** Stores the digests of a session at the end of the transaction that commits it. */
export function storeDigests(reader: Reader, sessionId: number): void {
  const digests = parts.map((part) => digestOf(reader, sessionId, part));
  reader
    .statement(
      `INSERT INTO session_digests (session_id, ${parts.join(', ')}) VALUES (?${', ?'.repeat(parts.length)})`,
    )
    .run(sessionId, ...digests);
}

const STORED = query(`SELECT ${parts.join(', ')} FROM session_digests WHERE session_id = ?`, {
  session: text,
  conversation: text,
  positions: text,
  evidence: text,
  tool_usage: text,
  usage: text,
  terms: text,
});

/**
 * The parts of a session that are not what was committed: all of them when its digests are missing.
 * Throws a RangeError for an integer that no JavaScript number holds.
 */
export function changedParts(reader: Reader, sessionId: number): Part[] {
  const stored = STORED.get(reader, sessionId);
  return parts.filter((part) => stored?.[part] !== digestOf(reader, sessionId, part));
}

/**
 * The manifest of a package: of each table that it holds, the number of rows and a hash of them
 * all.
 */

/** What a manifest says of a table. */
export interface TableDigest {
  table: string;
  rows: number;
  /** SHA-256, in hexadecimal digits. */
  sha256: string;
}

/** Rows that one step reads. */
const ROWS_PER_STEP = 500;

/** The index of words follows from the messages, and the manifest cannot contain itself. */
const TABLES = query(
  `SELECT coalesce(name, '') FROM sqlite_schema
   WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'log\\_words%' ESCAPE '\\'
     AND name <> 'package_manifest' ORDER BY name`,
  [text],
);
/** Without generated ones, which follow from the others. */
const COLUMNS = query('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid', [
  text,
]);
const KEY = query('SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk', [text]);

/** The tables of a database that a manifest lists, by name. */
export function listedTables(reader: Reader): string[] {
  return TABLES.all(reader).map(([name]) => name);
}

/** The columns of a table that are stored, in the order of the schema. */
function storedColumns(reader: Reader, table: string): string[] {
  return COLUMNS.all(reader, table).map(([name]) => name);
}

/**
 * The digest of a table: each row as a JSON array of its stored columns in the order of the schema,
 * the rows in the order of the primary key (of the row number, where there is none), joined by line
 * feeds.
 */
export function* digestTable(reader: Reader, table: string): Steps<TableDigest> {
  const key = KEY.all(reader, table).map(([name]) => name);
  const order = key.length === 0 ? 'rowid' : key.join(', ');
  const sql = `SELECT ${storedColumns(reader, table).join(', ')} FROM ${table} ORDER BY ${order}`;
  const statement = reader.statement(sql, 'arrays'); // not a declared query: it has the columns of whichever version made the file
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  let rows = 0;
  for (const row of statement.iterate()) {
    hash.update((rows === 0 ? '' : '\n') + JSON.stringify(row));
    rows += 1;
    if (rows % ROWS_PER_STEP === 0) yield null;
  }
  return { table, rows, sha256: hash.digest('hex') };
}

const HAS_OPENINGS = query(`SELECT EXISTS (SELECT 1 FROM trading_sessions WHERE job_id IS NULL)`, [
  flag,
]);

/**
 * How many tables the manifest of a database lists: 0 for a package without one, which the first
 * program that writes to it removes; null for a database that is not known to be a package.
 */
export function tablesInManifest(reader: Reader): number | null {
  const tables = MANIFEST.all(reader).length;
  return tables > 0 || HAS_OPENINGS.one(reader)[0] === 1 ? tables : null;
}

/** Whether a database is a package that no program has opened for writing. */
export function hasManifest(reader: Reader): boolean {
  return MANIFEST.has(reader);
}

const MANIFEST = query('SELECT table_name AS name, rows, sha256 FROM package_manifest', {
  name: text,
  rows: integer,
  sha256: text,
});

/**
 * Compares a package with its manifest: a sentence for each table that differs; none for a database
 * without a manifest.
 */
export function* checkManifest(reader: Reader): Steps<string[]> {
  const listed = new Map(MANIFEST.all(reader).map((row) => [row.name, row]));
  const found: string[] = [];
  if (listed.size === 0) return found;
  for (const name of listedTables(reader)) {
    const { rows, sha256 } = yield* digestTable(reader, name);
    const stated = listed.get(name);
    listed.delete(name);
    const is = `${name} is not as the manifest states it`;
    if (stated === undefined)
      found.push(...(rows === 0 ? [] : [`${is}: it is not listed, and has ${count(rows, 'row')}`]));
    else if (stated.rows !== rows)
      found.push(`${is}: it has ${count(rows, 'row')}, not ${stated.rows}`);
    else if (stated.sha256 !== sha256)
      found.push(`${is}: a value in its ${count(rows, 'row')} has changed`);
  }
  return [
    ...found,
    ...[...listed.keys()].map((name) => `${name} is in the manifest, but not in the file`),
  ];
}
