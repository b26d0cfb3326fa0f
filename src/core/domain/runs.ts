import type { BaselineStrategy } from './vocabulary.ts';

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
export function runNames({ signature, repeats }: { signature: string; repeats: number }): string[] {
  return Array.from({ length: repeats }, (_, index) => runName(signature, index + 1));
}

/** A name as that of a run: `gpt-5#2` is run 2 of `gpt-5`; any other name is run 1 of its own. */
export function parseRun(name: string): { family: string; run: number } {
  const [, family = name, run = 1] = /^(.+)#([1-9]\d{0,8})$/s.exec(name) ?? [];
  return { family, run: Number(run) };
}

/** The name of an entry in a study, which its ledgers have; null is the study without a name. */
export function familyName(signature: string, study: string | null): string {
  return study === null ? signature : `${signature}@${study}`;
}

/** The name of a run in a study. */
export function nameInStudy(name: string, study: string | null): string {
  const { family, run } = parseRun(name);
  return runName(familyName(family, study), run);
}

/** The name of a run of a study without that. */
export function withoutStudy(name: string, study: string | null): string {
  const { family, run } = parseRun(name);
  return study === null ? name : runName(family.slice(0, -study.length - 1), run);
}

/** A family's name at its last `@`; null for one without. A signature may contain one too. */
export function splitStudy(family: string): { signature: string; study: string } | null {
  const at = family.lastIndexOf('@');
  return at < 1 ? null : { signature: family.slice(0, at), study: family.slice(at + 1) };
}

/** Whether every run of a baseline would do the same. */
export function isDeterministic(baseline: BaselineStrategy): boolean {
  return baseline !== 'random';
}
