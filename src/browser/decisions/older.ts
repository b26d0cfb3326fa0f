import { h, replace } from '../element.ts';
import { keep } from '../history.ts';
import { button, messageOf } from '../ui.ts';

/** A part of a list, and where the next one begins; null at the end. */
export interface Part<Item> {
  items: Item[];
  next: string | null;
}

interface List<Item> {
  /** Loads a part; `before` is empty for the first. */
  load(before: string): Promise<Part<Item>>;
  /** Adds the items to the end of what is shown. */
  add(items: readonly Item[]): void;
  /** "50 decisions" */
  describe(count: number): string;
  /** What the button says. */
  more: string;
  signal: AbortSignal;
}

/** Long enough for any reader; after Back the parts are loaded one after another. */
const MOST_PARTS_AFTER_BACK = 20;

/**
 * Shows a list part by part: older items are added below, so the reader's place stays, and Back
 * finds as many as there were. A part may be empty, when a search took long; then the next one is
 * loaded at once, until there is something to show. Resolves when the first parts are shown, to how
 * many items these are.
 */
export async function showParts<Item>(
  foot: HTMLElement,
  { load, add, describe, more, signal }: List<Item>,
): Promise<number> {
  const kept = keep('scroll parts'); // as the scrolling, it suits only this list
  const status = h('p.quiet', { role: 'status' });
  let before: string | null = '';
  let count = 0;
  let parts = 0;
  const loadPart = async () => {
    let found = 0;
    while (found === 0 && before !== null && !signal.aborted) {
      const part: Part<Item> = await load(before);
      before = part.next;
      found = part.items.length;
      add(part.items);
      if (found === 0 && before !== null) replace(status, 'Searching older conversations…');
    }
    count += found;
    parts += 1;
    replace(
      status,
      before === null ? `${describe(count)} in total.` : `${describe(count)} so far.`,
    );
    moreButton.hidden = before === null;
  };
  const loadMore = async () => {
    moreButton.disabled = true;
    try {
      await loadPart();
      kept.write(parts);
    } catch (error) {
      if (!signal.aborted) replace(status, messageOf(error));
    } finally {
      moreButton.disabled = false;
    }
  };
  const moreButton = button(more, () => void loadMore());
  moreButton.hidden = true;
  replace(foot, moreButton, status);
  const wanted = Math.min(Number(kept.read()) || 1, MOST_PARTS_AFTER_BACK);
  do await loadPart();
  while (parts < wanted && before !== null);
  return count;
}
