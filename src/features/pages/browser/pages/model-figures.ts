import { asObject, asObjects } from '#json/json.ts';
import {
  change,
  cost,
  wholeNumber,
  counted,
  labelInCurrency,
  money,
  profit,
  decimal,
  share,
  nonBreakingDate,
} from '../format.ts';
import { metricLabel, shortLabel } from '../../../performance/labels.ts';
import type { ModelReport, Performance } from '../../responses.ts';
import { type Column, nameColumn, numberColumn, table, textColumn } from '../table.ts';
import type { ModelData } from './model-data.ts';

type Format = (value: number | null) => string;
type Conventions = Performance['conventions'];

/** A figure that every model has. */
export interface ModelFigure {
  /** Its name in the response. */
  name: string;
  label: string;
  meaning: string | undefined;
  format: Format;
  /** Whether gains and losses have colours. */
  isToned: boolean;
  read: (report: ModelReport) => number | null;
  /** Why it is missing. */
  reason: (report: ModelReport) => string | undefined;
}

const formats: Record<string, Format> = {
  return: change,
  profit,
  fraction: share,
  dollars: money,
  cost,
  count: wholeNumber,
};

/** The figure of that name, by the service's words for it. */
export function findFigure(
  { definitions, units }: Conventions,
  name: string,
  more: Partial<ModelFigure> = {},
): ModelFigure {
  const unit = Object.keys(units).find((own) => units[own]?.includes(name)) ?? '';
  const findPart = (report: ModelReport) =>
    Object.values(reportParts(report)).find((part) => name in part);
  return {
    name,
    label: metricLabel(name),
    meaning: definitions[name],
    format: formats[unit] ?? decimal,
    isToned: unit === 'return' || unit === 'profit',
    read: (report) => figureNumber(findPart(report)?.[name]),
    reason: (report) => findPart(report)?.unavailable[name],
    ...more,
  };
}

interface Part {
  unavailable: Record<string, string>;
  [name: string]: unknown;
}

/** Where a report has its figures, by the service's names. */
function reportParts(report: ModelReport): Record<string, Part> {
  const { relative, trading, round_trips, usage, details } = report;
  const parts = { return: report, relative, trading, round_trips, usage };
  return details === null ? parts : { ...parts, details };
}

/** A figure as a number: of a drawdown its depth. */
export function figureNumber(value: unknown): number | null {
  const number = asObject(value)?.['depth'] ?? value;
  return typeof number === 'number' ? number : null;
}

const BRIEF = [
  'total_return',
  'excess_return',
  'sharpe_ratio',
  'max_drawdown',
  'trades',
  'refused_orders',
  'malformed_calls',
  'cost_usd',
];

/** The figures that tell models apart, in few words. */
export function briefFigures(conventions: Conventions): ModelFigure[] {
  return BRIEF.map((name) => findFigure(conventions, name, { label: shortLabel(name) }));
}

/** A column with a figure of each model. */
export function figureColumn({ label, read, format, ...more }: ModelFigure) {
  return numberColumn<ModelReport>(label, read, format, more);
}

/** All figures of a model that the service names, each with its meaning. */
export function modelFigures({ report, performance: { conventions } }: ModelData): HTMLElement {
  const { definitions, units } = conventions;
  const known = new Set([...Object.keys(definitions), ...Object.values(units).flat()]);
  const rows = Object.entries(reportParts(report)).flatMap(([group, part]) =>
    Object.entries(part).flatMap(([name, value]) => {
      const { label, meaning = definitions[group], format, reason } = findFigure(conventions, name);
      const shown = known.has(name) ? figureText(value, format) : null;
      if (shown === null) return [];
      const isFree = name === 'cost_sensitivity' && report.no_trading_costs;
      const words = [
        meaning,
        value === null && reason(report),
        isFree && 'Its own orders cost nothing',
      ];
      return {
        label,
        group: metricLabel(group),
        value: shown,
        meaning: words.filter(Boolean).join('. '),
      };
    }),
  );
  return table({
    caption: 'All figures',
    rows,
    isFixed: true,
    columns: [
      nameColumn('Figure', 'label'),
      textColumn('Part', 'group', { isSpare: true }),
      { title: 'Value', isNumber: true, cell: ({ value }) => value },
      textColumn('Meaning', 'meaning'),
    ],
  });
}

/** A figure as text: a number, a day, a drawdown, or returns by added cost; else null. */
function figureText(value: unknown, format: Format): string | null {
  const [first, ...others] = asObjects(value).filter((own) => 'basis_points' in own);
  if (first !== undefined)
    return [first, ...others]
      .map((own) => `${own['basis_points']}: ${format(figureNumber(own['total_return']))}`)
      .join(', ');
  const { date, daily_return: ofDay } = asObject(value) ?? {};
  if (typeof date === 'string') return `${format(Number(ofDay))} ${nonBreakingDate(date)}`;
  const number = figureNumber(value);
  return number === null && value !== null ? null : format(number);
}

