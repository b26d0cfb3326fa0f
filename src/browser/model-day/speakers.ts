import type { Message } from '../responses.ts';

/** Who speaks in a message of a conversation. */
export function speakerOf({
  role,
  message_index: index,
}: Pick<Message, 'role' | 'message_index'>): string {
  // Only the first system message is read by the model; later ones are notes on an answer.
  if (role === 'system') return index === 0 ? 'Instructions to the model' : 'Note by the service';
  return { user: 'Message to the model', assistant: 'Model', tool: 'Tool' }[role];
}
