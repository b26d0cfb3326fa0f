import { inBlock, type Phrase, splitWords } from './search-text.ts';
import type { Reader } from './database.ts';
import { integer, orNull, query, reads, text } from './rows.ts';

/**
 * The index of words of the reasoning logs. A message enters it in the transaction that logs the
 * message. Messages never change, so what is in the index stays right.
 */

/**
 * The opening prompt, with the prices of every symbol, is not searched: every search for a symbol
 * would find every model-day.
 */
const OPENING_MESSAGES = 2;
/** Of longer texts only this many characters are searched. */
const MAX_TEXT_LENGTH = 100_000;
/**
 * Each word is stored with the block of rows that it is in: where SQLite returns the rows of a word
 * from the newest on, it reads past all that are newer than those asked for, so that a step among
 * old messages would take as long as one through all.
 */
const ROWS_PER_BLOCK = 16_384;

function rowBlock(row: number): number {
  return Math.floor(row / ROWS_PER_BLOCK);
}

/** The first row of the block that a row is in. */
export function blockStart(row: number): number {
  return rowBlock(row) * ROWS_PER_BLOCK;
}

/**
 * What finds the phrases in the block of a row. Words consist of letters and digits, so none has a
 * meaning in SQLite's queries.
 */
export function messageExpression(phrases: readonly Phrase[], row: number): string {
  return phrases.map((words) => `"${inBlock(words, rowBlock(row))}"`).join(' AND ');
}

/** The row of the newest message; 0 when there is none. */
export const newestRow = reads('cell', 'SELECT coalesce(max(log_id), 0) FROM reasoning_logs', [
  integer,
]);

const TEXTS = ['content', 'tool_input', 'summary']
  .map((column) => `substr(${column}, 1, ${MAX_TEXT_LENGTH})`)
  .join(', ');
const ROWS = query(
  `SELECT log_id, ${TEXTS} FROM reasoning_logs
   WHERE log_id >= ? AND (message_index >= ${OPENING_MESSAGES} OR role IN ('assistant', 'tool')) ORDER BY log_id`,
  [integer, text, orNull(text), orNull(text)],
);
const ROW = query(`SELECT ${TEXTS} FROM reasoning_logs WHERE log_id = ?`, [
  text,
  orNull(text),
  orNull(text),
]);

/** What is searched in a message: its content, its arguments, its thoughts. */
export function searchedTexts(database: Reader, row: number): string[] {
  const texts: (string | null)[] = ROW.get(database, row) ?? [];
  return texts.filter((one) => one !== null);
}

/** Indexes the messages from a row on, within the transaction that has logged them. */
export function indexMessages(database: Reader, first: number): void {
  const insert = database.statement('INSERT INTO log_words (rowid, words) VALUES (?, ?)');
  for (const [row, ...texts] of ROWS.iterate(database, first)) {
    const words = texts.flatMap((one) => splitWords(one ?? ''));
    insert.run(row, inBlock(words, rowBlock(row)));
  }
}

/** Makes the index of a package anew, within its transaction. */
export function rebuildLogIndex(database: Reader): void {
  database.statement(`INSERT INTO log_words (log_words) VALUES ('delete-all')`).run();
  indexMessages(database, 0);
}
