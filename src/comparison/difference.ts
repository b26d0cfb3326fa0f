import { at } from '../statistics/moments.ts';
import { degreesOfDays, varianceOfMean } from '../statistics/newey-west.ts';
import { type Figure, TRADING_DAYS_PER_YEAR } from '../performance/figure.ts';
import { studentTQuantile, studentTUpperTail } from '../statistics/student-t.ts';
import { detectionOf, levelOf, type Looks, type Period, tailOf } from './looks.ts';

/** How much the runs of a model differ. */
export interface RunSpread {
  runs: number;
  /** The sample variance of the runs' mean daily log returns; 0 for a single run. */
  variance: number;
}

/** The variance of a mean daily log return, or of a mean difference of two, by its sources. */
export interface Uncertainty {
  /** From the days: other days would have given another mean. */
  ofDays: number;
  /** From the runs: other runs would have given another mean. */
  ofRuns: number;
  total: number;
  degreesOfFreedom: number;
}

/**
 * A standard error per day up to this is rounding, which reaches about 1e-18; one unit of a ledger
 * is far above it.
 */
const LEAST_STANDARD_ERROR = 1e-15;

/**
 * The variance of the mean of runs over the same days, V_days + V_runs, with Welch's degrees of
 * freedom V² / (V_days²/ν_days + Σ (s²/R)²/(R−1)) (Welch, The Generalization of "Student's" Problem
 * when Several Different Population Variances are Involved, Biometrika 34, 1947; Satterthwaite, An
 * Approximate Distribution of Estimates of Variance Components, Biometrics Bulletin 2, 1946). Null
 * when nothing varies. Needs at least two days.
 */
export function measureUncertainty(
  daily: Float64Array,
  spreads: readonly RunSpread[],
): Uncertainty | null {
  const ofDays = varianceOfMean(daily);
  const ofRuns = spreads.reduce((sum, spread) => sum + share(spread), 0);
  const total = ofDays + ofRuns;
  if (total <= LEAST_STANDARD_ERROR ** 2) return null;
  const runTerms = spreads.reduce(
    (sum, spread) => sum + (spread.runs > 1 ? share(spread) ** 2 / (spread.runs - 1) : 0),
    0,
  );
  return {
    ofDays,
    ofRuns,
    total,
    degreesOfFreedom: total ** 2 / (ofDays ** 2 / degreesOfDays(daily.length) + runTerms),
  };
}

function share({ runs, variance }: RunSpread): number {
  return variance / runs;
}

/** Both ends as returns over the period. */
export interface Interval {
  low: number;
  high: number;
}

const TOO_LARGE = { reason: 'The figure is too large for a number' };

/**
 * exp(D·x) − 1: a mean daily log return, or a difference of two, as a return over the whole period.
 */
export function overPeriod(dailyLogReturn: number, days: number): Figure {
  const growth = Math.expm1(days * dailyLogReturn);
  return Number.isFinite(growth) ? growth : TOO_LARGE;
}

/**
 * mean ± t·√V, as returns over the period; t from Student's distribution, at the level of the
 * period's looks.
 */
export function intervalOf(
  mean: number,
  uncertainty: Uncertainty,
  period: Period,
): Interval | { reason: string } {
  const { days } = period;
  const quantile = -studentTQuantile(tailOf(period), uncertainty.degreesOfFreedom);
  const reach = quantile * Math.sqrt(uncertainty.total);
  const low = overPeriod(mean - reach, days);
  const high = overPeriod(mean + reach, days);
  return typeof low === 'number' && typeof high === 'number' ? { low, high } : TOO_LARGE;
}

/**
 * The smallest level at which the interval excludes no difference. For a single look that is the
 * probability of a difference of at least this size, in either direction, if only chance were at
 * work.
 */
export function twoSidedP(
  mean: number,
  { total, degreesOfFreedom }: Uncertainty,
  period: Pick<Period, 'days' | 'looks'>,
): number {
  return levelOf(studentTUpperTail(Math.abs(mean) / Math.sqrt(total), degreesOfFreedom), period);
}

/**
 * What it takes to show a difference: at 5 %, two-sided, and with 80 % power, whatever the
 * requested confidence.
 */

export const MORE_RUNS = 'More days cannot show it, more runs can';
export const NO_DIFFERENCE = 'There is no difference to show';

/**
 * exp(D·z·√V) − 1: the smallest difference that these days and runs can show (Cohen, Statistical
 * Power Analysis, 1988).
 */
export function smallestDifference(
  { total }: Uncertainty,
  period: Pick<Period, 'days' | 'looks'>,
): Figure {
  return overPeriod(detectionOf(period) * Math.sqrt(total), period.days);
}

/**
 * z²·D·V_days / (δ² − z²·V_runs), rounded up: the number of days with which these runs would show
 * this difference. More days reduce only V_days.
 */
export function daysNeeded(
  mean: number,
  { ofDays, ofRuns }: Uncertainty,
  period: Pick<Period, 'days' | 'looks'>,
): Figure {
  if (mean === 0) return { reason: NO_DIFFERENCE };
  const squared = detectionOf(period) ** 2;
  const left = mean ** 2 - squared * ofRuns;
  if (left <= 0) return { reason: MORE_RUNS };
  const needed = Math.ceil((squared * period.days * ofDays) / left);
  return Number.isFinite(needed) ? needed : { reason: MORE_RUNS };
}

