import assert from 'node:assert/strict';
import type { SQLInputValue, StatementResultingChanges } from 'node:sqlite';
import type { Money } from '#money/money.ts';
import type { Reader } from './database.ts';

/** What a column of a query holds. */
export interface ColumnType<Value> {
  readonly type: 'text' | 'integer' | 'real';
  readonly isNullable: boolean;
  /** How the name of its column ends, after that of its property. */
  readonly suffix?: string;
  /** The possible values, where they are few. */
  readonly values?: readonly unknown[];
  /** For the type checker; never set. */
  readonly holds?: Value;
}

export const text: ColumnType<string> = { type: 'text', isNullable: false };
export const integer: ColumnType<number> = { type: 'integer', isNullable: false };
export const real: ColumnType<number> = { type: 'real', isNullable: false };
/** A column that ends in `_e4`. */
export const amount: ColumnType<Money> = { ...integer, suffix: '_e4' } as ColumnType<Money>;
/** In 1/1,000,000 dollar; a column that ends in `_e6`. */
export const millionths: ColumnType<number> = { ...integer, suffix: '_e6' };
/** SQLite's truth values. */
export const flag: ColumnType<0 | 1> = { type: 'integer', isNullable: false, values: [0, 1] };

export function oneOf<const Word extends string>(values: readonly Word[]): ColumnType<Word> {
  return { type: 'text', isNullable: false, values };
}

export function orNull<Value>(column: ColumnType<Value>): ColumnType<Value | null> {
  return { ...column, isNullable: true } as ColumnType<Value | null>;
}

/**
 * The columns of a query: by name, or in order where rows are arrays, which takes a third less
 * time.
 */
export type RowShape = TableShape | readonly ColumnType<unknown>[];
export type TableShape = Readonly<Record<string, ColumnType<unknown>>>;

/** The column of a property: `action_type` of `actionType`. */
const columnName = (property: string) =>
  property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The names of the columns of a table, by the properties of a row. */
function columnNames(shape: TableShape): [property: string, column: string][] {
  return Object.entries(shape).map(([property, { suffix = '' }]) => [
    property,
    columnName(property) + suffix,
  ]);
}

/**
 * SQL in which `{}` has become the columns of a shape that the statement does not name itself
 * (`AS days`), as a table has them; `{own}` those of the table `own`.
 */
function withColumns(sql: string, shape: TableShape): string {
  const isNamed = (property: string) => new RegExp(` AS "?${property}\\b`).test(sql);
  return sql.replace(/\{(\w*)\}/, (_, table: string) =>
    columnNames(shape)
      .filter(([property]) => !isNamed(property))
      .map(([property, column]) => `${table && `${table}.`}${column} AS "${property}"`)
      .join(', '),
  );
}

/** A row of a shape as the columns of its table. */
export function asColumns<Shape extends TableShape>(
  shape: Shape,
  row: ShapedRow<Shape>,
): Record<string, SQLInputValue> {
  const names = columnNames(shape);
  return Object.fromEntries(
    names.map(([property, column]) => [column, row[property] as SQLInputValue]),
  );
}

/** Inserts a row into a table, by the names of its columns or of the properties for them. */
export function insertRow(
  database: Reader,
  table: string,
  columns: Readonly<Record<string, SQLInputValue>>,
): StatementResultingChanges {
  const names = Object.keys(columns).map(columnName);
  const sql = `INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`;
  return database.statement(sql).run(...Object.values(columns));
}

/** A row as JavaScript sees it. */
export type ShapedRow<Columns extends RowShape> = {
  -readonly [Name in keyof Columns]: Columns[Name] extends ColumnType<infer Value> ? Value : never;
};

/** What a parameter takes; a list is bound as a JSON array, which `json_each` reads. */
export type Parameter = SQLInputValue | readonly (string | number)[];

const bind = (values: readonly Parameter[]) =>
  values.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)) as SQLInputValue[];

type Cell<Row> = Row extends readonly [infer Value] ? Value : never;

