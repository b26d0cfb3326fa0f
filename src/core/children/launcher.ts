import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { ModelDay } from '#database/sessions.ts';
import { errorCode } from '#domain/service-error.ts';
import { type Host, nodeCommand } from '#process/own-node.ts';
import type { Outcome } from '#wire/protocol.ts';
import { cleanText, quote } from '#text/text.ts';
import type { StartFailure } from './channel.ts';
import { confine, type Network } from './confinement.ts';
import {
  CAN_RESTRICT_NETWORK,
  childFlags,
  type LauncherTimes,
  launcherTimes,
  type StartChild,
  startConfined,
} from './process.ts';

/** What every launcher gets of this process's environment; MODEL_DAY_COMMAND_ENV names more. */
const LAUNCHER_VARIABLES = ['PATH', 'HOME'];

/** Node on the machine where a launcher runs it, whatever runs this process. */
const NODE: Host = { file: 'node', isExecutable: false };

/**
 * How a service with these settings starts its children: directly, or by the command of
 * MODEL_DAY_COMMAND.
 */
export function createChildStarter(
  {
    modelDayCommand,
    modelDayCommandVariables,
  }: { modelDayCommand: readonly string[] | null; modelDayCommandVariables: readonly string[] },
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
    const { args } = nodeCommand(childFlags(rights), loaderText(rights.network), NODE);
    const [file = '', ...words] = fillCommand(modelDayCommand, args, modelDay);
    // In a process group of its own: Ctrl-C in a terminal reaches only the service, which then ends
    // its launchers in order.
    const child = spawn(file, words, { stdio: 'pipe', env, detached: true });
    child.stdin?.write(packProgram(program, rights.network)); // there is no stdin when there are too many open files
    return { child, launcher };
  };
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
    arguments: args.map(quoteForShell).join(' '),
    model: engineSafeName(model),
    date,
    job: engineSafeName(jobId),
  };
  const filled = command.map((word) =>
    word.replaceAll(/\{(arguments|model|date|job)\}/g, (_, name) => words[name] ?? ''),
  );
  return command.some((word) => word.includes('{arguments}')) ? filled : [...filled, ...args];
}

function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A name as every engine takes it in its lists. */
function engineSafeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/g, '-');
}

/**
 * How a program reaches a child through a launcher: over the pipe, before the first message. The
 * command line then holds only a short loader, however the launcher passes it on, and every machine
 * runs the program of this service.
 */

/**
 * The bytes at the beginning that hold the program's length as decimal digits, padded with spaces.
 */
const LENGTH_BYTES = 10;
/**
 * The pause before the loader reads again, where a launcher hands over a descriptor that does not
 * block.
 */
const EAGAIN_PAUSE_MS = 5;
/** The exit code of a child that its loader ends; `EX_UNAVAILABLE` of sysexits.h. */
const LOADER_FAILED = 69;

/**
 * The loader as JavaScript text: checks the version of its Node, reads the program's length and
 * exactly as many bytes, and runs them where `--eval` would. It reads by plain system calls:
 * `process.stdin` would leave the descriptor non-blocking, which breaks what the program reads
 * after it.
 */
export function loaderText(network: Network): string {
  const needed = 'model-days need 24.15 or a later 24, or 26 or later';
  const same = 'its model-days need Node.js 24, as the service has';
  const onlyOld = network !== 'none' && !CAN_RESTRICT_NETWORK;
  return `{
    const { readSync, writeSync } = require('node:fs');
    const end = (why) => { writeSync(2, why + '\\n'); process.exit(${LOADER_FAILED}); };
    const version = process.versions.node;
    const refuse = (why) => end('This machine has Node.js ' + version + '; ' + why);
    const [major, minor] = version.split('.').map(Number);
    if (!(major >= 26 || (major === 24 && minor >= 15))) refuse('${needed}');
    ${onlyOld ? `if (major > 24) refuse('${same}');` : ''}
    const nap = new Int32Array(new SharedArrayBuffer(4));
    const read = (bytes) => {
      for (let at = 0; at < bytes.length; )
        try {
          const length = readSync(0, bytes, at, bytes.length - at, null);
          if (length === 0) end('The pipe was closed before the program had arrived');
          at += length;
        } catch (error) {
          if (error.code !== 'EAGAIN') throw error;
          Atomics.wait(nap, 0, 0, ${EAGAIN_PAUSE_MS});
        }
      return bytes.toString();
    };
    const length = Number(read(Buffer.alloc(${LENGTH_BYTES})));
    if (!(length > 0)) end('Something other than the program came first over the pipe');
    require('node:vm').runInThisContext(read(Buffer.alloc(length)), { filename: '[eval]' });
  }`.replaceAll(/\n\s*/g, ' ');
}

