import { h } from '../element.ts';
import { count } from '../format.ts';
import type { Comparison } from '../responses.ts';
import { table, textColumn } from '../table.ts';
import { reasonList, section } from '../ui.ts';
import { costOf, leftOutModels } from './missing.ts';

/** How many days are listed until the reader asks for all. */
const ROWS_AT_FIRST = 10;

type LeftOutDay = Comparison['left_out'][number];

/** The days and the models that the comparison does not use, and why. */
export function leftOut(comparison: Comparison): HTMLElement {
  const { left_out: days, align } = comparison;
  const models = leftOutModels(comparison);
  if (days.length + models.length === 0)
    return section('Left out', h('p.quiet', 'Nothing: every run has a return on every day.'));
  const entries = models.map(({ model, reason }) => ({ name: model, reason }));
  const columns = [
    textColumn<LeftOutDay>(align === 'number' ? 'Day' : 'Date', dayOf, { isName: true }),
    textColumn<LeftOutDay>('Runs without a return', ({ runs }) => runs.join(', ')),
  ];
  return section(
    'Left out',
    reasonList(entries, { 'aria-label': 'Models left out' }),
    days.length > 0 && h('p', costOf(comparison)),
    days.length > 0 &&
      table({ caption: 'Days left out', rows: days, columns, most: ROWS_AT_FIRST, isFixed: true }),
  );
}

function dayOf({ date, number }: LeftOutDay): string {
  return date ?? count(number);
}
