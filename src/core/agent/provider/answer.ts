import type { AnswerFault } from '#domain/vocabulary.ts';
import { asObject, asText, isWithin, type Json, plainText, tryParse } from '#json/json.ts';
import {
  MAX_COST_OF_ANSWER,
  MAX_SERVED_LENGTH,
  MAX_TOKENS_OF_ANSWER,
  MAX_TOOL_CALLS,
  type Served,
  type TokenUsage,
  type ToolCall,
} from '#wire/protocol.ts';
import { cutText, quote } from '#text/text.ts';
import type { ModelAnswer } from '#agent/model.ts';

interface FoundAnswer extends Omit<ModelAnswer, 'usage' | 'note' | 'served' | 'fault'> {
  /** Why the answer ended, in the provider's word. */
  finishReason: unknown;
  /** In the provider's words, why the model refused. */
  refusal?: string | null;
}

/**
 * Thrown where a response has nothing of an answer: a failed try, which may pass. `message`
 * continues "The model provider".
 */
export class NoAnswer extends Error {}

/**
 * The answer in a body: what its dialect found, with the tokens, notes and the served model, which
 * every dialect reports alike. Throws a `NoAnswer` when it did not end well.
 */
export function readAnswer(
  body: Json,
  { finishReason, refusal = null, ...found }: FoundAnswer,
): ModelAnswer {
  const { usage, note } = readUsage(body['usage']);
  const reason = plainText(finishReason) ?? '';
  const { fault, words } = findEnding(reason, found.content);
  const notes = [words, isAnnounced(reason, found) && ANNOUNCED_NOTE, refusal];
  const said = notes.filter((one) => typeof one === 'string');
  if (said.length === 0 && isEmptyAnswer(found)) said.push(SILENT_NOTE);
  return {
    ...found,
    usage,
    note: [...said, ...(note === null ? [] : [note])].join(' ') || null,
    served: readServed(body),
    ...(fault !== null && { fault }),
  };
}

/**
 * The error in a body or in an event of this name: any `error` that is not null, or all of it where
 * it says that it is one; undefined without one.
 */
export function findError(body: Json, name?: string): unknown {
  const isError = [name, body['type'], body['object']].includes('error');
  return body['error'] ?? (isError ? body : undefined);
}

/**
 * How answers end, by finish reasons in lower case, with a sentence for readers of the log; any
 * other reason is that of a failed try. One table for all dialects, because gateways pass on the
 * words of whatever maker is behind them.
 */
const STOP_REASONS: readonly {
  fault: AnswerFault | null;
  words: string | null;
  reasons: string[];
}[] = [
  {
    fault: null,
    words: null,
    reasons: [
      ...['', 'stop', 'tool_calls', 'function_call', 'eos', 'eos_token', 'end'], // Chat Completions
      ...['end_turn', 'tool_use', 'stop_sequence', 'pause_turn', 'completed'], // Messages, Responses
    ],
  },
  {
    fault: 'cut_off',
    words: 'The provider cut this answer off at its token limit.',
    reasons: ['length', 'max_tokens', 'max_output_tokens', 'model_length', 'incomplete'],
  },
  {
    fault: 'cut_off',
    words: "The provider cut this answer off at the end of the model's context window.",
    reasons: ['model_context_window_exceeded'],
  },
  { fault: 'refused', words: 'The model refused to answer.', reasons: ['refusal'] },
  {
    fault: 'refused',
    words: 'The provider held back this answer (content filter).',
    reasons: ['content_filter', 'safety', 'recitation', 'prohibited_content'],
  },
];

function findEnding(reason: string, content: string) {
  const end = STOP_REASONS.find(({ reasons }) => reasons.includes(reason.toLowerCase()));
  if (end !== undefined) return end;
  const words = content.trim() === '' ? '' : `: ${quote(content)}`;
  throw new NoAnswer(`ended its answer with the reason "${quote(reason)}"${words}`);
}

const ANNOUNCED_NOTE = 'The provider announced tool calls and sent none.';

