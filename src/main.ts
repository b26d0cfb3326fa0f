// First, so that nothing runs before it.
import './no-inspector.ts';

import { WrongUsage, asksForHelp, readArguments } from './commands/arguments.ts';
import { loadEnvironmentFile } from './commands/environment-file.ts';
import { commandHelp, generalHelp, helpHint } from './commands/help.ts';
import { commands } from './commands/table.ts';
import { storageFaultOf } from './database/storage/faults.ts';
import { ServiceError, messageOf } from './domain.ts';
import { stackOf } from './stack.ts';
import { forTerminal } from './text.ts';
import { VERSION } from './version.ts';

/** Exit codes, as shells and schedulers expect them. */
const FAILED = 1;
const WRONG_USAGE = 2;

async function main([first = 'serve', ...others]: string[]): Promise<number | void> {
  const general = generalOption(first);
  if (general !== null) return others.length === 0 ? print(await general()) : helpOrRefuse(first, others);
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

/** Handles an option given instead of a command, such as --version; null for anything else. */
function generalOption(argument: string): (() => string | Promise<string>) | null {
  if (argument === '--help' || argument === '-h' || argument === 'help') return generalHelp;
  if (argument === '--version' || argument === '-v') return () => `${VERSION}\n`;
  if (argument === '--licenses') return async () => (await import('./commands/licences.ts')).licences();
  return null;
}

/** `--help trigger` shows the page of that command; more than one argument after a general option is refused. */
function helpOrRefuse(option: string, [name = '', ...others]: string[]): number {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const isHelp = generalOption(option) === generalHelp;
  if (isHelp && command !== undefined && others.length === 0) return print(commandHelp(name, command));
  const surplus = [name, ...others].map((argument) => JSON.stringify(argument)).join(', ');
  return refuse(isHelp ? `There is no help for ${surplus}.` : `${option} takes no argument ${surplus}.`, null);
}

function refuse(problem: string, name: string | null): number {
  process.stderr.write(`${forTerminal(problem)} ${helpHint(name)}\n`);
  return WRONG_USAGE;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    if (code !== undefined) process.exitCode = code;
  },
  (error: unknown) => {
    const expected = error instanceof ServiceError ? error.message : storageFaultOf(error);
    const unexpected = error instanceof Error ? stackOf(error) : messageOf(error);
    process.stderr.write(`${expected ?? `Unexpected failure: ${unexpected}`}\n`);
    process.exit(FAILED);
  },
);
