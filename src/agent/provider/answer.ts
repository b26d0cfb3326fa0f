import { asObject, asText, type Json, tryParse } from '../../basics/json.ts';
import {
  MAX_SERVED_LENGTH,
  MAX_TOKENS_OF_ANSWER,
  MAX_TOOL_CALLS,
  type Served,
  type TokenUsage,
  type ToolCall,
} from '../../wire/protocol.ts';
import { cutText } from '../../basics/text.ts';
import type { ModelAnswer } from '../model.ts';

/** What a dialect finds in the body of a response. */
interface FoundAnswer extends Omit<ModelAnswer, 'usage' | 'note' | 'served'> {
  /** Why the answer ended, in the provider's word. */
  finishReason: unknown;
  /** In the provider's words, why the model refused. */
  refusal?: string | null;
}

/**
 * The answer in a body: what its dialect found, with the tokens, notes and the served model, which
 * every dialect reports alike.
 */
export function answerOf(
  body: Json,
  { finishReason, refusal = null, ...found }: FoundAnswer,
): ModelAnswer {
  const { usage, note } = readUsage(body['usage']);
  const reason = finishReason ?? '';
  if (typeof reason !== 'string') throw new Error('its finish reason is not text');
  const notes = [...notesOn(found, reason), refusal, note].filter((one) => one !== null);
  return {
    ...found,
    usage,
    note: notes.join(' ') || null,
    served: readServed(body),
    ...(cutOffReasons.has(reason) && { isCut: true }),
  };
}

/**
 * The error in a body or in an event of this name: any `error` that is not null, or all of it where
 * it says that it is one; undefined without one.
 */
export function errorOf(body: Json, name?: string): unknown {
  const isError = [name, body['type'], body['object']].includes('error');
  return body['error'] ?? (isError ? body : undefined);
}

const CUT_OFF = 'The provider cut this answer off at its token limit.';

/** Finish reasons of answers that were cut off or blocked. */
const cutOffReasons: ReadonlyMap<string, string> = new Map(
  Object.entries({
    length: CUT_OFF,
    max_tokens: CUT_OFF,
    max_output_tokens: CUT_OFF,
    model_context_window_exceeded:
      "The provider cut this answer off at the end of the model's context window.",
    refusal: 'The model refused to answer.',
    content_filter: 'The provider held back this answer (content filter).',
    insufficient_system_resource: 'The provider cut this answer off for lack of resources.',
  }),
);

/**
 * How models write a tool call into their text instead of making it, one form for each family of
 * chat templates.
 */
const writtenCall = new RegExp(
  [
    String.raw`<tool_call|<function_call|<function=|<invoke\b|<\|tool_call|<\|python_tag\|>|\[TOOL_CALLS?\]|` +
      '```tool_code',
    '<｜tool▁call|<｜DSML｜', // DeepSeek's own bars and blanks
    String.raw`\bto=functions\.`,
    String.raw`"tool_calls"\s{0,9}:`,
    String.raw`"(?:name|tool|tool_name|function|action)"\s{0,9}:\s{0,9}"(?:buy|sell)"`,
    String.raw`\b(?:buy|sell)\(\s{0,9}(?:symbol\s{0,9}=\s{0,9})?["']`,
  ].join('|'),
);

/** Sentences for readers of the log about an answer that is incomplete or malformed. */
function notesOn(
  { content, toolCalls, carried }: Pick<ModelAnswer, 'content' | 'toolCalls' | 'carried'>,
  reason: string,
): string[] {
  const cutOff = cutOffReasons.get(reason);
  const notes = cutOff === undefined ? [] : [cutOff];
  if (toolCalls.length > 0) return notes;
  if (/^(tool_calls|function_call)$/.test(reason))
    notes.push('The provider announced tool calls and sent none.');
  if (content.trim() === '' && notes.length === 0 && carried?.isPaused !== true)
    notes.push('The model ended the day without a word.');
  if (writtenCall.test(content))
    notes.push(
      'This answer seems to contain tool calls written as text. They were not executed: only real tool calls are.',
    );
  return notes;
}

/**
 * What a provider says of itself in a response: the model that served it, which an alias does not
 * tell; null where it says nothing.
 */
