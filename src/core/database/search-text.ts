/**
 * Scripts without spaces between words, and Hangul, whose particles are joined to the word before.
 */
const SCRIPTS = 'Han Hira Kana Bopo Hang Thai Laoo Khmr Mymr'
  .split(' ')
  .map((script) => `\\p{scx=${script}}`);
const UNSPACED = `[${SCRIPTS.join('')}]`;
const WORD = `[${UNSPACED}&&[\\p{L}\\p{N}]]\\p{M}*|[[\\p{L}\\p{N}]--${UNSPACED}][[\\p{L}\\p{N}\\p{M}]--${UNSPACED}]*`;
/** Made by the first search, because it takes two milliseconds, a fiftieth of a start. */
let pattern: RegExp | undefined;
const wordPattern = () => (pattern ??= new RegExp(WORD, 'gv'));
const ACCENTS = /[\u0300-\u036f]/g;
/** Of a longer word only the beginning counts. */
const MAX_WORD_LENGTH = 64;

/** A word as search compares it, and where it is in its text. */
interface WordPlace {
  word: string;
  start: number;
  end: number;
}

/**
 * The words of a text as search compares them: capitals, accents and forms of the same character
 * make no difference. In scripts without spaces each character is a word of its own, so that every
 * part of such a text can be found.
 */
export function splitWords(text: string): string[] {
  return [...findWords(text)].map(({ word }) => word);
}

function* findWords(text: string): Generator<WordPlace> {
  for (const { 0: found, index: start } of text.matchAll(wordPattern())) {
    const end = start + found.length;
    if (FOLDED.test(found)) yield { word: found.slice(0, MAX_WORD_LENGTH), start, end };
    else for (const word of foldedWords(found)) yield { word, start, end };
  }
}

