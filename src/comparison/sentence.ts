import { TRADING_DAYS_PER_YEAR } from '../performance/conventions.ts';
import type { Figure } from '../performance/figure.ts';
import type { Interval } from './difference.ts';

/** What the sentence of a pair is made from; returns and differences over the period. */
export interface PairFacts {
  model: string;
  against: string;
  difference: Figure;
  interval: Interval | { reason: string };
  days: number;
  isShown: boolean;
  /** Whether the difference would be shown if this were the only pair. */
  isShownAsOnlyPair: boolean;
  pairs: number;
  smallestDifference: Figure;
  daysNeeded: Figure;
  singleRuns: readonly string[];
}

/**
 * What a pair shows, in a sentence: the model with the higher return first, such as "gpt-5 ahead of
 * claude by 1.0 % over 20 days, [−4.7 %, +6.9 %]: not shown. These 20 days can show 7.7 % or more;
 * this would need about 1,180."
 */
export function sentenceOf(facts: PairFacts): string {
  return [claim(facts), whyNotAmongMany(facts), whatItTakes(facts), lowerBound(facts)]
    .filter(Boolean)
    .join(' ');
}

function claim(facts: PairFacts): string {
  const { model, against, difference, interval, days, isShown } = facts;
  const isBehind = typeof difference === 'number' && difference < 0;
  const [first, second] = isBehind ? [against, model] : [model, against];
  const ends = 'low' in interval ? (isBehind ? turned(interval) : interval) : null;
  const range =
    ends === null || ends.high === Infinity ? '' : `, [${signed(ends.low)}, ${signed(ends.high)}]`;
  return `${first} ${lead(difference, second)} over ${days} days${range}: ${isShown ? 'shown' : 'not shown'}.`;
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
  return `As the only pair it would be shown; the best of ${grouped(pairs)} pairs can look like this by chance.`;
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
  return `about ${grouped(Number(days.toPrecision(3)))}`;
}

function lowerBound({ singleRuns }: PairFacts): string {
  if (singleRuns.length === 0) return '';
  const who = singleRuns.length === 2 ? 'With one run each' : `With one run of ${singleRuns[0]}`;
  return `${who}, the interval is a lower bound: one run tells nothing about a model's own chance.`;
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
