import { type ChildProcess, spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { ModelDay } from '../database/sessions.ts';
import { codeOf, ServiceError } from '../basics/domain.ts';
import { type Host, ownNode } from '../basics/own-node.ts';
import { MAX_LINE_BYTES } from '../wire/protocol.ts';
import { cleanText, quote } from '../basics/text.ts';
import { confine, type Network } from './confinement.ts';
import {
  CAN_RESTRICT_NETWORK,
  childFlags,
  type LauncherTimes,
  launcherTimes,
  type StartChild,
  startConfined,
} from './process.ts';
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
/** What the loader says first when the Node that runs it will not do. */
const WRONG_NODE = 'This machine has Node.js ';

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
    const [major, minor] = version.split('.').map(Number);
    if (!(major >= 26 || (major === 24 && minor >= 15))) end('${WRONG_NODE}' + version + '; ${needed}');
    ${onlyOld ? `if (major > 24) end('${WRONG_NODE}' + version + '; ${same}');` : ''}
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
/** Exit codes for a program that cannot be run, or is not there, of shells and of Docker. */
const NOT_RUN: readonly (number | null)[] = [126, 127];
/** The same in the words of bubblewrap and Slurm. */
const NOT_FOUND = /\bexecvp |\bexecve\(\): /;

/** What a launcher itself has written so far. */
interface Said {
  name: string;
  stderr: string;
  /** The beginning of a line on stdout that has not ended, before the child's first. */
  unended: string;
}

/** How a launcher ended. */
export interface LauncherEnd extends Said {
  code: number | null;
  killedBy: NodeJS.Signals | null;
}

/** `srun: exit code 137; error: Node failure on w2`. */
export function describeEnd({ code, killedBy, ...said }: LauncherEnd): string {
  return [`${said.name}: ${killedBy ?? `exit code ${code}`}`, ...wordsOf(said)].join('; ');
}

/**
 * What a launcher has said so far, in brackets after a reason that does not come from it; empty
 * when it said nothing.
 */
export function describeSaid(said: Said): string {
  const words = wordsOf(said);
  return words.length === 0 ? '' : ` (${said.name}: ${words.join('; ')})`;
}

function wordsOf({ name, stderr, unended }: Said): string[] {
  return [
    ...endOf(stderr, name),
    ...(unended === '' ? [] : [`it wrote "${quote(unended)}" to stdout`]),
  ];
}

/** The last lines of a launcher's stderr, without its own name in front. */
function endOf(stderr: string, name: string): string[] {
  const lines = stderr.split('\n').flatMap((line) => {
    const text = cleanText(line);
    return text === '' ? [] : [text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text];
  });
  const text = lines.slice(-MAX_LINES).join('; ');
  return text === '' ? [] : [text.length > MAX_LENGTH ? `…${text.slice(-MAX_LENGTH)}` : text];
}

/**
 * What a launcher's machine lacks, so that another try would end the same way; null when it may
 * have been bad luck.
 */
export function lackOf({ code, stderr }: LauncherEnd): string | null {
  const unknown = [...stderr.matchAll(/bad option: (--[a-z0-9-]+)/g)].map(([, flag]) => flag);
  if (unknown.length > 0) {
    const flags = [...new Set(unknown)].join(', ');
    return `Node.js on its machine does not know ${flags}: install Node.js ${process.versions.node}, which the service runs on`;
  }
  if (code === LOADER_FAILED && stderr.includes(WRONG_NODE))
    return 'Node.js on its machine has the wrong version';
  if (NOT_RUN.includes(code) || NOT_FOUND.test(stderr))
    return 'a program of MODEL_DAY_COMMAND was not found on its machine: give the full path of node there';
  return null;
}

/** Why a launcher could not be started on this machine. */
export function describeNotStarted(name: string, error: Error): string {
  return `Cannot start ${name}, the program of MODEL_DAY_COMMAND: ${whyNotStarted(error)}`;
}

function whyNotStarted(error: Error): string {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return `it is not installed, or not in PATH (${error.message})`;
  if (code === 'E2BIG') return `its arguments are too long for this system (${error.message})`;
  return code === 'EACCES' ? `this user may not run it (${error.message})` : error.message;
}

/**
 * Lines that came before the child's first: a banner, or the child's own input. `endless` is the
 * beginning of one that is too long.
 */
export function describeBanner(
  name: string,
  lines: readonly string[],
  endless: string | null = null,
): string {
  const all = endless === null ? lines : [...lines, endless];
  const text = all.map((line) => `"${quote(line)}"`).join(' ');
  if (all.some((line) => line.includes('(function (network, program)')))
    return `${name} sends back its input instead of the model process's output: it must run without a terminal (no -t)`;
  const length = endless === null ? '' : `, a line longer than ${MAX_LINE_BYTES} bytes`;
  const advice = 'Only the model process may write there: turn this off, or send it to stderr';
  return `${name} wrote to stdout before the model process did: ${text}${length}. ${advice}`;
}
