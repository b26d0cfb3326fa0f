/** The name of the file that this server only shows; null for a service. */
export function viewedFile(): string | null {
  return document.body.dataset['view'] ?? null;
}
