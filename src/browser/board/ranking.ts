import { byName, counted, longDate } from '../format.ts';
import type { Performance } from '../responses.ts';

/** What a ranking covers and what it leaves out. */
interface Ranking {
  /** Sentences. */
  words: string[];
  /** Models that are not ranked, each with the reason. */
  models: { model: string; reason: string }[];
  /** Days that do not count, each with the models that do not share it. */
  days: { date: string; reason: string }[];
}

type Choice = 'common' | 'clean_after' | 'without_clean_days' | 'without_completed_days';
type Ranked = Pick<Performance, Choice> & { models: readonly unknown[] };

/** Over which days the models are ranked, and which days and models are left out and why. */
export function rankingOf({ common, clean_after: cutoff, models, ...without }: Ranked): Ranking {
  const unclean = [...without.without_clean_days, ...without.without_completed_days];
  const clean =
    cutoff === null
      ? []
      : [`Only days after ${longDate(cutoff)}, the latest knowledge cutoff, count.`];
  if (common === null) {
    const own =
      'Each model is measured over all its own days. Where these differ, the order says little about which model is better.';
    return { words: [own, ...clean], models: unclean, days: [] };
  }
  const {
    start_date: first,
    end_date: last,
    days,
    left_out: leftOut,
    left_out_days: leftOutDays,
  } = common;
  const all = models.length === 1 ? 'the model has' : `all ${counted(models.length, 'model')} have`;
  const span =
    first === null || last === null ? '' : ` from ${longDate(first)} to ${longDate(last)}`;
  const ranked = `Ranked over the ${counted(days, 'day')}${span} on which ${all} a return from the same close.`;
  const over = days === 0 ? 'The models have no day in common.' : ranked;
  const number = leftOutDays.length;
  const [doNot, them] = number === 1 ? ['does', 'it'] : ['do', 'them'];
  const less =
    `${counted(number, 'day')} ${doNot} not count, because at least one model has no return for ${them}, or a return that also ` +
    'covers an earlier day it missed.';
  return {
    words: [over, ...(number > 0 ? [less] : []), ...clean],
    models: [...leftOut, ...unclean],
    days: leftOutDays.map(({ date, missing, models: names }) => ({
      date,
      reason: `not shared by ${namesOf(names, missing)}`,
    })),
  };
}

function namesOf(names: readonly string[], all: number): string {
  const more = all - names.length;
  return names.join(', ') + (more > 0 ? ` and ${counted(more, 'more model')}` : '');
}

/**
 * The families in the order of their names, and the runs of each: those of `gpt-9` before `gpt-10`,
 * `gpt-9#2` before `gpt-9#10`.
 */
export function familiesInOrder<
  Family extends { family: string; runs: readonly { model: string }[] },
>(families: readonly Family[]): Family[] {
  const inOrder = families.toSorted((one, other) => byName(one.family, other.family));
  return inOrder.map((own) => ({
    ...own,
    runs: own.runs.toSorted((one, other) => byName(one.model, other.model)),
  }));
}
