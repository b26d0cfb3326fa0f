import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { audit } from '../../src/verify/audit.ts';
import { type ActionRecord, findErrors } from '../support/recompute.ts';
import { INITIAL_CASH } from './installation.ts';

async function replayErrors(path: string): Promise<string[]> {
  const { modelDays, same, problems, unverifiable } = await audit(path);
  const found = [...problems.first, ...unverifiable.first];
  const lines = found.map(
    ({ model, date, sentences }) => `replay, ${model} ${date}: ${sentences.join('; ')}`,
  );
  return same === modelDays ? lines : [...lines, `${same} of ${modelDays} model-days replayed`];
}

/**
 * What must be true of the database whatever happened. Returns the number of completed model-days.
 */
export async function check({
  folder,
  records,
}: {
  folder: string;
  records: readonly ActionRecord[];
}): Promise<number> {
  const errors = findErrors(
    records,
    readFileSync(join(folder, 'prices.jsonl'), 'utf8'),
    INITIAL_CASH,
  );
  const database = new DatabaseSync(join(folder, 'data/jobs.db'), { readOnly: true });
  const one = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0];
  if (one('PRAGMA integrity_check') !== 'ok') errors.push('integrity_check is not ok');
  if (database.prepare('PRAGMA foreign_key_check').all().length > 0)
    errors.push('foreign_key_check is not empty');
  const modelDays = Number(
    one(
      `SELECT count(*) FROM (SELECT DISTINCT date, model FROM job_details WHERE status = 'completed')`,
    ),
  );
  const active = one(`SELECT count(*) FROM trading_sessions WHERE status = 'active'`);
  if (active !== modelDays)
    errors.push(`${active} active sessions for ${modelDays} completed model-days`);
  const others = one(`SELECT count(*) FROM trading_sessions WHERE status <> 'active'`);
  if (others !== 0) errors.push(`${others} sessions are not active`);
  const unfinished = one(
    `SELECT count(*) FROM job_details WHERE status NOT IN ('completed', 'skipped')`,
  );
  if (unfinished !== 0) errors.push(`${unfinished} model-days are neither completed nor skipped`);
  database.close();
  errors.push(...(await replayErrors(join(folder, 'data/jobs.db'))));
  if (errors.length > 0) throw new Error(errors.slice(0, 20).join('\n'));
  return modelDays;
}
