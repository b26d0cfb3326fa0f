import type { Options, Positionals, Values } from './arguments.ts';

/**
 * A command of the command line, and the options and arguments that several have. The help prints
 * their texts, and `npm run docs` makes docs/reference/commands.md from them: names are in
 * backticks.
 */

export interface Command {
  /** What it does, as a sentence. */
  summary: string;
  /** What else to know, in paragraphs. */
  details: readonly string[];
  /** Its exit codes 0 and 1, as sentences. */
  exitCodes: string;
  options: Options;
  positionals?: Positionals;
  /** A complete command line, without the program. */
  example: string;
  /**
   * Resolves to the exit code, or to nothing if the process keeps running. Throws a `WrongUsage`
   * for an invalid value. `names` are those in `.env`.
   */
  run(given: {
    values: Record<string, string | boolean | undefined>;
    rest: string[];
    names: string[];
  }): Promise<number | void>;
}

/** The commands by name, in the order of the help page. */
export type Commands = Readonly<Record<string, Command>>;

/** A row of the table; `run` receives values typed by the declared options. */
export function command<const Declared extends Options>(
  row: Omit<Command, 'options' | 'run'> & {
    options: Declared;
    run(given: {
      values: Values<Declared>;
      rest: string[];
      names: string[];
    }): Promise<number | void>;
  },
): Command {
  return row as Command;
}

export const WRITTEN = '0 if it was written, 1 if it failed and left no file behind.';
export const IMPORTED = '0 if every file had something to import, otherwise 1.';
export const jobOption = { value: 'JOB-ID', text: 'Only this job.' };
export const studyOption = {
  value: 'NAME',
  text: "Only this study; `''` is the one without a name.",
  mayBeEmpty: true,
} as const;
export const meaningOption = {
  value: 'MEANING',
  text: '`raw`, `split-adjusted` or `total-return` prices. Default: detected.',
};
export const lastDateOption = {
  value: 'DATE',
  text: 'Last date, YYYY-MM-DD.',
  isRequired: true,
} as const;
export const files = { name: 'FILE', least: 1, most: Infinity };
export const oneFile = { ...files, most: 1 };
export const optionalFile = { ...oneFile, least: 0 };
