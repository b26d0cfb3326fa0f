import { parseEnv } from 'node:util';
import { cannot, errorCode, errorMessage, ServiceError } from '#domain/service-error.ts';
import { readTrustedText } from '#settings/trusted-file.ts';
import { findStorageFault } from '#database/storage/faults.ts';
import { stackTrace } from '#process/log.ts';
import { forTerminal, showLines, wrapText } from '#text/text.ts';
import { VERSION } from '#process/version.ts';
import { asksForHelp, quoted, parseArguments, WrongUsage } from './arguments.ts';
import type { Command, Commands } from './command.ts';
import { PROGRAM_NAME } from '#process/program.ts';

/** The help pages, made from the table of commands. */

const MAX_LINE = 100;
const GENERAL_OPTIONS = [
  ['--help', 'Show this page, or after a command the page of that command.'],
  ['--version', 'Print the version.'],
  ['--licenses', 'Print the licences of the program and of the libraries in it.'],
] as const;

export function generalHelp(commands: Commands): string {
  return [
    `Trading Simulation Service ${VERSION}. Usage: ${PROGRAM_NAME} [COMMAND] [OPTIONS]`,
    '',
    ...columns(Object.entries(commands).map(([name, { summary }]) => [name, summary])),
    '',
    ...columns(GENERAL_OPTIONS),
    'Settings are environment variables, or lines NAME=VALUE of a file .env in the working directory.',
    '',
  ].join('\n');
}

export function commandHelp(name: string, command: Command): string {
  const { summary, details, exitCodes, options, example } = command;
  const page = [
    `Usage: ${PROGRAM_NAME} ${commandUsage(name, command)}`,
    '',
    summary,
    ...[...details, `Exit code: ${exitCodes}`].flatMap((text) => wrapText(text, MAX_LINE)),
    '',
    ...columns([...optionRows(options), ['--help', 'Show this page.']]),
    '',
    'Example:',
    `  ${PROGRAM_NAME} ${example}`,
    '',
  ];
  return page.join('\n').replaceAll('`', '');
}

/** Each option with its value, and its text. */
export function optionRows(options: Command['options']): string[][] {
  return Object.entries(options).map(([option, { value, text, isRequired }]) => [
    value === undefined ? `--${option}` : `--${option} ${value}`,
    isRequired ? `${text} Required.` : text,
  ]);
}

/** The words of a command line. */
export function commandUsage(name: string, { options, positionals }: Command): string {
  const some = Object.keys(options).length > 0 ? ' [OPTIONS]' : '';
  if (positionals === undefined) return name + some;
  const { name: noun, least, most } = positionals;
  const all = most === Infinity ? `${noun}...` : noun;
  return `${name}${some} ${least > 0 ? all : `[${all}]`}`;
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', text]) => `  ${first.padEnd(width)}  ${text}`);
}