function isAnnounced(reason: string, { toolCalls }: Pick<ModelAnswer, 'toolCalls'>): boolean {
  return toolCalls.length === 0 && /^(tool_calls|tool_use|function_call)$/i.test(reason);
}

const SILENT_NOTE = 'The model ended the day without a word.';

/** Whether an answer has neither words nor calls; thoughts are nothing, but for calls in them. */
export function isEmptyAnswer({
  content,
  toolCalls,
  carried,
  fault,
}: Pick<ModelAnswer, 'content' | 'toolCalls' | 'carried' | 'fault'>): boolean {
  const isKnown = fault === 'refused' || fault === 'written_call' || carried?.isPaused === true;
  return content.trim() === '' && toolCalls.length === 0 && !isKnown;
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
 * The tokens of one answer, wherever this provider reports them, and its cost in dollars, which
 * OpenRouter and others report as `cost`, agents in another field; null when it reports none. An
 * impossible count is unknown, and `note` says so for the log. The prompt's tokens include those
 * that were read from a cache or written to one, which Anthropic counts beside them.
 */
export function readUsage(
  value: unknown,
  costField = 'cost',
): { usage: TokenUsage | null; note: string | null } {
  const usage = asObject(value);
  if (usage === undefined) return { usage: null, note: null };
  const { prompt_tokens, completion_tokens, total_tokens: total } = usage;
  const cost = usage[costField];
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
      ...(isCost(cost) && { costUsd: cost }),
    },
    note: noteOnCounts({ prompt, completion, cached, written, reasoning, total }),
  };
}

/** Whether a value is what an answer may have cost, in dollars. */
function isCost(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_COST_OF_ANSWER;
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
    return { id, name: asText(call.name) ?? '', arguments: readCallArguments(call.arguments) };
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

/** No arguments nest as deep as this; what does cannot be written as text. */
const MAX_ARGUMENT_DEPTH = 100;

/**
 * Arguments as JSON text, even if they came as an object, in a code block, encoded twice, or behind
 * an empty object with which their stream began.
 */
export function readCallArguments(value: unknown): string {
  if (value === undefined || value === null) return '{}';
  if (typeof value !== 'string')
    return isWithin(value, MAX_ARGUMENT_DEPTH) ? JSON.stringify(value) : '"deeply nested JSON"';
  const text = wellFormed(unfence(value));
  const decoded = tryParse(text);
  if (decoded === null) return '{}';
  if (decoded === undefined)
    return isObject(objectAfterFirst(text)) ? objectAfterFirst(text) : text;
  if (typeof decoded !== 'string') return text;
  const inner = unfence(decoded);
  return isObject(inner) ? inner : text;
}

function isObject(text: string): boolean {
  return asObject(tryParse(text)) !== undefined;
}

/** What follows an empty object, or a bracket, before an object; otherwise nothing. */
function objectAfterFirst(text: string): string {
  if (!text.startsWith('{')) return '';
  const rest = text.slice(1).trimStart();
  const inner = rest.startsWith('}') ? rest.slice(1).trimStart() : rest;
  return inner.startsWith('{') ? inner : '';
}

/** Half a character in JSON: what it is written with has as many backslashes as its other half. */
const HALF_CHARACTER =
  /(?<!\\)(?<marks>\\+)u(?:[dD][89abAB][\da-fA-F]{2}(?<other>\k<marks>u[dD][c-fC-F][\da-fA-F]{2})?|[dD][c-fC-F][\da-fA-F]{2})/g;

/** JSON with U+FFFD for halves of characters, which providers refuse. */
export function wellFormed(json: string): string {
  return json.replace(HALF_CHARACTER, (found, marks: string, other: string | undefined) =>
    other === undefined && marks.length % 2 === 1 ? `${marks}ufffd` : found,
  );
}

function unfence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || trimmed.length < 6) return trimmed;
  return trimmed
    .slice(3, -3)
    .replace(/^(json|JSON)?\s*/, '')
    .trimEnd();
}
