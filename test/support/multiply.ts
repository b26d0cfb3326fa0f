import { DatabaseSync } from 'node:sqlite';

interface Column {
  name: string;
  isNumber: boolean;
}

/** Numbers that follow the sessions' own, although no foreign key says so. */
const NUMBERED = ['model_index'];
const CONVERSATIONS = 'reasoning_logs';

/**
 * Makes copies of every model of a database, of whatever schema: `model-0` stays, and `model-0-1`,
 * `model-0-2` and so on are added to its jobs. What belongs to a model are the rows of tables with
 * a column `model`, and of all that refer to these. Conversations lose all but their last words, so
 * that ten million positions fit on a disk, and an index of their words is emptied. Without a
 * journal: after a crash the file is useless.
 */
export function multiplyModels(path: string, copies: number): void {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  const names = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row).map(String));
  database.exec(
    'PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144',
  );
  const made = names(
    `SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`,
  );
  const tables = columnsByTable(database);
  database.exec('BEGIN');
  for (const [type, name] of made) database.exec(`DROP ${type} ${name}`);
  emptyIndexOfWords(database, tables);
  database.exec(`
    DELETE FROM ${CONVERSATIONS} WHERE role <> 'assistant' OR tool_calls IS NOT NULL;
    UPDATE ${CONVERSATIONS} SET message_index = 0;
    UPDATE trading_sessions SET total_messages = 1;
    CREATE TEMP TABLE copies (copy INTEGER PRIMARY KEY);
    INSERT INTO copies WITH RECURSIVE numbers (copy) AS (SELECT 0 UNION ALL SELECT copy + 1 FROM numbers WHERE copy + 1 < ${copies})
      SELECT copy FROM numbers`);
  for (const [table, columns] of tables) {
    database.exec(
      `CREATE TEMP TABLE base AS SELECT * FROM main.${table}; DELETE FROM main.${table}`,
    );
    const values = columns.map((column) => valueOf(column, copies));
    database.exec(`
      INSERT INTO main.${table} (${columns.map(({ name }) => name).join(', ')})
        SELECT ${values.join(', ')} FROM base CROSS JOIN copies;
      DROP TABLE base`);
  }
  for (const [, , sql = ''] of made) database.exec(sql);
  database.exec('COMMIT; PRAGMA journal_mode = WAL');
  database.close();
}

/**
 * Numbers of copies lie between those of what they were made from, as if all models had traded day
 * by day.
 */
function valueOf({ name, isNumber }: Column, copies: number): string {
  const copyOf = (column: string) => `iif(copy = 0, ${column}, ${column} || '-' || copy)`;
  if (isNumber) return `${name} * ${copies} + copy`;
  if (['model', 'family'].includes(name)) return copyOf(name);
  return name === 'entry' ? `json_set(entry, '$.signature', ${copyOf('model')})` : name;
}

/** The columns of the tables of models, without those that are generated. */
function columnsByTable(database: DatabaseSync): Map<string, Column[]> {
  const all = (sql: string, ...values: string[]) => database.prepare(sql).all(...values);
  const tables = all(
    `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'`,
  ).map(({ name }) => String(name));
  const info = new Map(
    tables.map((table) => [table, all('SELECT * FROM pragma_table_xinfo(?)', table)]),
  );
  const links = new Map(
    tables.map((table) => [table, all('SELECT * FROM pragma_foreign_key_list(?)', table)]),
  );
  const keyOf = (table: string) => {
    const [key, second] = (info.get(table) ?? []).filter(({ pk }) => pk !== 0);
    return key?.['type'] === 'INTEGER' && second === undefined ? key['name'] : undefined;
  };
  const own = new Set<string>();
  for (let size = -1; size < own.size; ) {
    size = own.size;
    for (const table of tables) {
      const isNamed = (info.get(table) ?? []).some(({ name }) => name === 'model');
      if (isNamed || (links.get(table) ?? []).some((link) => own.has(String(link['table']))))
        own.add(table);
    }
  }
  const isNumber = (table: string, name: string) => {
    const linked = (links.get(table) ?? []).filter(({ from }) => from === name);
    const isLinked = linked.some(({ table: parent, to }) => {
      return own.has(String(parent)) && (to === null || to === keyOf(String(parent)));
    });
    return isLinked || NUMBERED.includes(name) || (linked.length === 0 && keyOf(table) === name);
  };
  const columnsOf = (table: string) => {
    const names = (info.get(table) ?? [])
      .filter(({ hidden }) => hidden === 0)
      .map(({ name }) => String(name));
    return names.map((name) => ({ name, isNumber: isNumber(table, name) }));
  };
  return new Map([...own].map((table) => [table, columnsOf(table)]));
}

/**
 * The index itself, and tables that name sessions without a foreign key, which say what is in it.
 */
function emptyIndexOfWords(database: DatabaseSync, ofModels: ReadonlyMap<string, unknown>): void {
  for (const { name } of database
    .prepare(`SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'`)
    .all())
    database.exec(`INSERT INTO ${name} (${name}) VALUES ('delete-all')`);
  const notes = database.prepare(
    `SELECT list.name FROM pragma_table_list AS list, pragma_table_info(list.name) AS own
     WHERE list.schema = 'main' AND list.type = 'table' AND own.name = 'session_id'`,
  );
  for (const { name } of notes.all())
    if (!ofModels.has(String(name))) database.exec(`DELETE FROM ${name}`);
}