export type Style = NonNullable<NonNullable<ModelReport['details']>['style']>;

/** Two-sided 95 %. */
const NORMAL_95 = 1.96;
const DAYS_PER_YEAR = 252;

/** `±4.2 %`: the 95 % interval of what is left of a return, over its days. */
export function alphaBand({ alpha_standard_error: error, days }: Style): string {
  return `±${share(((error ?? 0) * NORMAL_95 * days) / DAYS_PER_YEAR)}`;
}

/** ` over 60 of 65 days` where some lack a factor; else empty, as without an alpha. */
export function styleDaysText({
  unavailable,
  days,
  left_out_days: { count: left },
}: Style): string {
  const isWhole = left === 0 || unavailable !== null;
  return isWhole ? '' : ` over ${days} of ${counted(days + left, 'day')}`;
}

/** The style of each entry; without an alpha over other factors than most have: it says less. */
export function entryStyles(families: readonly Pick<Family, 'family' | 'details'>[]) {
  const factorNames = (style: Style | null) =>
    (style?.factors ?? []).map(({ factor }) => factor).join(', ');
  const all = families.map(({ family, details }) => ({ family, style: details?.style ?? null }));
  const groups = [...Map.groupBy(all, ({ style }) => factorNames(style))].filter(
    ([factors]) => factors !== '',
  );
  const [[usual] = ['']] = groups.sort(([, one], [, other]) => other.length - one.length);
  const known = all.map(({ family, style }): [string, Style | null] => {
    const own = factorNames(style);
    if (style === null || own === '' || own === usual) return [family, style];
    const unavailable = `Its factors are ${own}; those of the other models are ${usual}`;
    return [family, { ...style, alpha: null, alpha_contribution: null, unavailable }];
  });
  return new Map(known);
}

/** What readers compare: entries, each with all its runs over the days that these share. */

type Family = Performance['families'][number];

/** An entry and the reports of its runs, as `/performance?by=entry` has them. */
export interface EntryReport extends Omit<Family, 'runs'> {
  runs: readonly ModelReport[];
}

export function entryReports({ models, families }: Pick<Performance, 'models' | 'families'>) {
  const byFamily = Map.groupBy(models, ({ family }) => family);
  return families.map((own): EntryReport => ({ ...own, runs: byFamily.get(own.family) ?? [] }));
}

/** What an entry's key figures need of it. */
export type ComparedEntry = Pick<EntryReport, 'runs' | 'mean_total_return'>;

/** Of which of these runs orders cost nothing on top of their price, while those of others do. */
export function costFreeTest(all: readonly ModelReport[]) {
  const isFree = ({ no_trading_costs: own }: ModelReport) => own;
  const areAll = all.every(isFree);
  return (runs: readonly ModelReport[]) => !areAll && runs.every(isFree);
}

/** A figure of an entry: of several runs its mean. */
export function entryFigure({ name, read }: ModelFigure, entry: ComparedEntry): number | null {
  if (name === 'total_return') return entry.mean_total_return;
  return name === 'excess_return' ? excessReturn(entry) : meanFigure(entry, read);
}

/**
 * The return minus that of the benchmark over the same days, which are those of every run; where
 * the benchmark lacks some of them, the mean of the runs' own.
 */
function excessReturn(entry: ComparedEntry): number | null {
  const { runs, mean_total_return: own } = entry;
  const other = runs[0]?.relative.benchmark_return ?? null;
  const isWhole = runs.every(({ relative, model_days: days }) => relative.days === days);
  if (runs.length === 1 || !isWhole)
    return meanFigure(entry, ({ relative }) => relative.excess_return);
  return own === null || other === null ? null : own - other;
}

/** What a start has grown to. */
export function grownValue(total: number | null, start: number): number | null {
  return total === null ? null : (1 + total) * start;
}

const VALUE = 'What the initial cash grew to over these days, at the last close';

/** The values of entries, with the currency of each where there are several. */
export function valueColumns<Row extends { entry: Pick<EntryReport, 'runs'> | null }>(
  models: readonly Pick<ModelReport, 'currency'>[],
  value: (row: Row) => number | null,
): Column<Row>[] {
  const [currency, ...others] = new Set(models.map((model) => model.currency));
  const title = labelInCurrency('Value', others.length > 0 ? undefined : currency);
  const values = numberColumn<Row>(title, value, money, { meaning: VALUE });
  const ownCurrency = ({ entry }: Row) => entry?.runs[0]?.currency ?? null;
  return others.length > 0 ? [values, textColumn<Row>('Currency', ownCurrency)] : [values];
}

/** The mean of a figure of the runs; null where one of them has none. */
export function meanFigure(
  { runs }: Pick<EntryReport, 'runs'>,
  read: ModelFigure['read'],
): number | null {
  const values = runs.map(read).filter((value) => value !== null);
  if (values.length === 0 || values.length < runs.length) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
