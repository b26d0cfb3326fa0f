import { type Json, asObject, asText } from '../../json.ts';
import type { Addition } from '../../protocol.ts';

/**
 * Names of a field that holds two of the additions: where the entry sets no effort, an error about
 * it is about them.
 */
const AROUND_THINKING = ['reasoning', 'reasoning_effort'];
const THINKING: readonly Addition[] = ['reasoning.summary', 'thinking'];

/** An error of a provider, as far as it tells what was wrong with a request. */
export interface RequestError {
  status: number;
  /** The body's `error`. */
  error: unknown;
  words: string;
}

/**
 * Which of the additions a provider refuses with an error: with status 400 or 422, those that it
 * names as the field (`param`) or as a whole word of its message.
 */
export function refusedBy(
  { status, error, words }: RequestError,
  added: readonly Addition[],
  setsEffort: boolean,
): Addition[] {
  if (status !== 400 && status !== 422) return [];
  const param = asText(asObject(error)?.['param']) ?? '';
  const isNamed = (name: string) => {
    const word = new RegExp(String.raw`(?<!\w)${name.replace('.', String.raw`\.`)}(?!\w)`);
    return word.test(param) || word.test(words);
  };
  const isAboutThinking = !setsEffort && AROUND_THINKING.some(isNamed);
  return added.filter(
    (addition) => isNamed(addition) || (isAboutThinking && THINKING.includes(addition)),
  );
}

/** Whether an entry's parameters set how much a model thinks. */
export function hasEffort(parameters: Json): boolean {
  const { reasoning, reasoning_effort, output_config } = parameters;
  return (
    reasoning_effort != null ||
    asObject(reasoning)?.['effort'] != null ||
    asObject(output_config)?.['effort'] != null
  );
}
