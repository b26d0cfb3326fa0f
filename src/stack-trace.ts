import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { BUILD, isExecutable, readAsset } from './executable.ts';

/**
 * What traces call the program; in those of the executable it is `main` of build-executable.mjs.
 */
const PROGRAM = isExecutable ? 'server.js' : import.meta.filename;
const PLACES = new RegExp(`${RegExp.escape(PROGRAM)}:(\\d+):(\\d+)`, 'g');

/**
 * Places in the program, with their lines in the source files. They are kept because reading the
 * map takes 50 ms and 12 MB.
 */
const known = new Map<string, string>();

/**
 * An error's stack trace, or its text if it has none. The built program is minified; if its source
 * map is beside it (`server.js.map`), the trace names source files and their lines instead of
 * `server.js:LINE:COLUMN`. The executable has the map inside it.
 */
export function stackTraceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return BUILD === null ? stack : withSourceLines(stack, BUILD);
}

/** The stack as it is, if the map is missing, unreadable or that of another build. */
function withSourceLines(stack: string, build: string): string {
  try {
    const unknown = [...stack.matchAll(PLACES)].filter(([place]) => !known.has(place));
    if (unknown.length > 0) {
      const map = readMap(build);
      for (const [place, line, column] of unknown)
        known.set(place, sourceLine(map, Number(line), Number(column)) ?? place);
    }
    return stack.replaceAll(PLACES, (place) => known.get(place) ?? place);
  } catch {
    return stack;
  }
}

function readMap(build: string): SourceMap {
  const text = isExecutable ? readAsset('server.js.map') : readFileSync(`${PROGRAM}.map`, 'utf8');
  const payload: SourceMapPayload & { programId?: unknown } = JSON.parse(text);
  if (payload.programId !== build) throw new Error('The source map belongs to another build');
  return new SourceMap(payload);
}

/** Lines and columns in traces begin at 1, in maps at 0. */
function sourceLine(map: SourceMap, line: number, column: number): string | null {
  const entry = map.findEntry(line - 1, column - 1);
  if (!('originalSource' in entry) || entry.generatedLine !== line - 1) return null;
  return `${entry.originalSource.replace(/^(\.\.\/)+/, '')}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