function readServed(body: Json): Served | null {
  const { model, id, system_fingerprint, provider } = body;
  const service_tier = body['service_tier'] ?? asObject(body['usage'])?.['service_tier'];
  const said = Object.entries({ model, id, system_fingerprint, service_tier, provider });
  const given = said.flatMap(([name, value]) => {
    const text = asText(value);
    return text === undefined ? [] : [[name, cutText(text, MAX_SERVED_LENGTH)] as const];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}

/**
 * The tokens of one answer, wherever this provider reports them; null when it reports none. An
 * impossible count is unknown, and `note` says so for the log. The prompt's tokens
 * include those that were read from a cache or written to one, which Anthropic counts beside them.
 */
export function readUsage(value: unknown): { usage: TokenUsage | null; note: string | null } {
  const usage = asObject(value);
  if (usage === undefined) return { usage: null, note: null };
  const { prompt_tokens, completion_tokens, total_tokens: total } = usage;
  const { cache_read_input_tokens: readBeside, cache_creation_input_tokens: writtenBeside } = usage;
  const inPrompt =
    asObject(usage['prompt_tokens_details']) ?? asObject(usage['input_tokens_details']);
  const inCompletion =
    asObject(usage['completion_tokens_details']) ?? asObject(usage['output_tokens_details']);
  const prompt = prompt_tokens ?? usage['input_tokens'];
  const completion = completion_tokens ?? usage['output_tokens'];
  const cached =
    inPrompt?.['cached_tokens'] ??
    usage['prompt_cache_hit_tokens'] ??
    usage['cached_tokens'] ??
    readBeside;
  const written = inPrompt?.['cache_write_tokens'] ?? writtenBeside;
  const reasoning =
    inCompletion?.['reasoning_tokens'] ??
    inCompletion?.['thinking_tokens'] ??
    usage['reasoning_tokens'];
  const isBeside = prompt_tokens === undefined;
  const beside = isBeside ? (asCount(readBeside) ?? 0) + (asCount(writtenBeside) ?? 0) : 0;
  const promptTokens = asCount(typeof prompt === 'number' ? prompt + beside : prompt);
  // Gemini and Grok count thoughts only in the total; they cost as much as the rest.
  const visible = asCount(completion);
  const hidden = (asCount(total) ?? 0) - (promptTokens ?? Infinity);
  return {
    usage: {
      promptTokens,
      completionTokens: visible === null ? null : Math.max(visible, hidden),
      cachedTokens: asCount(cached),
      cacheWriteTokens: asCount(written),
      reasoningTokens: asCount(reasoning),
    },
    note: noteOnCounts({ prompt, completion, cached, written, reasoning, total }),
  };
}

function asCount(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return null;
  return value >= 0 && value <= MAX_TOKENS_OF_ANSWER ? value : null;
}

function noteOnCounts(counts: Record<string, unknown>): string | null {
  const wrong = Object.entries(counts).flatMap(([kind, value]) =>
    typeof value === 'number' && value > MAX_TOKENS_OF_ANSWER ? `${kind} ${value}` : [],
  );
  return wrong.length === 0
    ? null
    : `The provider reported an impossible number of tokens (${wrong.join(', ')}); it is recorded as unknown.`;
}

/** A tool call as a provider sent it: a missing id, and arguments in whatever form. */
export interface SentCall {
  id: unknown;
  name: unknown;
  arguments: unknown;
}

/**
 * The tool calls of one answer, each with an id of its own and its arguments as JSON text. `step`
 * makes the ids of this answer distinct from those of others when the provider gives none. Throws
 * an `Error` when they are too many.
 */
export function readToolCalls(calls: readonly SentCall[], step: number): ToolCall[] {
  if (calls.length > MAX_TOOL_CALLS)
    throw new Error(`it holds ${calls.length} tool calls, more than ${MAX_TOOL_CALLS}`);
  const ids = new Set<string>();
  return calls.map((call, index) => {
    const id = uniqueId(asText(call.id), { step, index, taken: ids });
    return { id, name: asText(call.name) ?? '', arguments: readArguments(call.arguments) };
  });
}

/**
 * The provider's id if each call has its own; otherwise nine letters and digits, as Mistral
 * requires.
 */
function uniqueId(
  own: string | undefined,
  { step, index, taken }: { step: number; index: number; taken: Set<string> },
): string {
  let [id, number] = [own, step * MAX_TOOL_CALLS + index];
  for (; id === undefined || taken.has(id); number += MAX_TOOL_CALLS ** 2)
    id = `c${String(number).padStart(8, '0')}`;
  taken.add(id);
  return id;
}

/** Arguments as JSON text, even if they came as an object, in a code block, or encoded twice. */
function readArguments(value: unknown): string {
  if (value === undefined || value === null) return '{}';
  if (typeof value !== 'string') return JSON.stringify(value);
  const text = unfence(value);
  const decoded = tryParse(text);
  if (typeof decoded !== 'string') return text;
  const inner = unfence(decoded);
  return asObject(tryParse(inner)) === undefined ? text : inner;
}

function unfence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || trimmed.length < 6) return trimmed;
  return trimmed
    .slice(3, -3)
    .replace(/^(json|JSON)?\s*/, '')
    .trimEnd();
}
