import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SQLInputValue } from 'node:sqlite';
import type { Database } from '../../src/core/database/database.ts';
import { checkManifest, listedTables } from '../../src/core/database/manifest.ts';
import { count as counted } from '../../src/core/text/sentences.ts';
import { replayOf } from '../support/books.ts';
import { inLongForm, isLong } from '../support/long.ts';
import { writeManifest } from '../support/manifest.ts';
import { richBooks } from '../support/rich-books.ts';
import { readDeeds, undone, withoutTriggers } from '../support/tables.ts';
import { tableOf } from '../support/text-table.ts';

type Row = Record<string, SQLInputValue>;

/** A value with one digit or letter changed; undefined for null, which has none. */
function mutated(value: SQLInputValue | undefined): SQLInputValue | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value + 1 : value * 1.001;
  if (typeof value !== 'string') return undefined;
  const digit = /\d(?=\D*$)/.exec(value);
  if (digit === null) return `${value}x`;
  return `${value.slice(0, digit.index)}${(Number(digit[0]) + 1) % 10}${value.slice(digit.index + 1)}`;
}

/** A column of a row, and what is written there. */
interface Mutation {
  table: string;
  column: string;
  sql: string;
  values: SQLInputValue[];
}

/** Every stored column of every table, once, or in the long form in every row. */
function* mutationsOf(database: Database): Generator<Mutation> {
  for (const table of listedTables(database)) {
    const columns = database
      .statement(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`)
      .all()
      .map(({ name }) => String(name));
    const own = columns.map((column) => `${column} IS ?`).join(' AND ');
    for (const column of columns) {
      const all = database.statement(`SELECT * FROM ${table}`).all() as Row[];
      const rows = all.filter((row) => mutated(row[column]) !== undefined);
      for (const row of isLong ? rows : rows.slice(0, 1)) {
        const values = [mutated(row[column]) ?? null, ...columns.map((name) => row[name] ?? null)];
        yield { table, column, sql: `UPDATE ${table} SET ${column} = ? WHERE ${own}`, values };
      }
    }
  }
}

/** SQLITE_CONSTRAINT_PRIMARYKEY, _ROWID and _UNIQUE: a key refuses the value. */
const CONSTRAINTS = new Set<unknown>([1_555, 2_579, 2_067]);

/**
 * Does one mutation, as somebody would who forges a file, looks unless a key refuses it, and takes
 * it back.
 */
async function mutate(
  database: Database,
  { sql, values }: Mutation,
  look: () => Promise<void>,
): Promise<void> {
  await undone(database, [], async () => {
    try {
      database.statement(sql).run(...values);
    } catch (error) {
      assert.ok(
        error instanceof Error && 'errcode' in error && CONSTRAINTS.has(error.errcode),
        `${sql}: ${error}`,
      );
      return;
    }
    await look();
  });
}

async function forgeable(): Promise<Database> {
  const { database } = await richBooks();
  for (const sql of withoutTriggers(database)) database.statement(sql).run();
  database.statement('PRAGMA ignore_check_constraints = ON').run();
  return database;
}

/**
 * What replay cannot find in the database of a service, and why. A package has a manifest, which
 * leaves nothing out.
 */
const exempt = tableOf<[places: string, why: string]>(`
  jobs,simulation_runs: created_at                                  | a time
  trading_sessions,job_details: started_at completed_at             | a time
  reasoning_logs: timestamp                                         | a time
  tool_usage: duration_ms                                           | a time
  job_details: steps requests prompt_tokens completion_tokens cached_tokens reasoning_tokens cost_usd | what the answers cost: only the provider counted it
  reasoning_logs: content summary served carried                    | what the model said, thought and who it was
  jobs: start_date end_date dates replace_existing deployment_mode  | what the trigger asked for; model-days say what ran
  simulation_runs: model_index start_date family entry              | the place and the names of a run; no model reads them
  session_prices: date                                              | the date of its session, repeated for an index
  positions,decisions: position_id place                            | only their order counts
  reasoning_logs: tool_calls                                        | the id of a call
  simulation_runs: run_id                                           | only the order of runs counts
  jobs: status completed_at idle_restarts progress_mark life_counts warning_codes | the course of a job after a model-day was committed
  reasoning_logs: log_id                                            | only the index of words names a message by it
  simulation_runs: left_out                                         | what a provider refused counts while the job runs
  simulation_runs,job_details: status                               | the same; the check compares the latter with the sessions, in a process of its own
  price_data,stock_splits,dividends,exchanges: source written                 | a source of the same kind and a number before the same session say the same
  dividends: confirmed                                              | what a person said of an amount; no model reads it
  price_writes: \\w+                                                | a number between the same two writes says the same
  trading_sessions: morning_write commit_write                      | a number between the same two writes says the same
  price_revisions,stock_split_revisions,dividend_revisions,exchange_revisions: \\w+ | most were replaced before any model could read them
  price_data: symbol date open high low close volume                | no model read the first bar of the series`).map(
  ([places]) => {
    const [tables = '', columns = ''] = places.split(': ');
    return new RegExp(
      `^(${tables.replaceAll(',', '#')})\\.(${columns.replaceAll(' ', '#')})$`.replaceAll('#', '|'),
    );
  },
);
const isExempt = (place: string) => exempt.some((known) => known.test(place));

test('a digit changed in any column of any table is found by replay, or is exempt for a reason', async () => {
  const database = await forgeable();
  const untouched = JSON.stringify(await replayOf(database));
  const missed = new Set<string>();
  let count = 0;
  for (const mutation of mutationsOf(database)) {
    const place = `${mutation.table}.${mutation.column}`;
    if (!isLong && isExempt(place)) continue;
    await mutate(database, mutation, async () => {
      count += 1;
      if (JSON.stringify(await replayOf(database)) !== untouched) return;
      const references = database.statement('PRAGMA foreign_key_check').all();
      if (references.length === 0) missed.add(place);
    });
  }
  assert.ok(count > 50);
  assert.deepEqual(
    [...missed].filter((place) => !isExempt(place)),
    [],
  );
  const unused = exempt.filter((known) => ![...missed].some((place) => known.test(place)));
  if (isLong) assert.deepEqual(unused, [], 'every exemption is needed');
});

test(
  'in a package, a digit changed in any column of any table is found by its manifest, which names the table',
  inLongForm,
  async () => {
    const database = await forgeable();
    writeManifest(database);
    assert.deepEqual(checkManifest(database), []);
    let count = 0;
    for (const mutation of mutationsOf(database))
      await mutate(database, mutation, async () => {
        count += 1;
        const { rows } = database
          .statement(`SELECT count(*) AS rows FROM ${mutation.table}`)
          .get() as Row;
        const said = [
          `${mutation.table} is not as the manifest states it: a value in its ${counted(Number(rows), 'row')} has changed`,
        ];
        assert.deepEqual(checkManifest(database), said, mutation.sql);
      });
    assert.ok(count > 120);
  },
);

/** Other damage to a package. */
const damaged = `
  rows too few
    DELETE FROM tool_usage WHERE tool_name = 'calculate'
    => tool_usage is not as the manifest states it: it has 23 rows, not 25
  a table that is missing
    DROP TABLE market_days
    => market_days is in the manifest, but not in the file
  a table that was added
    CREATE TABLE notes (text TEXT)
    INSERT INTO notes VALUES (1)
    => notes is not as the manifest states it: it is not listed, and has 1 row
  a table that is not listed
    DELETE FROM package_manifest WHERE table_name = 'holdings'
    => holdings is not as the manifest states it: it is not listed, and has 21 rows`;
test('a manifest names tables with rows too few or too many, and tables that are missing or added', async () => {
  const database = await forgeable();
  writeManifest(database);
  for (const { statements, said } of readDeeds(damaged))
    await undone(database, statements, async () => assert.deepEqual(checkManifest(database), said));
});
