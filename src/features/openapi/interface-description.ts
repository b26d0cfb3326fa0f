import type { Route } from '#api/route.ts';

/**
 * The interface as an OpenAPI document, made from the routes and their schemas. The build runs this
 * file and inserts the text instead: the converter is a development dependency, and the examples
 * come from a file.
 */
export async function interfaceDescription(routes: () => readonly Route[]): Promise<string> {
  const { describeApi } = await import('./openapi.ts');
  return JSON.stringify(describeApi(routes()));
}

/** The routes that are tools, as a JSON list; made like the description of the interface. */
export async function listedTools(routes: readonly Route[]): Promise<string> {
  const { describeTool } = await import('./openapi.ts');
  return JSON.stringify(routes.map(describeTool));
}
