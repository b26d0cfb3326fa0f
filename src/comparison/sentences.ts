import { count } from '../basics/sentences.ts';
import { type Figure, TRADING_DAYS_PER_YEAR } from '../performance/figure.ts';
import { type Interval, TOO_LARGE } from './difference.ts';
import type { Period } from './looks.ts';

/** What a comparison says in words. */

/**
 * How far the return of one model of a pair is above that of the other, as the difference of both:
 * 0.0038 is 0.38 percentage points.
 */
export interface Lead {
  first: string;
  second: string;
  /** Not below 0. */
  points: Figure;
  /** `0.38 points`: the difference of both returns as they are shown; `far` where it is too large. */
  words: string;
  /** That of the pair, in points. */
  interval: Interval | { reason: string };
}

/** What the lead in a pair is computed from. */
interface PairReturns {
  model: string;
  against: string;
  /** Of both over the period, in this order. */
  returns: readonly [Figure, Figure];
  /** Of the difference of growth. */
  interval: Interval | { reason: string };
}

/** A difference of growth times the growth of the second model is one of returns. */
export function leadOf({ model, against, interval, returns }: PairReturns): Lead {
  const [one, other] = returns.map((own) => (typeof own === 'number' ? own : Infinity)) as [
    number,
    number,
  ];
  const isBehind = one < other;
  const [first, second] = isBehind ? [against, model] : [model, against];
  const points = Math.abs(one - other);
  const isKnown = Number.isFinite(points);
  const apart = Math.abs(shownPercent(one) - shownPercent(other)) / 100;
  const words = isKnown ? inPoints(apart || points) : 'far';
  const lead = { first, second, points: isKnown ? points : TOO_LARGE, words };
  if ('reason' in interval) return { ...lead, interval };
  const growth = 1 + Math.min(one, other);
  const [low, high] = isBehind
    ? [opposite(interval.high), opposite(interval.low)]
    : [interval.low, interval.high];
  const ends = { low: low * growth, high: high * growth };
  return { ...lead, interval: Number.isFinite(ends.high) ? ends : TOO_LARGE };
}

function shownPercent(fraction: number): number {
  return Number((fraction * 100).toFixed(2));
}

/** The second model's growth over the first one's, minus 1. */
function opposite(difference: number): number {
  return -difference / (1 + difference);
}

/** What the sentence of a pair is made from. */
export interface PairFacts extends PairReturns, Period {
  isShown: boolean;
  /** Whether the difference would be shown if this were the only pair. */
  isShownAsOnlyPair: boolean;
  pairs: number;
  smallestDifference: Figure;
  daysNeeded: Figure;
  singleRuns: readonly string[];
}

/**
 * What a pair shows, in sentences: the model with the higher return first, such as "gpt-5 is 1.01
 * points ahead of claude over 20 days (95 % interval −4.70 to +6.90 points, for a single look).
 * This could be chance. Only a lead of 7.70 points or more would be likely to show in 20 days; this
 * one would need about 1,180 days."
 */
export function sentenceOf(facts: PairFacts): string {
  const { days, isShown } = facts;
  const lead = leadOf(facts);
  const { first, second, points, words } = lead;
  const ahead = points === 0 ? `level with ${second}` : `${words} ahead of ${second}`;
  const verdict = isShown ? 'This is more than chance.' : 'This could be chance.';
  return [
    `${first} is ${ahead} over ${count(days, 'day')}${boundsOf(lead, facts)}.`,
    points === 0 ? '' : verdict,
    whyNotAmongMany(facts),
    whatItTakes(facts, lead),
  ]
    .filter(Boolean)
    .join(' ');
}

/** The interval, unless an end is too large for a number; with one run of a model a lower bound. */
export function boundsOf(
  { interval }: Lead,
  { confidence, looks, singleRuns }: Pick<PairFacts, 'confidence' | 'looks' | 'singleRuns'>,
): string {
  if ('reason' in interval) return '';
  const level = Number((confidence * 100).toFixed(4));
  const wider = singleRuns.length === 0 ? '' : ' or wider';
  const inLooks = looks === 'once' ? 'for a single look' : 'whichever day you look';
  const ends = `${signed(interval.low)} to ${signed(interval.high)} points`;
  return ` (${level} % interval ${ends}${wider}, ${inLooks})`;
}

function whyNotAmongMany({ isShown, isShownAsOnlyPair, pairs }: PairFacts): string {
  if (isShown || !isShownAsOnlyPair) return '';
  return `On its own it would be more than chance, but the best of ${grouped(pairs)} pairs can look like this by chance.`;
}

function whatItTakes(
  { days, returns, isShown, smallestDifference, daysNeeded }: PairFacts,
  { points }: Lead,
): string {
  if (isShown || typeof smallestDifference !== 'number' || typeof points !== 'number') return '';
  const growth = 1 + Math.min(...(returns as readonly number[]));
  const needed = inPoints(smallestDifference * growth);
  const least = `Only a lead of ${needed} or more would be likely to show in ${count(days, 'day')}`;
  if (points === 0) return `${least}.`;
  if (typeof daysNeeded !== 'number')
    return `${least}. More days would not be enough for this one; more runs could be.`;
  return daysNeeded > days ? `${least}; this one would need ${inWords(daysNeeded)}.` : '';
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

function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** A fraction in percent, without the sign for it: `7.70`. */
function hundredths(fraction: number): string {
  const text = (fraction * 100).toFixed(2);
  return text === '-0.00' ? '0.00' : text.replace('-', '−');
}

/** The least that two places show. */
const LEAST = 0.00005;

function inPoints(fraction: number): string {
  return `${fraction < LEAST ? 'less than 0.01' : hundredths(fraction)} points`;
}

/** `+7.70`: a fraction in percent, without the sign for it. */
export function signed(fraction: number): string {
  return (fraction < LEAST ? '' : '+') + hundredths(fraction);
}
