import * as v from 'valibot';

/** An OpenAPI document; what it says of each part is for OpenAPI to define. */
export const openapiResponse = v.pipe(v.record(v.string(), v.unknown()), v.title('InterfaceDescription'));

let text: string | undefined;

/** The interface description, made from the routes and their schemas when the program is built (openapi.ts). */
export async function openapi(): Promise<string> {
  // Unpacked at the first request: most services are never asked, and every start would wait for it.
  text ??= JSON.stringify((await import('./openapi.json', { with: { type: 'json' } })).default);
  return text;
}
