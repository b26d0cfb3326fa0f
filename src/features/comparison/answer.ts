import { count, formatNumber, list } from '#text/sentences.ts';
import { type Figure, TOO_LARGE, TRADING_DAYS_PER_YEAR } from '../statistics/figure.ts';
import { reportWithInterval, toDigits, type Interval, type Missing } from './difference.ts';
import type { DayKey } from './participants.ts';
import { MIN_DAYS, type Period } from './looks.ts';
import { noLead } from './planning.ts';

/** What a comparison says in words. */

/**
 * How far the return of one model of a pair is above that of the other, as the difference of both:
 * 0.0038 is 0.38 percentage points.
 */
export type Lead = ReturnType<typeof measureLead>;

/** What the lead in a pair is computed from. */
export interface PairFacts {
  model: string;
  against: string;
  /** Of both over the period, in this order. */
  returns: readonly [Figure, Figure];
  /** Interval of the difference of growth. */
  interval: Interval | Missing;
  isShown: boolean;
  /**
   * Those of the two for which the interval is a lower bound, because one run does not show how
   * much a model itself varies.
   */
  singleRuns: readonly string[];
  period: Period;
}

/** A difference of growth times the growth of the second model is one of returns. */
export function measureLead(facts: PairFacts) {
  const { model, against, returns, isShown, period } = facts;
  const [one = NaN, other = NaN] = returns.map((own) => (typeof own === 'number' ? own : Infinity));
  const isBehind = one < other;
  const [first, second] = isBehind ? [against, model] : [model, against];
  const points = Math.abs(one - other);
  const isKnown = Number.isFinite(points);
  const apart = Math.abs(shownPercent(one) - shownPercent(other)) / 100;
  const least = Math.min(one, other);
  const interval = leadInterval(facts, { isBehind, growth: 1 + least });
  const inWords = (own: Interval | Missing) =>
    intervalText(own, { ...period, singleRuns: facts.singleRuns });
  return {
    first,
    second,
    /** Not below 0. */
    points: isKnown ? points : TOO_LARGE,
    /**
     * `0.38 points`: the difference of both returns as they are shown; `far` where it is too large.
     */
    words: isKnown ? pointsText(apart || points) : 'far',
    /** That of the pair, in points. */
    interval,
    /** The interval in words; '' where an end is too large for a number. */
    bounds: inWords(interval),
    /** The same of the second minus the first. */
    reverseBounds: inWords(
      'reason' in interval ? interval : { low: 0 - interval.high, high: 0 - interval.low },
    ),
    isShown,
    /** The return of the one behind. */
    least,
    days: period.days,
  };
}

function leadInterval(
  { interval }: PairFacts,
  { isBehind, growth }: { isBehind: boolean; growth: number },
): Interval | Missing {
  if ('reason' in interval) return interval;
  const [low, high] = isBehind
    ? [opposite(interval.high), opposite(interval.low)]
    : [interval.low, interval.high];
  return Number.isFinite(high * growth) ? { low: low * growth, high: high * growth } : TOO_LARGE;
}

function shownPercent(fraction: number): number {
  return Number((fraction * 100).toFixed(2));
}

/** The second model's growth over the first one's, minus 1. */
function opposite(difference: number): number {
  return -difference / (1 + difference);
}

/** With one run of a model the interval is a lower bound. */
function intervalText(
  interval: Interval | Missing,
  { confidence, looks, singleRuns }: Period & Pick<PairFacts, 'singleRuns'>,
): string {
  if ('reason' in interval) return '';
  const level = Number((confidence * 100).toFixed(4));
  const wider = singleRuns.length === 0 ? '' : ' or wider';
  const inLooks = looks === 'once' ? 'for a single look' : 'whichever day you look';
  const ends = `${signedPercent(interval.low)} to ${signedPercent(interval.high)} points`;
  return ` (${level} % interval ${ends}${wider}, ${inLooks})`;
}

/** How a sentence tells one model of a pair from the other. */
export interface PairTerms {
  /** Why there are no figures: they differ in what the request does not name. Else null. */
  barred: Missing | null;
  /** Of the model that was requested first, and of the other. */
  sides: readonly [PairSide, PairSide] | null;
}

export interface PairSide {
  model: string;
  /** Its name without its study. */
  name: string;
  /** `the open hidden and no trading costs`. */
  terms: string;
}

/** Null for two models of one study, which no terms need tell apart. */
export type PairTermsReader = (one: string, other: string) => PairTerms | null;

/**
 * What it would take for a difference to be shown, and whether it would be if there were no other
 * pairs.
 */
export interface Demands {
  smallestDifference: Figure;
  daysNeeded: Figure;
  /** Whether the difference would be shown if this were the only pair. */
  isShownAsOnlyPair: boolean;
  pairs: number;
  /** What tells models of two studies apart; null for those of one. */
  terms: PairTerms['sides'];
}

