import assert from 'node:assert/strict';
import { isExecutable } from './program.ts';

/**
 * Node's inspector runs any code that its client sends, and any program on this machine can be its
 * client. Node opens it on SIGUSR1, which every process of the same user can send, including a
 * child under our permission model.
 */

/**
 * For every Node process that this program starts: makes it ignore SIGUSR1 from before its first
 * line.
 */
export const NO_INSPECTOR_FLAGS: readonly string[] = ['--disable-sigusr1'];

/**
 * Flags that open an inspector at the start; `--inspect-port` and `--inspect-publish-uid` open none
 * by themselves.
 */
const OPENING_FLAG = /(?:^|\s)(--inspect(?:[-_](?:brk|wait))?)(?=[=\s]|$)/;
/** What Node removes from NODE_OPTIONS, also from within a flag. */
const QUOTING = /["\\]/g;
const FAILED = 1;

/**
 * Keeps the inspector of this process closed. A listener takes SIGUSR1 away from Node for good. A
 * signal in the milliseconds before that may have opened the inspector, or be about to, so it is
 * closed now and in the next turn.
 */
export function closeInspector(): void {
  process.on('SIGUSR1', () => {});
  close();
  setImmediate(close);
}

/**
 * The same function as `close()` of `node:inspector`, which would add a tenth to every start-up if
 * loaded.
 */
function close(): void {
  (process as { _debugEnd?: () => void })._debugEnd?.();
}

/** Ends a process that was started with an open inspector, and names the flag that opened it. */
export function refuseInspector(): void {
  const place = [
    ['NODE_OPTIONS', (process.env['NODE_OPTIONS'] ?? '').replace(QUOTING, '')],
    ['the command line', process.execArgv.join(' ')],
  ].find(([, flags]) => OPENING_FLAG.test(flags ?? ''));
  if (place === undefined) return;
  const [where, flags = ''] = place;
  const flag = OPENING_FLAG.exec(flags)?.[1];
  process.stderr.write(
    `Cannot start: ${where} has ${flag}, and through Node's inspector any program on this machine could command this ` +
      `process and read its keys. Start it without ${flag}.\n`,
  );
  process.exit(FAILED);
}

/**
 * The option with which the executable runs a text in place of the program: `build-executable.mjs`
 * puts it into the first line.
 */
const RUN_TEXT = '--run-text';

/** How a process is started: the file to execute, and its arguments. */
interface Command {
  file: string;
  args: string[];
}

/** What runs the texts: Node, or the executable of this program. */
export interface Host {
  file: string;
  isExecutable: boolean;
}

const currentHost: Host = { file: process.execPath, isExecutable };

/**
 * How this program starts another Node, as `{ file, args }` for `spawn`: one with these flags,
 * which runs this JavaScript text as a CommonJS script, without a file. The inspector of that
 * process stays closed. Node itself takes the text by `--eval`. The executable is both Node and the
 * program: it takes flags as one argument, and the text by an option of its own.
 */
export function nodeCommand(flags: readonly string[], text: string, host = currentHost): Command {
  const all = [...NO_INSPECTOR_FLAGS, ...flags];
  const { file } = host;
  if (!host.isExecutable) return { file, args: [...all, '--input-type=commonjs', '--eval', text] };
  assert(!all.some((flag) => /\s/.test(flag)), 'flags are separated by blanks');
  return { file, args: [`--node-options=${all.join(' ')}`, RUN_TEXT, text] };
}
