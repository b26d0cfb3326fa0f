import { type Clock, timestamp } from '#time/calendar.ts';
import { forTerminal, printableJson } from '#text/text.ts';

export const logLevels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const;
export type LogLevel = (typeof logLevels)[number];

type LogFields = Record<string, unknown>;

/**
 * A log with levels, one line per event. Fields are facts beside the message; never a key, never a
 * body.
 */
export type Log = Record<
  'debug' | 'info' | 'warning' | 'error',
  (message: string, fields?: LogFields) => void
>;

interface LogOptions {
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
          write(format({ time: timestamp(clock()), level: eventLevel, message }, fields));
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

type Head = Record<'time' | 'level' | 'message', string>;

function jsonLine(head: Head, fields: LogFields): string {
  return `${printableJson({ ...head, ...fields })}\n`;
}

function textLine({ time, level, message }: Head, fields: LogFields): string {
  const facts = Object.entries(fields).map(([name, value]) => ` ${name}=${quoteField(value)}`);
  return `${time.slice(11, 23)} ${level.padEnd(7)} ${forTerminal(message + facts.join(''))}\n`;
}

function quoteField(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@+-]+$/.test(text) ? text : JSON.stringify(text);
}

/**
 * An error's stack trace, or its text if it has none. `node --enable-source-maps` shows its source lines.
 */
export function stackTrace(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Logs an unexpected error in full and returns the reference that finds it in the log. */
export function logUnexpected(log: Log, error: unknown, fields: LogFields = {}): string {
  const reference = crypto.randomUUID().slice(0, 8);
  log.error('unexpected failure', { reference, ...fields, error: stackTrace(error) });
  return reference;
}
