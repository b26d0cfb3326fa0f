let text: string | undefined;

/** The interface description, made from the routes and their schemas when the program is built (openapi.ts). */
export async function openapi(): Promise<string> {
  // Unpacked at the first request: most services are never asked, and every start would wait for it.
  text ??= JSON.stringify((await import('./openapi.json', { with: { type: 'json' } })).default);
  return text;
}
