/**
 * The only definition of what no terminal, log line, error or page shows unchanged: control
 * characters (C0, DEL and C1), marks that change the direction of writing (all of Bidi_Control,
 * including U+061C), line and paragraph separators, and surrogates without their other half.
 * Everything else is printable, including zero-width characters and U+FEFF: emoji and several
 * scripts need them, and no terminal obeys them.
 */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u;
const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');
/** The same without line breaks and tabs. */
const UNPRINTABLE_IN_LINES = new RegExp(`(?![\\t\\r\\n])${UNPRINTABLE.source}|\\r(?!\\n)`, 'gu');
const REPLACEMENT = '\ufffd';

/**
 * The first unprintable character of a text, such as "a control character (U+0000)"; null when
 * there is none.
 */
export function findUnprintable(text: string): string | null {
  const [character] = UNPRINTABLE.exec(text) ?? [];
  if (character === undefined) return null;
  return `${describeCharacter(character)} (U+${hexCode(character).toUpperCase()})`;
}

/** The first UTF-16 unit of a text, as four digits. */
export function hexCode(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}

function describeCharacter(character: string): string {
  if (/\p{Cc}/u.test(character)) return 'a control character';
  if (/\p{Cs}/u.test(character)) return 'half a character';
  return /\p{Bidi_Control}/u.test(character) ? 'a mark of writing direction' : 'a line separator';
}

/** A text in lines of at most `width` characters, but for longer words. */
export function wrapText(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S(?:.{0,${width - 1}}(?=\\s|$)|\\S*)`, 'g')) ?? [];
}

/** Text from outside as one line for people: unprintable characters removed, white space folded. */
export function cleanText(text: string): string {
  return text
    .replace(ALL_UNPRINTABLE, (character) => (/[\p{Cc}\s]/u.test(character) ? ' ' : ''))
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Text from outside as one line that cannot control a terminal; U+FFFD replaces unprintable
 * characters.
 */
export function forTerminal(text: string): string {
  return text.replace(ALL_UNPRINTABLE, REPLACEMENT);
}

/**
 * Text from outside for display over several lines: line ends and tabs are kept, U+FFFD replaces
 * other unprintable characters.
 */
export function showLines(text: string): string {
  return text.replace(UNPRINTABLE_IN_LINES, REPLACEMENT);
}

/**
 * A value as JSON with unprintable characters escaped: a parser restores them, a terminal never
 * sees them.
 */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(ALL_UNPRINTABLE, (character) => `\\u${hexCode(character)}`);
}

/** Whether a text has at most so many characters, as JSON Schema counts them: an emoji is one. */
export function fits(text: string, maxLength: number): boolean {
  return text.length <= maxLength || [...text].length <= maxLength;
}

/** How much of an outside text an error repeats. */
const MAX_QUOTED_LENGTH = 300;

/** The beginning of an outside text as one line, for an error, a log or a model. */
export function quote(text: string, maxLength = MAX_QUOTED_LENGTH): string {
  return cutText(cleanText(text.slice(0, 10 * maxLength)), maxLength);
}

/** The text cut to this many UTF-16 units; `…` marks a cut, and no character is cut in two. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const kept = text.slice(0, maxLength - 1).replace(/\p{Cs}$/u, '');
  return `${kept.trimEnd()}…`;
}
