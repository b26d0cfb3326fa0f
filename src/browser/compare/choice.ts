import { type FilterName, type Filters, filtersIn, queryWith } from '../filters/filters.ts';

/** What a reader compares: the filters that all pages share, and the page's own options; empty means the service's default. */
export interface Choice {
  filters: Filters;
  options: Options;
}

/** In the words of `GET /comparison`, except `date`: the day whose decisions are shown side by side. */
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
  const options = { against: read('against'), align: read('align'), confidence: read('confidence'), date: read('date') };
  return { filters: filtersIn(search), options };
}

/** The page's address with this choice. */
export function addressOf({ filters, options }: Choice): string {
  return `/compare${queryWith(optionsQuery(options, optionNames), filters)}`;
}

/** The query of the request for this choice: `?models=gpt-5,claude%232&days=clean`, or nothing. */
export function requestOf({ filters, options }: Choice, { curves }: { curves: boolean }): string {
  const own = optionsQuery(options, ['against', 'align', 'confidence']);
  const query = queryWith(own, filters, COMPARED);
  return curves ? `${query}${query === '' ? '?' : '&'}curves=true` : query;
}

function optionsQuery(options: Options, names: readonly (keyof Options)[]): string {
  const given = names.filter((name) => options[name] !== '' && options[name] !== DEFAULTS[name]);
  return given.map((name) => `${name}=${encodeURIComponent(options[name])}`).join('&');
}

/** What `GET /performance` is asked for these models, or for all of them when none is named. */
export function performanceRequest(
  { filters }: Choice,
  models: readonly string[],
  { isCommon }: { isCommon: boolean },
): Record<string, string> {
  const named = (['start_date', 'end_date', 'job_id', 'benchmark', 'days'] as const).flatMap((name) =>
    filters[name] === '' ? [] : [[name, filters[name]] as const],
  );
  const chosen = models.length === 0 ? {} : { models: models.join(',') };
  return { ...Object.fromEntries(named), ...chosen, ...(isCommon && { common: 'true' }) };
}
