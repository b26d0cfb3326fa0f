import type { StoredMessage } from '../database/replay.ts';
import type { Comparison } from './differences.ts';

/** Compares the prompt and the morning report that are stored with those that replay makes, line by line. */
export function compareOpening(
  stored: readonly Pick<StoredMessage, 'role' | 'content'>[],
  made: readonly Pick<StoredMessage, 'role' | 'content'>[],
  { compare }: Comparison,
): void {
  compare('the messages before its first answer', { kind: 'answers', stored: rolesOf(stored), replayed: rolesOf(made) });
  for (const [index, { role, content }] of made.entries()) {
    const message = stored[index];
    if (message === undefined || message.content === content) continue;
    const what = role === 'system' ? 'its prompt' : 'its morning report';
    const [was, is] = [message.content.split('\n'), content.split('\n')];
    for (let line = 0; line < Math.max(was.length, is.length); line += 1)
      compare(what, { kind: 'words', stored: was[line], replayed: is[line], symbols: symbolsIn(was[line], is[line]) });
  }
}

function rolesOf(messages: readonly Pick<StoredMessage, 'role'>[]): string {
  return messages.map(({ role }) => role).join(', ') || 'none';
}

/** The symbols with which lines of prices and holdings begin. */
function symbolsIn(...lines: (string | undefined)[]): string[] {
  return lines.flatMap((line) => /^[A-Z0-9.-]+(?=[: ])/.exec(line ?? '') ?? []);
}
