/** The deepest message nests about ten levels, including what providers want sent back with it. */
const MAX_DEPTH = 64;
/**
 * The widest message has 128 tool calls of three fields, and what providers want sent back with
 * them.
 */
const MAX_VALUES = 20_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST_OPENS = 0x5b;
const LIST_ENDS = 0x5d;
const OBJECT_OPENS = 0x7b;
const OBJECT_ENDS = 0x7d;

/**
 * Refuses a line of JSON with more levels or values than any message of a child has, before it is
 * parsed: parsing and checking megabytes of brackets takes a second or more, and this check a few
 * milliseconds at most. Throws an `Error`. Leaves it to the parser whether the line is JSON at all.
 */
export function checkLineBounds(line: string): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charCodeAt(at);
    if (character === QUOTE) at = endOfText(line, at);
    else if (character === LIST_OPENS || character === OBJECT_OPENS) {
      depth += 1;
      values += 1;
    } else if (character === LIST_ENDS || character === OBJECT_ENDS) depth -= 1;
    else if (character === COMMA) values += 1;
    if (depth > MAX_DEPTH) throw new Error(`the line is nested more than ${MAX_DEPTH} levels deep`);
    if (values > MAX_VALUES) throw new Error(`the line holds more than ${MAX_VALUES} values`);
  }
}

/**
 * The position of the closing quote of the text that opens at `start`; the end of the line when
 * there is none.
 */
function endOfText(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at += 1) {
    const character = line.charCodeAt(at);
    if (character === QUOTE) return at;
    if (character === BACKSLASH) at += 1;
  }
  return line.length;
}
