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
