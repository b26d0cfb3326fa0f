import * as v from 'valibot';
import type { Route } from '#api/route.ts';
import { namedRecord } from '#api/schemas.ts';
import { asObject, tryParse } from '#json/json.ts';
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
  const description = asObject(tryParse(await interfaceDescription(routes)));
  const mayStay =
    (path: string) =>
    ([method]: [string, unknown]) =>
      method === 'get' || routes().some((route) => route.path === path && route.isRpc);
  const paths = Object.entries(asObject(description?.['paths']) ?? {}).flatMap(
    ([path, operations]) => {
      const kept = Object.entries(asObject(operations) ?? {}).filter(mayStay(path));
      return kept.length === 0 ? [] : [[path, Object.fromEntries(kept)] as const];
    },
  );
  return JSON.stringify({ ...description, paths: Object.fromEntries(paths) });
}
