import { matchPage, type PagePath } from '../paths.ts';
import { pageUrl, pageHref, isPublished, linkedPage } from './address.ts';
import { isTransient } from './api.ts';
import { h, replace, setAttributes } from './element.ts';
import { carryFilters } from './filters.ts';
import { ANEW, IN_PLACE, keepFolds, historyState, layOutOffscreen } from './history.ts';
import { waitForRetry } from './poll.ts';
import { failure, link, notFound, RETRY_NOTE, viewedFile } from './ui.ts';

/**
 * Fills the main element and resolves once its content is complete; to a function if the page then
 * follows changes. The signal aborts when the reader leaves the page.
 */
export type Page = (
  host: HTMLElement,
  params: Record<string, string>,
  signal: AbortSignal,
) => Promise<(() => Promise<void>) | void>;

let pageAbort = new AbortController();
let shownPath = '';
/** How often the page of the current URL has failed in a row. */
let failures = 0;

/** Shows the page of the current URL, and of every URL that the reader opens from now on. */
export function startRouter(main: HTMLElement, pages: Record<PagePath, Page>): void {
  /** Resolves once the page is complete; then the browser scrolls to where a reader had left it. */
  const show = async (isFirst: boolean, isReturn = false): Promise<void> => {
    pageAbort.abort();
    pageAbort = new AbortController();
    const { signal } = pageAbort;
    const hadFocus = main.contains(document.activeElement);
    const { pathname } = pageUrl();
    const match = matchPage(pathname);
    markCurrentLink();
    replace(main);
    // A page that was left further down needs all its heights to find the place.
    setAttributes(main, { 'data-top-first': !isReturn });
    const complete = () => {
      setAttributes(main, { 'aria-busy': null });
      void layOutOffscreen(main, signal);
    };
    const moveFocus = () => {
      if (!isFirst || hadFocus) restoreFocus(main);
    };
    keepFolds(main, signal);
    if (match === null) {
      replace(main, ...notFoundPage(pathname));
      complete();
      return moveFocus();
    }
    // Other filters replace what is shown, where the focus may be; another page arrives part by
    // part.
    setAttributes(main, { 'aria-busy': 'true', 'data-arriving': pathname !== shownPath });
    shownPath = pathname;
    const fail = (error: unknown) => {
      if (signal.aborted) return;
      const overview = h('p', 'Or go to the ', link('/', 'overview'), ' of models and jobs.');
      main.append(...failure(error, isTransient(error) ? ` ${RETRY_NOTE}` : ''), overview);
      complete();
      if (isTransient(error)) void retry(signal);
    };
    const filled = pages[match.page](main, match.params, signal).then((follow) => {
      if (signal.aborted) return;
      failures = 0;
      complete();
      void follow?.().catch(fail);
    }, fail);
    moveFocus();
    await filled;
  };
  const retry = async (signal: AbortSignal) => {
    failures += 1;
    await waitForRetry(failures, signal);
    if (signal.aborted) return;
    await show(true);
  };
  navigation.addEventListener('navigate', (event) => {
    if (event.info === IN_PLACE)
      return event.intercept({ scroll: 'manual', focusReset: 'manual', handler: markCurrentLink });
    if (!isPageNavigation(event)) return;
    failures = 0;
    lastControl = document.activeElement?.getAttribute('name') ?? null;
    const [previousPath, previousState] = [pageUrl().pathname, historyState()];
    const isReturn = event.navigationType === 'traverse';
    const handler = () => {
      if (!isReturn && pageUrl().pathname === previousPath)
        navigation.updateCurrentEntry({ state: previousState });
      if (!isReturn) scrollTo(0, 0);
      return show(event.info === ANEW, isReturn);
    };
    event.intercept({ focusReset: 'manual', handler });
  });
  void show(true);
}

/** The control from which the reader left, by its name: the page with other filters has it too. */
let lastControl: string | null = null;

/** Gives the focus to that control, in a fold that opens for it, or else to the heading. */
function restoreFocus(main: HTMLElement): void {
  const control = main.querySelector<HTMLElement>(`[name="${lastControl}"]`);
  lastControl = null;
  const fold = control?.closest<HTMLDetailsElement>('.folded');
  if (fold) fold.open = true;
  (control ?? main.querySelector('h1'))?.focus({ preventScroll: true });
}

/** The page for an unknown URL. */
function notFoundPage(path: string): HTMLElement[] {
  const reference = ['the ', link('/api', 'API reference'), ' for what programs can request, '];
  const words = `There is no page at ${path}.`;
  return [heading('Page not found'), ...notFound(words, ...(isPublished() ? [] : reference))];
}

/** Whether the way leads to one of our pages; the browser itself follows all others. */
function isPageNavigation(event: NavigateEvent): boolean {
  const { canIntercept, downloadRequest, navigationType: type, destination } = event;
  if (!canIntercept || downloadRequest !== null || type === 'reload') return false;
  const page = linkedPage(new URL(destination.url));
  return type === 'traverse' || (page !== null && matchPage(page.pathname) !== null);
}

function markCurrentLink(): void {
  const brand = document.querySelector('.brand');
  if (brand !== null) setAttributes(brand, { href: '/' });
  const entries = document.querySelectorAll<HTMLAnchorElement>('header nav a');
  carryFilters(entries);
  for (const entry of entries)
    setAttributes(entry, {
      'aria-current': linkedPage(entry)?.pathname === pageUrl().pathname && 'page',
    });
}

/** The name of the site: a published folder has the title that it was given. */
export function siteName(): string {
  return (isPublished() && viewedFile()) || 'Trading Simulation';
}

/**
 * The heading of a page, which also names the tab; it receives the focus when the reader follows a
 * link to the page.
 */
export function heading(title: string): HTMLHeadingElement {
  const mode = document.body.dataset['dev'] === undefined ? '' : 'DEV · ';
  document.title = `${mode}${title} · ${siteName()}`;
  return h('h1', { tabindex: -1 }, title);
}

/** Goes to another of our pages, as a link to it would. */
export function goTo(url: string): void {
  navigation.navigate(pageHref(url) ?? url);
}
