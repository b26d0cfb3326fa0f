/** SQL: a date, as a constraint of its column. */
export function dateCheck(column: string): string {
  return `${column} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'`;
}

/** SQL: a column that holds a date. */
export function dateSql(name: string): string {
  return `${name} TEXT NOT NULL CHECK (${dateCheck(name)})`;
}

/** SQL: a column that holds a truth value, false where a row does not say. */
export function flagSql(name: string): string {
  return `${name} INTEGER NOT NULL DEFAULT 0 CHECK (${name} IN (0, 1))`;
}

/** SQL: a column that counts, from 0. */
export function countSql(name: string): string {
  return `${name} INTEGER NOT NULL DEFAULT 0 CHECK (${name} >= 0)`;
}

/** SQL: a column that names the session of a row. */
export const OF_SESSION = 'session_id INTEGER NOT NULL REFERENCES trading_sessions';
