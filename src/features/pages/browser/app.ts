import type { PagePath } from '../paths.ts';
import { pageHref, isPublished } from './address.ts';
import { h, on, morph } from './element.ts';
import { preparePrint, themeSwitch } from './look.ts';
import { showCompare } from './pages/compare.ts';
import { showData, showDocument } from './pages/data.ts';
import { showDecisions } from './pages/decision-feed.ts';
import { showJobs } from './pages/job-list.ts';
import { showJob } from './pages/job.ts';
import { showModelDay } from './pages/model-day-page.ts';
import { showModel } from './pages/model-page.ts';
import { showOverview } from './pages/overview.ts';
import { showReference } from './pages/reference.ts';
import { POLLED } from './poll.ts';
import { type Page, siteName, startRouter } from './router.ts';
import { link, RETRY_NOTE, viewedFile } from './ui.ts';

/** The pages that every page links to. */
const destinations = [
  ['/', 'Overview'],
  ['/compare', 'Compare'],
  ['/decision-feed', 'Decisions'],
  ['/job-list', 'Jobs'],
  ['/data', 'Data'],
  ['/api', 'API'],
] as const;

/** Which function shows which page. */
const pages: Record<PagePath, Page> = {
  '/': showOverview,
  '/compare': showCompare,
  '/models/{model}': showModel,
  '/model-days/{model}/{date}': showModelDay,
  '/job-list': showJobs,
  '/jobs/{job_id}': showJob,
  '/decision-feed': showDecisions,
  '/data': showData,
  '/documents/{id}': showDocument,
  '/api': showReference,
};

/** Builds the frame around every page and starts the router inside it. */
function start(): void {
  const main = h('main', { id: 'main', tabindex: -1, 'aria-busy': 'true' });
  const skip = on(h('a.skip', { href: '/#main' }, 'Skip to content'), 'click', (event) => {
    event.preventDefault();
    event.stopPropagation();
    main.focus();
  });
  const brand = h('a.brand', { href: '/' }, siteName());
  const available = destinations.filter(([path]) => pageHref(path) !== null);
  const nav = h(
    'nav',
    { 'aria-label': 'Pages' },
    ...available.map(([path, name]) => link(path, name)),
  );
  document.body.append(skip, h('header.top', brand, nav, themeSwitch()), offlineNotice(), main);
  preparePrint();
  showDevBanner();
  showViewedFile();
  // In a task of its own: the frame may be painted before it.
  setTimeout(() => startRouter(main, pages));
}

/** A notice over every page while what it follows fails. */
function offlineNotice(): HTMLElement {
  const notice = h('p.notice.bad.lost', { role: 'alert', hidden: true });
  document.addEventListener(POLLED, (event) => {
    const { detail: problem } = event as CustomEvent<string | null>;
    notice.hidden = problem === null;
    morph(notice, problem, ` This page may be out of date. ${RETRY_NOTE}`);
  });
  return notice;
}

/** In DEV every page says so, because none of its figures are real results. */
function showDevBanner(): void {
  const { dev } = document.body.dataset;
  if (dev === undefined) return;
  const kept = dev === 'kept' ? 'kept across restarts' : 'erased at the next start';
  const data = viewedFile() === null ? `; data is ${kept}` : '';
  const words = `Models are simulated and prices may be synthetic. Nothing here is a real result${data}.`;
  const banner = { role: 'region', 'aria-label': 'Development mode' };
  document.body.prepend(h('div.dev', banner, h('strong', 'DEV'), h('span', words)));
  document.documentElement.classList.add('is-dev');
}

/** A view says on every page which file it shows. */
function showViewedFile(): void {
  const file = viewedFile();
  if (file === null || isPublished()) return;
  document
    .querySelector('header.top')
    ?.after(h('aside.viewing', 'Viewing ', h('strong', file), '. Nothing here changes it.'));
}

start();