/**
 * What a pair shows, in sentences: the model with the higher return first, such as "gpt-5 is 1.01
 * points ahead of claude over 20 days (95 % interval −4.70 to +6.90 points, for a single look).
 * This could be chance. In 20 days only a lead of about 7.70 points or more can be detected; this
 * one would need about 1,180 days."
 */
export function pairSentence(lead: Lead, demands: Demands): string {
  const { first, second, points, words, isShown, days, bounds } = lead;
  const ahead = points === 0 ? `level with ${second}` : `${words} ahead of ${second}`;
  const { terms } = demands;
  const start =
    terms === null
      ? `${first} is ${ahead} over ${count(days, 'day')}${bounds}.`
      : termsSentence(lead, terms);
  const { isShownAsOnlyPair, pairs } = demands;
  const manyPairs = isShownAsOnlyPair
    ? ` after correcting for ${formatNumber(pairs)} pairs, although the interval excludes 0`
    : '';
  const verdict = isShown ? 'This is more than chance.' : `This could be chance${manyPairs}.`;
  return [start, points === 0 ? '' : verdict, demandSentence(lead, demands)]
    .filter(Boolean)
    .join(' ');
}

/** "With the open hidden gpt made 1.2 points less than with the open shown over 60 days." */
function termsSentence(
  { first, points, words, days, bounds, reverseBounds }: Lead,
  [one, other]: NonNullable<PairTerms['sides']>,
): string {
  const isAhead = one.model === first;
  const made = points === 0 ? 'as much as' : `${words} ${isAhead ? 'more' : 'less'} than`;
  const whose = one.name === other.name ? '' : ` ${other.name}`;
  const interval = isAhead ? bounds : reverseBounds;
  return `With ${one.terms} ${one.name} made ${made}${whose} with ${other.terms} over ${count(days, 'day')}${interval}.`;
}

function demandSentence(
  { points, isShown, least, days }: Lead,
  { smallestDifference, daysNeeded }: Demands,
): string {
  if (isShown || typeof points !== 'number') return '';
  if (typeof smallestDifference !== 'number') {
    const { reason } = smallestDifference;
    return reason === noLead(days) ? `${reason}.` : '';
  }
  const needed = pointsText(smallestDifference * (1 + least));
  const demand = `In ${count(days, 'day')} only a lead of about ${needed} or more can be detected`;
  if (points === 0) return `${demand}.`;
  if (typeof daysNeeded !== 'number')
    return `${demand}. More days will not settle this one; more repeats might.`;
  return daysNeeded > days ? `${demand}; this one would need ${daysText(daysNeeded)}.` : '';
}

/**
 * Longer than any experiment: a larger number of days would only look exact. `days_needed` has it
 * all the same.
 */
const MAX_COUNTED_YEARS = 100;

function daysText(days: number): string {
  if (days > MAX_COUNTED_YEARS * TRADING_DAYS_PER_YEAR)
    return `more than ${MAX_COUNTED_YEARS} years of trading days`;
  return `about ${formatNumber(Number(days.toPrecision(3)))} days`;
}

/** A fraction in percent, without the sign for it: `7.70`. */
function percentText(fraction: number): string {
  const text = (fraction * 100).toFixed(2);
  return text === '-0.00' ? '0.00' : text.replace('-', '−');
}

/** The least that two places show. */
const MIN_SHOWN = 0.00005;

function pointsText(fraction: number): string {
  return `${fraction < MIN_SHOWN ? 'less than 0.01' : percentText(fraction)} points`;
}

/** `+7.70`: a fraction in percent, without the sign for it. */
function signedPercent(fraction: number): string {
  return (fraction < MIN_SHOWN ? '' : '+') + percentText(fraction);
}

/** A benchmark over the days compared, or why it has no return over them. */
export type BenchmarkReturn = { name: string; totalReturn: number } | { reason: string };

export interface AnswerFacts {
  /** With their returns. */
  models: readonly { model: string; totalReturn: Figure }[];
  /** Of the pairs. */
  leads: readonly Lead[];
  /** Why none of them leads, whatever their returns: their studies differ; else null. */
  barred: Missing | null;
  days: readonly DayKey[];
  benchmark: BenchmarkReturn;
  /** By model, the unknown splits that its return may contain, such as `ORLY on 2025-06-10`. */
  suspected: ReadonlyMap<string, readonly string[]>;
  /** By model, why it cannot be compared with the others; the sentence names each. */
  leftOut: ReadonlyMap<string, string>;
}

/** Models and splits in one sentence. */
const MAX_NAMED_MODELS = 3;
const NO_LEADER = { reason: 'No model has figures' };
export const NOTHING_TO_COMPARE = { reason: 'There is no other model to compare it with' };

/**
 * The model with the highest return, whether its lead could be chance, and what the benchmark made,
 * such as "gpt-5 leads with +3.20 % over 55 days; its lead of 1.80 points over claude could be
 * chance (95 % interval −1.60 to +5.30 points, whichever day you look). The benchmark (QQQ) made
 * +2.10 % over the same days."
 */
