import { count } from '../basics/sentences.ts';
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
}

const NO_LEADER = { reason: 'No model has figures' };
const NO_OTHER = { reason: 'There is no other model to compare it with' };

/**
 * The model with the highest return, whether its lead could be chance, and what the benchmark made,
 * such as "gpt-5 leads with +3.20 % over 55 days; its lead of 1.80 points over claude could be
 * chance (95 % interval −1.60 to +5.30 points, whichever day you look). The benchmark (QQQ) made
 * +2.10 % over the same days."
 */
export function answerOf(facts: AnswerFacts): Answer {
  const { benchmark } = facts;
  const [leader, ...others] = facts.models
    .filter(({ totalReturn }) => typeof totalReturn === 'number')
    .sort((one, other) => returnOf(other) - returnOf(one));
  const pairWith = ({ model }: Model) =>
    facts.pairs.find((pair) =>
      [leader?.model, model].every((name) => name === pair.model || name === pair.against),
    );
  const pair = others.map(pairWith).find((found) => found !== undefined);
  const missing = leader === undefined ? NO_LEADER : NO_OTHER;
  const lead = pair === undefined ? null : leadOf(pair);
  return {
    leader: leader?.model ?? null,
    totalReturn: leader?.totalReturn ?? missing,
    against: lead?.second ?? null,
    lead: lead?.points ?? missing,
    interval: lead?.interval ?? missing,
    isShown: pair?.isShown ?? false,
    benchmark,
    sentence:
      leader === undefined ? whatIsMissing(facts) : answerInWords(leader, { pair, lead }, facts),
  };
}

function returnOf({ totalReturn }: Model): number {
  return typeof totalReturn === 'number' ? totalReturn : NaN;
}

interface Second {
  pair: Pair | undefined;
  lead: Lead | null;
}

function answerInWords(leader: Model, second: Second, facts: AnswerFacts): string {
  const { benchmark, days } = facts;
  const own = returnOf(leader);
  const over = `over ${count(days, 'day')}`;
  const than = overSecond(second, facts);
  const made = (verb: string) => `${leader.model} ${verb} ${signed(own)} %`;
  const first = `${made(second.lead === null ? 'made' : 'leads with')} ${over}${than}.`;
  if ('reason' in benchmark) return first;
  const { name, totalReturn } = benchmark;
  const its = `made ${signed(totalReturn)} %`;
  return own > totalReturn
    ? `${first} The benchmark (${name}) ${its} over the same days.`
    : `No model beat the benchmark (${name}), which ${its} ${over}. ${made('came closest with')}${than}.`;
}

function overSecond({ pair, lead }: Second, period: Period): string {
  if (pair === undefined || lead === null) return '; no other model can be compared with it';
  const { second, points, words } = lead;
  if (points === 0) return `, level with ${second}`;
  const verdict = pair.isShown ? 'is more than chance' : 'could be chance';
  const bounds = boundsOf(lead, { ...period, singleRuns: pair.singleRuns });
  return `; its lead of ${words} over ${second} ${verdict}${bounds}`;
}

function whatIsMissing({ models, days }: AnswerFacts): string {
  if (models.length < 2)
    return `A comparison needs two models; there is ${models.length === 0 ? 'none' : 'one'}.`;
  if (days >= MIN_DAYS) return `None of these models can be compared over these ${days} days.`;
  const there = days === 0 ? 'are none' : `${days === 1 ? 'is' : 'are'} ${days}`;
  return `It takes ${MIN_DAYS} days in common to say whether a difference could be chance; so far there ${there}.`;
}
