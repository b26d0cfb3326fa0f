import type { Detail, Status } from '../responses.ts';

/** Model-days without results, for the same reason. */
export interface LeftOut {
  kind: 'skipped' | 'failed' | 'not run';
  reason: string;
  modelDays: number;
  /** In order. */
  dates: readonly string[];
  models: readonly string[];
}

const NOT_RUN = 'The job ended before it';

/**
 * What a job has not simulated, by reason: failures first, then what was skipped; of many, the most
 * frequent first.
 */
export function leftOutOf({
  details,
  completed_at,
}: Pick<Status, 'details' | 'completed_at'>): LeftOut[] {
  const without = details.flatMap((detail) => {
    const kind = kindOf(detail, completed_at !== null);
    return kind === null ? [] : [{ ...detail, kind, reason: detail.error ?? NOT_RUN }];
  });
  const groups = [...Map.groupBy(without, ({ kind, reason }) => `${kind} ${reason}`).values()];
  const all = groups.flatMap((own): LeftOut[] => {
    const [first] = own;
    if (first === undefined) return [];
    const dates = [...new Set(own.map(({ date }) => date))].sort();
    return [
      {
        kind: first.kind,
        reason: first.reason,
        modelDays: own.length,
        dates,
        models: [...new Set(own.map(({ model }) => model))],
      },
    ];
  });
  const order: readonly LeftOut['kind'][] = ['failed', 'not run', 'skipped'];
  return all.sort(
    (one, other) =>
      order.indexOf(one.kind) - order.indexOf(other.kind) || other.modelDays - one.modelDays,
  );
}

function kindOf({ status }: Detail, isOver: boolean): LeftOut['kind'] | null {
  if (status === 'failed' || status === 'skipped') return status;
  return isOver && status !== 'completed' ? 'not run' : null;
}

/** "2025-09-15", "2025-09-15, 2025-09-16", "2025-09-15 to 2025-09-30, 12 dates". */
export function datesInWords(dates: readonly string[]): string {
  if (dates.length <= 2) return dates.join(', ');
  return `${dates[0]} to ${dates.at(-1)}, ${dates.length} dates`;
}
