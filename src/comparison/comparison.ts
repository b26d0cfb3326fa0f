import assert from 'node:assert/strict';
import type { Figure } from '../performance/figure.ts';
import { NOTHING_TO_COMPARE } from './answer.ts';
import { type LeaderReport, probabilitiesOfBest, reportLeader } from './leader.ts';
import {
  calendarOf,
  type ComparisonInput,
  type Day,
  type DayNumbers,
  findParticipants,
  type LeftOut,
  leftOutDays,
  namesOf,
  type Participants,
  readRecords,
  type Series,
  type TrackRecord,
} from './participants.ts';
import { boundaryOf, type Period } from './looks.ts';
import { differenceCurve, type ModelReport, reportLeftOut, reportModel } from './models.ts';
import {
  type ChosenPair,
  type MeasuredPairs,
  measurePairs,
  type PairReport,
  reportPairs,
} from './pairs.ts';

/** Models compared over the same days. */
export interface Comparison<OfDay extends Day> {
  /** The days compared, in order: every run of every compared model has started each from the same close. */
  days: OfDay[];
  /** The other days on which any of these runs has a return. */
  leftOut: LeftOut<OfDay>[];
  /** By probability of being best, then by return, then by name; those without figures last. */
  models: ModelReport[];
  /** In the order of their models. */
  pairs: PairReport[];
  leader: LeaderReport;
  /** How many standard errors the boundary over all days is; null for a single look, and without a day. */
  boundary: number | null;
}

/**
 * Compares models over the days that all their runs share, step by step. The result depends neither
 * on the order of the models nor on models without figures, and is the same every time.
 */
export function compareModels<OfDay extends Day>(input: ComparisonInput<OfDay>): Comparison<OfDay> {
  check(input);
  const numbers: DayNumbers<OfDay> = new Map();
  const records = readRecords(input.models, numbers);
  const calendar = calendarOf(numbers);
  const participants = findParticipants(records, calendar);
  const { confidence, looks } = input;
  const period = { days: participants.days.length, confidence, looks };
  const pairs = measurePairs(participants.series);
  const models = reportModels({
    records,
    participants,
    pairs,
    period,
    seed: seedOf(participants.series, input),
  });
  const chosen = choosePairs(models, input.against).map((pair) =>
    measuredOf(pair, participants, { pairs, curves: input.curves }),
  );
  return {
    days: namesOf(participants.days, calendar),
    leftOut: leftOutDays(participants.records, calendar),
    models,
    pairs: reportPairs(chosen, period),
    leader: reportLeader(participants.series, input.trials),
    boundary:
      looks === 'once' || period.days === 0 ? null : boundaryOf(period.days, 1 - confidence),
  };
}

function check<OfDay extends Day>({ models, against, confidence }: ComparisonInput<OfDay>): void {
  const names = new Set(models.map(({ model }) => model));
  assert(names.size === models.length, 'Cannot compare a model with itself: a name is repeated');
  assert(
    models.every(({ runs }) => runs.length > 0),
    'Cannot compare a model without a run',
  );
  assert(
    against === null || names.has(against),
    `Cannot compare against ${against}: it is not among the models`,
  );
  assert(
    confidence > 0 && confidence < 1,
    `Cannot compare at a confidence of ${confidence}: it must be between 0 and 1`,
  );
}

function seedOf<OfDay extends Day>(
  series: readonly Series[],
  { window }: ComparisonInput<OfDay>,
): string {
  return JSON.stringify([series.map(({ record }) => record.model), window.start, window.end]);
}

interface ReportOptions {
  /** Ordered by name, as the series are. */
  records: readonly TrackRecord[];
  participants: Participants;
  pairs: MeasuredPairs;
  period: Period;
  seed: string;
}

function reportModels({
  records,
  participants,
  pairs,
  period,
  seed,
}: ReportOptions): ModelReport[] {
  const { series, reasons } = participants;
  const probabilities: Figure[] =
    series.length < 2
      ? series.map(() => NOTHING_TO_COMPARE)
      : probabilitiesOfBest(series, pairs, { seed });
  const order = series
    .map((own, index) => ({ own, probability: probabilities[index] ?? NOTHING_TO_COMPARE }))
    .sort(
      (one, other) =>
        valueOf(other.probability) - valueOf(one.probability) || other.own.mean - one.own.mean,
    );
  const compared: ModelReport[] = [];
  for (const { own, probability } of order) {
    compared.push(reportModel(own, probability, period));
  }
  const leftOut = records.flatMap((record) => {
    const reason = reasons.get(record.model);
    return reason === undefined ? [] : [reportLeftOut(record, reason)];
  });
  return [...compared, ...leftOut];
}

function valueOf(figure: Figure): number {
  return typeof figure === 'number' ? figure : 0;
}

/**
 * All pairs of the models in their order; with `against`, each of the others paired with that one.
 */
function choosePairs(
  models: readonly ModelReport[],
  against: string | null,
): [ModelReport, ModelReport][] {
  const second = models.find(({ model }) => model === against);
  if (second !== undefined)
    return models.filter((model) => model !== second).map((model) => [model, second]);
  return models.flatMap((model, index) =>
    models.slice(index + 1).map((other): [ModelReport, ModelReport] => [model, other]),
  );
}

function measuredOf(
  [one, other]: readonly [ModelReport, ModelReport],
  { reasons, series }: Participants,
  { pairs, curves }: { pairs: MeasuredPairs; curves: boolean },
): ChosenPair {
  // By name, so that a pair says the same in either order.
  const without = [one.model, other.model].sort().find((model) => reasons.has(model));
  const singleRuns = [one, other].filter((model) => model.isSingleRun).map(({ model }) => model);
  const measured =
    without === undefined
      ? pairs(one.model, other.model)
      : { reason: `No figures for ${without}: ${reasons.get(without)}` };
  const curve = curves ? curveOf([one.model, other.model], series) : null;
  return {
    model: one.model,
    against: other.model,
    returns: [one.totalReturn, other.totalReturn],
    measured,
    curve,
    singleRuns,
  };
}

/** The curve of the difference of two models; empty where one of them has no figures. */
function curveOf(models: readonly [string, string], series: readonly Series[]): Figure[] {
  const [first, second] = models.map((model) =>
    series.find(({ record }) => record.model === model),
  );
  return first === undefined || second === undefined ? [] : differenceCurve(first, second);
}
