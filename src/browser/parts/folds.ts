import { asArray } from '../../json.ts';
import { keep } from './kept.ts';

/** The longest history entry must stay small; further folds are not kept. */
const MAX_KEPT = 200;
/** How much of a summary names its fold. */
const MAX_NAME = 80;

/**
 * Keeps which folds the reader opened and closed. They are so again after Back, when a live page
 * draws them anew, and when they are inside a fold whose content is made as it opens. A list of
 * choices (`.choose`) stays closed.
 */
export function keepFolds(host: HTMLElement, signal: AbortSignal): void {
  const kept = keep('folds');
  const changed = new Map(asArray(kept.read())?.filter(isFold));
  const apply = () => {
    if (changed.size === 0) return;
    const names = namesOf(host);
    for (const [fold, name] of names) {
      const isOpen = changed.get(name);
      if (isOpen !== undefined && fold.open !== isOpen) fold.open = isOpen;
    }
  };
  const onClick = ({ target, defaultPrevented }: Event) => {
    const summary = target instanceof Element ? target.closest('summary') : null;
    const fold = summary?.parentElement;
    if (defaultPrevented || !(target instanceof Element) || !(fold instanceof HTMLDetailsElement))
      return;
    if (target.closest('a, button, input, select')) return; // it does something else than to fold
    const name = namesOf(host).get(fold);
    if (name === undefined || (!changed.has(name) && changed.size >= MAX_KEPT)) return;
    changed.set(name, !fold.open); // the browser opens or closes it after this event
    kept.write([...changed]);
  };
  const observer = new MutationObserver(apply);
  observer.observe(host, { childList: true, subtree: true });
  signal.addEventListener('abort', () => observer.disconnect());
  host.addEventListener('click', onClick, { signal });
}

function isFold(item: unknown): item is [string, boolean] {
  return Array.isArray(item) && typeof item[0] === 'string' && typeof item[1] === 'boolean';
}

/**
 * Each fold with a name that is the same whenever the page is drawn: its summary, and which of
 * those with that summary it is.
 */
function namesOf(host: HTMLElement): Map<HTMLDetailsElement, string> {
  const counts = new Map<string, number>();
  const names = new Map<HTMLDetailsElement, string>();
  for (const fold of host.querySelectorAll<HTMLDetailsElement>('details:not(.choose)')) {
    const outer = fold.parentElement?.closest('details');
    const around = outer == null ? '' : `${names.get(outer) ?? ''} › `;
    const name = around + (fold.querySelector('summary')?.textContent ?? '').slice(0, MAX_NAME);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    names.set(fold, count === 1 ? name : `${name} (${count})`);
  }
  return names;
}
