/** The ticked models, and those written into the field for others, each once. */
export function chosenModels(form: FormData): string[] {
  return [...new Set([...form.getAll('models').map(String), ...namesIn(String(form.get('others') ?? ''))])];
}

/** Names separated by commas. */
export function namesIn(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}
