/**
 * The interface as an OpenAPI document, made from the routes and their schemas. The build runs this
 * file and inserts the text instead: the converter is a development dependency, and the examples
 * come from a file.
 */
export async function interfaceDescription(): Promise<string> {
  const [{ describeApi }, { routes }] = await Promise.all([
    import('./openapi.ts'),
    import('../../core/http/routes.ts'),
  ]);
  return JSON.stringify(describeApi(routes));
}
