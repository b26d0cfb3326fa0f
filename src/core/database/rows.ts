import assert from 'node:assert/strict';
import type { SQLInputValue } from 'node:sqlite';
import type { Money } from '#money/money.ts';
import type { Reader } from './database.ts';

/** What a column of a query holds. */
export interface ColumnType<Value> {
  readonly type: 'text' | 'integer' | 'real';
  readonly isNullable: boolean;
  /** The possible values, where they are few. */
  readonly values?: readonly unknown[];
  /** For the type checker; never set. */
  readonly holds?: Value;
}

export const text: ColumnType<string> = { type: 'text', isNullable: false };
export const integer: ColumnType<number> = { type: 'integer', isNullable: false };
export const real: ColumnType<number> = { type: 'real', isNullable: false };
/** A column that ends in `_e4`. */
export const amount: ColumnType<Money> = { type: 'integer', isNullable: false };
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
type RowShape = Readonly<Record<string, ColumnType<unknown>>> | readonly ColumnType<unknown>[];

/** A row as JavaScript sees it. */
export type ShapedRow<Columns extends RowShape> = {
  -readonly [Name in keyof Columns]: Columns[Name] extends ColumnType<infer Value> ? Value : never;
};

/** What a parameter takes; a list is bound as a JSON array, which `json_each` reads. */
type Parameter = SQLInputValue | readonly (string | number)[];

const bind = (values: readonly Parameter[]) =>
  values.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)) as SQLInputValue[];

/** A statement that reads, with the type of its rows. */
export interface Query<Row> {
  readonly sql: string;
  readonly shape: RowShape;
  all(reader: Reader, ...values: Parameter[]): Row[];
  /** The first row, or undefined. */
  get(reader: Reader, ...values: Parameter[]): Row | undefined;
  /** The first row of a query that always returns one. */
  one(reader: Reader, ...values: Parameter[]): Row;
  has(reader: Reader, ...values: Parameter[]): boolean;
  iterate(reader: Reader, ...values: Parameter[]): IterableIterator<Row>;
}

export type RowOf<Read> = Read extends Query<infer Row> ? Row : never;

/**
 * Every query of the program: a test compares their shapes with the schema and with what SQLite
 * returns.
 */
export const queries: Query<unknown>[] = [];

/**
 * Declares a statement that reads, once for the program. Shapes are not checked at run time, so a
 * shape must match what the statement returns; the test of this file checks it.
 */
export function query<const Columns extends RowShape>(
  sql: string,
  shape: Columns,
): Query<ShapedRow<Columns>> {
  type Row = ShapedRow<Columns>;
  const kind = Array.isArray(shape) ? 'arrays' : 'objects';
  const statement = (reader: Reader) => reader.statement(sql, kind);
  const get = (reader: Reader, ...values: Parameter[]) =>
    statement(reader).get(...bind(values)) as Row | undefined;
  const declared: Query<Row> = {
    sql,
    shape,
    get,
    all: (reader, ...values) => statement(reader).all(...bind(values)) as unknown[] as Row[],
    iterate: (reader, ...values) =>
      statement(reader).iterate(
        ...bind(values),
      ) as IterableIterator<unknown> as IterableIterator<Row>,
    has: (reader, ...values) => get(reader, ...values) !== undefined,
    one(reader, ...values) {
      const row = get(reader, ...values);
      assert(row !== undefined, `A query that always has a row had none: ${sql}`);
      return row;
    },
  };
  queries.push(declared);
  return declared;
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