const fold = (text: string) => text.toLowerCase().normalize('NFKD').replace(ACCENTS, '');
/** Words of which folding makes the same: of Latin letters, Chinese, Hangul and Kana. */
const FOLDED = /^[a-z0-9\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** Without capitals, accents and forms; a character such as ½ becomes two words. */
function foldedWords(found: string): string[] {
  return (fold(found).normalize('NFC').match(wordPattern()) ?? []).map((word) =>
    word.slice(0, MAX_WORD_LENGTH).toWellFormed(),
  );
}

/** Part of a word for SQLite's tokenizer, but not for ours. */
export const MARK = '·';

/** Words as an index has them: each with the block that it is in. */
export function inBlock(words: readonly string[], block: number): string {
  return words.map((word) => `${block}${MARK}${word}`).join(' ');
}

/** A part of a search, written without a space: its words, which stand next to each other. */
export type Phrase = readonly string[];

/** What a search asks for: each part once. Punctuation and signs have no meaning. */
export function parsePhrases(search: string): Phrase[] {
  const phrases = search
    .split(/\s+/)
    .map(splitWords)
    .filter((words) => words.length > 0);
  return [...new Map(phrases.map((words) => [words.join(' '), words])).values()];
}

/** Part of a text, and where the matches are in it: start and length in Unicode characters. */
export interface Excerpt {
  excerpt: string;
  matches: [start: number, length: number][];
}

interface Match {
  phrase: Phrase;
  start: number;
  end: number;
}

/**
 * How much of a text an excerpt shows, and how much of that before its first match; in UTF-16
 * units.
 */
const EXCERPT_LENGTH = 280;
const LEAD_LENGTH = 80;

/**
 * An excerpt of the text that has the most of the phrases, from where most of them are together.
 * Null unless each phrase is in one of the texts.
 */
export function findExcerpt(texts: readonly string[], phrases: readonly Phrase[]): Excerpt | null {
  const found = texts.map((text) => ({ text, matches: findMatches(text, phrases) }));
  const kinds = (matches: readonly Match[]) => new Set(matches.map(({ phrase }) => phrase)).size;
  if (kinds(found.flatMap(({ matches }) => matches)) < phrases.length) return null;
  const { text, matches } = found.reduce((one, other) =>
    kinds(other.matches) > kinds(one.matches) ? other : one,
  );
  return cutExcerpt(text, matches, densestMatch(matches));
}

/** Where the phrases are in a text, in its order. */
function findMatches(text: string, phrases: readonly Phrase[]): Match[] {
  const byFirstWord = Map.groupBy(phrases, ([first]) => first);
  const places = [...findWords(text)];
  return places.flatMap(({ word, start }, index) =>
    (byFirstWord.get(word) ?? [])
      .filter((phrase) => phrase.every((part, offset) => places[index + offset]?.word === part))
      .map((phrase) => ({ phrase, start, end: places[index + phrase.length - 1]?.end ?? start })),
  );
}

/** Part of a text that ends between two words. */
const PIECE = /[^]{1,2048}[\p{L}\p{N}\p{M}]*/gu;

/**
 * So many Unicode characters around the first place where a phrase is, or of the beginning. Only
 * around what looks like a phrase are words made, which takes ten times as long as to look.
 */
export function excerptAround(text: string, phrases: readonly Phrase[], length: number): string {
  const looksLike = new RegExp(phrases.map(phrasePattern).join('|') || '$^', 'u');
  const starts = Array.from(text.matchAll(PIECE), ({ index }) => index);
  let first = 0;
  for (const [place, start] of starts.entries()) {
    // With the next piece, into which a phrase may reach.
    const part = text.slice(start, starts[place + 2]);
    const [match] = looksLike.test(fold(part)) ? findMatches(part, phrases) : [];
    if (match === undefined) continue;
    first = start + match.start;
    break;
  }
  const from = edge(text, Math.max(0, Math.min(first - LEAD_LENGTH, text.length - length)));
  return [...text.slice(from, from + 2 * length)].slice(0, length).join('');
}

/**
 * A pattern that finds a phrase in folded text, and may find a part of a longer word. It does not
 * find a phrase right behind a sign that folds into letters, such as ™.
 */
function phrasePattern(phrase: Phrase): string {
  const words = phrase.map((word) => {
    const start = /^[a-z0-9]/.test(word) ? '(?<![a-z0-9])' : '';
    // What follows the beginning of a long word is unknown.
    return word.length < MAX_WORD_LENGTH
      ? start + fold(word)
      : `${start}${fold(word.slice(0, -2))}[\\p{L}\\p{N}\\p{M}]*`;
  });
  return words.join('[^\\p{L}\\p{N}]*');
}

/** The first match from which on most different phrases fit into one excerpt. */
function densestMatch(matches: readonly Match[]): Match | undefined {
  const inside = new Map<Phrase, number>();
  let [best, most, end] = [matches[0], 0, 0];
  for (const first of matches) {
    for (; (matches[end]?.end ?? Infinity) <= first.start + EXCERPT_LENGTH - LEAD_LENGTH; end += 1)
      add(inside, matches[end], 1);
    if (inside.size > most) [best, most] = [first, inside.size];
    add(inside, first, -1);
  }
  return best;
}

function add(counts: Map<Phrase, number>, match: Match | undefined, change: 1 | -1): void {
  if (match === undefined) return;
  const count = (counts.get(match.phrase) ?? 0) + change;
  if (count > 0) counts.set(match.phrase, count);
  else counts.delete(match.phrase);
}

/** The text around a match; `…` marks a cut, and no character is cut in two. */
function cutExcerpt(text: string, matches: readonly Match[], first: Match | undefined): Excerpt {
  const start = edge(text, Math.max(0, (first?.start ?? 0) - LEAD_LENGTH));
  const end = edge(text, Math.min(text.length, start + EXCERPT_LENGTH));
  const before = start > 0 ? '…' : '';
  const characterCount = (from: number, to: number) => [...text.slice(from, to)].length;
  const shown = mergeMatches(matches.filter((match) => match.start >= start && match.end <= end));
  return {
    excerpt: `${before}${text.slice(start, end)}${end < text.length ? '…' : ''}`,
    matches: shown.map((match) => [
      before.length + characterCount(start, match.start),
      characterCount(match.start, match.end),
    ]),
  };
}

/** Never between the two halves of a character. */
function edge(text: string, place: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(place)) ? place + 1 : place;
}

/** Places that overlap become one. */
function mergeMatches(matches: readonly Match[]): { start: number; end: number }[] {
  const places: { start: number; end: number }[] = [];
  for (const { start, end } of matches) {
    const last = places.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else places.push({ start, end });
  }
  return places;
}