const PATH = '.env';
const MAX_BYTES = 1024 * 1024;
/** A quoted value may contain line breaks; anything after it on its line is ignored. */
const QUOTED_VALUE = /=[ \t]*("[^"]*"|'[^']*'|`[^`]*`)[^\n]*/g;
const ASSIGNMENT = /^\s*(export\s+)?[\w.-]+\s*=(?!\s*["'`])/;

/**
 * Sets the variables of a `.env` file in the working directory, if there is one. Variables that are
 * already set take precedence. Returns the names in the file. Throws a `ServiceError`
 * (`cannot_start`) for an unreadable file or an invalid line.
 */
export function loadEnvironmentFile(environment: NodeJS.ProcessEnv): string[] {
  const text = readEnvironmentText();
  if (text === null) return [];
  const wrong = findInvalidLine(text);
  if (wrong !== 0) throw envFileError(`line ${wrong} is not NAME=VALUE with closed quotes`);
  const variables = parseEnv(text);
  for (const [name, value] of Object.entries(variables)) environment[name] ??= value ?? '';
  return Object.keys(variables);
}

function readEnvironmentText(): string | null {
  try {
    const text = readTrustedText(PATH, MAX_BYTES);
    if (text.includes('\0')) throw new Error('it is not text');
    return text;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw envFileError(errorMessage(error));
  }
}

function envFileError(problem: string): ServiceError {
  return cannot(`read ${PATH}`, problem);
}

/** Its number, 0 for none; it is never quoted, because it may hold a key. */
function findInvalidLine(text: string): number {
  const withoutQuoted = text.replace(QUOTED_VALUE, (found) => `=${found.replace(/[^\n]/g, '')}`);
  const lines = withoutQuoted.split('\n');
  return lines.findIndex((line) => !/^\s*(#|$)/.test(line) && !ASSIGNMENT.test(line)) + 1;
}

/** Exit codes, as shells and schedulers expect them. */
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs what a command line asks for. Resolves to the exit code, or to nothing if the process keeps
 * running; throws what `explainFailure` explains.
 */
export async function runCommandLine(
  [first = 'serve', ...others]: readonly string[],
  commands: Commands,
): Promise<number | void> {
  const general = generalOption(first, commands);
  if (general !== null)
    return others.length === 0 ? print(await general()) : printCommandHelp(first, others, commands);
  // A leading option belongs to the default command.
  const [name, args] = first.startsWith('-') ? ['serve', [first, ...others]] : [first, others];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return printUsageError(`There is no command ${JSON.stringify(name)}.`);
  if (asksForHelp(args)) return print(commandHelp(name, command));
  try {
    const given = parseArguments(args, command);
    const names = loadEnvironmentFile(process.env);
    return await command.run({ ...given, names });
  } catch (error) {
    if (error instanceof WrongUsage)
      return printUsageError(`Cannot run ${name}: ${error.message}.`, name);
    throw error;
  }
}

/**
 * Prints why a command failed; a failure that nothing foresaw is printed with its stack trace.
 * Returns the exit code.
 */
export function explainFailure(error: unknown): number {
  const expected = error instanceof ServiceError ? error.message : findStorageFault(error);
  const isRefusal = error instanceof Error && 'syscall' in error; // such as by a full disk
  const refused = isRefusal ? `Cannot continue: ${error.message}` : null;
  const words = expected ?? refused ?? `Unexpected failure: ${stackTrace(error)}`;
  process.stderr.write(`${showLines(words)}\n`);
  return FAILED;
}

const HELP: readonly string[] = ['--help', '-h', 'help'];

/** Handles an option given instead of a command, such as --version; null for anything else. */
function generalOption(
  argument: string,
  commands: Commands,
): (() => string | Promise<string>) | null {
  if (HELP.includes(argument)) return () => generalHelp(commands);
  if (argument === '--version' || argument === '-v') return () => `${VERSION}\n`;
  if (argument === '--licenses') return async () => (await import('./healthcheck.ts')).licences();
  return null;
}

/**
 * `--help trigger` shows the page of that command; more than one argument after a general option is
 * refused.
 */
function printCommandHelp(
  option: string,
  [name = '', ...others]: string[],
  commands: Commands,
): number {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const isHelp = HELP.includes(option);
  if (isHelp && command !== undefined && others.length === 0)
    return print(commandHelp(name, command));
  const surplus = quoted([name, ...others]);
  const problem = isHelp ? `There is no help for` : `${option} takes no argument`;
  return printUsageError(`${problem} ${surplus}.`);
}

/** Prints a usage error, and points to the help page of the command, or without one to the general. */
function printUsageError(problem: string, name = ''): number {
  const help = name === '' ? '--help' : `${name} --help`;
  const hint = `Run "${PROGRAM_NAME} ${help}" to see what it takes.`;
  process.stderr.write(`${forTerminal(problem)} ${hint}\n`);
  return WRONG_USAGE;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
