import { count } from '../sentences.ts';
import { type Calendar, commonDays } from './common-days.ts';
import { type Day, MIN_DAYS, type Steps } from './input.ts';
import { type Series, seriesOf } from './series.ts';
import type { TrackRecord } from './track-record.ts';

/** Which models are compared, and over which days. */
export interface TakingPart {
  /** By number, in order: the days on which every run of these models has a return. */
  days: number[];
  /** The models that determine the days, ordered by name. */
  records: TrackRecord[];
  /** These models over the days; empty when there are too few days. */
  series: Series[];
  /** Why a model has no figures, by model. */
  reasons: Map<string, string>;
}

const FLAT = 'Its daily returns do not vary';

/**
 * Decides which models are compared. A model without figures must not cost the others any days, so each model is first
 * checked over its own days. Then the models that do not vary over the common days are dropped and the common days
 * recomputed, until all vary.
 */
export function* findTakingPart(all: readonly TrackRecord[], calendar: Calendar<Day>): Steps<TakingPart> {
  const reasons = new Map<string, string>();
  for (const record of all) {
    const reason = record.unusable ?? (yield* whyNotAlone(record, calendar));
    if (reason !== null) reasons.set(record.model, reason);
  }
  for (;;) {
    const records = all.filter(({ model }) => !reasons.has(model));
    const common = commonDays(records, calendar);
    if (records.length === 0 || common.length < MIN_DAYS) {
      for (const { model } of records) reasons.set(model, tooFewInCommon(common.length));
      return { days: records.length === 0 ? [] : common, records, series: [], reasons };
    }
    const series: Series[] = [];
    for (const record of records) series.push(yield* seriesOf(record, common));
    const flat = series.filter(({ uncertainty }) => uncertainty === null);
    if (flat.length === 0) return { days: common, records, series, reasons };
    for (const { record } of flat) reasons.set(record.model, FLAT);
  }
}

function* whyNotAlone(record: TrackRecord, calendar: Calendar<Day>): Steps<string | null> {
  const own = commonDays([record], calendar);
  if (own.length < MIN_DAYS) {
    const has = record.runs.length === 1 ? 'it has' : 'its runs have in common';
    return `Needs ${count(MIN_DAYS, 'day')} with a return; ${has} ${own.length}`;
  }
  const { uncertainty } = yield* seriesOf(record, own);
  return uncertainty === null ? FLAT : null;
}

function tooFewInCommon(days: number): string {
  return `Needs ${count(MIN_DAYS, 'day')} on which every run compared has a return; there are ${days}`;
}
