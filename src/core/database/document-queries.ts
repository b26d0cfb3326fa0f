import { addDays, type CalendarDate, zonedInstant } from '#time/calendar.ts';
import { type MarketRules, US } from '#domain/market-rules.ts';
import { addToHash, sha256 } from '#text/hash.ts';
import type { Reader } from './database.ts';
import { blockNumber, documentExpression, type DocumentFilter } from './document-words.ts';
import { integer, orNull, query, reads, text, type RowOf } from './rows.ts';
import { pickIds } from './session-filters.ts';

/**
 * Documents as of a morning: what was published before its open and imported before its first
 * session, each in its version at that time.
 */

/** Content of a document, without version, id and date. */
export type DocumentContent = Omit<StoredDocument, 'version' | 'id' | 'date' | 'digest'>;

/** SHA-256, in hexadecimal digits; of a document without an id, the id. */
export function documentDigest(content: DocumentContent): string {
  const { publishedAt, kind, title, symbols, source, url, text: body } = content;
  const fields = [publishedAt, kind, title, symbols, source, url, body];
  return sha256(JSON.stringify(fields)).toString('hex');
}

/** Versions of one second; one with only a date counts as its end. */
export const VERSIONS_PER_SECOND = 1_000_000;

/** The first version that an instant is not before. */
export function versionAt(instant: Date): number {
  return Math.floor(instant.getTime() / 1_000) * VERSIONS_PER_SECOND;
}

/** From when on a document is out that has only a date: when the date is over. */
export function endOfDay(date: CalendarDate): Date {
  return new Date(addDays(date, 1));
}

/** A morning, and whose documents count. */
export interface Morning {
  reader: Reader;
  date: CalendarDate;
  /** The last write that is seen; null for all. */
  write: number | null;
  /** Documents of any of these symbols, and those of none; null for all. */
  symbols: readonly string[] | null;
  /** Rules of the market whose open ends the morning. */
  rules?: Pick<MarketRules, 'opens' | 'time_zone'>;
  /** A session that is played again: what it was shown, and nothing else. */
  session?: number | undefined;
}
type SymbolMorning = Morning & { symbols: readonly string[] };

/** The first parameters of the queries below. */
function morningValues({ date, write, session, rules = US }: Morning) {
  const opening = versionAt(zonedInstant(rules.time_zone, date, rules.opens));
  return [opening, write ?? Number.MAX_SAFE_INTEGER, session ?? null] as const;
}

/** THE CLAMP: what is out before the open, and was imported before the morning. */
const isSeen = (row: string) =>
  `${row}.version < ?1 AND ${row}.import_id IN (SELECT import_id FROM document_imports WHERE written <= ?2)
   AND (?3 IS NULL OR ${row}.version IN (SELECT version FROM document_sessions WHERE session_id = ?3))`;
const order = (row: string) => `(${row}.version / ${VERSIONS_PER_SECOND}, ${row}.published_at)`;
/** In the version of the morning: no later one is out. */
const IS_CURRENT = `${isSeen('doc')} AND NOT EXISTS (SELECT 1 FROM documents AS later
  WHERE later.document_id = doc.document_id AND ${order('later')} > ${order('doc')} AND ${isSeen('later')})`;
const SELECTED = `SELECT doc.version AS version, document_id AS id, {}`;
const DOCUMENTS = 'FROM documents AS doc JOIN document_texts USING (version)';
const SHAPE = {
  version: integer,
  id: text,
  /** A date, or an instant in UTC with milliseconds. */
  publishedAt: text,
  date: text,
  kind: text,
  title: text,
  /** As JSON, sorted. */
  symbols: text,
  source: orNull(text),
  url: orNull(text),
  digest: text,
  text,
};
/** Characters of a text of which a list makes its excerpt. */
const EXCERPTED = 65_536;
const LIST = query(
  `${SELECTED}, substr(text, 1, ${EXCERPTED}) AS text FROM document_words CROSS JOIN documents AS doc ON doc.version = document_words.rowid
     JOIN document_texts USING (version)
   WHERE document_words MATCH ?4 AND document_words.rowid < ?1 AND ${IS_CURRENT} AND date >= ?5
   ORDER BY document_words.rowid DESC LIMIT ?6`,
  SHAPE,
);

/** A document in the version of a morning; in a list with the beginning of its text. */
export type StoredDocument = RowOf<typeof LIST>;

