import { h, on, replace, setAttributes } from './parts/element.ts';
import { type Page, heading } from './parts/page.ts';
import { type PagePath, matchPage } from '../page-paths.ts';

let leaving = new AbortController();

/** Starts to show the page of the address, and of every address that the reader goes to from now on. */
export function startRouter(main: HTMLElement, pages: Record<PagePath, Page>): void {
  const show = (isFirst: boolean) => {
    leaving.abort();
    leaving = new AbortController();
    const match = matchPage(location.pathname);
    markCurrentLink();
    replace(main);
    if (match === null) return replace(main, ...missingPage(location.pathname));
    const { signal } = leaving;
    setAttributes(main, { 'aria-busy': 'true' });
    pages[match.page](main, match.params, signal)
      .then((follow) => {
        if (!signal.aborted) setAttributes(main, { 'aria-busy': null });
        return follow?.();
      })
      .catch((error: unknown) => {
        if (!signal.aborted) showFailure(main, error);
      });
    if (!isFirst) main.querySelector('h1')?.focus();
  };
  on(document.documentElement, 'click', (event) => {
    const link = inSiteLink(event);
    if (link === null) return;
    event.preventDefault();
    if (link.href === location.href) return;
    history.pushState(null, '', link.href);
    show(false);
    scrollTo(0, 0);
  });
  addEventListener('popstate', () => show(false));
  show(true);
}

/** What stands at an address that does not exist, with the way back. */
function missingPage(path: string): HTMLElement[] {
  return [
    heading('There is no such page'),
    h('p', {}, 'This server has nothing for a browser at ', h('code', {}, path), '.'),
    h(
      'p',
      {},
      'Go to the ',
      h('a', { href: '/' }, 'overview'),
      ' of models and jobs, or read in the ',
      h('a', { href: '/api' }, 'API reference'),
      ' what programs can ask for.',
    ),
  ];
}

/** A plain click on a link to one of our pages; others are the browser's own business. */
function inSiteLink(event: MouseEvent): HTMLAnchorElement | null {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.origin !== location.origin || link.hash !== '' || link.target !== '') return null;
  return matchPage(link.pathname) === null ? null : link;
}

function markCurrentLink(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('header nav a')) {
    if (link.pathname === location.pathname) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function showFailure(main: HTMLElement, error: unknown): void {
  const words = error instanceof Error ? error.message : String(error);
  setAttributes(main, { 'aria-busy': null });
  main.append(
    h('p', { class: 'notice bad', role: 'alert' }, words),
    on(h('button', { type: 'button' }, 'Try again'), 'click', () => location.reload()),
  );
}
