import { intervalOf, type Interval } from '../comparison/difference.ts';
import {
  commonDays,
  readRecords,
  seriesOf,
  whyWithoutFigures,
} from '../comparison/participants.ts';
import { comparedModel } from './counted-days.ts';
import type { Family } from './family.ts';

/**
 * The 95 % interval of a model's return over those of its days that count, by session, as a
 * comparison with no others has it; null where that has none.
 */
export function ownInterval(family: Family, counted: ReadonlySet<number>): Interval | null {
  const runs = family.runs.map(({ run, days }) => ({
    run,
    days: days.filter(({ sessionId }) => counted.has(sessionId)),
  }));
  const model = comparedModel({ ...family, runs });
  const { records } = readRecords([model]);
  const [record] = records;
  if (record === undefined || whyWithoutFigures(model) !== null) return null;
  const days = commonDays(records);
  const { mean, uncertainty } = seriesOf(record, days);
  const period = { days: days.length, confidence: 0.95, looks: 'once' } as const;
  const interval = uncertainty && intervalOf(mean, uncertainty, period);
  return interval && 'low' in interval ? interval : null;
}
