import type { Reader } from '../database/database.ts';
import { contentVersion } from '../database/state.ts';

interface Limits {
  /** How many responses are kept; the one that was not requested for longest makes room. */
  most: number;
  /** A longer response is not kept, in characters. */
  maxLength: number;
}

interface Remembered {
  database: Reader;
  version: string;
  body: string | readonly string[];
}

/** In characters: a kept response up to this length is sent as a whole. */
const MAX_WHOLE_LENGTH = 512 * 1024;

/**
 * Keeps the last responses while nothing in the database changes: the function returned takes what
 * distinguishes a response from others and how its pieces are computed, and returns the response,
 * computed or kept. A long one stays in pieces, so that a client that reads slowly holds no copy of
 * the whole.
 */
export function rememberResponses({ most, maxLength }: Limits) {
  const kept = new Map<string, Remembered>();
  const keep = (key: string, entry: Remembered) => keepLast(kept, key, entry, most);
  return (
    reader: Reader,
    key: string,
    compute: () => Iterable<string>,
  ): string | Iterable<string> => {
    const { source: database } = reader;
    if (database === undefined) return compute(); // in a reader thread
    const version = contentVersion(database);
    const known = kept.get(key);
    if (known?.version === version && known.database === database) {
      keep(key, known);
      return known.body;
    }
    // If the database changes meanwhile, the version is outdated, and these pieces are not reused.
    return collecting(compute(), maxLength, (body) => keep(key, { database, version, body }));
  };
}

/**
 * Keeps the last texts that never change while their database lives, and a view does not open
 * another file in the place of its own: the function returned takes a key and how its text is read,
 * and returns the text, read or kept.
 */
export function rememberTexts({ most, maxLength }: Limits) {
  const kept = new Map<string, { database: Reader; opened: number; text: string }>();
  return (reader: Reader, key: string, read: () => string): string => {
    const database = reader.source ?? reader;
    const known = kept.get(key);
    const opened = database.reopened?.() ?? 0;
    const text = known?.database === database && known.opened === opened ? known.text : read();
    if (text.length <= maxLength) keepLast(kept, key, { database, opened, text }, most);
    return text;
  };
}

/** Sets an entry as the last one used; the one that was not used for longest makes room. */
function keepLast<Value>(kept: Map<string, Value>, key: string, value: Value, most: number): void {
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}

/**
 * The same pieces; `onEnd` takes all of them, joined if they are short, unless they are too long
 * together.
 */
function* collecting(
  pieces: Iterable<string>,
  maxLength: number,
  onEnd: (body: Remembered['body']) => void,
): Generator<string> {
  const all: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    length += piece.length;
    if (length > maxLength) all.length = 0;
    else if (piece !== '') all.push(piece);
    yield piece;
  }
  if (length <= maxLength) onEnd(length <= MAX_WHOLE_LENGTH ? all.join('') : all);
}
