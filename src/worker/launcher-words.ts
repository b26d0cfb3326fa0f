import { codeOf } from '../domain.ts';
import { MAX_LINE_BYTES } from '../protocol.ts';
import { cleanText, quote } from '../text.ts';
import { LOADER_FAILED, WRONG_NODE } from './loader.ts';

/** What went wrong with a launcher, in words. */

/** How much of the end of its stderr an error repeats. */
const MAX_LINES = 3;
const MAX_LENGTH = 500;
/** Exit codes for a program that cannot be run, or is not there, of shells and of Docker. */
const NOT_RUN: readonly (number | null)[] = [126, 127];
/** The same in the words of bubblewrap and Slurm. */
const NOT_FOUND = /\bexecvp |\bexecve\(\): /;

/** What a launcher itself has written so far. */
export interface Said {
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
