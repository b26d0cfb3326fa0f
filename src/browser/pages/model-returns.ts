import { h } from '../element.ts';
import { change, counted, tone } from '../format.ts';
import { highest } from '../plot/scale.ts';
import type { Details } from '../responses.ts';
import { type Column, nameColumn, table } from '../table.ts';
import { section } from '../ui.ts';
import { type ModelData, meaningOf } from './model-data.ts';

/**
 * The return of each month, in a stronger colour the greater it is: a row per year, with its total.
 */
export function monthlyReturns({ details, performance }: ModelData): HTMLElement {
  const greatest = strongest(details.months.map((month) => month.return));
  const column = (
    title: string,
    spanOf: (year: Year) => Span | undefined,
    look: (value: number | null) => string,
  ): Column<Year> => {
    const by = (year: Year) => spanOf(year)?.return ?? null;
    const cell = (year: Year) => percents(spanOf(year));
    return { title, by, cell, look: (year) => look(by(year)), isNumber: true };
  };
  const years = yearsOf(details);
  const ofMonth = (title: string, place: number) => ({
    ...column(
      title,
      ({ months }) => months[place],
      (value) => heatOf(value, greatest),
    ),
    isSpare: years.every(({ months }) => months[place] === undefined),
  });
  const columns = [
    nameColumn<Year>('Year', 'year'),
    ...MONTHS.map(ofMonth),
    column(
      'Total',
      (year) => year,
      (value) => `total ${tone(value)}`,
    ),
  ];
  const caption = 'Returns by month, in percent';
  const heatmap = table({ caption, rows: years, columns, isFixed: true });
  const element = section(caption, heatmap, meaningOf(performance, 'months'));
  return Object.assign(element, { className: 'months' });
}

/** `+1.13`; nothing for a month without model-days. */
function percents(span: Span | undefined): HTMLElement | null {
  return span === undefined
    ? null
    : h('span', { title: counted(span.days, 'model-day') }, change(span.return).replace(' %', ''));
}

/** The columns of a year. */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A month or a year. */
interface Span {
  return: number;
  days: number;
}

/** A year with its months. */
interface Year extends Span {
  year: string;
  /** From January to December; undefined for a month without model-days. */
  months: (Span | undefined)[];
}

/** The years, each with its twelve months. */
export function yearsOf({ months, years }: Pick<Details, 'months' | 'years'>): Year[] {
  const byName = new Map(months.map((one) => [one.month, one]));
  const monthsIn = (year: string) =>
    MONTHS.map((_name, place) => byName.get(`${year}-${String(place + 1).padStart(2, '0')}`));
  return years.map((one) => ({ ...one, months: monthsIn(one.year) }));
}

/** How many strengths of colour a gain has, and a loss. */
const LEVELS = 5;

/**
 * The return that has the strongest colour when none is greater: in calm times a small return looks
 * small.
 */
const LEAST_GREATEST = 0.01;

/** The return with the strongest colour: the greatest of them, whether gain or loss. */
export function strongest(returns: readonly (number | null)[]): number {
  return highest(
    returns.map((value) => Math.abs(value ?? 0)),
    LEAST_GREATEST,
  );
}

/**
 * The class that colours a return: `gain-1` to `gain-5`, `loss-1` to `loss-5`; none for zero or no
 * return.
 */
export function heatOf(value: number | null, greatest: number): string {
  if (value === null || value === 0) return '';
  const level = Math.min(LEVELS, Math.ceil((Math.abs(value) / greatest) * LEVELS));
  return `heat ${value > 0 ? 'gain' : 'loss'}-${level}`;
}
