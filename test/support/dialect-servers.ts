import assert from 'node:assert/strict';
import type { ApiDialect } from '../../src/core/domain/vocabulary.ts';
import { type Body, rules } from './makers-rules.ts';
import type { ModelRequest, Reply } from './model-server.ts';

/**
 * A provider that plays one scripted day in any dialect, whole or as a stream, and is as strict as
 * its maker: what was said before must come back as it was, or the request is refused.
 */

/** What the model says in one step. */
export interface Step {
  text: string;
  /** Empty where the model does not say what it thought. */
  thought: string;
  calls: [name: string, args: object][];
  /** Messages: the answer is paused, and continues with the next step. */
  isPaused?: boolean;
}

/**
 * Tokens of each step: input, of it read from a cache and written to it, output, of it for
 * thoughts.
 */
const TOKENS = { input: 1_000, read: 300, written: 200, output: 90, thought: 40 };
export const DATED = 'model-2026-07-07';

/** The tools' ids and the thoughts' signatures of a step. */
const callId = (step: number, index: number) => `call_${step}_${index}`;
const secretOf = (step: number) => `sealed-${step}==`;

/** What one dialect's provider answers. */
interface Provider {
  answer(step: Step, number: number): Body;
  events(body: Body): string;
  /** How many of its own answers the request sends back. */
  answersIn(body: Body): number;
  error(message: string): Body;
}

/** How two of the makers tell an error. */
const error: Provider['error'] = (message) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null },
});

