import { section } from '../parts/blocks.ts';
import { h } from '../parts/element.ts';
import { count } from '../parts/format.ts';
import { shortList } from '../parts/names.ts';
import { numberColumn, table, textColumn } from '../parts/table.ts';
import type { Status } from '../service/responses.ts';
import { type LeftOut, datesInWords, leftOutOf } from './left-out.ts';

/** Reasons that are listed until the reader asks for all; each may be another text of a provider. */
const ROWS_AT_FIRST = 12;

/** What a job left out, and why: failed and skipped model-days, and those that never ran. */
export function leftOutSection(status: Status): HTMLElement {
  const rows = leftOutOf(status);
  const isOver = status.completed_at !== null;
  const nothing = isOver ? 'Nothing: every model-day was completed.' : 'Nothing so far.';
  return section(
    'Left out',
    rows.length === 0 ? h('p.quiet', nothing) : leftOutTable(rows),
  );
}

function leftOutTable(rows: readonly LeftOut[]): HTMLElement {
  return table<LeftOut>({
    caption: 'Model-days without results, by reason',
    rows,
    most: ROWS_AT_FIRST,
    isFixed: true,
    columns: [
      textColumn('What', ({ kind }) => kind, { cell: ({ kind }) => h(`span.state.${kind === 'not run' ? 'pending' : kind}`, kind) }),
      textColumn('Reason', ({ reason }) => reason, { look: () => 'reason' }),
      numberColumn('Model-days', ({ modelDays }) => modelDays, count),
      textColumn('Dates', ({ dates }) => dates.join(' '), { cell: ({ dates }) => datesInWords(dates), look: () => 'names' }),
      textColumn('Models', ({ models }) => models.join(', '), { cell: ({ models }) => shortList(models), look: () => 'names' }),
    ],
  });
}
