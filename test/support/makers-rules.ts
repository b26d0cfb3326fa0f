import { isDeepStrictEqual } from 'node:util';
import type { ApiDialect } from '../../src/core/domain/vocabulary.ts';
import type { ModelRequest } from './model-server.ts';

/**
 * What the makers refuse of a request, in their words where they have any: unknown fields, missing
 * ones, and a conversation that does not say again what was said in it. Rules of several makers of
 * one dialect are held together: whoever keeps all of them is taken by each.
 */

export type Body = Record<string, any>;

/**
 * Every rule that a request breaks, as a sentence; `answers` are the bodies of the answers before
 * it, as they were given.
 */
export type Rules = (request: ModelRequest, answers: readonly Body[]) => string[];

/**
 * The fields of a request, from the makers' libraries (npm openai 6.49.0, @anthropic-ai/sdk
 * 1.12.0); the last three of Messages are those of older models.
 */
const FIELDS: Record<ApiDialect, string> = {
  chat: `
    audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens messages metadata modalities model moderation n parallel_tool_calls prediction
    presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention
    reasoning_effort response_format safety_identifier seed service_tier stop store stream
    stream_options temperature tool_choice tools top_logprobs top_p user verbosity
    web_search_options`,
  responses: `
    background context_management conversation include input instructions max_output_tokens
    metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key
    prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store
    stream stream_options temperature text tool_choice tools top_logprobs top_p truncation
    user`,
  messages: `
    cache_control container diagnostics inference_geo max_tokens messages metadata model
    output_config service_tier speed stop_sequences stream system thinking tool_choice tools
    user_profile_id workspace_id temperature top_k top_p`,
};

const unknownIn = (api: ApiDialect, body: Body) =>
  Object.keys(body).filter((field) => !FIELDS[api].split(/\s+/).includes(field));
const broken = (sentences: readonly (string | false)[]) =>
  sentences.filter((sentence) => sentence !== false);

/** The first place where what comes back is not what was given; -1 where all of it is the same. */
function firstChange(said: readonly Body[], given: readonly Body[]): number {
  const places = Array.from({ length: Math.max(said.length, given.length) }, (_, index) => index);
  return places.find((index) => !isDeepStrictEqual(said[index], given[index])) ?? -1;
}

const chat: Rules = ({ body }, answers) => {
  const said: Body[] = body.messages.filter(({ role }: Body) => role === 'assistant');
  const given = answers.map(({ choices }) => choices[0].message);
  const hasThoughts = given.some(({ reasoning_content: own }) => own !== undefined);
  const differs = (part: (message: Body) => unknown) =>
    !isDeepStrictEqual(said.map(part), given.map(part));
  // DeepSeek-V4 wants the field on every message once there was one, empty where the answer had no
  // thoughts.
  const thoughts = given.map(({ reasoning_content: own }) => own ?? (hasThoughts ? '' : undefined));
  return broken([
    ...unknownIn('chat', body).map((field) => `Unknown parameter: '${field}'.`),
    body.stream === true &&
      body.stream_options?.include_usage !== true &&
      'stream_options.include_usage: the stream would not tell its tokens',
    !isDeepStrictEqual(
      said.map(({ reasoning_content: own }) => own),
      thoughts,
    ) && 'The `reasoning_content` in the thinking mode must be passed back to the API.',
    differs((message) => message['reasoning_details']) &&
      'reasoning_details must be passed back unmodified, in their order',
    differs(({ tool_calls: calls }) => calls?.map((call: Body) => call['extra_content'])) &&
      'Function call is missing a thought_signature in functionCall parts.',
    differs(withoutSecrets) && 'The assistant message is not the one that was given',
    ...unpairedInChat(body.messages),
  ]);
};

/** A message of the model without the fields that have a rule of their own. */
function withoutSecrets({
  reasoning_content: _thoughts,
  reasoning_details: _details,
  tool_calls: calls,
  ...message
}: Body): Body {
  return { ...message, calls: calls?.map(({ extra_content: _signature, ...call }: Body) => call) };
}

/** The results of an answer's calls come directly after it, one for each. */
function unpairedInChat(messages: readonly Body[]): string[] {
  const open = new Set<string>();
  const sentences: string[] = [];
  const close = () => {
    const ids = [...open].join(', ');
    if (open.size > 0)
      sentences.push(
        `An assistant message with 'tool_calls' must be followed by tool messages; none for ${ids}`,
      );
    open.clear();
  };
  for (const { role, tool_call_id: id, tool_calls: calls } of messages) {
    if (role !== 'tool') close();
    else if (!open.delete(id))
      sentences.push(
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      );
    for (const call of calls ?? []) open.add(call.id);
  }
  close();
  return sentences;
}