const chat: Provider = {
  answer: ({ text, thought, calls }, number) => ({
    id: `chatcmpl-${number}`,
    model: DATED,
    choices: [
      {
        message: {
          role: 'assistant',
          content: text || null,
          ...(thought !== '' && { reasoning_content: thought }),
          reasoning_details: detailsOf(thought, number),
          ...(calls.length > 0 && {
            tool_calls: calls.map(([name, args], index) => ({
              id: callId(number, index),
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
              extra_content: { google: { thought_signature: secretOf(number) } },
            })),
          }),
        },
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: {
      prompt_tokens: TOKENS.input,
      completion_tokens: TOKENS.output,
      prompt_tokens_details: { cached_tokens: TOKENS.read, cache_write_tokens: TOKENS.written },
      completion_tokens_details: { reasoning_tokens: TOKENS.thought },
    },
  }),
  events({ choices, usage, ...head }) {
    const [{ message, finish_reason }] = choices;
    const { tool_calls: calls = [], content, reasoning_content, reasoning_details, role } = message;
    const chunk = (delta: Body, finish: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const pieces = calls.flatMap(
      ({ function: { name, arguments: text }, ...call }: Body, index: number) => [
        chunk({ tool_calls: [{ ...call, index, function: { name, arguments: '' } }] }),
        ...halves(text).map((half) =>
          chunk({ tool_calls: [{ index, function: { arguments: half } }] }),
        ),
      ],
    );
    const thoughts = [
      ...halves(reasoning_content ?? '').map((half) => chunk({ role, reasoning_content: half })),
      ...reasoning_details
        .flatMap(piecesOf)
        .map((piece: Body) => chunk({ reasoning_details: [piece] })),
    ];
    const words = halves(content ?? '').map((half) => chunk({ content: half }));
    const end = [chunk({}, finish_reason), { ...head, choices: [], usage }];
    const all = [...thoughts, ...words, ...pieces, ...end];
    return `${sse(all.map((data) => ['', data]))}data: [DONE]\n\n`;
  },
  answersIn: ({ messages }) => messages.filter(({ role }: Body) => role === 'assistant').length,
  error,
};

const responses: Provider = {
  answer: ({ text, thought, calls }, number) => ({
    id: `resp_${number}`,
    object: 'response',
    model: DATED,
    status: 'completed',
    error: null,
    output: [
      {
        ...{ id: `rs_${number}`, type: 'reasoning', encrypted_content: secretOf(number) },
        summary: thought === '' ? [] : [{ type: 'summary_text', text: thought }],
      },
      ...(text === ''
        ? []
        : [
            {
              ...{ id: `msg_${number}`, type: 'message', role: 'assistant', status: 'completed' },
              content: [{ type: 'output_text', annotations: [], text }],
            },
          ]),
      ...calls.map(([name, args], index) => ({
        ...{ id: `fc_${number}_${index}`, type: 'function_call', status: 'completed', name },
        ...{ arguments: JSON.stringify(args), call_id: callId(number, index) },
      })),
    ],
    usage: {
      input_tokens: TOKENS.input,
      input_tokens_details: { cached_tokens: TOKENS.read, cache_write_tokens: TOKENS.written },
      output_tokens: TOKENS.output,
      output_tokens_details: { reasoning_tokens: TOKENS.thought },
    },
  }),
  events(body) {
    const items = body['output'].map((item: Body, index: number) => ({
      type: 'response.output_item.done',
      output_index: index,
      item,
    }));
    const begun = { ...body, status: 'in_progress', output: [] };
    const created = { type: 'response.created', response: begun };
    const events = [created, ...items, { type: 'response.completed', response: body }];
    return sse(events.map((event) => [event.type, event]));
  },
  answersIn: ({ input }) => input.filter(({ type }: Body) => type === 'reasoning').length,
  error,
};

const messages: Provider = {
  answer: ({ text, thought, calls, isPaused }, number) => ({
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: DATED,
    content: [
      { type: 'thinking', thinking: thought, signature: secretOf(number) },
      ...(number === 1 ? [{ type: 'redacted_thinking', data: 'hidden' }] : []),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(([name, input], index) => ({
        ...{ type: 'tool_use', id: callId(number, index), name, input },
      })),
    ],
    stop_reason: isPaused ? 'pause_turn' : calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: {
      input_tokens: TOKENS.input - TOKENS.read - TOKENS.written,
      cache_read_input_tokens: TOKENS.read,
      cache_creation_input_tokens: TOKENS.written,
      output_tokens: TOKENS.output,
      output_tokens_details: { thinking_tokens: TOKENS.thought },
    },
  }),
  events({ content, stop_reason, usage, ...head }) {
    const { output_tokens, output_tokens_details, ...input } = usage;
    const blocks = content.flatMap((block: Body, index: number) => [
      { type: 'content_block_start', index, content_block: emptied(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]);
    const end = {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens, output_tokens_details },
    };
    const start = {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } },
    };
    const events = [start, { type: 'ping' }, ...blocks, end, { type: 'message_stop' }];
    return sse(events.map((event) => [event.type, event]));
  },
  answersIn: ({ messages: all }) =>
    all.flatMap(({ content }: Body) => content).filter(({ type }: Body) => type === 'thinking')
      .length,
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
};

/**
 * OpenRouter's thoughts beside those of DeepSeek: what the model lets us read, with its signature,
 * and what it seals.
 */
function detailsOf(text: string, number: number): Body[] {
  const format = 'anthropic-claude-v1';
  return [
    ...(text === ''
      ? []
      : [{ type: 'reasoning.text', text, signature: secretOf(number), format, index: 0 }]),
    { type: 'reasoning.encrypted', data: secretOf(number), id: `rs_${number}`, format, index: 1 },
  ];
}

function piecesOf({ text, signature, ...detail }: Body): Body[] {
  if (text === undefined) return [detail];
  return [...halves(text).map((half) => ({ ...detail, text: half })), { ...detail, signature }];
}

const EMPTY: Record<string, Body> = {
  text: { text: '' },
  thinking: { thinking: '', signature: '' },
  tool_use: { input: {} },
};
const emptied = (block: Body) => ({ ...block, ...EMPTY[block['type']] });

function deltasOf(block: Body): Body[] {
  if (block['type'] === 'text')
    return halves(block['text']).map((text) => ({ type: 'text_delta', text }));
  if (block['type'] === 'tool_use')
    return halves(JSON.stringify(block['input'])).map((half) => ({
      type: 'input_json_delta',
      partial_json: half,
    }));
  if (block['type'] !== 'thinking') return [];
  const thoughts = halves(block['thinking']).map((thinking) => ({
    type: 'thinking_delta',
    thinking,
  }));
  return [...thoughts, { type: 'signature_delta', signature: block['signature'] }];
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function sse(events: readonly (readonly [name: string, data: unknown])[]): string {
  return events
    .map(
      ([name, data]) => `${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`,
    )
    .join('');
}

const providers: Record<ApiDialect, Provider> = { chat, responses, messages };

/** Which dialect a request speaks, by its path. */
export function dialectOf({ path }: Pick<ModelRequest, 'path'>): ApiDialect {
  return path.endsWith('/responses')
    ? 'responses'
    : path.endsWith('/messages')
      ? 'messages'
      : 'chat';
}

/** Which step of its day a request asks for, from 1. */
export function stepOf(request: ModelRequest): number {
  return providers[dialectOf(request)].answersIn(request.body) + 1;
}

/** The makers' rules that a request of a day with these steps breaks. */
function refusalsOf(request: ModelRequest, steps: readonly Step[]): string[] {
  const provider = providers[dialectOf(request)];
  const before = steps.slice(0, stepOf(request) - 1);
  return rules[dialectOf(request)](
    request,
    before.map((step, index) => provider.answer(step, index + 1)),
  );
}

/**
 * The reply to a request of a day with these steps: refused as the maker would, or the next step.
 */
export function replyTo(request: ModelRequest, steps: readonly Step[]): Reply {
  const provider = providers[dialectOf(request)];
  const [refusal] = refusalsOf(request, steps);
  if (refusal !== undefined) return { status: 400, body: provider.error(refusal) };
  const number = stepOf(request);
  const step = steps[number - 1];
  assert.ok(step !== undefined, `there is no step ${number}`);
  const body = provider.answer(step, number);
  if (request.body.stream !== true) return { body };
  return { headers: { 'content-type': 'text/event-stream' }, body: provider.events(body) };
}
