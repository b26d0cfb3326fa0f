import { DatabaseSync } from 'node:sqlite';
import type { Database } from '../../src/core/database/database.ts';

/**
 * The names of the tables that hold rows of their own: not those inside FTS5, which has the index
 * of words.
 */
export const TABLE_NAMES = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`;

/** Removes every row, so that one migrated database serves many cases. */
export function emptyTables(database: Database): void {
  const tables = database.statement(TABLE_NAMES).all();
  database.statement('PRAGMA foreign_keys = OFF').run();
  // In two rounds: triggers of the first leave rows in tables that were emptied before.
  for (const { name } of [...tables, ...tables]) database.statement(`DELETE FROM "${name}"`).run();
  database.statement('INSERT INTO price_writes VALUES (1, 0)').run();
  for (const words of ['log_words', 'document_words'])
    database.statement(`INSERT INTO ${words} (${words}) VALUES ('delete-all')`).run();
  database.statement('PRAGMA foreign_keys = ON').run();
}

/**
 * Runs SQL in a file as another program. A connection that is left open would write to the file
 * whenever it is collected.
 */
export function runIn(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

/**
 * Does something to a database without foreign keys, looks at it, and takes it back, so that one
 * database serves many cases.
 */
export async function undone(
  database: Database,
  statements: readonly string[],
  look: () => Promise<void>,
): Promise<void> {
  database.statement('PRAGMA foreign_keys = OFF').run();
  database.statement('BEGIN').run();
  try {
    for (const sql of statements) database.statement(sql).run();
    await look();
  } finally {
    database.statement('ROLLBACK').run();
    database.statement('PRAGMA foreign_keys = ON').run();
  }
}

/** The rows of a query, each as a line of its values; `-` for null. */
export function rowsAsText(database: Database, sql: string): string[] {
  return database
    .statement(sql)
    .all()
    .map((row) =>
      Object.values(row)
        .map((value) => value ?? '-')
        .join(' '),
    );
}

/** What is done to a database, and what is said of it then. */
export interface Deed {
  name: string;
  statements: string[];
  said: string[];
}

/**
 * Reads a text of deeds: a line with the name, and below it, further in, a line for each statement
 * and, after `=>`, for each sentence.
 */
export function readDeeds(text: string): Deed[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const indent = lines[0]?.search(/\S/) ?? 0;
  const deeds: Deed[] = [];
  for (const line of lines) {
    const words = line.trim();
    if (line.search(/\S/) === indent) deeds.push({ name: words, statements: [], said: [] });
    else if (words.startsWith('=> ')) deeds.at(-1)?.said.push(words.slice(3));
    else deeds.at(-1)?.statements.push(words);
  }
  return deeds;
}

/** The statements that remove all triggers, as somebody who forges a file would. */
export function withoutTriggers(database: Database): string[] {
  const triggers = `SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'`;
  return rowsAsText(database, triggers);
}
