/** Notes for readers of the log about an answer that is incomplete or malformed. */

interface NotedAnswer {
  content: string;
  callCount: number;
  /** Why the answer ended, in the provider's word. */
  finishReason: unknown;
  /** Whether the model continues after this answer, although it calls no tool. */
  isPaused?: boolean;
}

const CUT_OFF = 'The provider cut this answer off at its token limit.';

/** Finish reasons of answers that were cut off or blocked. */
const cutOffReasons: Record<string, string> = {
  length: CUT_OFF,
  max_tokens: CUT_OFF,
  max_output_tokens: CUT_OFF,
  model_context_window_exceeded: "The provider cut this answer off at the end of the model's context window.",
  refusal: 'The model refused to answer.',
  content_filter: 'The provider held back this answer (content filter).',
  insufficient_system_resource: 'The provider cut this answer off for lack of resources.',
};

/** How models write a tool call into their text instead of making it, one form for each family of chat templates. */
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

/** Sentences for the log, or null when there is nothing to note. */
export function noteOn({ content, callCount, finishReason, isPaused = false }: NotedAnswer): string | null {
  const notes: string[] = [];
  const reason = String(finishReason);
  const cutOff = Object.hasOwn(cutOffReasons, reason) ? cutOffReasons[reason] : undefined;
  if (cutOff !== undefined) notes.push(cutOff);
  if (callCount === 0 && /^(tool_calls|function_call)$/.test(reason))
    notes.push('The provider announced tool calls and sent none.');
  if (callCount === 0 && content.trim() === '' && notes.length === 0 && !isPaused)
    notes.push('The model ended the day without a word.');
  if (callCount === 0 && writtenCall.test(content))
    notes.push(
      'This answer seems to contain tool calls written as text. They were not executed: only real tool calls are.',
    );
  return notes.length === 0 ? null : notes.join(' ');
}
