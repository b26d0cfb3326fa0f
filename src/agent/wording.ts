/**
 * The version of everything that a model reads: prompt, morning report, tools with their
 * descriptions, replies and refusals. It is stored with each committed session, so that any later
 * program can replay the session. The universe is stored with the job.
 *
 * 1: the first. 2: a power is calculated in one way everywhere; a refused purchase counts the
 * commission; an error is one sentence, once.
 *
 * To change a text, add a version to the end of this list and keep the functions of the earlier
 * ones: the compiler asks for both in `prompt.ts` and in `trading/tools.ts`.
 */
export type Wording = 1 | 2;

/** What models read now. */
export const WORDING: Wording = 2;

const wordings: readonly Wording[] = [1, 2];

/** A stored version; undefined for one that this program does not know. */
export function wordingOf(version: number): Wording | undefined {
  return wordings.find((known) => known === version);
}
