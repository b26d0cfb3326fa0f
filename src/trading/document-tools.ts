import assert from 'node:assert/strict';
import {
  type ListedDocument,
  type ListFilter,
  listDocuments as findDocuments,
  readDocument as findDocument,
  textOf,
} from '../database/documents.ts';
import { excerptAround, phrasesOf } from '../database/search-text.ts';
import type { Documents } from './documents.ts';
import { MAX_LISTED, shown, type ToolArguments } from './tool-arguments.ts';
import type { Reply, TradingDay } from './trading-day.ts';

/** The tools that read documents. */

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
