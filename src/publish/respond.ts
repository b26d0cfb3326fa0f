import assert from 'node:assert/strict';
import type { Context, ResponseBody } from '../api/handler.ts';
import { type Json, asObject, tryParse } from '../basics/json.ts';
import { httpErrorOf } from '../http/errors.ts';
import { validateQuery } from '../http/request.ts';
import { createRouter } from '../http/router.ts';
import { routes } from '../http/routes.ts';

/** Responds to a GET as the service does: the text of the body. */
export type Respond = (path: string, query?: Readonly<Record<string, string>>) => string;

/**
 * Responses without a server. Of one that is refused there is only its `detail`: what the pages
 * show, or find missing.
 */
export function responder(context: Context): Respond {
  const find = createRouter(routes);
  return (path, given = {}) => {
    const match = find('GET', path);
    assert(match !== null && 'params' in match, `${path} is a path that can be read`);
    const { route, params } = match;
    try {
      const query = validateQuery(route.query, String(new URLSearchParams(given)));
      const format = given['format'] === 'csv' ? 'csv' : 'json';
      return textOf(route.handle(context, { params, query, body: null, headers: {}, format }));
    } catch (error) {
      const refusal = httpErrorOf(error);
      if (refusal === null || refusal.status >= 500) throw error;
      return JSON.stringify({ detail: refusal.message });
    }
  };
}

function textOf(body: ResponseBody | Promise<ResponseBody>): string {
  if (typeof body === 'string') return body;
  assert(!(body instanceof Promise) && !('stop' in body), 'it is made in one go');
  let text = '';
  for (const piece of 'lines' in body ? body.lines : body) text += piece;
  return text;
}

/** A response as an object. */
export function bodyOf(text: string): Json {
  return asObject(tryParse(text)) ?? {};
}