export interface ListFilter extends Omit<DocumentFilter, 'symbols'> {
  since?: CalendarDate | null | undefined;
  limit: number;
}

const FIRST = query('SELECT min(version) FROM documents', [orNull(integer)]);
/** SQLite reads the oldest first: there is one before a version, or the first it finds is later. */
const ANY = query('SELECT rowid FROM document_words WHERE document_words MATCH ?1 AND rowid < ?2', [
  integer,
]);

/** The documents of a morning that fit a filter, the newest first. */
export function listDocuments(morning: SymbolMorning, filter: ListFilter): StoredDocument[] {
  const { reader } = morning;
  const { symbol, kind, since, phrases = [], limit } = filter;
  const parameters = morningValues(morning);
  const [opening] = parameters;
  // What is of the symbol is of one of the symbols.
  const symbols = symbol != null && morning.symbols.includes(symbol) ? null : morning.symbols;
  const ofSymbols = { symbols, symbol, kind };
  if (!ANY.has(reader, documentExpression(ofSymbols, null), opening)) return [];
  const start = since == null ? -Infinity : versionAt(new Date(since));
  const first = Math.max(FIRST.one(reader)[0] ?? Infinity, start);
  const found: StoredDocument[] = [];
  for (
    let block = blockNumber(opening);
    block >= blockNumber(first) && found.length < limit;
    block -= 1
  ) {
    const rare = documentExpression({ symbol, kind, phrases, symbols: null }, block);
    if (rare !== '' && !ANY.has(reader, rare, opening)) continue;
    const wanted = documentExpression({ ...ofSymbols, phrases }, block);
    found.push(...LIST.all(reader, ...parameters, wanted, since ?? '', limit - found.length));
  }
  return found;
}

/** Documents that are counted at a step. */
const COUNT_BATCH = 2_000;
const NEXT = query(
  `SELECT version, kind, symbols FROM documents AS doc WHERE version > ?4 AND ${IS_CURRENT} ORDER BY version
   LIMIT ${COUNT_BATCH}`,
  [integer, text, text],
);

const BY_SYMBOL = query(
  `SELECT version, kind, symbols FROM document_words CROSS JOIN documents AS doc ON doc.version = document_words.rowid
   WHERE document_words MATCH ?4 AND ${IS_CURRENT}`,
  [integer, text, text],
);

interface DocumentCount {
  kind: string;
  documents: number;
}

/** The documents of a universe on a morning. */
export interface CountedDocuments {
  /** By kind, the most frequent first. */
  counts: readonly DocumentCount[];
  /** Hash of the versions, different for other documents. */
  hash: number;
}

/** Counts the documents of a universe, so far after each step. */
export function* countDocuments(
  morning: Morning,
  universe: ReadonlySet<string>,
): Generator<CountedDocuments, void> {
  let { counts, hash }: CountedDocuments = { counts: [], hash: 0 };
  for (let last = -Infinity; ; ) {
    const rows = NEXT.all(morning.reader, ...morningValues(morning), last);
    const own = rows.filter(([, , symbols]) => mentionsAny(universe, symbols));
    counts = addCounts(counts, own);
    for (const [version] of own) hash = addToHash(hash, version);
    yield { counts, hash };
    if (rows.length < COUNT_BATCH) return;
    last = rows.at(-1)?.[0] ?? last;
  }
}

/** Adds to the counts of a universe the documents of symbols outside of it. */
export function countOutsideUniverse(
  morning: Morning,
  { universe, outside }: { universe: ReadonlySet<string>; outside: readonly string[] },
  counts: readonly DocumentCount[],
): DocumentCount[] {
  const rows = outside.flatMap((symbol) => {
    const wanted = documentExpression({ symbols: null, symbol }, null);
    return BY_SYMBOL.all(morning.reader, ...morningValues(morning), wanted);
  });
  const once = new Map(rows.map((row) => [row[0], row]));
  return addCounts(
    counts,
    once.values().filter(([, , symbols]) => !mentionsAny(universe, symbols)),
  );
}

/** Whether models of a universe may read a document of some symbols (as JSON), or of none. */
function mentionsAny(universe: ReadonlySet<string>, symbols: string): boolean {
  const names: string[] = JSON.parse(symbols);
  return names.length === 0 || names.some((name) => universe.has(name));
}

