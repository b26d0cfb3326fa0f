import { storageFaultOf } from '../database/storage/faults.ts';
import { ServiceError } from '../domain.ts';
import { stackTraceOf } from '../stack-trace.ts';
import { forTerminal, showLines } from '../text.ts';
import { VERSION } from '../version.ts';
import { WrongUsage, asksForHelp, readArguments } from './arguments.ts';
import { loadEnvironmentFile } from './environment-file.ts';
import { commandHelp, generalHelp, helpHint } from './help.ts';
import { commands } from './table.ts';

/** Exit codes, as shells and schedulers expect them. */
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs what a command line asks for. Resolves to the exit code, or to nothing if the process keeps
 * running; throws what `explainFailure` explains.
 */
export async function runCommandLine([first = 'serve', ...others]: readonly string[]): Promise<
  number | void
> {
  const general = generalOption(first);
  if (general !== null)
    return others.length === 0 ? print(await general()) : helpOrRefuse(first, others);
  // A leading option belongs to the default command.
  const [name, args] = first.startsWith('-') ? ['serve', [first, ...others]] : [first, others];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return refuse(`There is no command ${JSON.stringify(name)}.`, null);
  if (asksForHelp(args)) return print(commandHelp(name, command));
  try {
    const given = readArguments(args, command);
    loadEnvironmentFile(process.env);
    return await command.run(given);
  } catch (error) {
    if (error instanceof WrongUsage) return refuse(`Cannot run ${name}: ${error.message}.`, name);
    throw error;
  }
}

/**
 * Prints why a command failed; a failure that nothing foresaw is printed with its stack trace.
 * Returns the exit code.
 */
export function explainFailure(error: unknown): number {
  const expected = error instanceof ServiceError ? error.message : storageFaultOf(error);
  process.stderr.write(`${showLines(expected ?? `Unexpected failure: ${stackTraceOf(error)}`)}\n`);
  return FAILED;
}

/** Handles an option given instead of a command, such as --version; null for anything else. */
function generalOption(argument: string): (() => string | Promise<string>) | null {
  if (argument === '--help' || argument === '-h' || argument === 'help') return generalHelp;
  if (argument === '--version' || argument === '-v') return () => `${VERSION}\n`;
  if (argument === '--licenses') return async () => (await import('./licences.ts')).licences();
  return null;
}

/**
 * `--help trigger` shows the page of that command; more than one argument after a general option is
 * refused.
 */
function helpOrRefuse(option: string, [name = '', ...others]: string[]): number {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const isHelp = generalOption(option) === generalHelp;
  if (isHelp && command !== undefined && others.length === 0)
    return print(commandHelp(name, command));
  const surplus = [name, ...others].map((argument) => JSON.stringify(argument)).join(', ');
  return refuse(
    isHelp ? `There is no help for ${surplus}.` : `${option} takes no argument ${surplus}.`,
    null,
  );
}

function refuse(problem: string, name: string | null): number {
  process.stderr.write(`${forTerminal(problem)} ${helpHint(name)}\n`);
  return WRONG_USAGE;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
