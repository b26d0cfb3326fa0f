import { type Json, asObject, asText } from '../../json.ts';
import { MAX_SERVED_LENGTH, type Served } from '../../protocol.ts';
import { cutText } from '../../text.ts';
import type { ModelAnswer } from '../model.ts';
import { readUsage } from './token-usage.ts';

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
  const notes = [...notesOn(found, String(finishReason)), refusal, note].filter(
    (one) => one !== null,
  );
  return { ...found, usage, note: notes.join(' ') || null, served: readServed(body) };
}

const CUT_OFF = 'The provider cut this answer off at its token limit.';

/** Finish reasons of answers that were cut off or blocked. */
const cutOffReasons: Record<string, string> = {
  length: CUT_OFF,
  max_tokens: CUT_OFF,
  max_output_tokens: CUT_OFF,
  model_context_window_exceeded:
    "The provider cut this answer off at the end of the model's context window.",
  refusal: 'The model refused to answer.',
  content_filter: 'The provider held back this answer (content filter).',
  insufficient_system_resource: 'The provider cut this answer off for lack of resources.',
};

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
  const notes = Object.hasOwn(cutOffReasons, reason) ? [cutOffReasons[reason] ?? ''] : [];
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

/** What a provider says of itself in a response: the model that served it, which an alias does not tell; null where it says nothing. */
function readServed(body: Json): Served | null {
  const { model, id, system_fingerprint, provider } = body;
  const service_tier = body['service_tier'] ?? asObject(body['usage'])?.['service_tier'];
  const given = Object.entries({ model, id, system_fingerprint, service_tier, provider }).flatMap(
    ([name, value]) => {
      const text = asText(value);
      return text === undefined ? [] : [[name, cutText(text, MAX_SERVED_LENGTH)] as const];
    },
  );
  return given.length === 0 ? null : Object.fromEntries(given);
}
