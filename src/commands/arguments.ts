import { parseArgs } from 'node:util';
import { ServiceError } from '../basics/domain.ts';
import { forTerminal } from '../basics/text.ts';

/** The arguments of a command, as the table of commands declares them. */

export interface Option {
  /** The placeholder of the value in the help, such as `DATE`; an option without it is a switch. */
  value?: string;
  /** What it does, as a sentence. */
  text: string;
  isRequired?: true;
  /** Whether it may be given several times. */
  isList?: true;
}
export type Options = Record<string, Option>;

/** Arguments without a dash: their placeholder in the help, and how many are allowed. */
export interface Positionals {
  name: string;
  least: number;
  most: number;
}

/**
 * The text of an option with a value, undefined when it was omitted; all texts of a list; for a
 * switch, whether it was given.
 */
export type Values<Declared extends Options> = {
  [Name in keyof Declared]: Declared[Name] extends { value: string }
    ? Declared[Name] extends { isList: true }
      ? string[]
      : Declared[Name] extends { isRequired: true }
        ? string
        : string | undefined
    : boolean;
};

/**
 * Thrown for arguments that a command does not take. The program then exits with code 2 and points
 * to the help.
 */
export class WrongUsage extends ServiceError {
  constructor(problem: string) {
    super('cannot_start', forTerminal(problem));
  }
}

/** Throws a `WrongUsage` for a value that is not a whole number within bounds. */
export function checkWholeNumber(option: string, text: string, most: number): void {
  const isWithin = /^[1-9]\d*$/.test(text) && Number(text) <= most;
  if (!isWithin)
    throw new WrongUsage(`${option}: expected a whole number from 1 to ${most}, got ${text}`);
}

/**
 * The arguments of a command, checked. Throws a `WrongUsage` that names everything that is wrong
 * with them.
 */
export function readArguments<Declared extends Options>(
  args: readonly string[],
  { options, positionals }: { options: Declared; positionals?: Positionals | undefined },
): { values: Values<Declared>; rest: string[] } {
  const given = tokensOf(args, options);
  const { least, most, name } = positionals ?? { least: 0, most: 0, name: '' };
  const missing = Object.entries(options).filter(
    ([option, { isRequired }]) => isRequired && !given.values.has(option),
  );
  // An argument after an unknown option may be its value, so it is not reported as surplus.
  const surplus = given.problems.length > 0 ? [] : given.rest.slice(most);
  const problems = [
    ...given.problems,
    ...missing.map(([option, { value }]) => `--${option} ${value} is missing`),
    ...(given.rest.length < least ? [`${name} is missing`] : []),
    ...(most > 0 && given.rest.includes('') ? [`${name} is empty`] : []),
    ...(surplus.length > 0
      ? [`there is no argument ${surplus.map((text) => JSON.stringify(text)).join(', ')}`]
      : []),
  ];
  if (problems.length > 0) throw new WrongUsage(problems.join('; '));
  const values = Object.entries(options).map(([option, { value, isList }]) => {
    const texts = given.values.get(option);
    return [
      option,
      value === undefined ? texts !== undefined : isList ? (texts ?? []) : texts?.[0],
    ];
  });
  return { values: Object.fromEntries(values) as Values<Declared>, rest: given.rest };
}

/** Whether the arguments request the help of their command. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args
    .slice(0, end === -1 ? args.length : end)
    .some((argument) => argument === '--help' || argument === '-h');
}

interface Given {
  values: Map<string, string[]>;
  rest: string[];
  problems: string[];
}

function tokensOf(args: readonly string[], options: Options): Given {
  const types = Object.entries(options).map(([name, { value }]) => [
    name,
    { type: value === undefined ? ('boolean' as const) : ('string' as const) },
  ]);
  // Not strict, because the parser's own check stops at the first problem.
  const config = {
    args: [...args],
    options: Object.fromEntries(types),
    strict: false,
    tokens: true,
  } as const;
  const given: Given = { values: new Map(), rest: [], problems: [] };
  for (const token of parseArgs(config).tokens) {
    if (token.kind === 'positional') given.rest.push(token.value);
    if (token.kind === 'option')
      takeOption(
        given,
        token,
        Object.hasOwn(options, token.name) ? options[token.name] : undefined,
      );
  }
  return given;
}

function takeOption(
  { values, problems }: Given,
  token: {
    name: string;
    rawName: string;
    value: string | undefined;
    inlineValue: boolean | undefined;
  },
  declared: Option | undefined,
): void {
  const { name, rawName, value, inlineValue } = token;
  if (declared === undefined || rawName !== `--${name}`)
    problems.push(`there is no option ${rawName}`);
  else if (values.has(name) && !declared.isList) problems.push(`${rawName} is given twice`);
  else if (declared.value === undefined && value !== undefined)
    problems.push(`${rawName} takes no value`);
  else if (
    declared.value !== undefined &&
    (value === undefined || value === '' || (!inlineValue && value.startsWith('-')))
  )
    problems.push(`${rawName} needs a value: ${rawName} ${declared.value}`);
  values.set(name, [...(values.get(name) ?? []), value ?? '']);
}
