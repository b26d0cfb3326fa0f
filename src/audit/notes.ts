/** Of one model-day; of more the number is told. */
const MAX_SENTENCES = 10;

/** What was found in one model-day, as sentences. */
export interface Notes {
  /** What does not add up. */
  problems: string[];
  /** What does not fit what is known, where not everything is known. */
  unverifiable: string[];
}

/** Takes a sentence; one of which not all is known is no problem. */
export type Note = (sentence: string, known?: { isComplete: boolean }) => void;

export function createNotes(): { note: Note; notes(): Notes; isEmpty(): boolean } {
  const found: Notes = { problems: [], unverifiable: [] };
  return {
    note: (sentence, { isComplete } = { isComplete: true }) =>
      void (isComplete ? found.problems : found.unverifiable).push(sentence),
    isEmpty: () => found.problems.length + found.unverifiable.length === 0,
    notes: () => ({ problems: shorten(found.problems), unverifiable: shorten(found.unverifiable) }),
  };
}

function shorten(sentences: readonly string[]): string[] {
  const rest = sentences.length - MAX_SENTENCES;
  return rest <= 0 ? [...sentences] : [...sentences.slice(0, MAX_SENTENCES), `and ${rest} more`];
}
