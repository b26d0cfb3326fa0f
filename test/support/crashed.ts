import { cpSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from './folder.ts';

/** A copy of what a stopped service left, changed by SQL, as the folder of the next service. */
export function crashed(folder: string, sql: string): string {
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true });
  const database = new DatabaseSync(`${copy}/jobs.db`, { enableForeignKeyConstraints: false });
  database.exec(sql);
  database.close();
  return copy;
}

/** Brings the one model-day of a database back to where so many messages of it were logged. */
export const cutAfter = (messages: number): string => `
  DELETE FROM holdings; DELETE FROM positions; DELETE FROM tool_usage; DELETE FROM session_prices;
  DELETE FROM decisions;
  DELETE FROM reasoning_logs WHERE message_index >= ${messages};
  UPDATE trading_sessions SET status = 'running', completed_at = NULL, session_summary = NULL, confidence = NULL;
  UPDATE job_details SET status = 'running', completed_at = NULL;
  UPDATE jobs SET status = 'running', completed_at = NULL`;
