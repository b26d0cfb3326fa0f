import type { Database } from '../../src/database/database.ts';

/** Removes every row, so that one migrated database serves many cases. */
export function emptyTables(database: Database): void {
  const tables = database
    .statement(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all();
  database.statement('PRAGMA foreign_keys = OFF').run();
  // In two rounds: triggers of the first leave rows in tables that were emptied before.
  for (const { name } of [...tables, ...tables]) database.statement(`DELETE FROM "${name}"`).run();
  database.statement('PRAGMA foreign_keys = ON').run();
}
