import assert from 'node:assert/strict';
import { isSea } from 'node:sea';
import { NO_INSPECTOR_FLAGS } from './inspector.ts';

/** The option by which the executable runs a text in place of the program: the first line of its main script, build.mjs. */
const RUN_TEXT = '--run-text';

/** How a process is started: the file to execute, and its arguments. */
export interface Command {
  file: string;
  args: string[];
}

/**
 * How this program starts another Node, as `{ file, args }` for `spawn`: one with these flags, which runs this JavaScript text
 * as a CommonJS script, without a file. The inspector of that process stays closed. Node itself takes the text by `--eval`.
 * The executable is both Node and the program: it takes flags as one argument, and the text by an option of its own.
 */
export function ownNode(flags: readonly string[], text: string): Command {
  const all = [...NO_INSPECTOR_FLAGS, ...flags];
  if (!isSea()) return { file: process.execPath, args: [...all, '--input-type=commonjs', '--eval', text] };
  for (const flag of all) assert(!/\s/.test(flag), 'flags are separated by blanks');
  return { file: process.execPath, args: [`--node-options=${all.join(' ')}`, RUN_TEXT, text] };
}
