import type { CalendarDate } from '#time/calendar.ts';
import type { Incomparability } from '../performance/comparability.ts';
import { type Figure, reportFigures } from '../statistics/figure.ts';
import { at, centralMoment, cholesky, dot, mean, sampleVariance } from '../statistics/moments.ts';
import {
  reportAnswer,
  type BenchmarkReturn,
  NOTHING_TO_COMPARE,
  type PairTermsReader,
} from './answer.ts';
import { type Missing, toDigits } from './difference.ts';
import { confidenceBoundary, type Period } from './looks.ts';
import { type Cutoff, isSingleRun, reportComparedModel, seriesReturn } from './models.ts';
import {
  type ChosenPair,
  differenceCurve,
  measurePairs,
  reportPairs,
  type MeasuredPairs,
} from './pairs.ts';
import {
  type ModelReturns,
  type DayKey,
  findParticipants,
  leftOutDays,
  readRecords,
  type Series,
  buildSeries,
  type TrackRecord,
  LEAST_DEVIATION,
} from './participants.ts';
import { createNormals } from '../statistics/random.ts';
import { normalCdf, normalQuantile } from '../statistics/distributions.ts';

const DRAWS = 10_000;
/**
 * Means that differ by less than this fraction of the largest standard error differ only by
 * rounding: they tie.
 */
const TIE = 1e-9;

/**
 * How often each series has the highest mean in draws from N(x̄, Σ); in a tie, each of the best
 * gets an equal part. Σ is the joint covariance of the means, which accounts for the days that
 * models share (the posterior of the means under a flat prior, Gelman et al., Bayesian Data
 * Analysis, 2013, chapter 3).
 */
export function probabilitiesOfBest(
  series: readonly Series[],
  pairs: MeasuredPairs,
  /** The same seed gives the same result. */
  { seed, draws = DRAWS }: { seed: string; draws?: number },
): number[] {
  const covariance = jointCovariance(series, pairs);
  const lower = cholesky(covariance);
  const tie = TIE * Math.sqrt(Math.max(...covariance.map((row, index) => at(row, index))));
  const normal = createNormals(seed);
  const wins = new Float64Array(series.length);
  const [noise, values] = [new Float64Array(series.length), new Float64Array(series.length)];
  for (let draw = 0; draw < draws; draw += 1) {
    for (let index = 0; index < noise.length; index += 1) noise[index] = normal();
    for (const [index, { mean }] of series.entries())
      values[index] = mean + dot(at(lower, index), noise, index + 1);
    creditWinners(values, wins, tie);
  }
  return [...wins].map((won) => won / draws);
}

/**
 * Σ with cov(i, j) = (V_i + V_j − V_ij) / 2, V_ij the variance of the difference of both: Newey and
 * West's weights applied to the products of both series, with the same correction, plus s²/R on the
 * diagonal. So the variance of every difference is exactly that of its pair.
 */
export function jointCovariance(series: readonly Series[], pairs: MeasuredPairs): Float64Array[] {
  return series.map((one) =>
    Float64Array.from(series, (other) => {
      if (one === other) return totalVariance(one);
      const ofPair = totalVariance(pairs(one.record.model, other.record.model));
      return (totalVariance(one) + totalVariance(other) - ofPair) / 2;
    }),
  );
}

/** 0 where nothing varies. */
function totalVariance({ uncertainty }: Pick<Series, 'uncertainty'>): number {
  return uncertainty?.total ?? 0;
}

function creditWinners(values: Float64Array, wins: Float64Array, tie: number): void {
  let best = -Infinity;
  for (const value of values) best = Math.max(best, value);
  let winners = 0;
  for (const value of values) if (value >= best - tie) winners += 1;
  for (const [index, value] of values.entries())
    if (value >= best - tie) wins[index] = at(wins, index) + 1 / winners;
}

/** The Euler–Mascheroni constant. */
const GAMMA = 0.5772156649;
/** The variance of a Sharpe ratio, times the days, is about 1; values up to this are rounding. */
const LEAST_VARIANCE = 1e-12;

const FLAT = { reason: 'The daily returns of the mean run do not vary' };
const TWO_VALUES = {
  reason: 'The daily returns take only two values, so the error of the ratio cannot be estimated',
};

