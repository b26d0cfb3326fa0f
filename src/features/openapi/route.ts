import * as v from 'valibot';
import type { Route } from '#api/route.ts';
import { namedRecord } from '#api/schemas.ts';
import type { Json } from '#json/json.ts';
import { interfaceDescription } from './interface-description.ts';

/** Feature: the description of the interface in OpenAPI, for programs that generate clients or documents. */

/** The route that describes all routes, itself included. */
export function openapiRoute(routes: () => readonly Route[]): Route {
  return {
    method: 'GET',
    path: '/openapi.json',
    tag: 'service',
    summary: 'This description, in OpenAPI 3.1.',
    response: namedRecord('InterfaceDescription', v.unknown()),
    isDirect: true,
    handle: ({ viewedFile }) =>
      viewedFile === null ? interfaceDescription(routes) : readOnlyDescription(routes),
  };
}

/** The interface without what a view refuses: everything but GET, and messages that only read there. */
async function readOnlyDescription(routes: () => readonly Route[]): Promise<string> {
  const whole: Description = JSON.parse(await interfaceDescription(routes));
  const paths: Description['paths'] = {};
  for (const { path, method, isRpc } of routes()) {
    const name = method.toLowerCase();
    if (method === 'GET' || isRpc) paths[path] = { [name]: whole.paths[path]?.[name] };
  }
  return JSON.stringify({ ...whole, paths });
}

interface Description {
  paths: Record<string, Json>;
}
