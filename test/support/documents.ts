import { newYorkTime } from '../../src/core/time/calendar.ts';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import { endOfDay } from '../../src/core/database/document-queries.ts';
import {
  createDocumentStore,
  type StoreOutcome,
} from '../../src/features/document-files/queries.ts';
import type { TradingSession } from '../../src/core/trading/session.ts';
import { callIn } from './books.ts';

interface Row {
  id?: string;
  published_at?: string;
  kind?: string;
  title?: string;
  symbols?: string[];
  source?: string | null;
  url?: string;
  text?: string;
}

/** Stores documents in one import; what a row does not say is that of a short piece of news. */
export function storeDocuments(database: CommandDatabase, rows: readonly Row[]): StoreOutcome[] {
  return database.transaction(() => {
    const store = createDocumentStore(database, '2025-01-01T00:00:00.000Z');
    const stored = rows.map(({ id = null, published_at: at = '2025-01-02', ...row }) => {
      const isDate = at.length === 10;
      const instant = new Date(at);
      return store.add({
        kind: 'news',
        title: 'A title',
        text: 'A text.',
        source: null,
        url: null,
        ...row,
        id,
        symbols: JSON.stringify(row.symbols ?? []),
        publishedAt: isDate ? at : instant.toISOString(),
        date: isDate ? at : newYorkTime(instant).date,
        outAt: isDate ? endOfDay(at) : instant,
      });
    });
    store.finish();
    return stored;
  });
}

/** The result of a tool in a session. */
export async function call(session: TradingSession, tool: string, args: object): Promise<any> {
  const { results } = await callIn(session, tool, args);
  return JSON.parse(results[0]?.content ?? '');
}

/** The ids that a list has. */
export async function listed(session: TradingSession, args: object = {}): Promise<string[]> {
  const { documents } = await call(session, 'list_documents', args);
  return documents.map(({ id }: { id: string }) => id);
}
