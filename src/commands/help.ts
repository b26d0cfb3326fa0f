import { PROGRAM_NAME } from '../basics/program.ts';
import { VERSION } from '../basics/version.ts';
import type { Option } from './arguments.ts';
import { type Command, commands } from './table.ts';

/** The help pages, made from the table of commands. */

const GENERAL_OPTIONS = [
  ['--help', 'Show this page, or after a command the page of that command.'],
  ['--version', 'Print the version.'],
  ['--licenses', 'Print the licences of the program and of the libraries in it.'],
] as const;

export function generalHelp(): string {
  return [
    `Trading Simulation Service ${VERSION}`,
    '',
    `Usage: ${PROGRAM_NAME} [COMMAND] [OPTIONS]`,
    '',
    ...columns(Object.entries(commands).map(([name, { summary }]) => [name, summary])),
    '',
    ...columns(GENERAL_OPTIONS),
    '',
    `"${PROGRAM_NAME} COMMAND --help" explains a command, with an example.`,
    '',
    'Settings are environment variables or lines of a file .env, such as API_PORT, DEPLOYMENT_MODE (DEV or PROD) and',
    'LOG_LEVEL; docs/configuration.md describes them all. Paths are relative to the working directory.',
    '',
  ].join('\n');
}

export function commandHelp(
  name: string,
  { summary, details, options, example, ...rest }: Command,
): string {
  const rows = Object.entries(options).map(([option, declared]) => [
    spell(option, declared),
    declared.isRequired ? `${declared.text} Required.` : declared.text,
  ]);
  return [
    `Usage: ${usageLine(name, { options, ...rest })}`,
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

function usageLine(
  name: string,
  { options, positionals }: Pick<Command, 'options' | 'positionals'>,
): string {
  const parts = Object.entries(options).map(([option, declared]) =>
    declared.isRequired ? spell(option, declared) : `[${spell(option, declared)}]`,
  );
  if (positionals !== undefined) {
    const { name: text, least, most } = positionals;
    const some = most > 1 ? `${text}...` : text;
    parts.push(least > 0 ? some : `[${some}]`);
  }
  return [PROGRAM_NAME, name, ...parts].join(' ');
}

function spell(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', text]) => `  ${first.padEnd(width)}  ${text}`);
}
