import type { CalendarDate } from '../basics/calendar.ts';
import {
  countDocuments,
  type DocumentCount,
  type ListedDocument,
  listDocuments,
  type Morning,
  type Shown,
} from '../database/documents.ts';
import type { PricesAt } from '../database/price-writes.ts';

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

/** Of a morning that the models of a job share, whose documents are counted once. */
const counted = new WeakMap<PricesAt, Map<string, DocumentCount[]>>();

function countOnce(prices: PricesAt, morning: Morning): DocumentCount[] {
  if (prices.write === null) return countDocuments(morning);
  const known = counted.get(prices) ?? new Map<string, DocumentCount[]>();
  counted.set(prices, known);
  const key = [morning.date, ...new Set(morning.symbols)].join(' ');
  const counts = known.get(key) ?? countDocuments(morning);
  known.set(key, counts);
  return counts;
}

/** The documents of a morning; null without any. */
export function openDocuments(
  prices: PricesAt,
  { date, symbols, recorded }: Reader,
): Documents | null {
  const { reader, write } = prices;
  const morning = { reader, date, write, symbols, session: recorded?.session ?? null };
  const counts = recorded?.counts ?? countOnce(prices, morning);
  return counts.length === 0 ? null : { morning, counts, shown: new Map() };
}

/**
 * The newest documents of a morning, at most so many, for a model without tools: they count as
 * shown.
 */
export function newestTitles(
  documents: Documents,
  most: number,
): Pick<ListedDocument, 'id' | 'kind' | 'date' | 'title'>[] {
  const found = listDocuments(documents.morning, { phrases: [], limit: most });
  for (const { version, digest } of found) documents.shown.set(version, digest);
  return found.map(({ id, kind, date, title }) => ({ id, kind, date, title }));
}