/**
 * The model whose mean run has the highest Sharpe ratio, and how much of that may be the luck of
 * being the best of many, named as in the response; `tried` counts every model that was tried,
 * including those compared.
 */
function reportLeader(series: readonly Series[], tried: number, barred: Missing | null) {
  const trials = Math.max(tried, series.length);
  const ratios = series.map(({ logReturns }) => barred ?? dailySharpeRatio(logReturns));
  const known = ratios.filter((ratio) => typeof ratio === 'number');
  const highest = Math.max(...known);
  const leader = series[ratios.indexOf(highest)];
  const none = barred ?? (series.length === 0 ? { reason: 'Nothing is left to compare' } : FLAT);
  const expectedBest = leader === undefined ? none : expectedBestSharpeRatio(known, trials);
  const above = (benchmark: Figure) =>
    leader === undefined || typeof benchmark !== 'number'
      ? benchmark
      : probabilisticSharpeRatio(leader.logReturns, benchmark);
  const figures = reportFigures(
    {
      sharpe_ratio_daily: leader === undefined ? none : highest,
      probabilistic_sharpe_ratio: leader === undefined ? none : above(0),
      deflated_sharpe_ratio: above(expectedBest),
      expected_best_sharpe_ratio_daily: expectedBest,
    },
    toDigits,
  );
  /** Null when no model is compared. */
  const model = leader?.record.model ?? null;
  return { model, ...figures, trials };
}

/** Mean over sample deviation, per day, without a risk-free rate. */
function dailySharpeRatio(logReturns: Float64Array): Figure {
  const deviation = Math.sqrt(sampleVariance(logReturns));
  return deviation <= LEAST_DEVIATION ? FLAT : mean(logReturns) / deviation;
}

/**
 * Φ((S − S₀)√(D−1) / √(1 − g₃S + (g₄−1)/4·S²)): the probability that the true Sharpe ratio is above
 * S₀, given skewness g₃ and kurtosis g₄ (Bailey & López de Prado, The Sharpe Ratio Efficient
 * Frontier, Journal of Risk 15, 2012).
 */
export function probabilisticSharpeRatio(logReturns: Float64Array, benchmark: number): Figure {
  const ratio = dailySharpeRatio(logReturns);
  if (typeof ratio !== 'number') return ratio;
  const spread = centralMoment(logReturns, 2);
  const skewness = centralMoment(logReturns, 3) / spread ** 1.5;
  const kurtosis = centralMoment(logReturns, 4) / spread ** 2;
  const variance = 1 - skewness * ratio + ((kurtosis - 1) / 4) * ratio ** 2;
  if (variance <= LEAST_VARIANCE) return TWO_VALUES;
  return normalCdf(((ratio - benchmark) * Math.sqrt(logReturns.length - 1)) / Math.sqrt(variance));
}

/**
 * sd·((1 − γ)Φ⁻¹(1 − 1/N) + γΦ⁻¹(1 − 1/(N·e))): the highest Sharpe ratio expected of N models
 * without skill, sd the sample deviation of those compared (Bailey & López de Prado, The Deflated
 * Sharpe Ratio, Journal of Portfolio Management 40, 2014).
 */
export function expectedBestSharpeRatio(ratios: readonly number[], trials: number): Figure {
  if (ratios.length < 2) return { reason: 'Needs the Sharpe ratios of two models; there is one' };
  const deviation = Math.sqrt(sampleVariance(ratios));
  const upper = (tail: number) => 0 - normalQuantile(tail);
  return deviation * ((1 - GAMMA) * upper(1 / trials) + GAMMA * upper(1 / (trials * Math.E)));
}

