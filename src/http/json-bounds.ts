import { MAX_RUNS } from '../basics/runs.ts';
import { HttpError } from './errors.ts';

/** In the whole request: its own fields and those of nested objects. */
const MAX_FIELDS = 100;
/**
 * In one field; only `models` has many. Half a million invalid items would mean half a million
 * problems to describe.
 */
const MAX_ITEMS = MAX_RUNS;
/** The deepest request nests two levels. */
const MAX_DEPTH = 32;
const MAX_SHOWN_NAME = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LIST_OPENS = 0x5b;
const LIST_ENDS = 0x5d;
const OBJECT_OPENS = 0x7b;
const OBJECT_ENDS = 0x7d;

/**
 * Refuses a JSON text with more fields, items or levels than any valid request has, before it is
 * parsed: a megabyte of them takes the parser up to seconds, and this check a few milliseconds at
 * most. Throws a 422 that names one field. Leaves it to the parser whether the text is JSON at all.
 */
export function checkBounds(json: Buffer): void {
  let depth = 0;
  let isList = false;
  let fields = 0;
  let items = 0;
  let name = 'body';
  let text = { start: 0, end: 0 };
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      text = { start: at, end: endOfString(json, at) };
      at = text.end;
    } else if (byte === COLON) {
      fields += 1;
      if (depth === 1) [name, items] = [nameIn(json, text), 0];
      if (fields > MAX_FIELDS)
        throw tooMuch(name, `the request has more than ${MAX_FIELDS} fields`);
    } else if (byte === COMMA) {
      if (depth > 1 || isList) items += 1;
      if (items >= MAX_ITEMS) throw tooMuch(name, `at most ${MAX_ITEMS} items`);
    } else if (byte === LIST_OPENS || byte === OBJECT_OPENS) {
      depth += 1;
      if (depth === 1) isList = byte === LIST_OPENS;
      if (depth > MAX_DEPTH) throw tooMuch(name, `nested more than ${MAX_DEPTH} levels deep`);
    } else if (byte === LIST_ENDS || byte === OBJECT_ENDS) depth -= 1;
  }
}

/**
 * The position of the closing quote of the string that opens at `start`; the end of the text when
 * there is none.
 */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return json.length;
}

function nameIn(json: Buffer, { start, end }: { start: number; end: number }): string {
  const name = json.toString('utf8', start + 1, Math.min(end, start + 6 * MAX_SHOWN_NAME));
  try {
    return String(JSON.parse(`"${name}"`));
  } catch {
    return name; // cut off within an escape, or not a string
  }
}

function tooMuch(name: string, what: string): HttpError {
  return new HttpError(422, `${name.slice(0, MAX_SHOWN_NAME)}: ${what}`);
}