/**
 * p-values adjusted for multiple comparisons, in the same order: the k-th smallest of m times m − k
 * + 1, never below a smaller one's, at most 1 (Holm, A Simple Sequentially Rejective Multiple Test
 * Procedure, Scandinavian Journal of Statistics 6, 1979).
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues
    .map((_, index) => index)
    .sort((one, other) => at(pValues, one) - at(pValues, other));
  const adjusted = new Array<number>(pValues.length);
  let largest = 0;
  for (const [rank, index] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (pValues.length - rank) * at(pValues, index)));
    adjusted[index] = largest;
  }
  return adjusted;
}

/** What the sentence of a pair is made from; returns and differences over the period. */
export interface PairFacts {
  model: string;
  against: string;
  difference: Figure;
  interval: Interval | { reason: string };
  days: number;
  looks: Looks;
  isShown: boolean;
  /** Whether the difference would be shown if this were the only pair. */
  isShownAsOnlyPair: boolean;
  pairs: number;
  smallestDifference: Figure;
  daysNeeded: Figure;
  singleRuns: readonly string[];
}

/**
 * What a pair shows, in sentences: the model with the higher return first, such as "gpt-5 is ahead of
 * claude by 1.0 % over 20 days (−4.7 % to +6.9 %, for a single look): this could be chance. These 20 days can show 7.7 % or
 * more; this would need about 1,180 days."
 */
export function sentenceOf(facts: PairFacts): string {
  return [claim(facts), whyNotAmongMany(facts), whatItTakes(facts)].filter(Boolean).join(' ');
}

function claim(facts: PairFacts): string {
  const { model, against, difference, days, looks, isShown } = facts;
  const isBehind = typeof difference === 'number' && difference < 0;
  const [first, second] = isBehind ? [against, model] : [model, against];
  const inLooks = looks === 'once' ? 'for a single look' : 'whichever day you look';
  const bounds = [...range(facts, isBehind), inLooks].join(', ');
  const verdict = isShown ? 'is more than chance' : 'could be chance';
  const end = difference === 0 ? '' : `: this ${verdict}`;
  return `${first} is ${lead(difference, second)} over ${days} days (${bounds})${end}.`;
}

/** The interval, unless an end is too large for a number; with one run of a model a lower bound. */
function range({ interval, singleRuns }: PairFacts, isBehind: boolean): string[] {
  if (!('low' in interval)) return [];
  const { low, high } = isBehind ? turned(interval) : interval;
  if (high === Infinity) return [];
  return [`${signed(low)} to ${signed(high)}${singleRuns.length === 0 ? '' : ' or wider'}`];
}

function lead(difference: Figure, second: string): string {
  if (difference === 0) return `level with ${second}`;
  const ahead =
    typeof difference === 'number' && difference < 0 ? opposite(difference) : difference;
  return typeof ahead === 'number' && ahead < Infinity
    ? `ahead of ${second} by ${percent(ahead)}`
    : `far ahead of ${second}`;
}

/**
 * The second model's growth over the first one's, minus 1; infinite when that is too large for a
 * number.
 */
function opposite(difference: number): number {
  return -difference / (1 + difference);
}

function turned({ low, high }: Interval): Interval {
  return { low: opposite(high), high: opposite(low) };
}

function whyNotAmongMany({ isShown, isShownAsOnlyPair, pairs }: PairFacts): string {
  if (isShown || !isShownAsOnlyPair) return '';
  return `As the only pair it would be more than chance; the best of ${grouped(pairs)} pairs can look like this by chance.`;
}

function whatItTakes({
  days,
  difference,
  isShown,
  smallestDifference,
  daysNeeded,
}: PairFacts): string {
  if (typeof smallestDifference !== 'number') return '';
  const can = `These ${days} days can show ${percent(smallestDifference)} or more`;
  if (isShown || difference === 0) return `${can}.`;
  if (typeof daysNeeded !== 'number') return `${can}; more days cannot show this, more runs can.`;
  return daysNeeded > days ? `${can}; this would need ${inWords(daysNeeded)}.` : `${can}.`;
}

/**
 * Longer than any experiment: a larger number of days would only look exact. `days_needed` has it
 * all the same.
 */
const MAX_COUNTED_YEARS = 100;

function inWords(days: number): string {
  if (days > MAX_COUNTED_YEARS * TRADING_DAYS_PER_YEAR)
    return `more than ${MAX_COUNTED_YEARS} years of trading days`;
  return `about ${grouped(Number(days.toPrecision(3)))} days`;
}

/** Below this, a percentage with one decimal would be 0.0. */
const LEAST_FOR_ONE_PLACE = 0.001;

let known: ReturnType<typeof createFormats> | undefined;

/**
 * Created at their first use: the first Intl format of a process takes 15 ms, which would delay the
 * service's start.
 */
function formats() {
  return (known ??= createFormats());
}

function createFormats() {
  return {
    whole: new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 }),
    onePlace: new Intl.NumberFormat('en-US', {
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    }),
    twoDigits: new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 }),
  };
}

function grouped(number: number): string {
  return formats().whole.format(number);
}

/** `7.7 %`; very small ones keep two digits. */
function percent(fraction: number): string {
  const { onePlace, twoDigits } = formats();
  const format = fraction !== 0 && Math.abs(fraction) < LEAST_FOR_ONE_PLACE ? twoDigits : onePlace;
  return `${format.format(fraction * 100).replace('-', '−')} %`;
}

function signed(fraction: number): string {
  return fraction > 0 ? `+${percent(fraction)}` : percent(fraction);
}