export interface ComparisonInput extends Omit<Period, 'days'> {
  /** With distinct names; `against` is one of them. */
  models: readonly ModelReturns[];
  /** The second model of every pair; null for all pairs. */
  against: string | null;
  /** The requested window; only the seed of the random numbers depends on it. */
  window: { start: CalendarDate; end: CalendarDate };
  /** Whether each pair has the curve of its difference. */
  curves: boolean;
  /**
   * How many models of the studies compared have active model-days in the window, compared or not:
   * the number of trials.
   */
  trials: number;
  /** The same of the studies that are not compared. */
  trialsElsewhere: number;
  /** In what two models of different studies differ; null for two of one. */
  pairTerms: PairTermsReader;
  /** Why there are no figures of all models together; else null. */
  barred: Missing | null;
  /** By model, the unknown splits that its return may contain, such as `ORLY on 2025-06-10`. */
  suspected: ReadonlyMap<string, readonly string[]>;
  /** By model, in which respects it traded on other terms than most. */
  incomparable: ReadonlyMap<string, Incomparability[]>;
  /** By entry, why the answer leaves it out, beside what the returns say. */
  leftOut: ReadonlyMap<string, string>;
  benchmarkOver: (days: readonly DayKey[]) => BenchmarkReturn;
  cutoffOf: (model: string, days: readonly DayKey[]) => Cutoff;
}

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
  const { confidence, looks, suspected, trials, trialsElsewhere, barred } = input;
  const { calendar, records } = readRecords(input.models);
  const participants = findParticipants(records);
  const days = participants.days.map((place) => at(calendar, place));
  const period = { days: days.length, confidence, looks };
  const series = participants.records
    .filter(({ model }) => !participants.reasons.has(model))
    .map((record) => buildSeries(record, participants.days));
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
      const probabilityBest = barred ?? chances[place] ?? NOTHING_TO_COMPARE;
      return { record, series: series[place] ?? { reason }, probabilityBest };
    })
    .sort(byReturn);
  const chosen = choosePairs(ordered, input.against).map(([one, other]): ChosenPair => {
    const [model, against] = [one.record.model, other.record.model];
    const terms = input.pairTerms(model, against);
    return {
      ...{ model, against, terms: terms?.sides ?? null },
      returns: [seriesReturn(one.series, period), seriesReturn(other.series, period)],
      measured: terms?.barred ?? pairReason(one, other) ?? measured(model, against),
      curve:
        input.curves && !terms?.barred ? differenceCurve(one.series, other.series, days) : null,
      singleRuns: [one.record, other.record].filter(isSingleRun).map(({ model }) => model),
    };
  });
  const { pairs, leads } = reportPairs(chosen, period);
  return {
    /**
     * The days compared: every run of every compared model has started each from the same close.
     */
    days,
    /** The other days on which any of these runs has a return. */
    leftOut: leftOutDays(participants.records, calendar),
    answer: reportAnswer({
      models: ordered.map((one) => ({
        model: one.record.model,
        totalReturn: seriesReturn(one.series, period),
      })),
      leads,
      barred,
      days,
      benchmark: input.benchmarkOver(days),
      suspected,
      leftOut: new Map([...input.leftOut, ...missingReasons(participants, records)]),
    }),
    /** By return, then by name; those without figures last. */
    models: ordered.map(({ record, ...one }) =>
      reportComparedModel(record, { ...one, ...modelContext(record, input, days) }, period),
    ),
    /** In the order of their models. */
    pairs,
    leader: { ...reportLeader(series, trials, barred), trials_elsewhere: trialsElsewhere },
    /** In standard errors; null for a single look, and without a day. */
    boundary:
      looks === 'once' || period.days === 0
        ? null
        : confidenceBoundary(period.days, 1 - confidence),
  };
}

/** What is said of a model beside its figures. */
function modelContext(
  { model }: TrackRecord,
  { cutoffOf, incomparable }: ComparisonInput,
  days: readonly DayKey[],
) {
  return { cutoff: cutoffOf(model, days), incomparable: incomparable.get(model) ?? [] };
}

/** By model without figures, why; where none has any, too few days are no reason of this one. */
function* missingReasons(
  { reasons }: ReturnType<typeof findParticipants>,
  records: readonly TrackRecord[],
): Generator<[string, string]> {
  for (const { model, unusable } of records) {
    const reason = reasons.size < records.length ? reasons.get(model) : unusable;
    if (reason != null) yield [model, reason];
  }
}

function byReturn({ series: one }: Candidate, { series: other }: Candidate): number {
  if ('reason' in one || 'reason' in other)
    return Number('reason' in one) - Number('reason' in other);
  return other.mean - one.mean;
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
function pairReason(...pair: Candidate[]): Missing | null {
  for (const { record, series } of pair.sort((one, other) =>
    one.record.model < other.record.model ? -1 : 1,
  ))
    if ('reason' in series) return { reason: `No figures for ${record.model}: ${series.reason}` };
  return null;
}
