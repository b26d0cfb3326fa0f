import { setAttributes } from '../parts/element.ts';
import { type FilterName, filtersIn, performanceFilterNames, queryOf } from './filters.ts';

/** The pages that have the bar, with the filters that each of them takes from the others. */
const carried: Record<string, readonly FilterName[]> = {
  '/': [...performanceFilterNames, 'common'],
  '/decision-feed': ['models', 'start_date', 'end_date', 'job_id'],
  '/compare': performanceFilterNames,
};

/**
 * What a model's page takes from the address of the page that links to it: `?start_date=…`, or
 * nothing.
 */
export function queryForModel(search: string): string {
  return queryOf(filtersIn(search), ['start_date', 'end_date', 'job_id', 'benchmark', 'days']);
}

/** Lets the links to pages that have the bar keep the filters of the current address. */
export function carryFilters(links: Iterable<HTMLAnchorElement>): void {
  const filters = filtersIn(location.search);
  for (const link of links) {
    const names = carried[link.pathname];
    if (names !== undefined) setAttributes(link, { href: link.pathname + queryOf(filters, names) });
  }
}
