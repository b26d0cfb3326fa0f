import { count } from './format.ts';

/** The ticked models, and those written into the field for others, each once. */
export function chosenModels(form: FormData): string[] {
  return [
    ...new Set([
      ...form.getAll('models').map(String),
      ...namesIn(String(form.get('others') ?? '')),
    ]),
  ];
}

/** Names separated by commas. */
export function namesIn(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

let order: Intl.Collator | undefined;

/**
 * Compares names, their numbers by value: model-2 before model-10. Names that differ only in case
 * or accents keep one order.
 */
export function byName(one: string, other: string): number {
  order ??= new Intl.Collator('en', { numeric: true });
  return order.compare(one, other) || (one < other ? -1 : Number(one > other));
}

/** How many names a cell or a line has room for; the others are counted. */
export const MAX_NAMED = 3;

/** "gpt-5, claude and 3 more". */
export function shortList(names: readonly string[], most = MAX_NAMED): string {
  const named = names.slice(0, most).join(', ');
  return names.length <= most ? named : `${named} and ${count(names.length - most)} more`;
}

/** The names that have the same reason, and how a line begins that says it of all of them. */
interface NamesOfReason {
  names: string[];
  words: string;
  reason: string;
}

/** By reason, in the order of the first name of each. */
export function byReason(entries: readonly { name: string; reason: string }[]): NamesOfReason[] {
  return [...Map.groupBy(entries, ({ reason }) => reason)].map(([reason, own]) => {
    const names = own.map(({ name }) => name);
    return { names, words: `${shortList(names)}${names.length > 1 ? ', each' : ''}`, reason };
  });
}
