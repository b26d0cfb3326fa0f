import { type Json, asObject } from '../../json.ts';

/**
 * What a page keeps while the reader is elsewhere: how far it is scrolled, how its tables are sorted, what is zoomed, hidden
 * and unfolded. It belongs to one entry of the browser's history (`history.state`), so Back, Forward and a reload find the
 * page as it was left, and a link to the same URL starts afresh.
 */

/** These suit only the dates and the length of the page as it was; all else is carried along when its filters change. */
const NOT_CARRIED = /^(scroll|zoom)\b/;

/** One value of the current entry, under a key that is unique on its page. Check it: an older version of the pages may have written it. */
export interface Kept {
  read(): unknown;
  /** Does nothing once the reader has left the entry. */
  write(value: unknown): void;
}

let entry = 0;

/** The router calls this whenever another entry is shown. */
export function startEntry(): void {
  entry += 1;
}

/** The value of the entry that is shown now, under the key. */
export function keep(key: string): Kept {
  const own = entry;
  return {
    read: () => (own === entry ? keptHere()[key] : undefined),
    write(value) {
      if (own === entry) replaceState({ ...keptHere(), [key]: value });
    },
  };
}

/** Adds an entry to the history. The same page with other filters keeps its sorting, hidden lines and folds. */
export function addEntry(url: string): void {
  const isSamePage = new URL(url, location.href).pathname === location.pathname;
  const carried = Object.entries(keptHere()).filter(([key]) => isSamePage && !NOT_CARRIED.test(key));
  replaceState({ ...keptHere(), scroll: Math.round(scrollY) });
  history.pushState(Object.fromEntries(carried), '', url);
}

function keptHere(): Json {
  return asObject(history.state) ?? {};
}

/** Browsers refuse frequent writes; what this one would have kept is then lost. */
function replaceState(state: Json): void {
  try {
    history.replaceState(state, '');
  } catch {}
}
