import { parseArgs } from 'node:util';
import { utcDate, isCalendarDate } from '#time/calendar.ts';
import { ServiceError } from '#domain/service-error.ts';
import { list } from '#text/sentences.ts';
import { forTerminal } from '#text/text.ts';
import { existsSync } from 'node:fs';
import { modeDatabasePath, type Settings } from '#settings/settings.ts';

/** The arguments of a command, as the table of commands declares them. */

interface Option {
  /** The placeholder of the value in the help, such as `DATE`; an option without it is a switch. */
  value?: string;
  /** What it does, as a sentence. */
  text: string;
  isRequired?: true;
  /** Whether the empty text is a value. */
  mayBeEmpty?: true;
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

/**
 * The whole number of an option; null when it was omitted. Throws a `WrongUsage` for a value that
 * is none within bounds.
 */
export function parseWholeNumber(
  option: string,
  text: string | undefined,
  most: number,
): number | null {
  if (text === undefined) return null;
  const isWithin = /^[1-9]\d*$/.test(text) && Number(text) <= most;
  if (!isWithin)
    throw new WrongUsage(`${option}: expected a whole number from 1 to ${most}, got ${text}`);
  return Number(text);
}

/** The word of an option, undefined when it was omitted. Throws a `WrongUsage` for another word. */
export function parseChoice<Word extends string>(
  option: string,
  words: readonly Word[],
  text: string | undefined,
): Word | undefined {
  const word = words.find((own) => own === text);
  if (text !== undefined && word === undefined)
    throw new WrongUsage(`${option} is one of ${list(words)}, not ${JSON.stringify(text)}`);
  return word;
}

/** Throws a `WrongUsage` for a range of dates that is not one, or not of the past. */
export function checkRange(from: string, to: string): void {
  checkDates({ from, to });
  if (from > to) throw new WrongUsage(`--from ${from} is after --to ${to}`);
  if (to > utcDate(new Date())) throw new WrongUsage(`--to ${to} is in the future`);
}

/** Throws a `WrongUsage` that names the first option that is not a date. */
export function checkDates(dates: Record<string, string | undefined>): void {
  for (const [name, date] of Object.entries(dates))
    if (date !== undefined && !isCalendarDate(date))
      throw new WrongUsage(`--${name}: expected a date YYYY-MM-DD, got ${date}`);
}

/**
 * The arguments of a command, checked. Throws a `WrongUsage` that names everything that is wrong
 * with them.
 */
export function parseArguments<Declared extends Options>(
  args: readonly string[],
  { options, positionals }: { options: Declared; positionals?: Positionals | undefined },
): { values: Values<Declared>; rest: string[] } {
  const given = parseTokens(args, options);
  const { least, most, name } = positionals ?? { least: 0, most: 0, name: '' };
  const missing = Object.entries(options).flatMap(([option, { isRequired, value }]) =>
    isRequired && !given.values.has(option) ? `--${option} ${value} is missing` : [],
  );
  // An argument after an unknown option may be its value, so it is not reported as surplus.
  const surplus = given.problems.length > 0 ? [] : given.rest.slice(most);
  const problems = [
    ...given.problems,
    ...missing,
    ...(given.rest.length < least ? [`${name} is missing`] : []),
    ...(most > 0 && given.rest.includes('') ? [`${name} is empty`] : []),
    ...(surplus.length > 0 ? [`there is no argument ${quoted(surplus)}`] : []),
  ];
  if (problems.length > 0) throw new WrongUsage(problems.join('; '));
  const values = Object.entries(options).map(([option, { value, isList }]) => {
    const texts = given.values.get(option);
    const own = isList ? (texts ?? []) : texts?.[0];
    return [option, value === undefined ? texts !== undefined : own];
  });
  return { values: Object.fromEntries(values) as Values<Declared>, rest: given.rest };
}

/** Arguments as an error repeats them. */
export function quoted(args: readonly string[]): string {
  return args.map((text) => JSON.stringify(text)).join(', ');
}

/** Whether the arguments request the help of their command. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args
    .slice(0, end === -1 ? args.length : end)
    .some((argument) => argument === '--help' || argument === '-h');
}

interface ParsedTokens {
  values: Map<string, string[]>;
  rest: string[];
  problems: string[];
}

function parseTokens(args: readonly string[], options: Options): ParsedTokens {
  const types = Object.entries(options).map(([name, { value }]) => {
    return [name, { type: value === undefined ? 'boolean' : 'string' } as const] as const;
  });
  const given: ParsedTokens = { values: new Map(), rest: [], problems: [] };
  const declared = { options: Object.fromEntries(types), tokens: true } as const;
  // Not strict, because the parser's own check stops at the first problem.
  for (const token of parseArgs({ ...declared, args: [...args], strict: false }).tokens) {
    if (token.kind === 'positional') given.rest.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value = '', inlineValue } = token;
    const isKnown = Object.hasOwn(options, name) && rawName === `--${name}`;
    const { value: placeholder, isList, mayBeEmpty } = (isKnown && options[name]) || {};
    const before = given.values.get(name);
    const isEmpty = value === '' && !(mayBeEmpty && token.value !== undefined);
    const isMissing = isEmpty || (!inlineValue && value.startsWith('-'));
    if (!isKnown) given.problems.push(`there is no option ${rawName}`);
    else if (before !== undefined && !isList) given.problems.push(`${rawName} is given twice`);
    else if (placeholder === undefined && token.value !== undefined)
      given.problems.push(`${rawName} takes no value`);
    else if (placeholder !== undefined && isMissing)
      given.problems.push(`${rawName} needs a value: ${rawName} ${placeholder}`);
    given.values.set(name, [...(before ?? []), value]);
  }
  return given;
}

/**
 * The path of the service's own database. Throws a `ServiceError` when there is none, with the
 * mode: each has its own.
 */
export function findDatabase({ databasePath, deploymentMode }: Settings): string {
  if (existsSync(databasePath)) return databasePath;
  const other = deploymentMode === 'DEV' ? 'PROD' : 'DEV';
  const otherPath = modeDatabasePath(other);
  const hint = existsSync(otherPath) ? `; for ${otherPath} set DEPLOYMENT_MODE=${other}` : '';
  throw new ServiceError(
    'storage_fault',
    `There is no database ${databasePath} (DEPLOYMENT_MODE=${deploymentMode})${hint}`,
  );
}

/** A warning that the next start deletes the stored prices; empty where it keeps them. */
export function resetNote({ preserveDevData, databasePath }: Settings): string {
  return preserveDevData === false
    ? `Note: ${databasePath} is reset when the service starts in DEV mode, unless PRESERVE_DEV_DATA=true is set.\n`
    : '';
}
