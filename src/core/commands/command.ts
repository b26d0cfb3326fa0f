import type { Options, Positionals, Values } from './arguments.ts';

/** A command of the command line, and the options and arguments that several have. */

export interface Command {
  /** What it does, as a sentence. */
  summary: string;
  /** The rest of its help page, in lines. */
  details: readonly string[];
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

export const jobOption = { value: 'JOB-ID', text: 'Only this job.' };
export const studyOption = {
  value: 'NAME',
  text: "Only this study; '' is the one without a name.",
  mayBeEmpty: true,
} as const;
export const meaningOption = {
  value: 'MEANING',
  text: 'What the prices are: raw, split-adjusted or total-return. Default: detected.',
};
export const lastDateOption = { value: 'DATE', text: 'Last date.', isRequired: true } as const;
export const files = { name: 'FILE', least: 1, most: Infinity };
export const oneFile = { ...files, most: 1 };
export const optionalFile = { ...oneFile, least: 0 };
