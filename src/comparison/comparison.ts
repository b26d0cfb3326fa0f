import type { CalendarDate } from '../basics/calendar.ts';
import type { Figure } from '../performance/figure.ts';
import { at } from '../statistics/moments.ts';
import { answerOf, type BenchmarkReturn, NOTHING_TO_COMPARE } from './answer.ts';
import type { Missing } from './difference.ts';
import { probabilitiesOfBest, reportLeader } from './leader.ts';
import { boundaryOf, type Period } from './looks.ts';
import { type Cutoff, isSingleRun, reportModel, totalReturnOf } from './models.ts';
import { type ChosenPair, differenceCurve, measurePairs, reportPairs } from './pairs.ts';
import {
  type ComparedModel,
  type Day,
  findParticipants,
  leftOutDays,
  readRecords,
  type Series,
  seriesOf,
  type TrackRecord,
} from './participants.ts';

export interface ComparisonInput extends Omit<Period, 'days'> {
  /** With distinct names; `against` is one of them. */
  models: readonly ComparedModel[];
  /** The second model of every pair; null for all pairs. */
  against: string | null;
  /** The requested window; only the seed of the random numbers depends on it. */
  window: { start: CalendarDate; end: CalendarDate };
  /** Whether each pair has the curve of its difference. */
  curves: boolean;
  /**
   * How many models have active model-days in the window, compared or not: the number of trials.
   */
  trials: number;
  /** By model, the unknown splits that its return may contain, such as `ORLY on 2025-06-10`. */
  suspected: ReadonlyMap<string, readonly string[]>;
  benchmarkOver: (days: readonly Day[]) => BenchmarkReturn;
  cutoffOf: (model: string, days: readonly Day[]) => Cutoff;
}

/** Models compared over the same days, in parts named as in the response. */
export type Comparison = ReturnType<typeof compareModels>;

/** A model and, over the days compared, its series; or why it is not compared. */
interface Candidate {
  record: TrackRecord;
  series: Series | Missing;
  probabilityBest: Figure;
}

/**
 * Compares models over the days that all their runs share. The result depends neither on the order
 * of the models nor on models without figures, and is the same every time.
 */
export function compareModels(input: ComparisonInput) {
  const { confidence, looks, suspected, trials } = input;
  const { calendar, records } = readRecords(input.models);
  const participants = findParticipants(records);
  const days = participants.days.map((place) => at(calendar, place));
  const period = { days: days.length, confidence, looks };
  const series = participants.records
    .filter(({ model }) => !participants.reasons.has(model))
    .map((record) => seriesOf(record, participants.days));
  const measured = measurePairs(series);
  const seed = JSON.stringify([
    series.map(({ record }) => record.model),
    input.window.start,
    input.window.end,
  ]);
  const chances = series.length < 2 ? [] : probabilitiesOfBest(series, measured, { seed });
  const ordered = records
    .map((record): Candidate => {
      const reason = participants.reasons.get(record.model) ?? '';
      const place = series.findIndex((own) => own.record === record);
      const probabilityBest = chances[place] ?? NOTHING_TO_COMPARE;
      return { record, series: series[place] ?? { reason }, probabilityBest };
    })
    .sort(byChance);
  const chosen = choosePairs(ordered, input.against).map(
    ([one, other]): ChosenPair => ({
      model: one.record.model,
      against: other.record.model,
      returns: [totalReturnOf(one.series, period), totalReturnOf(other.series, period)],
      measured: whyNot(one, other) ?? measured(one.record.model, other.record.model),
      curve: input.curves ? differenceCurve(one.series, other.series, days) : null,
      singleRuns: [one.record, other.record].filter(isSingleRun).map(({ model }) => model),
    }),
  );
  const { pairs, leads } = reportPairs(chosen, period);
  const totals = ordered.map((one) => ({
    model: one.record.model,
    totalReturn: totalReturnOf(one.series, period),
  }));
  return {
    /** The days compared: every run of every compared model has started each from the same close. */
    days,
    /** The other days on which any of these runs has a return. */
    leftOut: leftOutDays(participants.records, calendar),
    answer: answerOf({
      models: totals,
      leads,
      days,
      benchmark: input.benchmarkOver(days),
      suspected,
    }),
    /** By probability of being best, then by return, then by name; those without figures last. */
    models: ordered.map(({ record, ...one }) =>
      reportModel(record, { ...one, cutoff: input.cutoffOf(record.model, days) }, period),
    ),
    /** In the order of their models. */
    pairs,
    leader: reportLeader(series, trials),
    /** In standard errors; null for a single look, and without a day. */
    boundary:
      looks === 'once' || period.days === 0 ? null : boundaryOf(period.days, 1 - confidence),
  };
}

function byChance(one: Candidate, other: Candidate): number {
  const [isMissing, isOtherMissing] = ['reason' in one.series, 'reason' in other.series];
  if (isMissing || isOtherMissing) return Number(isMissing) - Number(isOtherMissing);
  const meanOf = ({ series }: Candidate) => ('reason' in series ? NaN : series.mean);
  const chanceOf = ({ probabilityBest: own }: Candidate) => (typeof own === 'number' ? own : 0);
  return chanceOf(other) - chanceOf(one) || meanOf(other) - meanOf(one);
}

/**
 * All pairs of the models in their order; with `against`, each of the others paired with that one.
 */
function choosePairs(
  models: readonly Candidate[],
  against: string | null,
): [Candidate, Candidate][] {
  const second = models.find(({ record }) => record.model === against);
  if (second !== undefined)
    return models.filter((model) => model !== second).map((model) => [model, second]);
  return models.flatMap((model, index) =>
    models.slice(index + 1).map((other): [Candidate, Candidate] => [model, other]),
  );
}

/** Why a pair has no figures, by name, so that it says the same in either order; null if it has. */
function whyNot(...pair: Candidate[]): Missing | null {
  for (const { record, series } of pair.sort((one, other) =>
    one.record.model < other.record.model ? -1 : 1,
  ))
    if ('reason' in series) return { reason: `No figures for ${record.model}: ${series.reason}` };
  return null;
}
