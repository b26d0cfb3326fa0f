import { h } from './element.ts';
import { addEntry, writeKept } from './kept.ts';

/**
 * Fills the main element and resolves once its content is complete; to a function if the page then
 * follows changes. The signal aborts when the reader leaves the page.
 */
export type Page = (
  host: HTMLElement,
  params: Record<string, string>,
  signal: AbortSignal,
) => Promise<(() => Promise<void>) | void>;

const SITE = 'Trading Simulation';
let pageTitle = '';
let isDev = false;

/**
 * The heading of a page, which also names the tab; it receives the focus when the reader follows a
 * link to the page.
 */
export function heading(title: string): HTMLHeadingElement {
  pageTitle = title;
  nameTab();
  return h('h1', { tabindex: -1 }, title);
}

function nameTab(): void {
  document.title = `${isDev ? 'DEV · ' : ''}${pageTitle} · ${SITE}`;
}

/** Puts DEV into the tab's name, on this page and the next ones. */
export function markTabAsDev(): void {
  isDev = true;
  nameTab();
}

/** How long a page builds its parts before the browser may paint and react again. */
const TURN_MS = 15;

/**
 * Adds the parts of a page one by one, on slow machines each in a task of its own, so that the page
 * reacts meanwhile.
 */
export async function appendInTurn(
  place: HTMLElement,
  parts: Iterable<HTMLElement>,
  signal: AbortSignal,
): Promise<void> {
  let startedAt = performance.now();
  for (const part of parts) {
    place.append(part);
    if (performance.now() - startedAt < TURN_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    if (signal.aborted) return;
    startedAt = performance.now();
  }
}

/** Goes to another of our pages, as a link to it would. */
export function goTo(url: string): void {
  writeKept();
  if (url !== location.pathname + location.search) addEntry(url);
  dispatchEvent(new PopStateEvent('popstate'));
}
