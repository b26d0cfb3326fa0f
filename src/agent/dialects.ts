import type { TokenUsage, ToolCall } from '../protocol.ts';
import type { ModelAnswer } from './model.ts';

/**
 * What providers of the Chat Completions family really send, read into one form. Everything odd that still says clearly
 * what is meant is understood; nothing is guessed.
 */

type Json = Record<string, unknown>;

/**
 * Reads a Chat Completions body. Throws an `Error` when it is none, with what is missing. `step` tells this answer's
 * calls from those of others where the provider gives them no ids.
 */
export function readCompletion(body: unknown, step: number): ModelAnswer {
  const message = asObject(asObject(asArray(asObject(body)?.['choices'])?.[0])?.['message']);
  if (message === undefined) throw new Error('the answer has no choices[0].message');
  const finishReason = asObject(asArray(asObject(body)?.['choices'])?.[0])?.['finish_reason'];
  const content = readContent(message['content']);
  const toolCalls = readToolCalls(message, step);
  return {
    content,
    toolCalls,
    reasoning: readReasoning(message),
    usage: readUsage(asObject(body)?.['usage']),
    note: noteOn({ content, toolCalls, finishReason }),
  };
}

/** Text, nothing, or an array of parts of which some are text. */
function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = asArray(content) ?? [];
  return parts
    .map((part) => (typeof part === 'string' ? part : (asObject(part)?.['text'] ?? '')))
    .filter((text) => typeof text === 'string')
    .join('');
}

function readReasoning(message: Json): string | null {
  const text = message['reasoning_content'] ?? message['reasoning'];
  return typeof text === 'string' && text !== '' ? text : null;
}

function readToolCalls(message: Json, step: number): ToolCall[] {
  const modern = asArray(message['tool_calls']) ?? [];
  const legacy = asObject(message['function_call']);
  const calls = modern.length > 0 || legacy === undefined ? modern : [{ function: legacy }];
  const ids = new Set<string>();
  return calls.map((call, index) => {
    const named = asObject(asObject(call)?.['function']) ?? asObject(call); // some leave out the level between
    const id = uniqueId(asObject(call)?.['id'], `call_${step}_${index + 1}`, ids);
    return { id, name: String(named?.['name'] ?? ''), arguments: readArguments(named?.['arguments']) };
  });
}

/** The provider's id where there is one of its own for each call. */
function uniqueId(id: unknown, fallback: string, taken: Set<string>): string {
  const own = typeof id === 'string' && id !== '' && !taken.has(id) ? id : fallback;
  taken.add(own);
  return own;
}

/** Arguments as JSON text: also when they came as an object, fenced like a code block, or encoded twice. */
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

function readUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value);
  if (usage === undefined) return null;
  return {
    promptTokens: asCount(usage['prompt_tokens'] ?? usage['input_tokens']),
    completionTokens: asCount(usage['completion_tokens'] ?? usage['output_tokens']),
    cachedTokens: asCount(
      asObject(usage['prompt_tokens_details'])?.['cached_tokens'] ?? usage['prompt_cache_hit_tokens'],
    ),
    reasoningTokens: asCount(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']),
  };
}

function noteOn({
  content,
  toolCalls,
  finishReason,
}: {
  content: string;
  toolCalls: readonly ToolCall[];
  finishReason: unknown;
}): string | null {
  if (toolCalls.length > 0) return null;
  if (content.trim() === '' && finishReason !== 'length') return 'The model ended the day without a word.';
  if (finishReason === 'length') return 'The provider cut this answer off at its token limit.';
  if (finishReason === 'content_filter') return 'The provider held back this answer (content filter).';
  return hasWrittenToolCall(content)
    ? 'This answer holds tool calls written as text. They were not executed: only real tool calls are.'
    : null;
}

/** The ways in which models write down a call that they should have made. */
function hasWrittenToolCall(content: string): boolean {
  return (
    ['<tool_call', '<function_call', '<function=', '<|tool_call', '[TOOL_CALL', '"tool_calls"', '<invoke'].some(
      (mark) => content.includes(mark),
    ) || /"name"\s{0,9}:\s{0,9}"(buy|sell)"/.test(content)
  );
}

function asObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function asArray(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function asCount(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
