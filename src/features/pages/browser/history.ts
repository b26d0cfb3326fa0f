import { asArray, asObject, type Json } from '#json/json.ts';
import { pageHref, pageStudy, studyUrl } from './address.ts';
import { setAttributes } from './element.ts';

/**
 * What a page keeps while the reader is elsewhere: how its tables are sorted, what is hidden and
 * unfolded. It is the state of one entry of the browser's history, so
 * Back, Forward and a reload find the page as it was left, and a link to another starts afresh.
 */

/**
 * One value of the entry that is shown now, under a key that is unique on its page. Check it: an
 * older version of the pages may have written it.
 */
export function historyValue(key: string) {
  const entryKey = navigation.currentEntry?.key;
  const isCurrent = () => navigation.currentEntry?.key === entryKey;
  return {
    read: () => (isCurrent() ? historyState()[key] : undefined),
    /** Does nothing once the reader has left the entry. */
    write(value: unknown) {
      if (isCurrent())
        navigation.updateCurrentEntry({ state: { ...historyState(), [key]: value } });
    },
  };
}

/** Gives the current entry another address; its page stays unless `info` is `ANEW`. */
export function replaceAddress(url: string, info = IN_PLACE): void {
  const own = { state: historyState(), info };
  navigation.navigate(pageHref(url) ?? url, { history: 'replace', ...own });
}

/** Corrects the study in the address, where it has one, to that of what the page shows. */
export function correctStudy(study: string): void {
  if (![null, study].includes(pageStudy())) replaceAddress(studyUrl(study));
}

/** Mark of a navigation that shows the page of the address anew, and leaves the focus. */
export const ANEW = 'anew';

/** Mark of a navigation that changes only the address. */
export const IN_PLACE = 'in place';

/** All that the current entry keeps. */
export function historyState(): Json {
  return asObject(navigation.currentEntry?.getState()) ?? {};
}

/** The longest history entry must stay small; further folds are not kept. */
const MAX_KEPT = 200;
/** How much of a summary names its fold. */
const MAX_NAME = 80;

/**
 * Keeps which folds the reader opened and closed. They are so again after Back, when a live page
 * draws them anew, and when they are inside a fold whose content is made as it opens.
 */
export function keepFolds(host: HTMLElement, signal: AbortSignal): void {
  const kept = historyValue('folds');
  const changed = new Map(asArray(kept.read())?.filter(isFoldState));
  const apply = () => {
    if (changed.size === 0) return;
    for (const [fold, name] of foldNames(host)) fold.open = changed.get(name) ?? fold.open;
  };
  const onClick = ({ target, defaultPrevented }: Event) => {
    if (defaultPrevented || !(target instanceof Element)) return;
    const fold = target.closest('summary')?.parentElement;
    if (!(fold instanceof HTMLDetailsElement)) return;
    if (target.closest('a, button, input, select')) return; // it does something else than to fold
    const name = foldNames(host).get(fold);
    if (name === undefined || (!changed.has(name) && changed.size >= MAX_KEPT)) return;
    changed.set(name, !fold.open); // the browser opens or closes it after this event
    kept.write([...changed]);
  };
  const observer = new MutationObserver(apply);
  observer.observe(host, { childList: true, subtree: true });
  signal.addEventListener('abort', () => observer.disconnect());
  host.addEventListener('click', onClick, { signal });
}

function isFoldState(item: unknown): item is [string, boolean] {
  return Array.isArray(item) && typeof item[0] === 'string' && typeof item[1] === 'boolean';
}

/**
 * Each fold with a name that is the same whenever the page is drawn: its own (`data-name`) where
 * its summary changes, else the summary, and which of those with that summary it is.
 */
function foldNames(host: HTMLElement): Map<HTMLDetailsElement, string> {
  const counts = new Map<string, number>();
  const names = new Map<HTMLDetailsElement, string>();
  for (const fold of host.querySelectorAll<HTMLDetailsElement>('details')) {
    const outer = fold.parentElement?.closest('details');
    const prefix = outer == null ? '' : `${names.get(outer) ?? ''} › `;
    const label = fold.dataset['name'] ?? fold.querySelector('summary')?.textContent ?? '';
    const name = prefix + label.slice(0, MAX_NAME);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    names.set(fold, count === 1 ? name : `${name} (${count})`);
  }
  return names;
}

/**
 * Lays out what the style sheet has left out so far: part by part, so that the page reacts
 * meanwhile.
 */
export async function layOutOffscreen(host: HTMLElement, signal: AbortSignal): Promise<void> {
  for (const part of host.querySelectorAll(':scope > .stack > *')) {
    // After the browser has painted.
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    if (signal.aborted) return;
    setAttributes(part, { 'data-laid-out': true });
  }
  setAttributes(host, { 'data-top-first': null });
}
