import { readFileSync, statSync } from 'node:fs';
import { codeOf, messageOf } from './domain.ts';

/** Characters of a prompt, counted as JSON Schema does: an emoji is one. */
export const MAX_PROMPT_LENGTH = 20_000;
/** With characters of 4 bytes, after a byte order mark. */
const MAX_BYTES = 4 * MAX_PROMPT_LENGTH + 3;

/** Whether a text is short enough for a prompt. */
export function fitsPrompt(text: string): boolean {
  return text.length <= MAX_PROMPT_LENGTH || [...text].length <= MAX_PROMPT_LENGTH;
}

/** The text of a prompt's file, or why it cannot be used. A byte order mark is not part of it. */
export function readPromptFile(path: string): { prompt: string } | { problem: string } {
  try {
    if (statSync(path).size > MAX_BYTES) return { problem: tooLong(path) };
    const prompt = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    return fitsPrompt(prompt) ? { prompt } : { problem: tooLong(path) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { problem: `there is no file ${path}` };
    if (codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { problem: `${path} is not UTF-8 text` };
    return { problem: `cannot read ${path}: ${messageOf(error)}` };
  }
}

function tooLong(path: string): string {
  return `${path} has more than ${MAX_PROMPT_LENGTH} characters`;
}