/** What a query returns, by the way it is asked; the last four are of one column. */
interface Returned<Row> {
  all: Row[];
  iterate: IterableIterator<Row>;
  /** The first row, or undefined. */
  get: Row | undefined;
  /** The first row of a query that always returns one. */
  one: Row;
  has: boolean;
  /** How many rows there are; SQLite leaves out what does not change their number. */
  count: number;
  column: Cell<Row>[];
  set: Set<Cell<Row>>;
  /** The value of the first row, or null. */
  value: Cell<Row> | null;
  /** The value of a query that always returns one. */
  cell: Cell<Row>;
}

/** How a query is asked. */
export type QueryWay = keyof Returned<unknown>;

/** A statement as a function for each way. */
export type Ways<Row> = {
  [Way in keyof Returned<Row>]: (reader: Reader, ...values: Parameter[]) => Returned<Row>[Way];
};

/** A statement that reads, with the type of its rows. */
export interface Query<Row> extends Ways<Row> {
  readonly sql: string;
  readonly shape: RowShape;
}

/** Of a query, or of a function that `reads` all its rows or iterates over them. */
export type RowOf<Read> = Read extends Query<infer Row> | ((...own: never[]) => Iterable<infer Row>)
  ? Row
  : never;

/**
 * Every query of the program: a test compares their shapes with the schema and with what SQLite
 * returns.
 */
export const queries: Query<unknown>[] = [];

/**
 * Declares a statement that reads, once for the program; `{}` in it means the columns of the shape.
 * Shapes are not checked at run time, so a shape must match what the statement returns; the test of
 * this file checks it.
 */
export function query<const Columns extends RowShape>(
  statementSql: string,
  shape: Columns,
): Query<ShapedRow<Columns>> {
  type Row = ShapedRow<Columns>;
  const isArray = Array.isArray(shape);
  const kind = isArray ? 'arrays' : 'objects';
  const sql = isArray ? statementSql : withColumns(statementSql, shape as TableShape);
  const statement = (reader: Reader) => reader.statement(sql, kind);
  const get = (reader: Reader, ...values: Parameter[]) =>
    statement(reader).get(...bind(values)) as Row | undefined;
  const all = (reader: Reader, ...values: Parameter[]) =>
    statement(reader).all(...bind(values)) as unknown[] as Row[];
  const one = (reader: Reader, ...values: Parameter[]) => {
    const row = get(reader, ...values);
    assert(row !== undefined, `A query that always has a row had none: ${sql}`);
    return row;
  };
  const cell = (row: Row) => (row as [Cell<Row>])[0];
  const declared: Query<Row> = {
    sql,
    shape,
    all,
    get,
    one,
    iterate: (reader, ...values) =>
      statement(reader).iterate(
        ...bind(values),
      ) as IterableIterator<unknown> as IterableIterator<Row>,
    has: (...asked) => get(...asked) !== undefined,
    count(reader, ...values) {
      const counting = reader.statement(`SELECT count(*) FROM (${sql})`, 'arrays');
      return Number(counting.get(...bind(values))?.[0]);
    },
    column: (...asked) => all(...asked).map(cell),
    set: (...asked) => new Set(declared.column(...asked)),
    value(...asked) {
      const row = get(...asked);
      return row === undefined ? null : cell(row);
    },
    cell: (...asked) => cell(one(...asked)),
  };
  queries.push(declared);
  return declared;
}

/**
 * Declares a statement and makes it a function of a reader, which asks it in that way:
 * `parameters` makes those of the statement from the function's own.
 */
export function reads<
  Way extends QueryWay,
  const Columns extends RowShape,
  Own extends unknown[] = [],
>(
  way: Way,
  sql: string,
  shape: Columns,
  parameters: (...own: Own) => readonly Parameter[] = () => [],
) {
  const ways: Ways<ShapedRow<Columns>> = query(sql, shape);
  return (reader: Reader, ...own: Own) => ways[way](reader, ...parameters(...own));
}

/**
 * A function that returns the distinct values of a column in order, one look-up each in an index
 * that begins with it, however many rows share them.
 */
export function distinct(column: string, table: string) {
  const next = query(
    `SELECT ${column} FROM ${table} WHERE ${column} > ? ORDER BY ${column} LIMIT 1`,
    [text],
  );
  return function* (reader: Reader): Generator<string> {
    for (let row = next.get(reader, ''); row !== undefined; row = next.get(reader, row[0]))
      yield row[0];
  };
}
