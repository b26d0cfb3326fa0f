import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type Database, type Moment, type Reader, prepareOnce } from './reader.ts';

/** A connection that only reads, within a read transaction when it is taken. */
export interface Reading {
  connection: DatabaseSync;
  statement: Reader['statement'];
}

/**
 * Where moments get their connections from. Null: the database has no file to open again, or that
 * file is not in its place.
 */
export interface Readings {
  take(): Reading | null;
  giveBack(reading: Reading): void;
}

/**
 * A moment that begins with its first statement. Without a connection of its own it reads from that
 * of the database.
 */
export function momentOf(source: Database, { take, giveBack }: Readings): Moment {
  let reading: Reading | null | undefined;
  let isSettled = false;
  let isOver = false;
  const settle = () => {
    isSettled = true;
    if (reading?.connection.isTransaction) reading.connection.exec('COMMIT');
  };
  return {
    path: source.path,
    source,
    ...(source.reopened && { reopened: source.reopened }),
    statement(sql, rows) {
      assert(!isOver, 'a response reads nothing after its end');
      if (reading === undefined) {
        reading = take();
        if (isSettled) settle();
      }
      return (reading ?? source).statement(sql, rows);
    },
    settle,
    isHeld: () => reading?.connection.isTransaction === true,
    close() {
      if (isOver) return;
      isOver = true;
      if (reading?.connection.isOpen) giveBack(reading);
    },
    write: () => assert.fail('a response writes nothing'),
    probe: source.probe,
    storageFault: source.storageFault,
    moment: source.moment,
    address: source.address,
  };
}

/**
 * Connections that are kept open for the next responses; a connection has its prepared statements
 * and its pages.
 */
const MOST_IDLE = 4;

/** The connections of a service's responses. */
export interface ReadingPool extends Readings {
  /** Leaves no connection open that no response is reading from. */
  closeIdle(): void;
  close(): void;
}

/** `mayOpen` tells whether the file at the path is still the one that the service has open. */
export function createReadingPool(path: string, mayOpen: () => boolean): ReadingPool {
  const open = new Set<DatabaseSync>();
  let idle: Reading[] = [];
  const drop = (connection: DatabaseSync) => {
    open.delete(connection);
    if (connection.isOpen) connection.close();
  };
  const openOne = (): Reading | null => {
    if (!mayOpen()) return null;
    const connection = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    open.add(connection);
    return { connection, statement: prepareOnce(connection) };
  };
  const closeIdle = () => {
    for (const { connection } of idle) drop(connection);
    idle = [];
  };
  return {
    take() {
      const reading = idle.pop() ?? openOne();
      if (reading === null) return null;
      try {
        // A transaction keeps the state that its first read saw.
        reading.connection.exec('BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1');
      } catch (error) {
        drop(reading.connection);
        throw error;
      }
      return reading;
    },
    giveBack(reading) {
      if (reading.connection.isTransaction) reading.connection.exec('ROLLBACK');
      if (idle.length < MOST_IDLE) idle.push(reading);
      else drop(reading.connection);
    },
    closeIdle,
    close() {
      closeIdle();
      for (const connection of open) drop(connection);
    },
  };
}
