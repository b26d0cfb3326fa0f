import { h } from '../element.ts';
import { change, counted, tone } from '../format.ts';
import type { Details } from '../responses.ts';
import { table, textColumn } from '../table.ts';
import { section } from '../ui.ts';
import { heatOf, strongest } from './heat.ts';
import { type Definitions, meaningOf } from './meaning.ts';
import { MONTHS, type Span, type Year, yearsOf } from './years.ts';

/**
 * The return of each month, in a stronger colour the greater it is: a row per year, with its total.
 */
export function monthlyReturns(details: Details, definitions: Definitions): HTMLElement {
  const greatest = strongest(details.months.map((month) => month.return));
  const column = (
    title: string,
    spanOf: (year: Year) => Span | undefined,
    look: (value: number | null) => string,
  ) => {
    const returnOf = (year: Year) => spanOf(year)?.return ?? null;
    const cell = (year: Year) => percents(spanOf(year));
    return {
      title,
      by: returnOf,
      cell,
      look: (year: Year) => look(returnOf(year)),
      isNumber: true,
    };
  };
  const years = yearsOf(details);
  const columns = [
    textColumn<Year>('Year', ({ year }) => year, { isName: true }),
    ...MONTHS.map((title, place) => ({
      ...column(
        title,
        ({ months }) => months[place],
        (value) => heatOf(value, greatest),
      ),
      isSpare: years.every(({ months }) => months[place] === undefined),
    })),
    column(
      'Total',
      (year) => year,
      (value) => `total ${tone(value)}`,
    ),
  ];
  const caption = 'Returns by month, in percent';
  const heatmap = table({ caption, rows: years, columns, isFixed: true, isPlot: true });
  const element = section(caption, heatmap, meaningOf(definitions, 'months'));
  return Object.assign(element, { className: 'months' });
}

/** `+1.13`; nothing for a month without model-days. */
function percents(span: Span | undefined): HTMLElement | null {
  return span === undefined
    ? null
    : h('span', { title: counted(span.days, 'model-day') }, change(span.return).replace(' %', ''));
}
