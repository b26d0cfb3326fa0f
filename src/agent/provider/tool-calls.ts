import { asObject, asText, tryParse } from '../../json.ts';
import { MAX_TOOL_CALLS, type ToolCall } from '../../protocol.ts';

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
  let id = own;
  for (
    let number = step * MAX_TOOL_CALLS + index;
    id === undefined || taken.has(id);
    number += MAX_TOOL_CALLS ** 2
  )
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