export function reportAnswer(facts: AnswerFacts) {
  const { benchmark, suspected, leftOut, days, leads, barred } = facts;
  const [leader, ...others] = facts.models
    .flatMap(({ model, totalReturn: own }) =>
      barred || typeof own !== 'number' || suspected.has(model) || leftOut.has(model)
        ? []
        : [{ model, own }],
    )
    .sort((one, other) => other.own - one.own);
  const lead = others
    .map(({ model }) =>
      leads.find(({ first, second }) =>
        [leader?.model, model].every((name) => name === first || name === second),
      ),
    )
    .find((found) => found !== undefined);
  const missing = barred ?? (leader === undefined ? NO_LEADER : NOTHING_TO_COMPARE);
  const { unavailable, ...figures } = reportWithInterval(
    { total_return: leader?.own ?? missing, lead: lead?.points ?? missing },
    lead?.interval ?? missing,
  );
  const isKnown = 'name' in benchmark;
  const dateOrNull = (day: DayKey | undefined) => (typeof day === 'string' ? day : null);
  return {
    sentence:
      (leader === undefined ? missingSentence(facts) : answerSentence(leader, lead, facts)) +
      leftOutSentence(facts),
    leader: leader?.model ?? null,
    against: lead?.second ?? null,
    ...figures,
    shown: lead?.isShown ?? false,
    left_out: [...new Set([...suspected.keys(), ...leftOut.keys()])],
    benchmark: isKnown
      ? { name: benchmark.name, total_return: toDigits(benchmark.totalReturn) }
      : null,
    days: days.length,
    start_date: dateOrNull(days[0]),
    end_date: dateOrNull(days.at(-1)),
    unavailable: { ...unavailable, ...(!isKnown && { benchmark: benchmark.reason }) },
  };
}

function answerSentence(
  { model, own }: { model: string; own: number },
  lead: Lead | undefined,
  { benchmark, days, suspected, leftOut }: AnswerFacts,
): string {
  const none = suspected.size + leftOut.size === 0 ? 'No model' : 'No comparable model';
  const over = `over ${count(days.length, 'day')}`;
  const than = leadClause(lead);
  const made = (verb: string) => `${model} ${verb} ${signedPercent(own)} %`;
  const first = `${made(lead === undefined ? 'made' : 'leads with')} ${over}${than}.`;
  if ('reason' in benchmark) return first;
  const { name, totalReturn } = benchmark;
  const its = `made ${signedPercent(totalReturn)} %`;
  return own > totalReturn
    ? `${first} The benchmark (${name}) ${its} over the same days.`
    : `${none} beat the benchmark (${name}), which ${its} ${over}. ${made('came closest with')}${than}.`;
}

function leadClause(lead: Lead | undefined): string {
  if (lead === undefined) return '; no other model can be compared with it';
  const { second, points, words, isShown, bounds } = lead;
  if (points === 0) return `, level with ${second}`;
  return `; its lead of ${words} over ${second} ${isShown ? 'is more than chance' : 'could be chance'}${bounds}`;
}

/** Each model once: nothing need be settled of one that is not compared anyway. */
function leftOutSentence({ suspected, leftOut }: AnswerFacts): string {
  const named = (all: Iterable<string>) => list([...all], { most: MAX_NAMED_MODELS });
  const unsettled = [...suspected].filter(([model]) => !leftOut.has(model));
  const models = unsettled.map(([model]) => model);
  const doubts = new Set(unsettled.flatMap(([, own]) => own));
  const byReason = Map.groupBy(leftOut.keys(), (model) => firstClause(leftOut.get(model)));
  const others = [...byReason].map(
    ([reason, own]) => `${named(own)} (${own.length > 1 ? 'each: ' : ''}${reason})`,
  );
  return [
    models.length > 0 && ` Left out until settled: ${named(models)} (${named(doubts)}).`,
    others.length > 0 && ` Not compared: ${others.join('; ')}.`,
  ]
    .filter(Boolean)
    .join('');
}

/** What a reason says before it goes into details: `5 of its 60 model-days are stale`. */
function firstClause(reason = ''): string {
  const [clause = ''] = reason.split(/[:;] /);
  return clause.replace(/^(It|Its|Their|Needs) /, (word) => word.toLowerCase());
}

function missingSentence({ models, barred, days: { length: days } }: AnswerFacts): string {
  if (models.length < 2)
    return `A comparison needs two models; there is ${models.length === 0 ? 'none' : 'one'}.`;
  if (barred !== null) return `No leader can be named. ${barred.reason}.`;
  if (days >= MIN_DAYS) return `No leader can be named over these ${days} days.`;
  const there = days === 0 ? 'are none' : `${days === 1 ? 'is' : 'are'} ${days}`;
  return `It takes ${MIN_DAYS} days in common to say whether a difference could be chance; so far there ${there}.`;
}
