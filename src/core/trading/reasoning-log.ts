import * as v from 'valibot';
import type { StoredMessage } from '#database/replay-queries.ts';
import type { LogMessage } from '#database/sessions.ts';
import { tryParse } from '#json/json.ts';
import {
  type Answer,
  carriedSchema,
  type ToolCall,
  toolCallSchema,
  type ToolMessage,
} from '#wire/protocol.ts';

/**
 * How the steps of a session are written to its reasoning log, and read back when the session is
 * resumed.
 */

/**
 * Thrown when a session cannot be resumed where its reasoning log ends, because what the model read
 * then has changed.
 */
export class LogMismatch extends Error {
  /** For the session that is set aside. */
  get reason(): string {
    return `Set aside, because the reasoning log no longer matches: ${this.message}`;
  }
}

/** One answer of the model as it was logged. */
export type RecordedStep = ReturnType<typeof readSteps>[number];

/** The name of the last message of a day with a hidden open, which no call of the model has. */
export const FILLS_MESSAGE = 'fills';

/** Whether a message says what became of the orders: the model's own calls have an input. */
export function isFillsMessage(message: Record<'toolName' | 'toolInput', string | null>): boolean {
  return message.toolName === FILLS_MESSAGE && message.toolInput === null;
}

export function answerMessages({
  content,
  toolCalls,
  reasoning,
  note,
  carried,
  served,
  fault,
}: Answer): LogMessage[] {
  const message: LogMessage = {
    role: 'assistant',
    content,
    summary: reasoning,
    ...(toolCalls.length > 0 && { toolCalls: JSON.stringify(toolCalls) }),
    ...(carried && { carried: JSON.stringify(carried) }),
    ...(served && { served: JSON.stringify(served) }),
    ...(fault && { fault }),
  };
  return note === null ? [message] : [message, { role: 'system', content: note }];
}

export function resultMessage(call: ToolCall, { content }: ToolMessage): LogMessage {
  return { role: 'tool', content, toolName: call.name, toolInput: asJson(call.arguments) };
}

export function messagesBeforeAnswer(log: readonly StoredMessage[]): readonly StoredMessage[] {
  const first = log.findIndex(({ role }) => role === 'assistant');
  return first === -1 ? log : log.slice(0, first);
}

/** The steps of a log in order. Throws a `LogMismatch` when one cannot be read. */
export function readSteps(log: readonly StoredMessage[]) {
  const groups: { said: StoredMessage; followedBy: StoredMessage[] }[] = [];
  for (const message of log) {
    if (message.role === 'assistant') groups.push({ said: message, followedBy: [] });
    else groups.at(-1)?.followedBy.push(message);
  }
  return groups.map(({ said, followedBy }, index) => {
    const answer: Answer = {
      type: 'answer',
      content: said.content,
      toolCalls: readStored(v.array(toolCallSchema), said.toolCalls, 'tool calls') ?? [],
      note: followedBy.find(({ role }) => role === 'system')?.content ?? null,
      carried: readStored(carriedSchema, said.carried, 'fields to be sent back to the provider'),
      fault: said.fault,
      reasoning: null,
      usage: null,
    };
    const results = followedBy.filter(({ role }) => role === 'tool').map(({ content }) => content);
    const calls = answer.toolCalls.length;
    const isCut = results.length === 0 && calls > 0 && index === groups.length - 1;
    if (!isCut && results.length !== calls)
      throw new LogMismatch(
        `step ${index + 1} has ${results.length} results of ${calls} tool calls`,
      );
    return {
      answer,
      /** The place of its message. */
      index: said.messageIndex,
      /** The results of its tool calls; none when the process ended before they were logged. */
      results,
      /** Whether its model was given a second chance. */
      hasSecond: followedBy.some(({ role }) => role === 'user'),
    };
  });
}

/** Null for what was not stored; `what` is in it, for the error. */
function readStored<Schema extends v.GenericSchema>(
  schema: Schema,
  stored: string | null,
  what: string,
): v.InferOutput<Schema> | null {
  if (stored === null) return null;
  const result = v.safeParse(schema, JSON.parse(stored));
  if (!result.success) throw new LogMismatch(`it holds ${what} that cannot be read`);
  return result.output;
}

/** The arguments as JSON: unchanged if they are valid JSON, otherwise as a JSON string. */
function asJson(text: string): string {
  return tryParse(text) === undefined ? JSON.stringify(text) : text;
}
