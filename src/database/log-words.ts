import { setTimeout as sleep } from 'node:timers/promises';
import { type Phrase, wordsOf } from '../search-text.ts';
import type { Steps } from '../turns.ts';
import type { Database, Reader } from './database.ts';
import { type RowOf, integer, orNull, query, text } from './rows.ts';

/**
 * The index of words of the reasoning logs. A message enters it in the transaction that logs the
 * message; those from before that was so, or that another program has added, enter it in steps
 * after the service's start, from the newest to older ones. Messages never change, so what is in
 * the index stays right; which rows are is in `log_words_spans`, written in the same transactions.
 */

/**
 * The opening prompt, with the prices of every symbol, is not searched: every search for a symbol
 * would find every model-day.
 */
const OPENING_MESSAGES = 2;
/** Of longer texts only this many characters are searched. */
const MAX_TEXT_LENGTH = 100_000;
/** What one step indexes at most: bounds how long other requests wait for it. */
const MESSAGES_PER_STEP = 200;
const BYTES_PER_STEP = 96 * 1024;

/**
 * Each word is stored with the block of rows that it is in: where SQLite returns the rows of a word
 * from the newest on, it reads past all that are newer than those asked for, so that a step among
 * old messages would take as long as one through all.
 */
const ROWS_PER_BLOCK = 16_384;
/** Part of a word for SQLite's tokenizer, but not for ours. */
const BLOCK_MARK = '·';

function blockOf(row: number): number {
  return Math.floor(row / ROWS_PER_BLOCK);
}

/** The first row of the block that a row is in. */
export function blockStart(row: number): number {
  return blockOf(row) * ROWS_PER_BLOCK;
}

/**
 * What finds the phrases in the block of a row. Words consist of letters and digits, so none has a
 * meaning in SQLite's queries.
 */
export function expressionFor(phrases: readonly Phrase[], row: number): string {
  return phrases.map((words) => `"${inBlock(words, row)}"`).join(' AND ');
}

function inBlock(words: readonly string[], row: number): string {
  const prefix = `${blockOf(row)}${BLOCK_MARK}`;
  return words.map((word) => prefix + word).join(' ');
}

const NEWEST = query('SELECT coalesce(max(rowid), 0) FROM reasoning_logs', [integer]);

/** The row of the newest message; 0 when there is none. */
export function newestRow(database: Reader): number {
  return NEWEST.one(database)[0];
}

const SPAN = query(
  'SELECT first_row AS first, last_row AS last FROM log_words_spans WHERE first_row <= ? ORDER BY first_row DESC LIMIT 1',
  { first: integer, last: integer },
);

/**
 * The first of the rows that are in the index without a gap down from a row; null when that row is
 * not in it.
 */
export function firstIndexed(database: Reader, row: number): number | null {
  const span = SPAN.get(database, row);
  return span !== undefined && span.last >= row ? span.first : null;
}

/** The first row below one that is not in the index, down to which none is. */
export function firstNotIndexed(database: Reader, row: number): number {
  return (SPAN.get(database, row)?.last ?? 0) + 1;
}

/** A row may have gone together with its session, or have another number. */
const MISPLACED = query(
  `SELECT 1 FROM log_words_spans AS span LEFT JOIN reasoning_logs AS log ON log.rowid = last_row
   WHERE (span.session_id, span.message_index) IS NOT (log.session_id, log.message_index) LIMIT 1`,
  [integer],
);

/** Whether another program has numbered or replaced the rows of the log since they were indexed. */
export function isMisplaced(database: Reader): boolean {
  return MISPLACED.has(database);
}

/** Empties the index within the caller's transaction. */
export function clearIndex(database: Reader): void {
  database.statement(`INSERT INTO log_words (log_words) VALUES ('delete-all')`).run();
  database.statement('DELETE FROM log_words_spans').run();
}

const SIZES = query(
  `SELECT rowid, octet_length(content) + coalesce(octet_length(summary), 0) + coalesce(octet_length(tool_input), 0)
   FROM reasoning_logs WHERE rowid <= ? AND rowid > ? ORDER BY rowid DESC LIMIT ?`,
  [integer, integer],
);

