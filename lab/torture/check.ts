import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { auditDatabase } from '../../src/core/verify/database-audit.ts';
import { type ActionRecord, findErrors } from '../../test/support/recompute.ts';
import { INITIAL_CASH } from './installation.ts';

async function replayErrors(path: string): Promise<string[]> {
  const { modelDays, same, problems, unverifiable } = await auditDatabase(path);
  const found = [...problems.first, ...unverifiable.first];
  const lines = found.map(
    ({ model, date, sentences }) => `replay, ${model} ${date}: ${sentences.join('; ')}`,
  );
  return same === modelDays ? lines : [...lines, `${same} of ${modelDays} model-days replayed`];
}

/** What is to be found in the database whatever happened. */
const EXPECTED: [query: string, result: unknown][] = [
  ['PRAGMA integrity_check', 'ok'],
  ['SELECT count(*) FROM pragma_foreign_key_check', 0],
  [`SELECT count(*) FROM trading_sessions WHERE status <> 'active'`, 0],
  [`SELECT count(*) FROM job_details WHERE status NOT IN ('completed', 'skipped')`, 0],
];
const COMPLETED = `SELECT count(DISTINCT date || model) FROM job_details WHERE status = 'completed'`;

/** Throws unless that is so, and the books add up. Returns the number of completed model-days. */
export async function check(folder: string, records: readonly ActionRecord[]): Promise<number> {
  const path = join(folder, 'data/jobs.db');
  const prices = readFileSync(join(folder, 'prices.jsonl'), 'utf8');
  const database = new DatabaseSync(path, { readOnly: true });
  const one = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0];
  const modelDays = Number(one(COMPLETED));
  const active: (typeof EXPECTED)[0] = ['SELECT count(*) FROM trading_sessions', modelDays];
  const wrong = [...EXPECTED, active].flatMap(([sql, result]) =>
    one(sql) === result ? [] : [`${sql}: ${one(sql)}, not ${result}`],
  );
  database.close();
  const errors = [...findErrors(records, prices, INITIAL_CASH), ...wrong];
  errors.push(...(await replayErrors(path)));
  if (errors.length > 0) throw new Error(errors.slice(0, 20).join('\n'));
  return modelDays;
}
