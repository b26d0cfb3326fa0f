import { type Json, asObject } from '../../json.ts';

/**
 * What a page keeps while the reader is elsewhere: how far it is scrolled, how its tables are
 * sorted, what is zoomed, hidden and unfolded. It belongs to one entry of the browser's history
 * (`history.state`), so Back, Forward and a reload find the page as it was left, and a link to the
 * same URL starts afresh.
 */

/**
 * These suit only the dates and the length of the page as it was; all else is carried along when
 * its filters change.
 */
const NOT_CARRIED = /^(scroll|zoom)\b/;

/**
 * One value of the current entry, under a key that is unique on its page. Check it: an older
 * version of the pages may have written it.
 */
export interface Kept {
  read(): unknown;
  /** Does nothing once the reader has left the entry. */
  write(value: unknown): void;
}

/**
 * Safari refuses to write the history more than a hundred times in 30 seconds: so many writes are
 * made at once, then one at a time.
 */
const WRITES_AT_ONCE = 20;
const WRITE_EVERY_MS = 500;

let entry = 0;
/**
 * What the history does not have yet of the current entry, and its address if that has changed;
 * null when it has everything.
 */
let waiting: { state: Json; url: string | undefined } | null = null;
let atOnce = WRITES_AT_ONCE;

/** The router calls this whenever another entry is shown. */
export function startEntry(): void {
  entry += 1;
  waiting = null; // it belongs to the entry that was left, which can no longer be written
}

/** The value of the entry that is shown now, under the key. */
export function keep(key: string): Kept {
  const own = entry;
  return {
    read: () => (own === entry ? keptHere()[key] : undefined),
    write(value) {
      if (own === entry) change({ state: { ...keptHere(), [key]: value }, url: waiting?.url });
    },
  };
}

/**
 * Adds an entry to the history. The same page with other filters keeps its sorting, hidden lines
 * and folds.
 */
export function addEntry(url: string): void {
  waiting = { state: { ...keptHere(), scroll: Math.round(scrollY) }, url: waiting?.url };
  writeKept();
  const isSamePage = new URL(url, location.href).pathname === location.pathname;
  const carried = Object.entries(keptHere()).filter(
    ([key]) => isSamePage && !NOT_CARRIED.test(key),
  );
  waiting = null;
  history.pushState(Object.fromEntries(carried), '', url);
}

/** Gives the current entry another address, without showing another page. */
export function replaceAddress(url: string): void {
  change({ state: keptHere(), url });
}

/** Writes what the history does not have yet. What the browser refuses is written later. */
export function writeKept(): void {
  if (waiting === null) return;
  try {
    history.replaceState(waiting.state, '', waiting.url);
    waiting = null;
  } catch {}
}

function keptHere(): Json {
  return waiting?.state ?? asObject(history.state) ?? {};
}

function change(later: NonNullable<typeof waiting>): void {
  waiting = later;
  if (atOnce === 0) return; // a write is coming
  if (atOnce === WRITES_AT_ONCE) setTimeout(proceed, WRITE_EVERY_MS);
  atOnce -= 1;
  writeKept();
}

/** Makes the write that waits, or one more possible at once. */
function proceed(): void {
  if (waiting === null) atOnce += 1;
  else writeKept();
  if (atOnce < WRITES_AT_ONCE) setTimeout(proceed, WRITE_EVERY_MS);
}
