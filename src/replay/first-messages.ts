import type { StoredMessage } from '../database/replay.ts';
import type { Comparison } from './differences.ts';

/**
 * Compares the prompt and the morning report of the record with those that replay makes. A message
 * that differs is one difference: the first line that is not the same, and how many more there are.
 */
export function compareFirstMessages(
  stored: readonly Pick<StoredMessage, 'role' | 'content'>[],
  made: readonly Pick<StoredMessage, 'role' | 'content'>[],
  { compare }: Comparison,
): void {
  compare('the messages before its first answer', {
    kind: 'answers',
    stored: rolesOf(stored),
    replayed: rolesOf(made),
  });
  for (const [index, { role, content }] of made.entries()) {
    const message = stored[index];
    if (message === undefined) continue;
    const lines = changedLines(message.content.split('\n'), content.toWellFormed().split('\n'));
    const first = lines.find(({ was = '', is = '' }) => was !== is) ?? lines[0]; // one more empty line says little
    if (first === undefined) continue;
    const { number, was, is } = first;
    const what = `${role === 'system' ? 'its prompt' : 'its morning report'}, line ${number}`;
    compare(what, {
      kind: 'words',
      stored: was,
      replayed: is,
      symbols: symbolsIn(was, is),
      more: moreLines(lines.length - 1),
    });
  }
}

function moreLines(number: number): string {
  if (number === 0) return '';
  return number === 1 ? '; 1 more line differs' : `; ${number} more lines differ`;
}

/** A line that is not the same in two texts; undefined in the one that lacks it. */
interface ChangedLine {
  /** From 1. */
  number: number;
  was: string | undefined;
  is: string | undefined;
}

/**
 * The lines of two texts in pairs, without those that are the same, and without the lines that both
 * end with.
 */
function changedLines(stored: readonly string[], made: readonly string[]): ChangedLine[] {
  const least = Math.min(stored.length, made.length);
  let start = 0;
  while (start < least && stored[start] === made[start]) start += 1;
  let end = 0;
  while (end < least - start && stored.at(-1 - end) === made.at(-1 - end)) end += 1;
  const [was, is] = [
    stored.slice(start, stored.length - end),
    made.slice(start, made.length - end),
  ];
  const length = Math.max(was.length, is.length);
  const pairs = Array.from({ length }, (_, line) => ({
    number: start + line + 1,
    was: was[line],
    is: is[line],
  }));
  return pairs.filter((pair) => pair.was !== pair.is);
}

function rolesOf(messages: readonly Pick<StoredMessage, 'role'>[]): string {
  return messages.map(({ role }) => role).join(', ') || 'none';
}

/** The symbols with which lines of prices and holdings begin. */
function symbolsIn(...lines: (string | undefined)[]): string[] {
  return lines.flatMap((line) => /^[A-Z0-9.-]+(?=[: ])/.exec(line ?? '') ?? []);
}
