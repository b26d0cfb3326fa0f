import assert from 'node:assert/strict';
import { isExecutable } from './executable.ts';
import { NO_INSPECTOR_FLAGS } from './inspector.ts';

/**
 * The option with which the executable runs a text in place of the program: `build-executable.mjs`
 * puts it into the first line.
 */
const RUN_TEXT = '--run-text';

/** How a process is started: the file to execute, and its arguments. */
export interface Command {
  file: string;
  args: string[];
}

/** What runs the texts: Node, or the executable of this program. */
export interface Host {
  file: string;
  isExecutable: boolean;
}

const here: Host = { file: process.execPath, isExecutable };

/**
 * How this program starts another Node, as `{ file, args }` for `spawn`: one with these flags,
 * which runs this JavaScript text as a CommonJS script, without a file. The inspector of that
 * process stays closed. Node itself takes the text by `--eval`. The executable is both Node and the
 * program: it takes flags as one argument, and the text by an option of its own.
 */
export function ownNode(flags: readonly string[], text: string, host = here): Command {
  const all = [...NO_INSPECTOR_FLAGS, ...flags];
  const { file } = host;
  if (!host.isExecutable) return { file, args: [...all, '--input-type=commonjs', '--eval', text] };
  for (const flag of all) assert(!/\s/.test(flag), 'flags are separated by blanks');
  return { file, args: [`--node-options=${all.join(' ')}`, RUN_TEXT, text] };
}
