import {
  type CountedDocuments,
  countOutsideUniverse,
  listDocuments,
  type ListFilter,
  type Morning,
  type StoredDocument,
} from '#database/document-queries.ts';
import type { MarketRules } from '#domain/market-rules.ts';
import type { Market } from './market.ts';
import { MAX_LISTED_DOCUMENTS } from './tool-arguments.ts';

/** What a session may read, and what it was shown. */

/** Of a model without tools: whether it reads titles. */
export const LIST_DOCUMENTS = 'list_documents';
const DOCUMENT_TOOLS = [LIST_DOCUMENTS, 'read_document'];

/** Documents that are counted: those of a universe; or of a session that is played again. */
export interface OfferedDocuments extends CountedDocuments {
  session?: number;
}

export interface Documents extends Readonly<CountedDocuments> {
  /** What was listed or read, by version. */
  readonly shown: Map<number, { id: string; digest: string }>;
  readonly morning: Morning & { symbols: readonly string[] };
}

interface DocumentAccess {
  market: Market;
  universe: ReadonlySet<string>;
  held: Iterable<string>;
  offered?: readonly string[] | undefined;
  rules: MarketRules;
}

export function readsDocuments(offered: readonly string[] | undefined): boolean {
  return DOCUMENT_TOOLS.some((tool) => offered?.includes(tool));
}

export function openDocuments(
  { counts: known, hash, session }: OfferedDocuments,
  { market: { prices, date }, universe, held, offered, rules }: DocumentAccess,
): Documents | null {
  if (!readsDocuments(offered)) return null;
  const outside = [...held].filter((symbol) => !universe.has(symbol));
  const morning = { ...prices, date, symbols: [...universe, ...outside], rules, session };
  const counts =
    outside.length === 0 || session !== undefined
      ? known
      : countOutsideUniverse(morning, { universe, outside }, known);
  return counts.length === 0 ? null : { counts, hash, shown: new Map(), morning };
}

/** The documents of a list, which count as shown. */
export function showDocuments({ morning, shown }: Documents, filter: ListFilter): StoredDocument[] {
  const found = listDocuments(morning, filter);
  for (const { version, id, digest } of found) shown.set(version, { id, digest });
  return found;
}

export function newestTitles(documents: Documents) {
  return showDocuments(documents, { limit: MAX_LISTED_DOCUMENTS }).map(({ date, kind, title }) => {
    return { date, kind, title };
  });
}
