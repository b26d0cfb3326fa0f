import { type ChildProcess, spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { ModelDay } from '../database/sessions.ts';
import { ServiceError } from '../domain.ts';
import { type Host, ownNode } from '../own-node.ts';
import { type LauncherTimes, launcherTimes } from './launcher-end.ts';
import { describeNotStarted } from './launcher-words.ts';
import { loaderText, packProgram } from './loader.ts';
import { childFlags, type StartChild, startConfined } from './process.ts';
import { isShortage } from './shortage.ts';

/** What every launcher gets of this process's environment; MODEL_DAY_COMMAND_ENV names more. */
const LAUNCHER_VARIABLES = ['PATH', 'HOME'];

/** Node on the machine where a launcher runs it, whatever runs this process. */
const NODE: Host = { file: 'node', isExecutable: false };

/** What is read of the settings. */
interface CommandSettings {
  modelDayCommand: readonly string[] | null;
  modelDayCommandVariables: readonly string[];
}

/**
 * How a service with these settings starts its children: directly, or by the command of
 * MODEL_DAY_COMMAND.
 */
export function startChildBy(
  { modelDayCommand, modelDayCommandVariables }: CommandSettings,
  environment: NodeJS.ProcessEnv,
  times: LauncherTimes = launcherTimes,
): StartChild {
  if (modelDayCommand === null) return startConfined;
  const launcher = { name: basename(modelDayCommand[0] ?? ''), times };
  const names = [...LAUNCHER_VARIABLES, ...modelDayCommandVariables];
  // Own ones: every object inherits `constructor` and the like.
  const env = Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(environment, name) ? [[name, environment[name]]] : [])),
  );
  return (program, rights, modelDay) => {
    const { args } = ownNode(childFlags(rights), loaderText(rights.network), NODE);
    const child = startLauncher(launcher.name, fillCommand(modelDayCommand, args, modelDay), env);
    child.stdin?.write(packProgram(program, rights.network)); // there is no stdin when there are too many open files
    return { child, launcher };
  };
}

/**
 * Throws what `spawn` throws when the machine is short of something; otherwise a `ServiceError`
 * that names the launcher.
 */
function startLauncher(
  name: string,
  [file = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  try {
    // In a process group of its own: Ctrl-C in a terminal reaches only the service, which then ends
    // its launchers in order.
    return spawn(file, args, { stdio: 'pipe', env, detached: true });
  } catch (error) {
    if (isShortage(error) || !(error instanceof Error)) throw error;
    throw new ServiceError('cannot_start', describeNotStarted(name, error), { cause: error });
  }
}

/**
 * The words of a command with Node's arguments and the names of a model-day: in the place of
 * `{arguments}`, quoted for a POSIX shell, or else after the last word as they are.
 */
export function fillCommand(
  command: readonly string[],
  args: readonly string[],
  { model, date, jobId }: ModelDay,
): string[] {
  const words: Record<string, string> = {
    arguments: args.map(quoted).join(' '),
    model: named(model),
    date,
    job: named(jobId),
  };
  const filled = command.map((word) =>
    word.replaceAll(/\{(arguments|model|date|job)\}/g, (_, name) => words[name] ?? ''),
  );
  return command.some((word) => word.includes('{arguments}')) ? filled : [...filled, ...args];
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A name as every engine takes it in its lists. */
function named(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/g, '-');
}
