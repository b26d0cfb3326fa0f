import document from './openapi.json' with { type: 'json' };

const text = JSON.stringify(document);

/** The interface description, made from the routes and their schemas when the program is built (openapi.ts). */
export function openapi(): string {
  return text;
}
