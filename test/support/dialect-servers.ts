import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ApiDialect } from '../../src/domain.ts';
import type { ModelRequest, Reply } from './model-server.ts';

/**
 * A provider that plays one scripted day in any dialect, whole or as a stream, and is as strict as
 * its maker: what was said before must come back as it was, or the request is refused.
 */

/** What the model says in one step. */
export interface Step {
  text: string;
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

type Body = Record<string, any>;

/** What one dialect's provider answers, and what it refuses: a sentence, or null. */
interface Provider {
  answer(step: Step, number: number): Body;
  events(body: Body): string;
  /** How many of its own answers the request sends back. */
  answersIn(body: Body): number;
  refusal(request: ModelRequest, steps: readonly Step[]): string | null;
  error(message: string): Body;
}

const chat: Provider = {
  answer: ({ text, thought, calls }, number) => ({
    id: `chatcmpl-${number}`,
    model: DATED,
    choices: [
      {
        message: {
          role: 'assistant',
          content: text,
          reasoning_content: thought,
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
    const { tool_calls: calls = [], content, reasoning_content, role } = message;
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
    const words = [
      ...halves(reasoning_content).map((half) => chunk({ role, reasoning_content: half })),
      ...halves(content).map((half) => chunk({ content: half })),
    ];
    return (
      sse(
        [...words, ...pieces, chunk({}, finish_reason), { ...head, choices: [], usage }].map(
          (data) => ['', data],
        ),
      ) + 'data: [DONE]\n\n'
    );
  },
  answersIn: ({ messages }) => messages.filter(({ role }: Body) => role === 'assistant').length,
  refusal({ body: { messages, stream, stream_options } }, steps) {
    if (stream && stream_options?.include_usage !== true)
      return 'stream_options: no usage would be told';
    const said = messages.filter(({ role }: Body) => role === 'assistant');
    for (const [index, message] of said.entries()) {
      const { message: mine } = chat.answer(steps[index] as Step, index + 1)['choices'][0];
      if (message.reasoning_content !== mine.reasoning_content)
        return 'Missing `reasoning_content` field in the assistant message';
      if (!isDeepStrictEqual(message.tool_calls, mine.tool_calls))
        return 'Function call is missing a thought_signature';
    }
    return answered(
      messages.flatMap(({ role, tool_calls: calls, tool_call_id: id }: Body) => [
        ...(calls ?? []).map((call: Body) => `+${call['id']}`),
        ...(role === 'tool' ? [`-${id}`] : []),
      ]),
    );
  },
  error: (message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  }),
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
        id: `rs_${number}`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: thought }],
        encrypted_content: secretOf(number),
      },
      ...(text === ''
        ? []
        : [
            {
              id: `msg_${number}`,
              type: 'message',
              role: 'assistant',
              status: 'completed',
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
    const events = [
      { type: 'response.created', response: { ...body, status: 'in_progress', output: [] } },
      ...items,
      { type: 'response.completed', response: body },
    ];
    return sse(events.map((event) => [event.type, event]));
  },
  answersIn: ({ input }) => input.filter(({ type }: Body) => type === 'reasoning').length,
  refusal({ body }, steps) {
    const { input, store, include, previous_response_id, messages, max_tokens } = body;
    if (store !== false || previous_response_id !== undefined)
      return 'nothing is kept here: store must be false';
    if (messages !== undefined || max_tokens !== undefined) return 'Unknown parameter';
    if (!include?.includes('reasoning.encrypted_content'))
      return 'include: encrypted reasoning is needed';
    const said = input.filter(
      ({ type, role }: Body) =>
        type === 'reasoning' || type === 'function_call' || role === 'assistant',
    );
    const mine = steps
      .slice(0, responses.answersIn(body))
      .flatMap((step, index) => responses.answer(step, index + 1)['output']);
    if (!isDeepStrictEqual(said, mine))
      return "Item 'rs' was provided without its required following item, or was changed";
    return answered(
      input.flatMap(({ type, call_id: id }: Body) =>
        type === 'function_call' ? [`+${id}`] : type === 'function_call_output' ? [`-${id}`] : [],
      ),
    );
  },
  error: (message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  }),
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
        type: 'tool_use',
        id: callId(number, index),
        name,
        input,
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
    return sse(
      [start, { type: 'ping' }, ...blocks, end, { type: 'message_stop' }].map((event) => [
        event.type,
        event,
      ]),
    );
  },
  answersIn: ({ messages: all }) =>
    all.flatMap(({ content }: Body) => content).filter(({ type }: Body) => type === 'thinking')
      .length,
  refusal({ headers, body }, steps) {
    const { messages: all, max_tokens } = body;
    if (
      headers['anthropic-version'] !== '2023-06-01' ||
      !headers['x-api-key'] ||
      headers.authorization
    )
      return 'x-api-key header is required';
    if (!(max_tokens > 0)) return 'max_tokens: Field required';
    if ((JSON.stringify(body).match(/"cache_control"/g) ?? []).length > 4)
      return 'A maximum of 4 blocks with cache_control may be provided';
    if (
      all.some(({ role }: Body, index: number) => role !== (index % 2 === 0 ? 'user' : 'assistant'))
    )
      return 'roles must alternate';
    const said = all
      .filter(({ role }: Body) => role === 'assistant')
      .flatMap(({ content }: Body) => content);
    const mine = steps
      .slice(0, messages.answersIn(body))
      .flatMap((step, index) => messages.answer(step, index + 1)['content']);
    if (!isDeepStrictEqual(said, mine))
      return 'thinking blocks in the latest assistant message cannot be modified';
    for (const [index, { content }] of all.entries()) {
      const used = content
        .filter(({ type }: Body) => type === 'tool_use')
        .map(({ id }: Body) => id);
      const next = (all[index + 1]?.content ?? [])
        .filter(({ type }: Body) => type === 'tool_result')
        .map((block: Body) => block['tool_use_id']);
      if (used.length > 0 && !isDeepStrictEqual(used, next))
        return 'tool_use ids were found without tool_result blocks immediately after';
    }
    return null;
  },
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
};

/** Refuses a history in which a call (`+id`) is not followed by its result (`-id`). */
function answered(marks: readonly string[]): string | null {
  const results = new Set(
    marks.filter((mark) => mark.startsWith('-')).map((mark) => mark.slice(1)),
  );
  const open = marks.find((mark) => mark.startsWith('+') && !results.has(mark.slice(1)));
  return open === undefined ? null : `No tool output found for function call ${open.slice(1)}.`;
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
  return [
    ...halves(block['thinking']).map((thinking) => ({ type: 'thinking_delta', thinking })),
    { type: 'signature_delta', signature: block['signature'] },
  ];
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

/**
 * The reply to a request of a day with these steps: refused as the maker would, if it is strict,
 * otherwise the next step.
 */
export function replyTo(
  request: ModelRequest,
  steps: readonly Step[],
  { isStrict = true } = {},
): Reply {
  const provider = providers[dialectOf(request)];
  const refusal = isStrict ? provider.refusal(request, steps) : null;
  if (refusal !== null) return { status: 400, body: provider.error(refusal) };
  const number = provider.answersIn(request.body) + 1;
  const step = steps[number - 1];
  assert.ok(step !== undefined, `there is no step ${number}`);
  const body = provider.answer(step, number);
  if (request.body.stream !== true) return { body };
  return { headers: { 'content-type': 'text/event-stream' }, body: provider.events(body) };
}
