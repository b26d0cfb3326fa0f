/** How much of two texts that differ is shown, around the place where they begin to. */
const BEFORE = 24;
const AFTER = 56;

/**
 * What a difference is in: `words`, which the model read, `books`, which were committed, or `answers`, the record itself, which
 * nothing else can excuse.
 */
type Kind = 'words' | 'books' | 'answers';

/** Something of a model-day that is stored and that replay makes otherwise. */
export interface Difference {
  kind: Kind;
  /** As a sentence. */
  said: string;
  /** Whose prices it comes from; empty when it may be any. */
  symbols: readonly string[];
}

/** Collects the differences of one model-day. */
export interface Comparison {
  readonly differences: Difference[];
  note(kind: Kind, said: string, symbols?: readonly string[]): void;
  /** Notes two values that are not the same. */
  compare(what: string, pair: { kind: Kind; stored: unknown; replayed: unknown; symbols?: readonly string[] }): void;
}

/** A comparison without differences yet. */
export function createComparison(): Comparison {
  const differences: Difference[] = [];
  const note: Comparison['note'] = (kind, said, symbols = []) => void differences.push({ kind, said, symbols });
  return {
    differences,
    note,
    compare(what, { kind, stored, replayed, symbols }) {
      if (stored === asStored(replayed)) return;
      const [was, is] = excerpts(stored, asStored(replayed));
      note(kind, `${what}: ${was} is stored, replayed it is ${is}`, symbols);
    },
  };
}

/** As the database keeps it: half a character becomes another one. */
function asStored(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** Two values; of two texts, what there is from shortly before the place where they begin to differ. */
function excerpts(one: unknown, other: unknown): [string, string] {
  if (typeof one !== 'string' || typeof other !== 'string') return [shown(one), shown(other)];
  let place = 0;
  while (place < one.length && one[place] === other[place]) place += 1;
  const start = Math.max(0, place - BEFORE);
  const excerpt = (text: string) =>
    shown(`${start > 0 ? '…' : ''}${text.slice(start, place + AFTER)}${text.length > place + AFTER ? '…' : ''}`);
  return [excerpt(one), excerpt(other)];
}

function shown(value: unknown): string {
  if (typeof value !== 'string') return value === null || value === undefined ? 'nothing' : String(value);
  return `"${value.length > 2 * AFTER ? `${value.slice(0, AFTER)}…` : value}"`;
}
