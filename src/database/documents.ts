import type { CalendarDate } from '../basics/calendar.ts';
import { sha256 } from '../basics/hash.ts';
import type { Reader } from './database.ts';
import { expressionFor, weekOf } from './document-words.ts';
import type { PricesAt } from './price-writes.ts';
import { flag, integer, orNull, query, type RowOf, text } from './rows.ts';
import type { Phrase } from './search-text.ts';

/**
 * Documents as of a morning: what was published before its open and imported before its first
 * session, each in its version at that time.
 */

/** What a document says; `symbols` are sorted. */
export interface DocumentContent {
  /** A date, or an instant in UTC with milliseconds. */
  publishedAt: string;
  kind: string;
  title: string;
  symbols: readonly string[];
  source: string | null;
  url: string | null;
  text: string;
}

/** SHA-256, in hexadecimal digits; of a document without an id, the id. */
export function digestOf({
  publishedAt,
  kind,
  title,
  symbols,
  source,
  url,
  text,
}: DocumentContent) {
  return sha256(JSON.stringify([publishedAt, kind, title, symbols, source, url, text])).toString(
    'hex',
  );
}

/** A morning, and whose documents count. */
export interface Morning {
  reader: Reader;
  date: CalendarDate;
  /** The last write that is seen; null for all. */
  write: PricesAt['write'];
  /** Documents of any of these symbols, and those of none; null for all. */
  symbols: readonly string[] | null;
  /** In a file that lacks documents: only what this session was shown counts. */
  session: number | null;
}

/** After every write. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;
/** Where documents without a symbol are found. */
const OF_ALL = '';

/** The first parameters of the queries below. */
function parametersOf({ symbols, date, write, session }: Morning) {
  const scope = symbols && JSON.stringify([...new Set([OF_ALL, ...symbols])]);
  return [scope, date, write ?? NO_LIMIT, session] as const;
}

/** THE CLAMP: what is out on a morning, and was imported before it. */
const isSeen = (row: string) =>
  `${row}.visible_from <= ?2 AND ${row}.import_id IN (SELECT import_id FROM document_imports WHERE written <= ?3)
   AND (?4 IS NULL OR ${row}.version IN (SELECT version FROM document_sessions WHERE session_id = ?4))`;
/** The version of the morning: no later one is out. */
const isCurrent = (row: string) =>
  `${isSeen(row)} AND NOT EXISTS (SELECT 1 FROM documents AS later
     WHERE later.document_id = ${row}.document_id AND later.version <> ${row}.version
       AND (later.visible_from, later.published_at) > (${row}.visible_from, ${row}.published_at) AND ${isSeen('later')})`;
const IN_SCOPE = `(?1 IS NULL OR EXISTS (SELECT 1 FROM document_symbols AS own
  WHERE own.version = doc.version AND own.symbol IN (SELECT value FROM json_each(?1))))`;
const ORDER = (row: string) =>
  `${row}.date DESC, ${row}.published_at DESC, ${row}.document_id DESC`;

/** Characters of a text that a list reads, for an excerpt without words. */
const BEGINNING = 201;
const ROW = `doc.version, doc.document_id AS id, doc.kind, doc.date, doc.symbols, doc.title, doc.digest,
  substr(doc.text, 1, ${BEGINNING}) AS beginning`;
const SHAPE = {
  version: integer,
  id: text,
  kind: text,
  date: text,
  symbols: text,
  title: text,
  digest: text,
  beginning: text,
};

/** By symbol, where each is in order; the kind has an index of its own. */
const listQuery = (ofKind: string) =>
  query(
    `SELECT DISTINCT ${ROW} FROM json_each(?5) AS wanted CROSS JOIN documents AS doc
     WHERE doc.version IN (SELECT place.version FROM document_symbols AS place
       WHERE place.symbol = wanted.value AND place.date BETWEEN ?6 AND ?7 ${ofKind} AND ${isCurrent('place')}
         AND (?9 IS NULL OR EXISTS (SELECT 1 FROM document_symbols AS own
           WHERE own.version = place.version AND own.symbol IN (SELECT value FROM json_each(?1))))
       ORDER BY ${ORDER('place')} LIMIT ?8)
     ORDER BY ${ORDER('doc')} LIMIT ?8`,
    SHAPE,
  );
const LIST = { ofAny: listQuery('AND ?10 IS NULL'), ofKind: listQuery('AND place.kind = ?10') };

