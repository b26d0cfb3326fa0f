import { confidenceInterval, type Interval } from '../comparison/difference.ts';
import {
  commonDays,
  readRecords,
  buildSeries,
  noFiguresReason,
} from '../comparison/participants.ts';
import { toModelReturns } from './counted-days.ts';
import type { Family } from './family.ts';

/**
 * The 95 % interval of a model's return over those of its days that count, by session, as a
 * comparison with no others has it; null where that has none.
 */
export function familyInterval(family: Family, counted: ReadonlySet<number>): Interval | null {
  const runs = family.runs.map(({ days, ...run }) => ({
    ...run,
    days: days.filter(({ sessionId }) => counted.has(sessionId)),
  }));
  const model = toModelReturns({ ...family, runs });
  const { records } = readRecords([model]);
  const [record] = records;
  if (record === undefined || noFiguresReason(model) !== null) return null;
  const days = commonDays(records);
  const { mean, uncertainty } = buildSeries(record, days);
  const period = { days: days.length, confidence: 0.95, looks: 'once' } as const;
  const interval = uncertainty && confidenceInterval(mean, uncertainty, period);
  return interval && 'low' in interval ? interval : null;
}
