import { link } from './blocks.ts';

/** The name of the file that this server only shows; null for a service. */
export function viewedFile(): string | null {
  return document.body.dataset['view'] ?? null;
}

/** Where a job is started, as the end of a sentence or two on what is missing; nothing in a view. */
export function wayToAJob(words: string): (Node | string)[] {
  return viewedFile() === null ? [` ${words} on the `, link('/', 'overview'), '.'] : [];
}
