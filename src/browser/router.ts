import { matchPage, type PagePath } from '../basics/paths.ts';
import { here, isPublished, pageOf } from './address.ts';
import { mayPass } from './api.ts';
import { h, on, replace, setAttributes } from './element.ts';
import { carryFilters } from './filters.ts';
import { addEntry, keepFolds, startEntry, startScroll, writeKept } from './history.ts';
import { untilDue } from './poll.ts';
import { failure, link, missing, TRIES_AGAIN, viewedFile } from './ui.ts';

/**
 * Fills the main element and resolves once its content is complete; to a function if the page then
 * follows changes. The signal aborts when the reader leaves the page.
 */
export type Page = (
  host: HTMLElement,
  params: Record<string, string>,
  signal: AbortSignal,
) => Promise<(() => Promise<void>) | void>;

let leaving = new AbortController();
let shownPath = '';
/** How often the page of the current URL has failed in a row. */
let failures = 0;

/** Shows the page of the current URL, and of every URL that the reader opens from now on. */
export function startRouter(main: HTMLElement, pages: Record<PagePath, Page>): void {
  history.scrollRestoration = 'manual'; // the browser would scroll before the content is there
  const show = (isFirst: boolean) => {
    leaving.abort();
    leaving = new AbortController();
    const { signal } = leaving;
    startEntry();
    const hadFocus = main.contains(document.activeElement);
    const { pathname } = here();
    const match = matchPage(pathname);
    markCurrentLink();
    replace(main);
    const showScroll = startScroll(main, signal);
    const complete = () => {
      setAttributes(main, { 'aria-busy': null });
      showScroll();
    };
    const arrive = () => {
      if (!isFirst || hadFocus) focusIn(main);
    };
    keepFolds(main, signal);
    if (match === null) {
      replace(main, ...missingPage(pathname));
      complete();
      return arrive();
    }
    // Other filters replace what is shown, where the focus may be; another page arrives part by
    // part.
    setAttributes(main, { 'aria-busy': 'true', 'data-arriving': pathname !== shownPath });
    shownPath = pathname;
    pages[match.page](main, match.params, signal)
      .then((follow) => {
        if (signal.aborted) return;
        failures = 0;
        complete();
        return follow?.();
      })
      .catch((error: unknown) => {
        if (signal.aborted) return;
        main.append(...failurePage(error));
        complete();
        if (mayPass(error)) return showAgain(signal);
      });
    arrive();
  };
  const showAgain = async (signal: AbortSignal) => {
    failures += 1;
    await untilDue(failures, signal);
    if (signal.aborted) return;
    writeKept();
    show(true);
  };
  on(document.documentElement, 'click', (event) => {
    const page = pageClicked(event);
    if (page === null) return;
    event.preventDefault();
    if (page.href === here().href) return;
    failures = 0;
    addEntry(page.pathname + page.search);
    show(false);
  });
  addEventListener('popstate', () => show(false));
  addEventListener('pagehide', writeKept);
  show(true);
}

/** The control from which the reader left, by its name: the next page may have it too. */
let changed: string | null = null;

/** Gives the focus to that control, in a fold that opens for it, or else to the heading. */
function focusIn(main: HTMLElement): void {
  const control = main.querySelector<HTMLElement>(`[name="${changed}"]`);
  changed = null;
  const fold = control?.closest<HTMLDetailsElement>('.folded');
  if (fold) fold.open = true;
  (control ?? main.querySelector('h1'))?.focus({ preventScroll: true });
}

/** The page for an unknown URL. */
function missingPage(path: string): HTMLElement[] {
  const reference = ['the ', link('/api', 'API reference'), ' for what programs can request, '];
  const ways = isPublished() ? [] : reference;
  return [heading('Page not found'), ...missing(`There is no page at ${path}.`, ...ways)];
}

/** The page whose link was plainly clicked; the browser itself follows all other links. */
function pageClicked(event: MouseEvent): URL | null {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return null;
  const clicked = event.target instanceof Element ? event.target.closest('a') : null;
  const page = clicked?.target === '' ? pageOf(clicked) : null;
  return page !== null && matchPage(page.pathname) !== null ? page : null;
}

function markCurrentLink(): void {
  const entries = document.querySelectorAll<HTMLAnchorElement>('header nav a');
  carryFilters(entries);
  for (const entry of entries)
    setAttributes(entry, { 'aria-current': pageOf(entry)?.pathname === here().pathname && 'page' });
}

function failurePage(error: unknown): HTMLElement[] {
  return [
    ...failure(error, mayPass(error) ? ` ${TRIES_AGAIN}` : ''),
    h('p', 'Or go to the ', link('/', 'overview'), ' of models and jobs.'),
  ];
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

/**
 * Goes to another of our pages, as a link to it would. Where the focus is on a control with a name,
 * the new page gives it to its own of that name.
 */
export function goTo(url: string): void {
  changed = document.activeElement?.getAttribute('name') ?? null;
  writeKept();
  const { pathname, search } = here();
  if (url !== pathname + search) addEntry(url);
  dispatchEvent(new PopStateEvent('popstate'));
}
