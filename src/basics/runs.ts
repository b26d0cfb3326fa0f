import type { BaselineStrategy } from './domain.ts';

/**
 * The most runs of a job; so a request may name as many models, and as many model-days may run side
 * by side.
 */
export const MAX_RUNS = 2_000;

/** The most models of a comparison: more would make more pairs than anyone reads. */
export const MAX_COMPARED = 50;

/** The name of one of an entry's runs, in every table and response: run 1 keeps the signature. */
export function runName(signature: string, run: number): string {
  return run === 1 ? signature : `${signature}#${run}`;
}

/** The names of all runs of an entry, from run 1. */
export function runNames({
  signature,
  repeats,
}: Pick<Repeated, 'signature' | 'repeats'>): string[] {
  return Array.from({ length: repeats }, (_, index) => runName(signature, index + 1));
}

/** A name as one of an entry's repeats: `gpt-5#2` is run 2 of `gpt-5`. Null for any other name. */
export function repeatIn(name: string): { family: string; run: number } | null {
  const [, family, run] = /^(.+)#([1-9]\d{0,8})$/s.exec(name) ?? [];
  return family === undefined ? null : { family, run: Number(run) };
}

/** What must hold for the names of an entry's runs. */
interface Repeated {
  signature: string;
  repeats: number;
  baseline: BaselineStrategy | null;
}

/** What is wrong with an entry, at a key of it. */
export interface Problem {
  index: number;
  key: 'signature' | 'repeats';
  message: string;
}

/**
 * What is wrong with the repeats of a configuration's entries. A signature has at most `maxLength`
 * characters.
 */
export function repeatProblems(entries: readonly Repeated[], maxLength: number): Problem[] {
  const repeats = new Map(entries.map((entry) => [entry.signature, entry.repeats]));
  return entries.flatMap(({ signature, repeats: own, baseline }, index): Problem[] => {
    const { family = '', run = 0 } = repeatIn(signature) ?? {};
    const isTaken = run > 1 && run <= (repeats.get(family) ?? 1);
    const isTooLong = [...runName(signature, own)].length > maxLength;
    const isPointless = own > 1 && baseline !== null && isDeterministic(baseline);
    const problems = [
      isTaken &&
        ({ key: 'signature', message: `is the name of a repeat of '${family}' as well` } as const),
      isTooLong &&
        ({
          key: 'signature',
          message: `leaves no room for '#${own}' in the names of its repeats`,
        } as const),
      isPointless &&
        ({
          key: 'repeats',
          message: `must be 1: every run of baseline/${baseline} would do the same`,
        } as const),
    ];
    return problems
      .filter((problem) => problem !== false)
      .map((problem) => ({ index, ...problem }));
  });
}

/** Whether every run of a baseline would do the same. */
export function isDeterministic(baseline: BaselineStrategy): boolean {
  return baseline !== 'random';
}
