import { h } from './element.ts';

/**
 * Fills the main element and resolves when all is there that the reader came for; to a function, where the page goes on
 * to follow what happens. The signal ends when the reader goes elsewhere.
 */
export type Page = (
  host: HTMLElement,
  params: Record<string, string>,
  signal: AbortSignal,
) => Promise<(() => Promise<void>) | void>;

const SITE = 'Trading Simulation';
let pageTitle = '';
let isDev = false;

/** The heading of a page, which also names the tab; it takes the focus when the reader comes here by a link. */
export function heading(title: string, ...more: (Node | string)[]): HTMLHeadingElement {
  pageTitle = title;
  nameTab();
  return h('h1', { tabindex: -1 }, title, ...more);
}

function nameTab(): void {
  document.title = `${isDev ? 'DEV · ' : ''}${pageTitle} · ${SITE}`;
}

/** From now on every tab of this site says DEV. */
export function markTabsAsDev(): void {
  isDev = true;
  nameTab();
}
