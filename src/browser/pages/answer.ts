import { getComparison } from '../api.ts';

/** Which model leads, and whether that could be chance: what a visitor comes for. */

/** The answer of a comparison; null where there is none, as of too many models. */
export async function askWhoLeads(query: string, signal: AbortSignal): Promise<string | null> {
  const comparison = await getComparison(query, signal).catch(() => null);
  return comparison && inLines(comparison.answer.sentence);
}

/** With the sign of each percentage on the line of its number. */
export function inLines(sentence: string): string {
  return sentence.replaceAll(' %', '\u00a0%');
}
