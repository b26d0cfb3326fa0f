import { count, list } from '../basics/sentences.ts';
import type { Figure } from '../performance/figure.ts';
import { reportWithInterval, toDigits } from './difference.ts';
import { type Day, MIN_DAYS } from './participants.ts';
import { type Lead, signed } from './sentences.ts';

/** A benchmark over the days compared, or why it has no return over them. */
export type BenchmarkReturn = { name: string; totalReturn: number } | { reason: string };

export interface AnswerFacts {
  /** With their returns. */
  models: readonly { model: string; totalReturn: Figure }[];
  /** Of the pairs. */
  leads: readonly Lead[];
  days: readonly Day[];
  benchmark: BenchmarkReturn;
  /** By model, the unknown splits that its return may contain, such as `ORLY on 2025-06-10`. */
  suspected: ReadonlyMap<string, readonly string[]>;
}

/** Models and splits in one sentence. */
const MAX_NAMED = 3;
const NO_LEADER = { reason: 'No model has figures' };
export const NOTHING_TO_COMPARE = { reason: 'There is no other model to compare it with' };

/**
 * The model with the highest return, whether its lead could be chance, and what the benchmark made,
 * such as "gpt-5 leads with +3.20 % over 55 days; its lead of 1.80 points over claude could be
 * chance (95 % interval −1.60 to +5.30 points, whichever day you look). The benchmark (QQQ) made
 * +2.10 % over the same days."
 */
export function answerOf(facts: AnswerFacts) {
  const { benchmark, suspected, days, leads } = facts;
  const [leader, ...others] = facts.models
    .flatMap(({ model, totalReturn: own }) =>
      typeof own !== 'number' || suspected.has(model) ? [] : [{ model, own }],
    )
    .sort((one, other) => other.own - one.own);
  const lead = others
    .map(({ model }) =>
      leads.find(({ first, second }) =>
        [leader?.model, model].every((name) => name === first || name === second),
      ),
    )
    .find((found) => found !== undefined);
  const missing = leader === undefined ? NO_LEADER : NOTHING_TO_COMPARE;
  const { interval, unavailable, ...figures } = reportWithInterval(
    { total_return: leader?.own ?? missing, lead: lead?.points ?? missing },
    lead?.interval ?? missing,
  );
  const isKnown = 'name' in benchmark;
  const dateOf = (day: Day | undefined) => (typeof day === 'string' ? day : null);
  return {
    sentence:
      (leader === undefined ? whatIsMissing(facts) : inWords(leader, lead, facts)) +
      whoIsLeftOut(facts),
    /** The model with the highest return; null where none has one. */
    leader: leader?.model ?? null,
    /** The next model that it is paired with; null without one. */
    against: lead?.second ?? null,
    ...figures,
    interval,
    shown: lead?.isShown ?? false,
    /** The models whose return may contain a split that the prices do not know: none of them leads. */
    left_out: [...suspected.keys()],
    benchmark: isKnown
      ? { name: benchmark.name, total_return: toDigits(benchmark.totalReturn) }
      : null,
    days: days.length,
    start_date: dateOf(days[0]),
    end_date: dateOf(days.at(-1)),
    unavailable: { ...unavailable, ...(!isKnown && { benchmark: benchmark.reason }) },
  };
}

function inWords(
  { model, own }: { model: string; own: number },
  lead: Lead | undefined,
  { benchmark, days }: AnswerFacts,
): string {
  const over = `over ${count(days.length, 'day')}`;
  const than = overSecond(lead);
  const made = (verb: string) => `${model} ${verb} ${signed(own)} %`;
  const first = `${made(lead === undefined ? 'made' : 'leads with')} ${over}${than}.`;
  if ('reason' in benchmark) return first;
  const { name, totalReturn } = benchmark;
  const its = `made ${signed(totalReturn)} %`;
  return own > totalReturn
    ? `${first} The benchmark (${name}) ${its} over the same days.`
    : `No model beat the benchmark (${name}), which ${its} ${over}. ${made('came closest with')}${than}.`;
}

function overSecond(lead: Lead | undefined): string {
  if (lead === undefined) return '; no other model can be compared with it';
  const { second, points, words, isShown, bounds } = lead;
  if (points === 0) return `, level with ${second}`;
  return `; its lead of ${words} over ${second} ${isShown ? 'is more than chance' : 'could be chance'}${bounds}`;
}

function whoIsLeftOut({ suspected }: AnswerFacts): string {
  if (suspected.size === 0) return '';
  const [names, splits] = [suspected.keys(), new Set([...suspected.values()].flat())].map((all) =>
    list([...all], { most: MAX_NAMED }),
  );
  return ` Left out until possible splits are settled: ${names} (${splits}).`;
}

function whatIsMissing({ models, days: { length: days } }: AnswerFacts): string {
  if (models.length < 2)
    return `A comparison needs two models; there is ${models.length === 0 ? 'none' : 'one'}.`;
  if (days >= MIN_DAYS) return `No leader can be named over these ${days} days.`;
  const there = days === 0 ? 'are none' : `${days === 1 ? 'is' : 'are'} ${days}`;
  return `It takes ${MIN_DAYS} days in common to say whether a difference could be chance; so far there ${there}.`;
}
