import { orderTools } from '#domain/vocabulary.ts';
import type { ChatMessage, ModelAnswer } from '#agent/model.ts';

/**
 * Orders that a model writes into its text or thoughts instead of calling a tool: what it means is
 * plain, and nothing of it is executed.
 */

const ORDER = `(?:${orderTools.join('|')})`;

/** The marks of chat templates around a call, of each family of models. */
const MARK = [
  String.raw`<(?:\w{1,20}[:_])?(?:tool_call|function_call)|<function[ =]|<invoke\b|<tool_code>`,
  String.raw`<\|(?:tool_call|python_tag\|>)|\[TOOL_CALLS?\]|\bto=functions\.`,
  '```tool_code',
  '<[|｜]tool▁call|<｜DSML｜', // DeepSeek's own bars and blanks
].join('|');
const TEMPLATE_MARK = new RegExp(MARK);
/** Thoughts may speak of such marks: there an order must follow. */
const MARKED_ORDER = new RegExp(String.raw`(?:${MARK})[^]{0,60}?\b${ORDER}\b`);

/** Calls without a template's marks: JSON, a line of code, tags, or an action in words. */
const PLAIN_CALL = new RegExp(
  [
    String.raw`"tool_calls"\s{0,9}:\s{0,9}\[\s{0,9}\{`,
    String.raw`["'](?:name|tool|tool_name|function|action)["']\s{0,9}:\s{0,9}["']${ORDER}["']`,
    String.raw`(?:^|[[(;=\x60]|functions\.)[ \t]{0,9}(?:buy|sell)\(\s{0,9}(?:symbol\s{0,9}=\s{0,9})?["'{]`,
    String.raw`(?:^|[[(;=\x60]|functions\.)[ \t]{0,9}rebalance\(\s{0,9}(?:weights\s{0,9}=\s{0,9})?\{`,
    String.raw`<${ORDER}>\s{0,9}<|^Action:\s{0,9}${ORDER}\s{0,9}$`,
  ].join('|'),
  'im',
);

const NOTE =
  'This answer seems to contain tool calls written as text. They were not executed: only real tool calls are.';

/**
 * An answer, with its fault and a note where it has orders as text. A model that has called an
 * order tool on that day can do so, and only speaks of it.
 */
export function markWritten(
  answer: ModelAnswer,
  conversation: readonly ChatMessage[],
): ModelAnswer {
  const { content, reasoning, toolCalls, fault = null, note } = answer;
  if (fault !== null || toolCalls.length > 0 || conversation.some(callsOrder)) return answer;
  const isWritten =
    TEMPLATE_MARK.test(content) || PLAIN_CALL.test(content) || MARKED_ORDER.test(reasoning ?? '');
  if (!isWritten) return answer;
  const other = content.trim() === '' ? null : note; // without words it says that there are none
  return { ...answer, fault: 'written_call', note: [NOTE, other].filter(Boolean).join(' ') };
}

function callsOrder(message: ChatMessage): boolean {
  const names: readonly string[] = orderTools;
  return message.role === 'assistant' && message.toolCalls.some(({ name }) => names.includes(name));
}
