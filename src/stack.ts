/** Function names by their short forms in the built file, as packed JSON. Only the build defines it. */
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
  const { brotliDecompressSync } = process.getBuiltinModule('node:zlib'); // commands that do not fail do without it
  return new Map(JSON.parse(brotliDecompressSync(Buffer.from(FUNCTION_NAMES, 'base64')).toString()));
}
