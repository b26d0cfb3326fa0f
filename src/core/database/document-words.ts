import { EARLIEST_DATE } from '#time/calendar.ts';
import type { Reader } from './database.ts';
import { integer, query, type RowOf, text } from './rows.ts';
import { inBlock, MARK, type Phrase, splitWords } from './search-text.ts';

/**
 * The index of documents: by their words, symbols and kinds. Each is stored with the half-year in
 * which its document came out, because SQLite reads past everything that is newer than what is
 * asked for: a list reads one half-year after the other, and no more of them than it needs.
 */

/** About half a year of versions. */
const BLOCK = 2 ** 24 * 1_000_000;
/** The symbol of a document that has none. */
const NO_SYMBOL = '';

/** The half-years before 1970. */
const BLOCKS_BEFORE = Math.ceil((-Date.parse(EARLIEST_DATE) * 1_000) / BLOCK);

/** Counted from the earliest date on: SQLite's tokenizer drops the sign of a negative number. */
export function blockNumber(version: number): number {
  return Math.floor(version / BLOCK) + BLOCKS_BEFORE;
}

const hex = (name: string) => Buffer.from(name).toString('hex');
const symbolWord = (symbol: string) => `symbol${MARK}${hex(symbol)}`;
const kindWord = (kind: string) => `kind${MARK}${hex(kind)}`;

/** What is asked for of the documents; null for anything. */
export interface DocumentFilter {
  /** Any of these symbols, or none at all. */
  symbols: readonly string[] | null;
  symbol?: string | null | undefined;
  kind?: string | null | undefined;
  phrases?: readonly Phrase[];
}

/** What finds the documents of a block that have all of it; of all blocks, where that is null. */
export function documentExpression(
  { symbols, symbol, kind, phrases = [] }: DocumentFilter,
  block: number | null,
): string {
  const has = (words: readonly string[]) =>
    `"${block === null ? words.join(' ') : inBlock(words, block)}"`;
  const anyOf = [...new Set([NO_SYMBOL, ...(symbols ?? [])])].map((one) => has([symbolWord(one)]));
  return [
    ...(symbols === null ? [] : [`(${anyOf.join(' OR ')})`]),
    ...(symbol == null ? [] : [has([symbolWord(symbol)])]),
    ...(kind == null ? [] : [has([kindWord(kind)])]),
    ...phrases.map(has),
  ].join(' AND ');
}

const INDEXED = `SELECT version, kind, symbols, title, text FROM documents JOIN document_texts USING (version)`;
const SHAPE = { version: integer, kind: text, symbols: text, title: text, text };
const ROWS = query(`${INDEXED} WHERE version >= ? ORDER BY version`, SHAPE);

/** Symbols and kind, of all blocks too, between title and text: no phrase goes from one to the other. */
function indexedWords({ version, kind, symbols, title, text: body }: RowOf<typeof ROWS>) {
  const own: string[] = JSON.parse(symbols);
  const about = [kindWord(kind), ...(own.length === 0 ? [NO_SYMBOL] : own).map(symbolWord)];
  const [before, after] = [splitWords(title), [...about, ...splitWords(body)]];
  const block = blockNumber(version);
  return [inBlock(before, block), ...about, inBlock(after, block)].join(' ');
}

const INSERT = 'INSERT INTO document_words (rowid, words) VALUES (?, ?)';

/** Indexes a version, within the transaction that stores it. */
export function indexDocument(database: Reader, version: number): void {
  database.statement(INSERT).run(version, indexedWords(ROWS.one(database, version)));
}

/** Takes a version out of the index, within the transaction that removes it. */
export function unindexDocument(database: Reader, version: number): void {
  const sql = `INSERT INTO document_words (document_words, rowid, words) VALUES ('delete', ?, ?)`;
  database.statement(sql).run(version, indexedWords(ROWS.one(database, version)));
}

/** Pages of the index that one step writes at most. */
const MERGE_PAGES = 200;
const CHANGES = query('SELECT total_changes()', [integer]);

/**
 * Merges what many insertions have left in parts, each of which a list has to search: step by step,
 * within transactions. SQLite says that there is nothing left by changing less than two rows.
 */
export function* mergeWords(database: Reader): Generator<null> {
  const merge = `INSERT INTO document_words (document_words, rank) VALUES ('merge', ?)`;
  for (let pages = -MERGE_PAGES; ; pages = MERGE_PAGES) {
    const [before] = CHANGES.one(database);
    database.statement(merge).run(pages);
    if (CHANGES.one(database)[0] - before < 2) return;
    yield null;
  }
}

/** Makes the index of a package anew, within its transaction. */
export function rebuildDocumentIndex(database: Reader): void {
  database.statement(`INSERT INTO document_words (document_words) VALUES ('delete-all')`).run();
  const insert = database.statement(INSERT);
  for (const row of ROWS.iterate(database, -Infinity)) insert.run(row.version, indexedWords(row));
}
