/** JSON from outside, before its shape is checked. */
export type Json = Record<string, unknown>;

/** The value of a JSON text; undefined when the text is not JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value if it is an object, but not null or an array. */
export function asObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : undefined;
}

export function asArray(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** The objects in a list; none if the value is not a list. */
export function asObjects(value: unknown): Json[] {
  return (asArray(value) ?? []).flatMap<Json>((part) => asObject(part) ?? []);
}

/** The value if it is text that is not blank. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A value as text: text as it is, others as JSON; undefined for null and for what is absent. */
export function plainText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether lists and objects lie within each other at most so deep. */
export function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isWithin(part, levels - 1));
}

/** A text that ends, and a word or number as far as it goes. */
const TEXT = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*"/;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/;
const TOKEN = new RegExp(`${TEXT.source}|${WORD.source}|[{}[\\],:]`, 'y');
const BLANK = /[\t\n\r ]*/y;

const NAME_OR_BRACKET = new RegExp(`(${TEXT.source})([\\t\\n\\r ]*:)?|[{}[\\]]`, 'g');

/**
 * The first name that an object has twice; undefined where none has. `JSON.parse` takes the last
 * value without a word. Only for text that it can read.
 */
export function repeatedName(json: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  for (const [token, text = '', colon] of json.matchAll(NAME_OR_BRACKET)) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : null);
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const name: string = JSON.parse(text);
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/**
 * Where a text stops being JSON, as `line 3 column 14`. The messages of `JSON.parse` often lack the
 * place, and quote the text around it, which may be a key. Only for text that `JSON.parse` refuses.
 */
export function errorPosition(text: string): string {
  const before = text.slice(0, errorIndex(text)).split(/\r\n?|\n/);
  return `line ${before.length} column ${(before.at(-1) ?? '').length + 1}`;
}

/** The same as an index: of the first word or sign that cannot be there, or of the end. */
export function errorIndex(text: string): number {
  const open: string[] = [];
  let expected = 'value';
  let at = 0;
  for (;;) {
    BLANK.lastIndex = at;
    at += BLANK.exec(text)?.[0].length ?? 0;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0] ?? '';
    const next = token === '' ? undefined : nextExpected(token, expected, open);
    if (next === undefined) return at;
    expected = next;
    at += token.length;
  }
}

/**
 * What may follow a token where `expected` is due, in the objects and arrays that are `open`;
 * undefined where it cannot be there.
 */
function nextExpected(token: string, expected: string, open: string[]): string | undefined {
  const isText = token.startsWith('"');
  const isValue = isText || !'{}[],:'.includes(token);
  const within = open.at(-1);
  if (expected.includes('name') && isText) return 'colon';
  if (expected === 'colon') return token === ':' ? 'value' : undefined;
  if (expected.includes('value')) {
    if (isValue) return 'comma';
    if (token === '{' || token === '[') {
      open.push(token);
      return token === '{' ? 'name or end' : 'value or end';
    }
  }
  if (expected === 'comma' && token === ',' && within !== undefined)
    return within === '{' ? 'name' : 'value';
  const isEnd = expected === 'comma' || expected.includes('end');
  return isEnd && token === (within === '{' ? '}' : ']') && open.pop() !== undefined
    ? 'comma'
    : undefined;
}
