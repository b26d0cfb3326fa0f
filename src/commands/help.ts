import { PROGRAM_NAME } from '../basics/program.ts';
import { VERSION } from '../basics/version.ts';
import type { Option, Positionals } from './arguments.ts';
import { type Command, commands } from './table.ts';

/** The help pages, made from the table of commands. */

const GENERAL_OPTIONS = [
  ['--help', 'Show this page, or after a command the page of that command.'],
  ['--version', 'Print the version.'],
  ['--licenses', 'Print the licences of the program and of the libraries in it.'],
] as const;

export function generalHelp(): string {
  return [
    `Trading Simulation Service ${VERSION}. Usage: ${PROGRAM_NAME} [COMMAND] [OPTIONS]`,
    '',
    ...columns(Object.entries(commands).map(([name, { summary }]) => [name, summary])),
    '',
    ...columns(GENERAL_OPTIONS),
    '',
    'Settings are environment variables or lines of a file .env: see docs/configuration.md.',
    '',
  ].join('\n');
}

export function commandHelp(
  name: string,
  { summary, details, options, positionals, example }: Command,
): string {
  const rows = Object.entries(options).map(([option, declared]) => [
    spell(option, declared),
    declared.isRequired ? `${declared.text} Required.` : declared.text,
  ]);
  return [
    `Usage: ${PROGRAM_NAME} ${name} [OPTIONS]${argumentsOf(positionals)}`,
    '',
    summary,
    details,
    '',
    ...columns([...rows, ['--help', 'Show this page.']]),
    '',
    'Example:',
    `  ${PROGRAM_NAME} ${example}`,
    '',
  ].join('\n');
}

/**
 * The line after a usage error that points to the command's help page, or for null to the general
 * one.
 */
export function helpHint(name: string | null): string {
  return `Run "${PROGRAM_NAME} ${name === null ? '' : `${name} `}--help" to see what it takes.`;
}

function argumentsOf(positionals: Positionals | undefined): string {
  if (positionals === undefined) return '';
  const { name, least, most } = positionals;
  const some = most === Infinity ? `${name}...` : name;
  return least > 0 ? ` ${some}` : ` [${some}]`;
}

function spell(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', text]) => `  ${first.padEnd(width)}  ${text}`);
}
