import type { StoredMessage } from '../database/replay.ts';
import type { Comparison } from './differences.ts';

/** Compares the prompt and the morning report of the record with those that replay makes, line by line. */
export function compareFirstMessages(
  stored: readonly Pick<StoredMessage, 'role' | 'content'>[],
  made: readonly Pick<StoredMessage, 'role' | 'content'>[],
  { compare }: Comparison,
): void {
  compare('the messages before its first answer', { kind: 'answers', stored: rolesOf(stored), replayed: rolesOf(made) });
  for (const [index, { role, content }] of made.entries()) {
    const message = stored[index];
    if (message === undefined || message.content === content.toWellFormed()) continue;
    const what = role === 'system' ? 'its prompt' : 'its morning report';
    for (const [was, is] of changedLines(message.content.split('\n'), content.split('\n')))
      compare(what, { kind: 'words', stored: was, replayed: is, symbols: symbolsIn(was, is) });
  }
}

/** The lines of two texts in pairs, without the lines that both begin with or both end with. */
function changedLines(stored: readonly string[], made: readonly string[]): [string | undefined, string | undefined][] {
  const least = Math.min(stored.length, made.length);
  let start = 0;
  while (start < least && stored[start] === made[start]) start += 1;
  let end = 0;
  while (end < least - start && stored.at(-1 - end) === made.at(-1 - end)) end += 1;
  const [was, is] = [stored.slice(start, stored.length - end), made.slice(start, made.length - end)];
  const pairs = Array.from({ length: Math.max(was.length, is.length) }, (_, line) => [was[line], is[line]] as const);
  return pairs.filter(([one, other]) => one !== other).map(([one, other]) => [one, other]);
}

function rolesOf(messages: readonly Pick<StoredMessage, 'role'>[]): string {
  return messages.map(({ role }) => role).join(', ') || 'none';
}

/** The symbols with which lines of prices and holdings begin. */
function symbolsIn(...lines: (string | undefined)[]): string[] {
  return lines.flatMap((line) => /^[A-Z0-9.-]+(?=[: ])/.exec(line ?? '') ?? []);
}
