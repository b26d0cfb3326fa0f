import assert from 'node:assert/strict';
import type { CalendarDate } from '../basics/calendar.ts';
import {
  countDocuments,
  type DocumentCount,
  type ListedDocument,
  type ListFilter,
  listDocuments as findDocuments,
  type Morning,
  readDocument as findDocument,
  type Shown,
  textOf,
} from '../database/documents.ts';
import { excerptAround, phrasesOf } from '../database/search-text.ts';
import type { PricesAt } from '../database/price-writes.ts';
import { MAX_LISTED, shown, type ToolArguments } from './tool-arguments.ts';
import type { Reply, TradingDay } from './trading-day.ts';

/** The documents that one session may read, and those that it was shown. */
export interface Documents extends Shown {
  readonly morning: Morning;
  readonly shown: Map<number, string>;
}

/** The tools that read them. */
export const documentTools = ['list_documents', 'read_document'] as const;

/** Of a session that is played again in a file without all documents: what it was shown. */
export interface RecordedDocuments {
  session: number;
  counts: readonly DocumentCount[];
}

interface Reader {
  date: CalendarDate;
  /** Its universe and its holdings. */
  symbols: readonly string[];
  recorded?: RecordedDocuments | undefined;
}

/** The documents of a morning; null without any. */
export function openDocuments(
  { reader, write }: PricesAt,
  { date, symbols, recorded }: Reader,
): Documents | null {
  const morning = { reader, date, write, symbols, session: recorded?.session ?? null };
  const counts = recorded?.counts ?? countDocuments(morning);
  return counts.length === 0 ? null : { morning, counts, shown: new Map() };
}

/** Characters that an excerpt shows, and that are read at a time. */
const EXCERPT_LENGTH = 200;
const PART_LENGTH = 20_000;

/** Runs `list_documents`. */
export function listDocuments(
  day: TradingDay,
  { query, limit, ...filter }: ToolArguments<'list_documents'>,
): Reply {
  const documents = documentsOf(day);
  const wanted: ListFilter = {
    ...filter,
    phrases: phrasesOf(query ?? ''),
    limit: limit ?? MAX_LISTED,
  };
  // A query of nothing but signs has no word that could be found.
  const isEmpty = wanted.phrases.length === 0 && (query ?? '').trim() !== '';
  const found = isEmpty ? [] : findDocuments(documents.morning, wanted);
  for (const { version, digest } of found) documents.shown.set(version, digest);
  const rows = found.map((one) => ({
    id: one.id,
    kind: one.kind,
    date: one.date,
    symbols: JSON.parse(one.symbols) as string[],
    title: one.title,
    excerpt: excerptOf(documents, one, wanted),
  }));
  return { result: { documents: rows } };
}

function excerptOf(
  { morning }: Documents,
  { version, beginning }: ListedDocument,
  { phrases }: ListFilter,
): string {
  const around =
    phrases.length === 0
      ? null
      : excerptAround(textOf(morning.reader, version), phrases, EXCERPT_LENGTH);
  return around ?? part(beginning, 0, EXCERPT_LENGTH);
}

/**
 * Runs `read_document`. An id that is unknown, not out yet, or of other symbols gets the same words.
 */
export function readDocument(
  day: TradingDay,
  { id, offset }: ToolArguments<'read_document'>,
): Reply {
  const documents = documentsOf(day);
  const found = findDocument(documents.morning, id);
  if (found === undefined) return { refusal: `There is no document ${shown(id)} to read today.` };
  documents.shown.set(found.version, found.digest);
  const { title, kind, symbols, source, publishedAt, text } = found;
  const start = offset ?? 0;
  const characters = lengthOf(text);
  return {
    result: {
      ...{ id, title, kind, symbols: JSON.parse(symbols), source, published_at: publishedAt },
      ...{ characters, offset: start, text: part(text, start, PART_LENGTH) },
      left: Math.max(0, characters - start - PART_LENGTH),
    },
  };
}

function documentsOf({ documents }: TradingDay): Documents {
  assert(documents, 'a day without documents does not offer the tools');
  return documents;
}

/**
 * The newest documents of a morning, at most so many, for a model without tools: they count as
 * shown.
 */
export function newestTitles(
  documents: Documents,
  most: number,
): Pick<ListedDocument, 'id' | 'kind' | 'date' | 'title'>[] {
  const found = findDocuments(documents.morning, { phrases: [], limit: most });
  for (const { version, digest } of found) documents.shown.set(version, digest);
  return found.map(({ id, kind, date, title }) => ({ id, kind, date, title }));
}

const HALF = /[\ud800-\udfff]/;

function lengthOf(text: string): number {
  return HALF.test(text) ? [...text].length : text.length;
}

/** Characters of a text, of which each is a code point. */
function part(text: string, start: number, length: number): string {
  return HALF.test(text)
    ? [...text].slice(start, start + length).join('')
    : text.slice(start, start + length);
}
