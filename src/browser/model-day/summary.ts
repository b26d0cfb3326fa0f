import type { Message, Session } from '../responses.ts';

interface Ended extends Pick<Session, 'session_summary'> {
  conversation?: readonly Pick<Message, 'role' | 'content'>[] | null | undefined;
}

/**
 * What the end of a day says beyond the conversation: the summary is the model's last message,
 * which the conversation shows, and sometimes a note on how the day ended, such as that it reached
 * the limit of steps. Null when there is no more.
 */
export function restOfSummary({ session_summary: summary, conversation }: Ended): string | null {
  const last = conversation?.findLast(({ role }) => role === 'assistant')?.content.trim() ?? '';
  const rest = (summary ?? '').trim();
  const more = rest.startsWith(last) ? rest.slice(last.length).trim() : rest;
  return more === '' ? null : more;
}
