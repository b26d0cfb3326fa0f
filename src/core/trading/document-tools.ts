import assert from 'node:assert/strict';
import { readDocument as findDocument } from '#database/document-queries.ts';
import { excerptAround, parsePhrases } from '#database/search-text.ts';
import { showDocuments } from './morning-documents.ts';
import { MAX_LISTED_DOCUMENTS, quoteArgument, type ToolArguments } from './tool-arguments.ts';
import type { ToolResult } from './tool-results.ts';
import type { Reply, TradingDay } from './trading-day.ts';

/** Characters that an excerpt shows, and that are read at a time. */
const EXCERPT_LENGTH = 200;
const PART_LENGTH = 20_000;

export function runListDocuments(
  { documents }: TradingDay,
  { query, limit, ...filter }: ToolArguments<'list_documents'>,
): Reply<ToolResult<'list_documents'>> {
  assert(documents, 'a day without documents does not offer the tools');
  const phrases = parsePhrases(query ?? '');
  const hasNoWord = phrases.length === 0 && (query ?? '').trim() !== '';
  const found = hasNoWord
    ? []
    : showDocuments(documents, { ...filter, phrases, limit: limit ?? MAX_LISTED_DOCUMENTS });
  const rows = found.map(({ id, kind, date, symbols, title, text }) => ({
    id,
    kind,
    date,
    symbols: JSON.parse(symbols),
    title,
    excerpt: excerptAround(text, phrases, EXCERPT_LENGTH),
  }));
  return { result: { documents: rows } };
}

/**
 * Runs `read_document`. An id that is unknown, not out yet, or of other symbols gets the same words.
 */
export function runReadDocument(
  { documents }: TradingDay,
  { id, offset }: ToolArguments<'read_document'>,
): Reply<ToolResult<'read_document'>> {
  assert(documents, 'a day without documents does not offer the tools');
  const found = findDocument(documents.morning, id);
  if (found === undefined)
    return { refusal: `There is no document ${quoteArgument(id)} to read today.` };
  const { version, digest, title, kind, symbols, source, publishedAt, text } = found;
  documents.shown.set(version, { id, digest });
  const start = offset ?? 0;
  const characters = [...text];
  return {
    result: {
      id,
      title,
      kind,
      symbols: JSON.parse(symbols),
      source,
      published_at: publishedAt,
      characters: characters.length,
      offset: start,
      text: characters.slice(start, start + PART_LENGTH).join(''),
      left: Math.max(0, characters.length - start - PART_LENGTH),
    },
  };
}
