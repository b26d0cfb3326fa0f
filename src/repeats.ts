import type { BaselineStrategy } from './domain.ts';
import { repeatIn, runName } from './entry.ts';

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

/** What is wrong with the repeats of a configuration's entries. A signature has at most `maxLength` characters. */
export function repeatProblems(entries: readonly Repeated[], maxLength: number): Problem[] {
  const repeats = new Map(entries.map((entry) => [entry.signature, entry.repeats]));
  return entries.flatMap(({ signature, repeats: own, baseline }, index): Problem[] => {
    const { family = '', run = 0 } = repeatIn(signature) ?? {};
    const isTaken = run > 1 && run <= (repeats.get(family) ?? 1);
    const isTooLong = [...runName(signature, own)].length > maxLength;
    const isPointless = own > 1 && baseline !== null && isDeterministic(baseline);
    const problems = [
      isTaken && ({ key: 'signature', message: `is the name of a repeat of '${family}' as well` } as const),
      isTooLong && ({ key: 'signature', message: `leaves no room for '#${own}' in the names of its repeats` } as const),
      isPointless && ({ key: 'repeats', message: `must be 1: every run of baseline/${baseline} would do the same` } as const),
    ];
    return problems.filter((problem) => problem !== false).map((problem) => ({ index, ...problem }));
  });
}

/** Whether every run of a baseline would do the same. */
export function isDeterministic(baseline: BaselineStrategy): boolean {
  return baseline !== 'random';
}
