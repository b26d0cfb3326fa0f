import { spawn } from 'node:child_process';
import type { Listed } from '../domain.ts';
import { ownNode } from '../own-node.ts';
import type { RowOf } from './rows.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * The first rows of one query and how many it has, or none and why it could not be read to the end.
 */
export interface Result<Row> extends Listed<Row> {
  error: string | null;
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
  const openForReading = () => new DatabaseSync(new URL(url), { readOnly: true, timeout });
  const open = () => {
    if (path === null) return openForReading();
    try {
      const database = new DatabaseSync(path, { timeout });
      database.exec('PRAGMA query_only = ON; SELECT 1 FROM sqlite_schema');
      return database;
    } catch {
      return openForReading();
    }
  };
  const database = open();
  database.exec('BEGIN');
  const results = queries.map((sql) => {
    try {
      const all = { total: 0, first: [], error: null };
      for (const row of database.prepare(sql).iterate()) if (++all.total <= most) all.first.push(row);
      return all;
    } catch ({ message }) {
      return { total: 0, first: [], error: message };
    }
  });
  database.close();
  writeFileSync(1, JSON.stringify(results));
`;

/**
 * Runs queries that read whole tables in a separate process, so that only the caller waits for
 * them; a thread would delay the exit of this process. Without a path it opens the URL, for reading
 * only. Resolves to a result for each query; rejects when the file cannot be opened at all, or when
 * the signal ended the process.
 */
export async function queryApart<const Queries extends readonly { readonly sql: string }[]>(
  { path, url }: Pick<Snapshot, 'url'> & { path: string | null },
  queries: Queries,
  signal: AbortSignal,
): Promise<Results<Queries>> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Results<Queries>>();
  const { file, args } = ownNode([], PROGRAM);
  const child = spawn(file, args, { env: {}, stdio: 'pipe' });
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  signal.addEventListener('abort', stop);
  const output: Buffer[] = [];
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  child.stdin.on('error', () => {}); // a child that has exited is noticed by its exit
  child.on('error', reject);
  child.on('close', (code) => {
    process.off('exit', stop);
    signal.removeEventListener('abort', stop);
    if (signal.aborted) reject(signal.reason);
    else if (code === 0) resolve(JSON.parse(Buffer.concat(output).toString()));
    else reject(new Error(`The process that reads the database ended with ${code}: ${complaint}`));
  });
  const statements = queries.map(({ sql }) => sql);
  const bounds = { timeout: LOCK_TIMEOUT_MS, niceness: NICENESS, most: MAX_ROWS };
  child.stdin.end(JSON.stringify({ path, url, queries: statements, ...bounds }));
  return promise;
}
