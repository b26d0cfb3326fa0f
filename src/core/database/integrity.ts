import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { asObject } from '#json/json.ts';
import { nodeCommand } from '#process/own-node.ts';
import { integer, orNull, query, type RowOf, text } from './rows.ts';
import type { Snapshot } from './snapshot.ts';

/** The first rows of one query, or none and why it could not be read to the end. */
interface Result<Row> {
  first: Row[];
  error: Pick<Error, 'message'> | null;
}

type Results<Queries> = { -readonly [Place in keyof Queries]: Result<RowOf<Queries[Place]>> };

/**
 * Rows of one query that cross between the processes: bounds how long reading them takes, and
 * memory in both.
 */
const MAX_ROWS = 1_000;
const NICENESS = 10;
const LOCK_TIMEOUT_MS = 1_000;

/**
 * Plain JavaScript, because it is passed to Node as text: the program is one file. SQLite's
 * integrity check skips CHECK constraints in a file opened read-only, so the file is opened for
 * writing where possible, with writes forbidden. The caller's snapshot keeps a connection open
 * meanwhile, so closing this one writes nothing.
 */
const PROGRAM = `
  const { readFileSync, writeFileSync } = require('node:fs');
  const { DatabaseSync } = require('node:sqlite');
  const { path, url, timeout, niceness, most, queries } = JSON.parse(readFileSync(0, 'utf8'));
  try {
    require('node:os').setPriority(niceness);
  } catch {}
  const open = () => {
    try {
      const database = new DatabaseSync(path, { timeout }); // throws for null
      database.exec('PRAGMA query_only = ON; SELECT 1 FROM sqlite_schema');
      return database;
    } catch {
      return new DatabaseSync(new URL(url), { readOnly: true, timeout });
    }
  };
  const database = open();
  const results = queries.map((sql) => {
    try {
      return { first: [...database.prepare(sql).iterate().take(most)], error: null };
    } catch ({ message, errcode }) {
      return { first: [], error: { message, errcode } };
    }
  });
  database.close();
  writeFileSync(1, JSON.stringify(results));
`;

/**
 * Runs statements that read whole tables in a separate process, so that only the caller waits for
 * them; a thread would delay the exit of this process. Without a path it opens the URL, for reading
 * only. Resolves to a result for each query; rejects when the file cannot be opened at all, or when
 * the signal ended the process.
 */
export async function queryInChildProcess<
  const Queries extends readonly { readonly sql: string }[],
>(
  { path, url }: Pick<Snapshot, 'url'> & { path: string | null },
  queries: Queries,
  signal: AbortSignal,
): Promise<Results<Queries>> {
  signal.throwIfAborted();
  const { file, args } = nodeCommand([], PROGRAM);
  const reading = promisify(execFile)(file, args, { env: {}, maxBuffer: Infinity });
  const { child } = reading;
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  signal.addEventListener('abort', stop);
  child.stdin?.on('error', () => {}); // a child that has exited is noticed by its exit
  const statements = queries.map(({ sql }) => sql);
  const bounds = { timeout: LOCK_TIMEOUT_MS, niceness: NICENESS, most: MAX_ROWS };
  child.stdin?.end(JSON.stringify({ path, url, queries: statements, ...bounds }));
  try {
    return JSON.parse((await reading).stdout);
  } catch (error) {
    signal.throwIfAborted();
    const { code, stderr } = asObject(error) ?? {};
    const message = `The process that reads the database ended with ${code}: ${stderr}`;
    throw new Error(message, { cause: error });
  } finally {
    process.off('exit', stop);
    signal.removeEventListener('abort', stop);
  }
}

/** However much is damaged, the first findings are enough. */
const MAX_SENTENCES = 100;

/** All statements after it see one state. */
const BEGIN = { sql: 'BEGIN' };
/** SQLite's own integrity check: pages, indexes, CHECK constraints. */
const INTEGRITY = query(`PRAGMA integrity_check(${MAX_SENTENCES})`, { integrity_check: text });

/** References to missing rows. */
const REFERENCES = query(
  `SELECT "table" AS child, rowid, parent FROM pragma_foreign_key_check LIMIT ${MAX_SENTENCES}`,
  { child: text, rowid: orNull(integer), parent: text },
);

/** Model-days that do not match their sessions, whatever their figures. */
const MISFITS = query(
  `SELECT model, date, session_id AS sessionId, job_id AS jobId, status,
     'it is ' || status || ' and has positions' AS problem
   FROM trading_sessions
   WHERE status IN ('running', 'failed') AND EXISTS (SELECT 1 FROM positions WHERE positions.session_id = trading_sessions.session_id)
   UNION ALL
   SELECT model, date, session_id, job_id, own.status,
     'its model-day in job ' || job_id || ' is ' || job_details.status || ', not completed'
   FROM trading_sessions AS own JOIN job_details USING (job_id, date, model)
   WHERE own.status IN ('active', 'superseded') AND job_details.status <> 'completed'
   UNION ALL
   SELECT model, date, session_id, job_id, own.status, 'its job is discarded'
   FROM trading_sessions AS own JOIN jobs USING (job_id) WHERE own.status = 'active' AND jobs.status = 'discarded'
   UNION ALL
   SELECT model, date, NULL, job_id, 'missing',
     'it is completed in job ' || job_id || ' and has no session with positions there'
   FROM job_details
   WHERE status = 'completed' AND NOT EXISTS (
     SELECT 1 FROM trading_sessions AS own WHERE own.job_id = job_details.job_id AND own.date = job_details.date
       AND own.model = job_details.model AND own.status IN ('active', 'superseded'))
   ORDER BY 1, 2
   LIMIT 1000`,
  {
    model: text,
    date: text,
    sessionId: orNull(integer),
    jobId: orNull(text),
    status: text,
    problem: text,
  },
);

/**
 * Checks a database without recomputing its figures. Reads every table in full, as it is when a
 * separate process begins to, which the signal ends.
 */
export async function examineDatabase(
  { path, shown, url }: Pick<Snapshot, 'path' | 'shown' | 'url'>,
  signal: AbortSignal,
) {
  const source = { path: shown === null ? path : null, url };
  const queries = [BEGIN, INTEGRITY, REFERENCES, MISFITS] as const;
  const results = await queryInChildProcess(source, queries, signal);
  const [, integrity, references, misfits] = results;
  const damage = [
    ...integrity.first.map((row) => row.integrity_check),
    ...references.first.map(describeReference),
    ...results.flatMap(({ error }) =>
      error === null ? [] : [`the check stopped: ${error.message}`],
    ),
  ];
  return {
    /** Findings of SQLite's own integrity check, and references to missing rows. */
    damage: [...new Set(damage.filter((sentence) => sentence !== 'ok'))],
    misfits: misfits.first,
  };
}

/** How a finding ends that is only a missing row. */
export const MISSING_SUFFIX = ' that is missing';

function describeReference({ child, rowid, parent }: RowOf<typeof REFERENCES>): string {
  const row = rowid === null ? 'a row' : `row ${rowid}`;
  return `${row} of ${child} refers to a row of ${parent}${MISSING_SUFFIX}`;
}
