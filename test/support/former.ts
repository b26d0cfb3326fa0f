import { DatabaseSync } from 'node:sqlite';

/** The mark of files from before the first release. */
export const FORMER_ID = 0x54535331;

/** What is said of such a file. */
export const FORMER =
  /Cannot use .*\.db: its schema is from before the first release; the program of commit f2cc0fd reads it/;

/** Marks a database as one from before the first release; no program has it open. */
export function makeFormer(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(
    `PRAGMA application_id = ${FORMER_ID}; PRAGMA user_version = 25; PRAGMA wal_checkpoint (TRUNCATE)`,
  );
  database.close();
}
