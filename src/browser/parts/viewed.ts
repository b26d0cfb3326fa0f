/** The name of the file that this server only shows; null for a service. */
export function viewedFile(): string | null {
  return document.body.dataset['view'] ?? null;
}

/** Whether that file cannot change while it is shown, as a package cannot. */
export function isFixed(): boolean {
  return document.body.dataset['fixed'] !== undefined;
}