const FOUND = query(
  `SELECT ${ROW} FROM document_words CROSS JOIN documents AS doc ON doc.version = document_words.rowid
   WHERE document_words MATCH ?5 AND doc.date BETWEEN ?6 AND ?7
     AND (?9 IS NULL OR EXISTS (SELECT 1 FROM document_symbols AS own WHERE own.version = doc.version AND own.symbol = ?9))
     AND (?10 IS NULL OR doc.kind = ?10) AND ${isCurrent('doc')} AND ${IN_SCOPE}
   ORDER BY ${ORDER('doc')} LIMIT ?8`,
  SHAPE,
);

export type ListedDocument = RowOf<typeof FOUND>;

export interface ListFilter {
  symbol?: string | null | undefined;
  kind?: string | null | undefined;
  since?: CalendarDate | null | undefined;
  phrases: readonly Phrase[];
  limit: number;
}

const DAY_MS = 86_400_000;
const EARLIEST = query('SELECT min(visible_from) FROM documents', [orNull(text)]);

/**
 * The documents of a morning that fit a filter, the newest first. What a list reads is bounded by
 * time: it looks at more of the past only until it is full.
 */
export function listDocuments(morning: Morning, filter: ListFilter): ListedDocument[] {
  const { reader, date, symbols } = morning;
  const [first] = EARLIEST.one(reader);
  if (first === null) return [];
  const { symbol = null, kind = null, since, phrases, limit } = filter;
  // A document is dated at most one day before its first morning.
  const oldest = dayBefore(first) > (since ?? '') ? dayBefore(first) : (since ?? '');
  const wanted = symbol === null ? [OF_ALL, ...(symbols ?? [])] : [symbol];
  const list = kind === null ? LIST.ofAny : LIST.ofKind;
  const found: ListedDocument[] = [];
  const spans = phrases.length === 0 ? doublingSpans(date, oldest) : weeksBack(date, oldest);
  for (const { from, to } of spans) {
    const left = limit - found.length;
    const what =
      phrases.length === 0
        ? JSON.stringify([...new Set(wanted)])
        : expressionFor(phrases, weekOf(from));
    const query = phrases.length === 0 ? list : FOUND;
    found.push(...query.all(reader, ...parametersOf(morning), what, from, to, left, symbol, kind));
    if (found.length >= limit) break;
  }
  return found;
}

interface DateSpan {
  from: CalendarDate;
  to: CalendarDate;
}

function dateAt(ms: number): CalendarDate {
  return new Date(ms).toISOString().slice(0, 10);
}

function dayBefore(date: CalendarDate): CalendarDate {
  return dateAt(Date.parse(date) - DAY_MS);
}

/** From a date back to another: a day, two, four and so on. */
function* doublingSpans(last: CalendarDate, oldest: CalendarDate): Generator<DateSpan> {
  for (let [to, days] = [last, 1]; to >= oldest; days *= 2) {
    const start = dateAt(Date.parse(to) - (days - 1) * DAY_MS);
    const from = start > oldest ? start : oldest;
    yield { from, to };
    to = dayBefore(from);
  }
}

/** From a date back to another, by the weeks of the index of words. */
function* weeksBack(last: CalendarDate, oldest: CalendarDate): Generator<DateSpan> {
  for (let to = last; to >= oldest; ) {
    const start = dateAt(weekOf(to) * 7 * DAY_MS);
    const from = start > oldest ? start : oldest;
    yield { from, to };
    to = dayBefore(start);
  }
}

const READ = query(
  `SELECT doc.version, document_id AS id, published_at AS publishedAt, date, kind, title, symbols, source, url, digest, text
   FROM documents AS doc WHERE document_id = ?5 AND ${isCurrent('doc')} AND ${IN_SCOPE}`,
  {
    version: integer,
    id: text,
    publishedAt: text,
    date: text,
    kind: text,
    title: text,
    symbols: text,
    source: orNull(text),
    url: orNull(text),
    digest: text,
    text,
  },
);

export type ReadDocument = RowOf<typeof READ>;

/** A document in the version of a morning; undefined for none, and for one that is not out yet. */
export function readDocument(morning: Morning, id: string): ReadDocument | undefined {
  return READ.get(morning.reader, ...parametersOf(morning), id);
}

const TEXT = query('SELECT text FROM documents WHERE version = ?', [text]);

export function textOf(reader: Reader, version: number): string {
  return TEXT.one(reader, version)[0];
}

