import type { CalendarDate } from '../basics/calendar.ts';
import type { Reader } from './database.ts';
import { integer, query, text } from './rows.ts';
import { type Phrase, wordsOf } from './search-text.ts';

/**
 * The index of words of the documents. Each word is stored with the week of its document's date, so
 * that a list, which is by date, reads week after week, and no more of them than it needs.
 */

const WEEK_MS = 7 * 86_400_000;
/** Part of a word for SQLite's tokenizer, but not for ours. */
const MARK = '·';

export function weekOf(date: CalendarDate): number {
  return Math.floor(Date.parse(date) / WEEK_MS);
}

function inWeek(words: readonly string[], week: number): string {
  return words.map((word) => `${week}${MARK}${word}`).join(' ');
}

/** What finds the documents of a week that have all phrases. */
export function expressionFor(phrases: readonly Phrase[], week: number): string {
  return phrases.map((words) => `"${inWeek(words, week)}"`).join(' AND ');
}

interface Indexed {
  version: number;
  date: CalendarDate;
  title: string;
  text: string;
}

function wordsIn({ date, title, text: body }: Indexed): string {
  const week = weekOf(date);
  // No phrase goes from the title on into the text.
  return `${inWeek(wordsOf(title), week)} ${MARK} ${inWeek(wordsOf(body), week)}`;
}

/** Indexes a version, within the transaction that stores it. */
export function indexDocument(database: Pick<Reader, 'statement'>, document: Indexed): void {
  database
    .statement('INSERT INTO document_words (rowid, words) VALUES (?, ?)')
    .run(document.version, wordsIn(document));
}

/** Takes a version out of the index, with the words that it has. */
export function forgetDocument(database: Pick<Reader, 'statement'>, document: Indexed): void {
  database
    .statement(`INSERT INTO document_words (document_words, rowid, words) VALUES ('delete', ?, ?)`)
    .run(document.version, wordsIn(document));
}

const ALL = query('SELECT version, date, title, text FROM documents ORDER BY version', {
  version: integer,
  date: text,
  title: text,
  text,
});

/** Makes the index of a package anew, within its transaction. */
export function indexDocumentsAnew(database: Reader): void {
  database.statement(`INSERT INTO document_words (document_words) VALUES ('delete-all')`).run();
  for (const document of ALL.iterate(database)) indexDocument(database, document);
}
