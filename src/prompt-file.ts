import { codeOf, messageOf } from './domain.ts';
import { ForeignFile, TooLarge, readTrustedText } from './trusted-file.ts';

/** Characters of a prompt, counted as JSON Schema does: an emoji is one. */
export const MAX_PROMPT_LENGTH = 20_000;
/** With characters of 4 bytes, after a byte order mark. */
const MAX_BYTES = 4 * MAX_PROMPT_LENGTH + 3;

/** Whether a text is short enough for a prompt. */
export function fitsPrompt(text: string): boolean {
  return text.length <= MAX_PROMPT_LENGTH || [...text].length <= MAX_PROMPT_LENGTH;
}

/** The text of a prompt's file, or why it cannot be used. A byte order mark is not part of it. */
export function readPromptFile(
  path: string,
): { prompt: string } | { problem: string; cause?: unknown } {
  try {
    const prompt = readTrustedText(path, MAX_BYTES);
    return fitsPrompt(prompt) ? { prompt } : { problem: tooLong(path) };
  } catch (cause) {
    if (cause instanceof TooLarge) return { problem: tooLong(path) };
    if (cause instanceof ForeignFile) return { problem: cause.message, cause };
    if (codeOf(cause) === 'ENOENT') return { problem: `there is no file ${path}` };
    return { problem: `cannot read ${path}: ${messageOf(cause)}` };
  }
}

function tooLong(path: string): string {
  return `${path} has more than ${MAX_PROMPT_LENGTH} characters`;
}