function addCounts(
  before: readonly DocumentCount[],
  rows: Iterable<RowOf<typeof NEXT>>,
): DocumentCount[] {
  const counts = new Map(before.map(({ kind, documents }) => [kind, documents]));
  for (const [, kind] of rows) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .map(([kind, documents]) => ({ kind, documents }))
    .sort((one, other) => other.documents - one.documents || (one.kind < other.kind ? -1 : 1));
}

const READABLE = query(
  `SELECT date, model, coalesce(json_extract(documents, '$.hash'), 0) AS hash
   FROM json_each(?) AS chosen CROSS JOIN trading_sessions ON session_id = chosen.value CROSS JOIN simulation_runs USING (job_id, model)
   WHERE EXISTS (SELECT 1 FROM document_imports) AND json_extract(entry, '$.documents') IS NULL
     AND json_extract(entry, '$.kind') <> 'baseline'`,
  { date: text, model: text, hash: integer },
);

/** A hash of what a model might read on a date; 0 for nothing. */
export type ReadableDocuments = RowOf<typeof READABLE>;

/** What models that may read might read, on the dates of several jobs: those of one job share it. */
export function readableDocuments(
  reader: Reader,
  days: readonly { sessionId: number; date: CalendarDate; jobId: string }[],
): ReadableDocuments[] {
  const dates = [...Map.groupBy(days, ({ date }) => date).values()];
  const mixed = dates.filter((own) => own.some(({ jobId }) => jobId !== own[0]?.jobId));
  return READABLE.all(reader, pickIds(mixed.flat()));
}

const READ = query(
  `${SELECTED} ${DOCUMENTS} WHERE document_id = ?4 AND ${IS_CURRENT} AND (?5 IS NULL OR symbols = '[]' OR EXISTS (
     SELECT 1 FROM json_each(symbols) AS own WHERE own.value IN (SELECT value FROM json_each(?5))))`,
  SHAPE,
);

/** A document in the version of a morning; undefined for none, and for one that is not out yet. */
export function readDocument(morning: Morning, id: string): StoredDocument | undefined {
  return READ.get(morning.reader, ...morningValues(morning), id, morning.symbols);
}

/** A document in the version that was published at that time. */
export const documentVersion = reads(
  'get',
  `${SELECTED} ${DOCUMENTS} JOIN document_imports USING (import_id)
   WHERE document_id = ? AND published_at = ? AND written IS NOT NULL`,
  SHAPE,
  (id: string, version: string) => [id, version],
);

/** How many documents of each kind and symbol are stored, and of which dates. */
export const documentCoverage = reads(
  'all',
  `SELECT kind, own.value AS symbol, count(DISTINCT document_id) AS documents, min(date) AS first_date, max(date) AS last_date
   FROM documents LEFT JOIN json_each(symbols) AS own
   WHERE import_id IN (SELECT import_id FROM document_imports WHERE written IS NOT NULL)
   GROUP BY kind, symbol ORDER BY kind, symbol`,
  { kind: text, symbol: orNull(text), documents: integer, first_date: text, last_date: text },
);

/** Stores what a session was shown, within the transaction that commits it. */
export function storeShown(database: Reader, sessionId: number, versions: Iterable<number>): void {
  const insert = database.statement('INSERT INTO document_sessions VALUES (?, ?)');
  for (const version of versions) insert.run(sessionId, version);
}

/** SQL: what the session of `own` was shown, the newest first, and the newest version of each. */
export const SHOWN_IN_SESSION = `
  (SELECT json_group_array(json_object('id', document_id, 'title', title, 'version', published_at, 'latest_version', (
     SELECT published_at FROM documents AS doc JOIN document_imports USING (import_id)
     WHERE doc.document_id = shown.document_id AND written IS NOT NULL
     ORDER BY version / ${VERSIONS_PER_SECOND} DESC, published_at DESC LIMIT 1))
     ORDER BY version DESC) FROM document_sessions JOIN documents AS shown USING (version) WHERE session_id = own.session_id)`;

const SHOWN = query(
  `${SELECTED} ${DOCUMENTS} JOIN document_sessions USING (version) WHERE session_id = ? ORDER BY version`,
  SHAPE,
);

/** The documents that a session was shown, with the digests of what is stored now. */
export function shownDocuments(reader: Reader, sessionId: number) {
  return Array.from(SHOWN.iterate(reader, sessionId), (row) => {
    return { id: row.id, digest: documentDigest(row) };
  });
}
