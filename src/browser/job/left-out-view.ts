import { h, renew } from '../element.ts';
import { count, shortList } from '../format.ts';
import type { Status } from '../responses.ts';
import { liveTable, numberColumn, textColumn } from '../table.ts';
import { section } from '../ui.ts';
import { type LeftOut, datesInWords, leftOutOf } from './left-out.ts';

/**
 * Reasons that are listed until the reader asks for all; each may be another text of a provider.
 */
const ROWS_AT_FIRST = 12;

/** What a job left out, and why: failed and skipped model-days, and those that never ran. */
export function leftOutView(): { element: HTMLElement; update(status: Status): void } {
  const nothing = h('p.quiet');
  const reasons = leftOutTable();
  return {
    element: section('Left out', nothing, reasons.element),
    update(status) {
      const rows = leftOutOf(status);
      renew(
        nothing,
        status.completed_at === null
          ? 'Nothing so far.'
          : 'Nothing: every model-day was completed.',
      );
      nothing.hidden = rows.length > 0;
      reasons.element.hidden = rows.length === 0;
      reasons.update(rows);
    },
  };
}

function leftOutTable() {
  return liveTable<LeftOut>({
    caption: 'Model-days without results, by reason',
    rows: [],
    key: ({ kind, reason }) => `${kind} ${reason}`,
    most: ROWS_AT_FIRST,
    isFixed: true,
    columns: [
      textColumn('What', ({ kind }) => kind, {
        cell: ({ kind }) => h(`span.state.${kind === 'not run' ? 'pending' : kind}`, kind),
      }),
      textColumn('Reason', ({ reason }) => reason, { look: () => 'reason' }),
      numberColumn('Model-days', ({ modelDays }) => modelDays, count),
      textColumn('Dates', ({ dates }) => dates.join(' '), {
        cell: ({ dates }) => datesInWords(dates),
        look: () => 'names',
      }),
      textColumn('Models', ({ models }) => models.join(', '), {
        cell: ({ models }) => shortList(models),
        look: () => 'names',
      }),
    ],
  });
}
