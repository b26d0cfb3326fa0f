/** Characters shown of two texts, before and after the place where they begin to differ. */
const BEFORE = 24;
const AFTER = 56;

/**
 * Where a difference is: in `words`, which the model read; in `books`, which were committed; or in
 * `answers`, the record itself, which must be whole.
 */
type Kind = 'words' | 'books' | 'answers';

/** Something that is stored of a model-day and that replay makes differently. */
export interface Difference {
  kind: Kind;
  sentence: string;
  /** Whose prices it comes from; empty when it may be any. */
  symbols: readonly string[];
}

/** What is stored, and what replay makes of it. */
interface Pair {
  kind: Kind;
  stored: unknown;
  replayed: unknown;
  symbols?: readonly string[];
  /** The end of the sentence. */
  more?: string;
}

/** Collects the differences of one model-day. */
export interface Comparison {
  readonly differences: Difference[];
  note(kind: Kind, sentence: string, symbols?: readonly string[]): void;
  /** Notes two values that are not the same. */
  compare(what: string, pair: Pair): void;
}

/** A comparison without differences yet. */
export function createComparison(): Comparison {
  const differences: Difference[] = [];
  const note: Comparison['note'] = (kind, sentence, symbols = []) =>
    void differences.push({ kind, sentence, symbols });
  return {
    differences,
    note,
    compare(what, { kind, stored, replayed, symbols, more = '' }) {
      if (stored === asStored(replayed)) return;
      const [was, is] = excerpts(stored, asStored(replayed));
      note(kind, `${what}: stored ${was}, replayed ${is}${more}`, symbols);
    },
  };
}

/** As the database keeps it: half a character becomes another one. */
function asStored(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/**
 * Two values; of two texts, an excerpt from shortly before the place where they begin to differ.
 */
function excerpts(one: unknown, other: unknown): [string, string] {
  if (typeof one !== 'string' || typeof other !== 'string') return [shown(one), shown(other)];
  let place = 0;
  while (place < one.length && one[place] === other[place]) place += 1;
  const start = Math.max(0, place - BEFORE);
  const excerpt = (text: string) =>
    shown(
      `${start > 0 ? '…' : ''}${text.slice(start, place + AFTER)}${text.length > place + AFTER ? '…' : ''}`,
    );
  return [excerpt(one), excerpt(other)];
}

function shown(value: unknown): string {
  if (typeof value !== 'string')
    return value === null || value === undefined ? 'nothing' : String(value);
  return `"${value.length > 2 * AFTER ? `${value.slice(0, AFTER)}…` : value}"`;
}
