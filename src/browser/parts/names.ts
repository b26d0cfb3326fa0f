/** The ticked models, and those written into the field for others, each once. */
export function chosenModels(form: FormData): string[] {
  return [...new Set([...form.getAll('models').map(String), ...namesIn(String(form.get('others') ?? ''))])];
}

/** Names separated by commas. */
export function namesIn(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

let order: Intl.Collator | undefined;

/** Compares names, their numbers by value: model-2 before model-10. Names that differ only in case or accents keep one order. */
export function byName(one: string, other: string): number {
  order ??= new Intl.Collator('en', { numeric: true });
  return order.compare(one, other) || (one < other ? -1 : Number(one > other));
}
