import { readFileSync } from 'node:fs';
import type { ChatMessage } from '../../src/core/agent/model.ts';
import { dialects } from '../../src/core/agent/provider/ask.ts';
import { readBody } from '../../src/core/agent/provider/transport.ts';
import { classify } from '../../src/core/agent/provider/verdict.ts';
import { markWritten } from '../../src/core/agent/provider/written-calls.ts';
import type { ApiDialect } from '../../src/core/domain/vocabulary.ts';
import type { Json } from '../../src/core/json/json.ts';
import { opening } from './ask-provider.ts';
import type { StreamedReply } from './model-server.ts';

/** One answer in the words of each dialect, whole and as a stream, and what becomes of it. */

export interface Answer {
  text?: string;
  /** Arguments of a call of `buy`. */
  call?: string;
  thought?: string;
  /** Why it ended, in the word of its provider; null for a response without one. */
  reason: string | null;
}

/** The words of a status of Responses; of others there is a reason why the response is incomplete. */
export const STATUSES = ['completed', 'queued', 'in_progress', 'cancelled'];

export const bodies: Record<ApiDialect, (answer: Answer) => Json> = {
  chat: ({ text = null, call, thought, reason }) => ({
    choices: [
      {
        index: 0,
        finish_reason: reason,
        message: {
          ...{ role: 'assistant', content: text, reasoning_content: thought },
          ...(call !== undefined && {
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'buy', arguments: call } },
            ],
          }),
        },
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 0 },
  }),
  messages: ({ text, call, thought, reason }) => ({
    ...{ type: 'message', role: 'assistant', stop_reason: reason },
    content: [
      ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: 's' }]),
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...(call === undefined ? [] : [{ type: 'tool_use', id: 'c1', name: 'buy', input: call }]),
    ],
    usage: { input_tokens: 100, output_tokens: 0 },
  }),
  responses: ({ text, call, thought, reason }) => ({
    object: 'response',
    ...(reason === null || STATUSES.includes(reason)
      ? { status: reason }
      : { status: 'incomplete', incomplete_details: { reason } }),
    output: [
      ...(thought === undefined
        ? []
        : [{ type: 'reasoning', id: 'r1', summary: [{ type: 'summary_text', text: thought }] }]),
      ...(text === undefined
        ? []
        : [{ type: 'message', id: 'm1', content: [{ type: 'output_text', text }] }]),
      ...(call === undefined
        ? []
        : [{ type: 'function_call', id: 'f1', call_id: 'c1', name: 'buy', arguments: call }]),
    ],
    usage: { input_tokens: 100, output_tokens: 0 },
  }),
};

/** How an answer ends that is whole. */
export const ENDS: Record<ApiDialect, string> = {
  ...{ chat: 'stop', responses: 'completed', messages: 'end_turn' },
};

export const saying = (api: ApiDialect, text: string): Json =>
  bodies[api]({ text, reason: ENDS[api] });

export const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;

/** A body as the events of a stream. */
const events: Record<ApiDialect, (body: any) => object[]> = {
  chat({ choices: [{ message, finish_reason }], usage }) {
    const calls = message.tool_calls?.map((call: object, index: number) => ({ index, ...call }));
    return [
      { choices: [{ index: 0, delta: { ...message, tool_calls: calls }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ];
  },
  messages: ({ content, stop_reason, usage, ...head }) => [
    { type: 'message_start', message: { ...head, content: [], stop_reason: null, usage } },
    ...content.flatMap((content_block: object, index: number) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason } },
    { type: 'message_stop' },
  ],
  responses: (response) => [
    ...response.output.map((item: object, output_index: number) => ({
      ...{ type: 'response.output_item.done', output_index, item },
    })),
    { type: 'response.completed', response },
  ],
};

export function streamOf(api: ApiDialect, body: Json): StreamedReply & { pieces: string[] } {
  return { pieces: [...events[api](body).map(event), 'data: [DONE]\n\n'] };
}

/** A whole stream of each dialect, of the corpus. */
export const STREAMS: Record<ApiDialect, string> = {
  chat: 'chat-openai.sse',
  responses: 'responses-openai.sse',
  messages: 'messages-claude.sse',
};

export const bytesOf = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/streams/${name}`, import.meta.url));

/** A stream up to its last few events. */
export function half(api: ApiDialect): string {
  const all = bytesOf(STREAMS[api]).toString().split('\n\n');
  return `${all.slice(0, Math.ceil(all.length / 2)).join('\n\n')}\n\n`;
}

export const STREAM = {
  status: 200,
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
};

export async function* inChunks(pieces: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece as string);
}

/** What becomes of a body, or of a stream in pieces, without a server. */
export async function verdictOn(
  api: ApiDialect,
  reply: { body: unknown } | { pieces: readonly (string | Buffer)[] },
  { conversation = opening, status = STREAM.status } = {},
) {
  const dialect = dialects[api];
  const response =
    'body' in reply
      ? { status, headers: {}, text: '', body: reply.body }
      : await readBody(
          { ...STREAM, status, body: inChunks(reply.pieces), close() {} },
          dialect.assemble(),
        );
  return classify(response, {
    step: 3,
    read: (...read) => markWritten(dialect.read(...read), conversation),
    mayBeEmpty: conversation.some(({ role }) => role === 'tool'),
  });
}

/** A conversation in which a tool was called. */
export const afterCall = (name: string): ChatMessage[] => [
  ...opening,
  { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name, arguments: '{}' }] },
  { role: 'tool', id: 'c1', content: '{}' },
];
