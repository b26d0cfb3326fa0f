import { quote } from '../basics/text.ts';
import type { Reader } from '../database/database.ts';
import { type DocumentCount, storedCounts, storedShown } from '../database/documents.ts';
import type { RecordedDocuments } from '../trading/documents.ts';
import type { Play } from '../trading/running-day.ts';
import type { Comparison } from './books.ts';
import type { DayRecord } from './record.ts';

/** What it was shown, and how many documents it could read. */
export function recordedDocuments(reader: Reader, { session }: DayRecord): RecordedDocuments {
  const { sessionId } = session;
  return { session: sessionId, counts: storedCounts(reader, sessionId) };
}

/**
 * The documents that it was shown are as they were, and they are those that are stored with it.
 */
export function compareDocuments(
  reader: Reader,
  { session: { sessionId } }: DayRecord,
  { play: { documents }, comparison: { compare } }: { play: Play; comparison: Comparison },
): void {
  const stored = storedShown(reader, sessionId);
  for (const { id, digest, now } of stored)
    compare(`document ${quote(id)}`, {
      kind: 'answers',
      stored: { digest: now },
      replayed: { digest },
    });
  const inWords = (counts: readonly DocumentCount[]) =>
    counts.map(({ kind, documents: number }) => `${number} ${kind}`).join(', ');
  const shown = [...(documents?.shown ?? [])].sort(([one], [other]) => one - other);
  compare('documents', {
    kind: 'answers',
    stored: {
      shown: JSON.stringify(stored.map(({ version, digest }) => [version, digest])),
      counts: inWords(storedCounts(reader, sessionId)),
    },
    replayed: { shown: JSON.stringify(shown), counts: inWords(documents?.counts ?? []) },
  });
}