const responses: Rules = ({ body }, answers) => {
  const said = body.input.filter(
    ({ type, role }: Body) => role !== 'user' && type !== 'function_call_output',
  );
  const given = answers.flatMap(({ output }) => output);
  const place = firstChange(said, given);
  return broken([
    ...unknownIn('responses', body).map((field) => `Unknown parameter: '${field}'.`),
    body.store !== false && 'store: nothing is kept here',
    body.previous_response_id !== undefined &&
      `Previous response with id '${body.previous_response_id}' not found.`,
    !body.include?.includes('reasoning.encrypted_content') &&
      'include: without it no reasoning can come back',
    place !== -1 && changedItem(said[place] ?? {}, given[place] ?? {}),
    ...unpairedInResponses(body.input),
  ]);
};

function changedItem(said: Body, given: Body): string {
  const { id, type } = given;
  if (said['id'] !== id)
    return `Item '${id}' of type '${type}' was provided without its required following item.`;
  if (said['encrypted_content'] === given['encrypted_content'])
    return `Item '${id}' of type '${type}' is not the one that was given.`;
  if (said['encrypted_content'] == null)
    return `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
  return `The encrypted content of item '${id}' could not be verified.`;
}

function unpairedInResponses(items: readonly Body[]): string[] {
  const open = new Set<string>();
  const sentences: string[] = [];
  for (const { type, call_id: id } of items) {
    if (type === 'function_call') open.add(id);
    if (type === 'function_call_output' && !open.delete(id))
      sentences.push(`No tool call found for function call output with call_id ${id}.`);
  }
  return [...sentences, ...[...open].map((id) => `No tool output found for function call ${id}.`)];
}

/** More marks of the cache than this are refused. */
const MAX_MARKS = 4;

const messages: Rules = ({ headers, body }, answers) => {
  const all: Body[] = body.messages;
  const said = all.filter(({ role }) => role === 'assistant').flatMap(({ content }) => content);
  const given = answers.flatMap(({ content }) => content);
  const place = firstChange(said, given);
  const isThought = /thinking$/.test(given[place]?.type);
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  return broken([
    ...unknownIn('messages', body).map((field) => `${field}: Extra inputs are not permitted`),
    headers['anthropic-version'] !== '2023-06-01' && 'anthropic-version: header is required',
    !headers['x-api-key'] && 'x-api-key header is required',
    headers.authorization !== undefined && 'authorization: a key is sent once, as x-api-key',
    !(body.max_tokens > 0) && 'max_tokens: Field required',
    marks > MAX_MARKS &&
      `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${marks}.`,
    all.some(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant')) &&
      'messages: roles must alternate between "user" and "assistant"',
    place !== -1 && isThought && '`thinking` or `redacted_thinking` blocks cannot be modified.',
    place !== -1 && !isThought && 'The blocks of the assistant are not those that were given',
    ...all.flatMap((_, index) => unpairedInMessages(all, index)),
  ]);
};

/**
 * Every call of a message has its result in the next one, and every result its call in the one
 * before.
 */
function unpairedInMessages(all: readonly Body[], index: number): string[] {
  const blocksOf = (at: number): Body[] => all[at]?.['content'] ?? [];
  const callsOf = (at: number) =>
    blocksOf(at).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
  const resultsOf = (at: number) =>
    blocksOf(at).flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : []));
  const results = resultsOf(index);
  const open = callsOf(index).filter((id) => !resultsOf(index + 1).includes(id));
  const surplus = results.filter(
    (id, place) => !callsOf(index - 1).includes(id) || results.indexOf(id) !== place,
  );
  const lastResult = blocksOf(index).findLastIndex(({ type }) => type === 'tool_result');
  return broken([
    open.length > 0 &&
      `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`,
    surplus.length > 0 &&
      `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${surplus.join(', ')}`,
    // Anthropic reports this as a missing result; a message of its own shows which rule was broken.
    blocksOf(index)
      .slice(0, lastResult + 1)
      .some(({ type }) => type !== 'tool_result') &&
      `messages.${index}: \`tool_result\` blocks come first in the content`,
  ]);
}

export const rules: Record<ApiDialect, Rules> = { chat, responses, messages };
