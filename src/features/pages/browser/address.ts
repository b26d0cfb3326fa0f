import { withStudy } from '../../publish/published.ts';
import { matchPage } from '../paths.ts';

/**
 * Where the reader is, and how our pages are addressed: by their path where a server sends them; in
 * a published folder behind a `#`, because a file server sends only the files that there are.
 */

/** Whether these are the pages of a published folder, without a server of ours. */
export function isPublished(): boolean {
  return document.body.dataset['published'] !== undefined;
}

/** The path and query of the page that is shown. */
export function pageUrl(): URL {
  return isPublished() ? hashUrl(location.hash) : new URL(location.href);
}

/**
 * What a link to one of our pages refers to; `url` is a path, and may have a query. Null for a page
 * that a published folder does not have.
 */
export function pageHref(url: string): string | null {
  const way = carryStudy(url);
  if (!isPublished()) return way;
  if (url.startsWith('/#')) return url.slice(1); // a place on the page
  return isPublishedPage(new URL(way, location.origin)) ? `#${way}` : null;
}

/** The study of the page, '' being the one without a name; null while no study is known. */
export function pageStudy(): string | null {
  return pageUrl().searchParams.get('study');
}

/** The address of this page in another study. */
export function studyUrl(study: string): string {
  const url = pageUrl();
  url.searchParams.set('study', study);
  return url.pathname + url.search;
}

/** A link from page to page stays in the study, unless it names one. */
function carryStudy(url: string): string {
  const study = pageStudy();
  if (study === null || /[?&]study=/.test(url)) return url;
  return matchPage(url.replace(/\?.*/s, '')) === null ? url : withStudy(url, study);
}

/** What pages of a published folder have in their addresses; filters would need other data. */
const PUBLISHED_PARAMETERS = ['study', 'common', 'run', 'date', 'before'];

function isPublishedPage({ pathname, searchParams }: URL): boolean {
  // A folder with some models or dates of many has no pages of jobs.
  const hasJobs = document.body.dataset['published'] !== 'without-jobs';
  if (/^\/(api|data)$/.test(pathname) || (/^\/job/.test(pathname) && !hasJobs)) return false;
  return [...searchParams.keys()].every((name) => PUBLISHED_PARAMETERS.includes(name));
}

/** The page that a link leads to; null for a link to elsewhere, or to a place on a page. */
export function linkedPage({ origin, pathname, hash, href }: HTMLAnchorElement | URL): URL | null {
  if (origin !== location.origin) return null;
  if (!isPublished()) return hash === '' ? new URL(href) : null;
  return hash.startsWith('#/') && pathname === location.pathname ? hashUrl(hash) : null;
}

function hashUrl(hash: string): URL {
  return new URL(hash.slice(1) || '/', location.origin);
}
