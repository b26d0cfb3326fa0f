import { count, list } from '../basics/sentences.ts';
import type { Figure } from '../performance/figure.ts';
import type { Period } from './looks.ts';
import type { ModelReport } from './models.ts';
import type { PairReport } from './pairs.ts';
import { MIN_DAYS } from './participants.ts';
import { boundsOf, type Lead, leadOf, signed } from './sentences.ts';

/** A benchmark over the days compared, or why it has no return over them. */
export type BenchmarkReturn = { name: string; totalReturn: number } | { reason: string };

/** Who leads, said once for all who show it. */
export interface Answer {
  /** The model with the highest return; null where none has one. */
  leader: string | null;
  totalReturn: Figure;
  /** The next model that it is paired with; null without one. */
  against: string | null;
  /** The leader's return minus that of the other, and its interval. */
  lead: Figure;
  interval: Lead['interval'];
  /** Whether the lead is more than chance. */
  isShown: boolean;
  benchmark: BenchmarkReturn;
  /** The models whose return may contain a split that the prices do not know: none of them leads. */
  leftOut: string[];
  sentence: string;
}

type Model = Pick<ModelReport, 'model' | 'totalReturn'>;
type Pair = Pick<
  PairReport,
  'model' | 'against' | 'returns' | 'interval' | 'isShown' | 'singleRuns'
>;

export interface AnswerFacts extends Period {
  models: readonly Model[];
  pairs: readonly Pair[];
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
export function answerOf(facts: AnswerFacts): Answer {
  const { benchmark, suspected } = facts;
  const [leader, ...others] = facts.models
    .flatMap(({ model, totalReturn: own }) =>
      typeof own !== 'number' || suspected.has(model) ? [] : [{ model, own }],
    )
    .sort((one, other) => other.own - one.own);
  const pair = others
    .map(({ model }) =>
      facts.pairs.find((any) =>
        [leader?.model, model].every((name) => name === any.model || name === any.against),
      ),
    )
    .find((found) => found !== undefined);
  const missing = leader === undefined ? NO_LEADER : NOTHING_TO_COMPARE;
  const lead = pair && leadOf(pair);
  const than = overSecond(pair, facts);
  const words =
    leader === undefined
      ? whatIsMissing(facts)
      : inWords(leader, [pair ? 'leads with' : 'made', than], facts);
  return {
    leader: leader?.model ?? null,
    totalReturn: leader?.own ?? missing,
    against: lead?.second ?? null,
    lead: lead?.points ?? missing,
    interval: lead?.interval ?? missing,
    isShown: pair?.isShown ?? false,
    benchmark,
    leftOut: [...suspected.keys()],
    sentence: words + whoIsLeftOut(facts),
  };
}

interface Ranked {
  model: string;
  own: number;
}

function inWords(
  { model, own }: Ranked,
  [how, than]: readonly [string, string],
  { benchmark, days }: AnswerFacts,
): string {
  const over = `over ${count(days, 'day')}`;
  const made = (verb: string) => `${model} ${verb} ${signed(own)} %`;
  const first = `${made(how)} ${over}${than}.`;
  if ('reason' in benchmark) return first;
  const { name, totalReturn } = benchmark;
  const its = `made ${signed(totalReturn)} %`;
  return own > totalReturn
    ? `${first} The benchmark (${name}) ${its} over the same days.`
    : `No model beat the benchmark (${name}), which ${its} ${over}. ${made('came closest with')}${than}.`;
}

function overSecond(pair: Pair | undefined, period: Period): string {
  if (pair === undefined) return '; no other model can be compared with it';
  const lead = leadOf(pair);
  if (lead.points === 0) return `, level with ${lead.second}`;
  const verdict = pair.isShown ? 'is more than chance' : 'could be chance';
  const bounds = boundsOf(lead, { ...period, singleRuns: pair.singleRuns });
  return `; its lead of ${lead.words} over ${lead.second} ${verdict}${bounds}`;
}

function whoIsLeftOut({ suspected }: AnswerFacts): string {
  if (suspected.size === 0) return '';
  const [names, splits] = [suspected.keys(), new Set([...suspected.values()].flat())].map((all) =>
    list([...all], { most: MAX_NAMED }),
  );
  return ` Left out until possible splits are settled: ${names} (${splits}).`;
}

function whatIsMissing({ models, days }: AnswerFacts): string {
  if (models.length < 2)
    return `A comparison needs two models; there is ${models.length === 0 ? 'none' : 'one'}.`;
  if (days >= MIN_DAYS) return `No leader can be named over these ${days} days.`;
  const there = days === 0 ? 'are none' : `${days === 1 ? 'is' : 'are'} ${days}`;
  return `It takes ${MIN_DAYS} days in common to say whether a difference could be chance; so far there ${there}.`;
}
