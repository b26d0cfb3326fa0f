import { modelPath } from '../paths.ts';
import { parseRun } from '#domain/runs.ts';
import { pageUrl, linkedPage } from './address.ts';
import { setAttributes } from './element.ts';
import { splitNames } from './format.ts';
import { type Look, swatch } from './look.ts';
import { link } from './ui.ts';

/**
 * What a reader looks at, in the words of the address and of the requests; an empty one means the
 * service's default. Values from the address are not checked here: the service refuses what it
 * cannot read, in words that the page shows.
 */
export interface Filters {
  start_date: string;
  end_date: string;
  job_id: string;
  models: readonly string[];
  benchmark: string;
  /** `clean`: only days after the latest knowledge cutoff of the models. */
  days: string;
  /** `false`: each model over all its days, not only those that the models have in common. */
  common: string;
}

/** The name of a filter, in addresses and requests. */
export type FilterName = keyof Filters;

/** Filters of `GET /decisions` and `GET /search`. */
export const feedFilterNames = ['models', 'start_date', 'end_date', 'job_id'] as const;
/** What `GET /comparison` takes, and of the filters besides `common` `GET /performance`. */
export const performanceFilterNames = [...feedFilterNames, 'benchmark', 'days'] as const;
/** All filters, in the order of an address. */
export const filterNames = [...performanceFilterNames, 'common'] as const;

/** Defaults of service and page, left out of addresses. */
const DEFAULTS: Partial<Record<FilterName, string>> = { days: 'all', common: 'true' };

/** The parameters of these names in an address; an empty text for one that is not there. */
export function readParameters<Name extends string>(
  search: string,
  names: readonly Name[],
): Record<Name, string> {
  const query = new URLSearchParams(search);
  const read = names.map((name) => [name, query.get(name)?.trim() ?? '']);
  return Object.fromEntries(read);
}

/** The filters in an address; other parameters are ignored. */
export function readFilters(search: string): Filters {
  const read = readParameters(search, filterNames);
  return { ...read, models: [...new Set(splitNames(read.models))] };
}

/** Whether the reader has chosen anything under one of the names. */
export function hasFilters(filters: Filters, names: readonly FilterName[] = filterNames): boolean {
  return filterQuery(filters, names) !== '';
}

/**
 * The filters as a query, for the address and for requests, followed by a page's own parameters
 * that are not empty: `?models=gpt-5,claude%232&days=clean`, or nothing.
 */
export function filterQuery(
  filters: Filters,
  names: readonly FilterName[] = filterNames,
  own: Readonly<Record<string, string>> = {},
): string {
  const shared = filterNames.map((name) => names.includes(name) && filterParameter(filters, name));
  const others = Object.entries(own).map(([name, value]) => parameter(name, value));
  const all = [...shared, ...others].filter(Boolean).join('&');
  return all && `?${all}`;
}

function parameter(name: string, value: string): string {
  const hasMeaning = value !== '' || name === 'study';
  return hasMeaning ? `${name}=${encodeURIComponent(value)}` : '';
}

/** The query with these filters in place of its own; its other parameters stay. */
export function replaceFilters(search: string, filters: Filters): string {
  const others = new URLSearchParams(search);
  for (const name of filterNames) others.delete(name);
  return filterQuery(filters, filterNames, Object.fromEntries(others));
}

/** One filter as it is written in a query; empty for the default. */
function filterParameter(filters: Filters, name: FilterName): string {
  const value = filters[name];
  if (typeof value !== 'string')
    return value.length === 0 ? '' : `models=${value.map(encodeURIComponent).join(',')}`;
  return value === DEFAULTS[name] ? '' : parameter(name, value);
}

/** No filters at all. */
export const NO_FILTERS: Filters = readFilters('');

/** A link to a model's page with the filters of this one; a look is shown before the words. */
export function modelLink(model: string, look?: Look, name = model): HTMLAnchorElement {
  return link(modelPath(model) + pageQuery(), look && swatch(look), name);
}

/** A link to one run of an entry, as `#2`, with the filters of this page. */
export function runLink(model: string, family: string): HTMLAnchorElement {
  // Run 1 has the entry's own name.
  const run = model === family ? 1 : parseRun(model).run;
  return link(modelPath(family) + pageQuery({ run: String(run) }), `#${run}`);
}

/** The filters of this page as a model's page takes them, followed by its own parameters. */
export function pageQuery(own: Readonly<Record<string, string>> = {}): string {
  const filters = { ...readFilters(pageUrl().search), models: [] };
  return filterQuery(filters, performanceFilterNames, own);
}

/** The pages that have the bar, with the filters that each of them takes from the others. */
const pageFilters: Record<string, readonly FilterName[]> = {
  '/': filterNames,
  '/decision-feed': feedFilterNames,
  '/compare': performanceFilterNames,
};

/** Lets the links to pages keep the study, and to those that have the bar the filters. */
export function carryFilters(links: Iterable<HTMLAnchorElement>): void {
  const filters = readFilters(pageUrl().search);
  for (const link of links) {
    const { pathname } = linkedPage(link) ?? {};
    if (pathname === undefined) continue;
    setAttributes(link, { href: pathname + filterQuery(filters, pageFilters[pathname] ?? []) });
  }
}