const COUNTS = query(
  `SELECT kind, count(*) AS documents FROM (
     SELECT DISTINCT place.version, place.kind FROM json_each(?1) AS wanted
       CROSS JOIN document_symbols AS place ON place.symbol = wanted.value WHERE ${isCurrent('place')})
   GROUP BY kind ORDER BY documents DESC, kind`,
  { kind: text, documents: integer },
);

export type DocumentCount = RowOf<typeof COUNTS>;

/** How many documents of each kind a morning has, the most frequent kind first. */
export function countDocuments(morning: Morning): DocumentCount[] {
  return COUNTS.all(morning.reader, ...parametersOf(morning));
}

const ANY = query(
  `SELECT 1 FROM json_each(?1) AS wanted CROSS JOIN document_symbols AS place ON place.symbol = wanted.value
   WHERE ${isSeen('place')} LIMIT 1`,
  [integer],
);

/** Whether a morning has any. */
export function hasDocuments(morning: Morning): boolean {
  return ANY.has(morning.reader, ...parametersOf(morning));
}

const IS_CONTROL = query(
  `SELECT 1 FROM json_each(?1) AS own WHERE 'disguise' = (SELECT source FROM price_data
     WHERE symbol = own.value AND date <= ?2 ORDER BY date DESC LIMIT 1) LIMIT 1`,
  [integer],
);

/** Whether prices of a morning are disguised: no document may say whose they are. */
export function isControlMarket({ reader, symbols, date }: Morning): boolean {
  return IS_CONTROL.has(reader, JSON.stringify(symbols), date);
}

const COVERAGE = query(
  `SELECT kind, nullif(symbol, '') AS symbol, count(DISTINCT document_id) AS documents,
     min(date) AS firstDate, max(date) AS lastDate
   FROM document_symbols AS place WHERE import_id IN (SELECT import_id FROM document_imports WHERE written IS NOT NULL)
   GROUP BY kind, place.symbol ORDER BY kind, place.symbol`,
  { kind: text, symbol: orNull(text), documents: integer, firstDate: text, lastDate: text },
);

/** How many documents of each kind and symbol are stored, and of which dates. */
export function documentCoverage(reader: Reader): RowOf<typeof COVERAGE>[] {
  return COVERAGE.all(reader);
}

const IS_WHOLE = query(
  `SELECT NOT EXISTS (SELECT 1 FROM document_imports AS own WHERE documents <> (
     SELECT count(*) FROM documents WHERE documents.import_id = own.import_id))`,
  [flag],
);

/** Whether every document that was imported is here; a package has only those that were shown. */
export function hasAllDocuments(reader: Reader): boolean {
  return IS_WHOLE.one(reader)[0] === 1;
}

/** What a session was shown, and how many documents of each kind it could read. */
export interface Shown {
  /** The digest of each version. */
  shown: ReadonlyMap<number, string>;
  counts: readonly DocumentCount[];
}

/** Stores what a session was shown, within the transaction that logs it. */
export function storeShown(database: Reader, sessionId: number, { shown, counts }: Shown): void {
  const [count, version] = [
    database.statement('INSERT OR IGNORE INTO document_counts VALUES (?, ?, ?)'),
    database.statement('INSERT OR IGNORE INTO document_sessions VALUES (?, ?, ?)'),
  ];
  for (const { kind, documents } of counts) count.run(sessionId, kind, documents);
  for (const [number, digest] of shown) version.run(sessionId, number, digest);
}

const STORED_COUNTS = query(
  'SELECT kind, documents FROM document_counts WHERE session_id = ? ORDER BY documents DESC, kind',
  { kind: text, documents: integer },
);
const STORED = query(
  `SELECT shown.version, shown.digest AS shownDigest, document_id AS id, published_at AS publishedAt, kind, title, symbols, source,
     url, text FROM document_sessions AS shown JOIN documents USING (version) WHERE session_id = ? ORDER BY shown.version`,
  {
    version: integer,
    shownDigest: text,
    id: text,
    publishedAt: text,
    kind: text,
    title: text,
    symbols: text,
    source: orNull(text),
    url: orNull(text),
    text,
  },
);

export function storedCounts(reader: Reader, sessionId: number): DocumentCount[] {
  return STORED_COUNTS.all(reader, sessionId);
}

/** What a session was shown: the digest at that time, and that of what is stored now. */
export function storedShown(reader: Reader, sessionId: number) {
  return [...STORED.iterate(reader, sessionId)].map(({ version, shownDigest, id, ...content }) => {
    const now = digestOf({ ...content, symbols: JSON.parse(content.symbols) });
    return { version, id, digest: shownDigest, now };
  });
}
