import type { Details } from '../responses.ts';

/** The columns of a year. */
export const MONTHS = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
];

/** A month or a year. */
export interface Span {
  return: number;
  days: number;
}

/** A year with its months. */
export interface Year extends Span {
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
