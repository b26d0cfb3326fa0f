import {
  type FilterName,
  type Filters,
  filterNames,
  filtersIn,
  performanceFilterNames,
  queryOf,
} from '../filters.ts';

/**
 * What a reader compares: the filters that all pages share, and the page's own options; empty means
 * the service's default.
 */
export interface Choice {
  filters: Filters;
  options: Options;
}

/**
 * In the words of `GET /comparison`, except `date`: the day whose decisions are shown side by side.
 */
export interface Options {
  against: string;
  align: string;
  confidence: string;
  date: string;
}

const optionNames = ['against', 'align', 'confidence', 'date'] as const;

/** What the service does anyway; the address need not say it. */
const DEFAULTS: Partial<Options> = { align: 'date', confidence: '0.95' };

/** The filters that `GET /comparison` knows. */
const COMPARED: readonly FilterName[] = ['models', 'start_date', 'end_date', 'job_id', 'days'];

/** The choice in the page's address; parameters that it does not know are ignored. */
export function choiceIn(search: string): Choice {
  const query = new URLSearchParams(search);
  const read = (name: keyof Options) => query.get(name)?.trim() ?? '';
  const options = {
    against: read('against'),
    align: read('align'),
    confidence: read('confidence'),
    date: read('date'),
  };
  return { filters: filtersIn(search), options };
}

/** The page's address with this choice. */
export function addressOf({ filters, options }: Choice): string {
  return `/compare${queryOf(filters, filterNames, given(options, optionNames))}`;
}

/** The query of the request for this choice: `?models=gpt-5,claude%232&days=clean`, or nothing. */
export function requestOf({ filters, options }: Choice, { curves }: { curves: boolean }): string {
  const own = given(options, ['against', 'align', 'confidence']);
  return queryOf(filters, COMPARED, { ...own, curves: curves ? 'true' : '' });
}

function given(options: Options, names: readonly (keyof Options)[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, options[name] === DEFAULTS[name] ? '' : options[name]]),
  );
}

/** What `GET /performance` is asked for these models, or for all of them when none is named. */
export function performanceRequest(
  { filters }: Choice,
  models: readonly string[],
  { isCommon }: { isCommon: boolean },
): string {
  return queryOf({ ...filters, models }, performanceFilterNames, {
    common: isCommon ? 'true' : '',
  });
}
