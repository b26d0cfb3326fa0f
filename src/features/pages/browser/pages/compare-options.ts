import { h } from '../element.ts';
import {
  type Filters,
  filterNames,
  readFilters,
  readParameters,
  performanceFilterNames,
  filterQuery,
} from '../filters.ts';
import { filtersText } from '../filter-bar.ts';
import { type OptionList, field, fillOptions, namedOptions } from '../ui.ts';

/**
 * What a reader compares: the filters that all pages share, and the page's own options; empty means
 * the service's default.
 */
export interface CompareChoice {
  filters: Filters;
  options: Options;
}

/**
 * In the words of `GET /comparison`, except `date`: the day whose decisions are shown side by side.
 */
const optionNames = ['against', 'align', 'confidence', 'differ', 'date'] as const;
type Options = Record<(typeof optionNames)[number], string>;

/** Defaults of the service, left out of addresses. */
const DEFAULTS: Partial<Options> = { align: 'date', confidence: '0.95' };

/**
 * The choice in the page's address, without defaults and parameters that the page does not know.
 */
export function readChoice(search: string): CompareChoice {
  const options = readParameters(search, optionNames);
  for (const name of optionNames) if (options[name] === DEFAULTS[name]) options[name] = '';
  return { filters: readFilters(search), options };
}

/** The page's address with this choice. */
export function comparePath({ filters, options }: CompareChoice): string {
  return `/compare${filterQuery(filters, filterNames, options)}`;
}

/** The query of the request for this choice: `?models=gpt-5,claude%232&days=clean`, or nothing. */
export function comparisonQuery(
  { filters, options }: CompareChoice,
  { curves }: { curves: boolean },
): string {
  const own = { ...options, date: '', curves: curves ? 'true' : '' };
  return filterQuery(filters, performanceFilterNames, own);
}

/** The choice in a line. */
export function choiceText({ filters, options }: CompareChoice): string {
  const { against, align, confidence } = options;
  const words = [
    filtersText(filters, 'Every entry with 20 days'),
    against && `against ${against}`,
    align === 'number' && 'days matched by number',
    `${confidenceText(Number(confidence || DEFAULTS.confidence))} intervals`,
  ];
  return words.filter(Boolean).join(', ');
}

/** `95 %`: 0.95 as it was chosen. */
export function confidenceText(confidence: number): string {
  return `${Number((confidence * 100).toFixed(4))} %`;
}

/**
 * What `GET /performance` is asked for these models, or for all of them when none is named: figures
 * over the days that `GET /comparison` compares.
 */
export function performanceQuery({ filters }: CompareChoice, models: readonly string[]): string {
  return filterQuery({ ...filters, models }, performanceFilterNames, {
    common: 'true',
    by: 'entry',
  });
}

const EVERY_PAIR = 'Every pair';

const ALIGNMENTS: OptionList = [
  ['', 'Date'],
  ['number', 'Number in each model’s market'],
];

const CONFIDENCES: OptionList = ['0.8', '0.9', '0.95', '0.99'].map((value) => [
  value === DEFAULTS.confidence ? '' : value,
  confidenceText(Number(value)),
]);

/** The options that only this page has, for its form. */
export function optionFields({ options }: CompareChoice) {
  const picker = (name: keyof Options, entries: OptionList) =>
    fillOptions(h('select', { name }), entries, options[name]);
  const against = picker('against', namedOptions(EVERY_PAIR, []));
  return {
    fields: [
      field('Against', against),
      field('Match days by', picker('align', ALIGNMENTS)),
      field('Confidence', picker('confidence', CONFIDENCES)),
    ],
    /** Takes the models to compare all others against. */
    offer: (models: readonly string[]) =>
      fillOptions(against, namedOptions(EVERY_PAIR, models), against.value),
  };
}
