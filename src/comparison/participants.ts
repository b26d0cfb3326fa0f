import { count } from '../sentences.ts';
import { type Calendar, calendarOf, commonDays } from './common-days.ts';
import { type ComparedModel, type Day, MIN_DAYS } from './input.ts';
import { type Series, seriesOf } from './series.ts';
import { type TrackRecord, readRecord } from './track-record.ts';

/** Which models are compared, and over which days. */
export interface Participants {
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
 * Decides which models are compared. A model without figures must not cost the others any days, so
 * each model is first checked over its own days. Then the models that do not vary over the common
 * days are dropped and the common days recomputed, until all vary. Where none is left, the days are
 * those that all models share.
 */
export function findParticipants(
  all: readonly TrackRecord[],
  calendar: Calendar<Day>,
): Participants {
  const reasons = new Map<string, string>();
  for (const record of all) {
    const reason = whyNotByItself(record, calendar);
    if (reason !== null) reasons.set(record.model, reason);
  }
  for (;;) {
    const records = all.filter(({ model }) => !reasons.has(model));
    if (records.length === 0)
      return { days: commonDays(all, calendar), records: [...all], series: [], reasons };
    const days = commonDays(records, calendar);
    if (days.length < MIN_DAYS) {
      for (const { model } of records) reasons.set(model, tooFewInCommon(days.length));
      return { days, records, series: [], reasons };
    }
    const series: Series[] = [];
    for (const record of records) {
      const own = seriesOf(record, days);
      if (own === null) reasons.set(record.model, FLAT);
      else series.push(own);
    }
    if (series.length === records.length) return { days, records, series, reasons };
  }
}

/**
 * Why a model has no figures even over its own days, regardless of what it is compared with; null
 * when it has some.
 */
export function whyWithoutFigures<OfDay extends Day>(model: ComparedModel<OfDay>): string | null {
  const numbers = new Map<OfDay, number>();
  const record = readRecord(model, numbers);
  return whyNotByItself(record, calendarOf(numbers));
}

function whyNotByItself(record: TrackRecord, calendar: Calendar<Day>): string | null {
  if (record.unusable !== null) return record.unusable;
  const own = commonDays([record], calendar);
  if (own.length < MIN_DAYS) {
    const has = record.runs.length === 1 ? 'it has' : 'its runs share';
    return `Needs ${count(MIN_DAYS, 'day')} with a return; ${has} ${own.length}`;
  }
  return seriesOf(record, own) === null ? FLAT : null;
}

function tooFewInCommon(days: number): string {
  return `Needs ${count(MIN_DAYS, 'day')} on which every run compared has a return; there are ${days}`;
}
