/** Sentences listed for one model-day; the rest are only counted. */
const MAX_SENTENCES = 10;

/** Where a difference may have an innocent reason. */
export const LOST = 'what was known at the time has been replaced without a trace';

/** What was found in one model-day, as sentences. */
export interface Notes {
  /** What does not add up. */
  problems: string[];
  /** What does not match the known prices and splits, where some of these have been lost. */
  unverifiable: string[];
}

/** Takes a sentence; it is a problem only if everything it relies on is known. */
export type Note = (sentence: string, known?: { isComplete: boolean }) => void;

export function createNotes(): { note: Note; notes(): Notes } {
  const found: Notes = { problems: [], unverifiable: [] };
  return {
    note: (sentence, { isComplete } = { isComplete: true }) =>
      void (isComplete ? found.problems : found.unverifiable).push(sentence),
    notes: () => ({ problems: shorten(found.problems), unverifiable: shorten(found.unverifiable) }),
  };
}

function shorten(sentences: readonly string[]): string[] {
  const rest = sentences.length - MAX_SENTENCES;
  return rest <= 0 ? [...sentences] : [...sentences.slice(0, MAX_SENTENCES), `and ${rest} more`];
}
