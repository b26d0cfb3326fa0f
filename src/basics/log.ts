import { isMainThread } from 'node:worker_threads';
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { BUILD, isExecutable, readAsset } from './program.ts';
import { type Clock, timestamp } from './calendar.ts';
import { forTerminal, printableJson } from './text.ts';

/**
 * What traces call the program; in those of the executable it is `main` of build-executable.mjs, and
 * Node's own word in its reader threads.
 */
const PROGRAM = !isExecutable ? import.meta.filename : isMainThread ? 'server.js' : '[worker eval]';
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

export const logLevels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogFields = Record<string, unknown>;

/**
 * A log with levels, one line per event. Fields are facts beside the message; never a key, never a
 * body.
 */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LogOptions {
  level: LogLevel;
  /** JSON lines for machines, aligned text for a terminal. */
  json: boolean;
  write: (line: string) => void;
  clock: Clock;
}

export function createLog({ level, json, write, clock }: LogOptions): Log {
  const threshold = logLevels.indexOf(level);
  const format = json ? jsonLine : textLine;
  const at = (eventLevel: LogLevel) =>
    logLevels.indexOf(eventLevel) < threshold
      ? () => {}
      : (message: string, fields: LogFields = {}) =>
          write(format(timestamp(clock()), eventLevel, message, fields));
  return { debug: at('DEBUG'), info: at('INFO'), warning: at('WARNING'), error: at('ERROR') };
}

/** The process's own log: to stderr, because stdout is for the output of commands. */
export function createStderrLog(level: LogLevel): Log {
  return createLog({
    level,
    json: !process.stderr.isTTY,
    write: (line) => void process.stderr.write(line),
    clock: () => new Date(),
  });
}

/** For code whose caller wants no log. */
export const silentLog: Log = { debug() {}, info() {}, warning() {}, error() {} };

type Format = (time: string, level: LogLevel, message: string, fields: LogFields) => string;

const jsonLine: Format = (time, level, message, fields) =>
  `${printableJson({ time, level, message, ...fields })}\n`;

const textLine: Format = (time, level, message, fields) => {
  const facts = Object.entries(fields).map(([name, value]) => ` ${name}=${quoted(value)}`);
  return `${time.slice(11, 23)} ${level.padEnd(7)} ${forTerminal(message + facts.join(''))}\n`;
};

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@+-]+$/.test(text) ? text : JSON.stringify(text);
}

/** Logs an unexpected error in full and returns the reference that finds it in the log. */
export function logUnexpected(log: Log, error: unknown, fields: LogFields = {}): string {
  const reference = crypto.randomUUID().slice(0, 8);
  log.error('unexpected failure', { reference, ...fields, error: stackTraceOf(error) });
  return reference;
}