/** SQL, of a message. */
export const IS_SEARCHED = `(message_index >= ${OPENING_MESSAGES} OR role IN ('assistant', 'tool'))`;
const TEXTS = `substr(content, 1, ${MAX_TEXT_LENGTH}), substr(tool_input, 1, ${MAX_TEXT_LENGTH}), substr(summary, 1, ${MAX_TEXT_LENGTH})`;
const ROWS = query(
  `SELECT rowid, ${TEXTS} FROM reasoning_logs
   WHERE rowid BETWEEN ? AND ? AND ${IS_SEARCHED} ORDER BY rowid`,
  [integer, text, orNull(text), orNull(text)],
);
const ROW = query(`SELECT ${TEXTS} FROM reasoning_logs WHERE rowid = ?`, [
  text,
  orNull(text),
  orNull(text),
]);

/** What is searched in a message: its content, its arguments, its thoughts. */
export function searchedTexts(database: Reader, row: number): string[] {
  const texts: (string | null)[] = ROW.get(database, row) ?? [];
  return texts.filter((one) => one !== null);
}

/**
 * Indexes messages from a row that is not in the index down, one step of them, within the caller's
 * transaction. Returns the first row of the span that the row is in now.
 */
export function indexDownFrom(
  database: Reader,
  row: number,
  messages: number = MESSAGES_PER_STEP,
): number {
  if (isMisplaced(database)) clearIndex(database); // joined with new rows, old ones would pass for right
  const known = firstIndexed(database, row); // the message may have been logged by then
  if (known !== null) return known;
  const below = SPAN.get(database, row);
  const floor = below?.last ?? 0;
  const sizes = SIZES.all(database, row, floor, messages);
  const [last] = sizes[0] ?? [];
  if (last === undefined) return floor + 1; // there is no message
  const first = firstOfStep(sizes, { floor, messages });
  const insert = database.statement('INSERT INTO log_words (rowid, words) VALUES (?, ?)');
  for (const [id, ...texts] of ROWS.all(database, first, last))
    insert.run(
      id,
      inBlock(
        texts.flatMap((one) => wordsOf(one ?? '')),
        id,
      ),
    );
  const isJoined = below !== undefined && first === floor + 1;
  if (isJoined)
    database.statement('DELETE FROM log_words_spans WHERE first_row = ?').run(below.first);
  return addSpan(database, isJoined ? below.first : first, last);
}

/** Indexes the newest messages, down to a row, within the transaction that has logged them. */
export function indexNewest(database: Reader, downTo: number): void {
  for (let row = newestRow(database); row >= downTo; ) row = indexDownFrom(database, row) - 1;
}

/** Indexes all messages of a database that is being made, within its transaction. */
export function* indexInSteps(database: Reader): Steps<void> {
  for (let row = newestRow(database); row > 0; yield null) row = indexDownFrom(database, row) - 1;
}

/** How much longer than a step the pause after it is: the index grows beside a job that runs. */
const REST = 4;

/**
 * Indexes whatever is not in the index, in steps that are transactions of their own. Rejects when
 * the signal is aborted.
 */
export async function indexAll(
  database: Database,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  if (isMisplaced(database)) await database.write(() => clearIndex(database), { signal });
  for (let place = newestRow(database) + 1; place > 1; ) {
    const row = place - 1;
    const known = firstIndexed(database, row);
    const beganAt = performance.now();
    place = known ?? (await database.write(() => indexDownFrom(database, row), { signal }));
    if (known === null)
      await sleep(REST * (performance.now() - beganAt), undefined, { signal, ref: false });
  }
}

/**
 * The first row of a step, of rows from the newest down with their sizes; without a gap to the
 * floor when it reaches that.
 */
function firstOfStep(
  sizes: readonly RowOf<typeof SIZES>[],
  { floor, messages }: { floor: number; messages: number },
): number {
  let bytes = 0;
  let first = floor + 1;
  for (const [row, size] of sizes) {
    bytes += size;
    if (bytes > BYTES_PER_STEP && row !== sizes[0]?.[0]) return first;
    first = row;
  }
  return sizes.length < messages ? floor + 1 : first;
}

/** Adds a span, or extends the one that begins after it, whose last message stays. */
function addSpan(database: Reader, first: number, last: number): number {
  const extended = database
    .statement('UPDATE log_words_spans SET first_row = ? WHERE first_row = ?')
    .run(first, last + 1);
  if (extended.changes === 0)
    database
      .statement(
        `INSERT INTO log_words_spans (first_row, last_row, session_id, message_index)
         SELECT ?1, ?2, session_id, message_index FROM reasoning_logs WHERE rowid = ?2`,
      )
      .run(first, last);
  return first;
}
