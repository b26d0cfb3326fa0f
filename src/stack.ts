import { unpack } from './packed-text.ts';

/** The short names of functions in the built file, a comma, and their full ones in that order. Only the build defines it, packed. */
declare const FUNCTION_NAMES: string | undefined;

/** An error's stack trace, with the function names of the source files instead of the short ones of the built file. */
export function stackOf(error: Error): string {
  const names = functionNames();
  const stack = error.stack ?? error.message;
  return stack.replace(/^( +at (?:async |new )*)([\w$]+)(?= \()/gm, (_frame, start: string, short: string) =>
    `${start}${names.get(short) ?? short}`,
  );
}

function functionNames(): ReadonlyMap<string, string> {
  if (typeof FUNCTION_NAMES === 'undefined') return new Map();
  const [short = [], full = []] = unpack(FUNCTION_NAMES).split(',').map((names) => names.split(' '));
  return new Map(short.map((name, index) => [name, full[index] ?? name]));
}