/**
 * What is written to the child's stdin before the first message: the confined program, after its
 * length.
 */
export function packProgram(program: string, network: Network): Buffer {
  const bytes = Buffer.from(confine(program, network));
  return Buffer.concat([Buffer.from(String(bytes.length).padStart(LENGTH_BYTES)), bytes]);
}

/** How much of the end of its stderr an error repeats. */
const MAX_LINES = 3;
const MAX_LENGTH = 500;
/** Exit codes for a program that may not be run, or is not there, of shells and of Docker. */
const NOT_RUN: readonly (number | null)[] = [126, 127];
/** Errors of a launcher that is missing, or may not be run. */
const NOT_STARTED: readonly unknown[] = ['ENOENT', 'EACCES'];
const ADVICE =
  'Run MODEL_DAY_COMMAND by hand, with `--version` as the arguments of node; then run this day again';

interface LauncherEnd {
  /** Left out of a child that this process started itself; nothing of its stderr is then said. */
  name?: string;
  stderr: string;
  code: number | null;
  killedBy: NodeJS.Signals | null;
}

/** `srun: exit code 137; srun: error: Node failure on w2`. */
export function describeExit({ name, stderr, code, killedBy }: LauncherEnd): string {
  const how = killedBy ?? `exit code ${code}`;
  return name === undefined ? how : [`${name}: ${how}`, ...lastStderrLines(stderr)].join('; ');
}

/**
 * What a launcher has said so far, in brackets after a reason that does not come from it; empty
 * when it said nothing.
 */
export function describeStderr({ name, stderr }: Pick<LauncherEnd, 'name' | 'stderr'>): string {
  const words = lastStderrLines(stderr);
  return words.length === 0 ? '' : ` (${name}: ${words.join('; ')})`;
}

/** The last lines of a launcher's stderr, at most one text. */
function lastStderrLines(stderr: string): string[] {
  const lines = stderr.split('\n').map(cleanText);
  const text = lines.filter(Boolean).slice(-MAX_LINES).join('; ');
  return text === '' ? [] : [text.length > MAX_LENGTH ? `…${text.slice(-MAX_LENGTH)}` : text];
}

/**
 * A launcher ended before the child's first message: why its model-day fails. It ends the job when
 * a program of the command is not there, because every other model-day would end the same way.
 */
export function outcomeWithoutStart(end: LauncherEnd): Outcome | StartFailure {
  const how = describeExit(end);
  return NOT_RUN.includes(end.code)
    ? {
        status: 'cannot_start',
        error: `Cannot run the model process: a program of MODEL_DAY_COMMAND is missing on its machine, or is not executable (${how})`,
      }
    : { status: 'failed', error: `The model process did not start (${how}). ${ADVICE}` };
}

/** Outcome where the launcher cannot be started on this machine. */
export function launcherErrorOutcome(name: string, error: Error): Outcome | StartFailure {
  return {
    status: NOT_STARTED.includes(errorCode(error)) ? 'cannot_start' : 'failed',
    error: `Cannot start ${name}, the program of MODEL_DAY_COMMAND, which must be in PATH and executable: ${error.message}`,
  };
}

/** Why a line that came before the child's first message fails the model-day: a banner, say. */
export function describeForeignLine(name: string, line: string): string {
  return (
    `${name} wrote to stdout before the model process did: "${quote(line)}". Only the model ` +
    'process may write there: turn this off, or send it to stderr; a launcher with a terminal (-t) sends back its input'
  );
}
