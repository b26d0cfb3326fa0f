import assert from 'node:assert/strict';
import { bodyPieces, CLIENT_LEFT, type HandlerResult, isReady } from '#api/handler.ts';
import type { Asked, Caller, Route } from '#api/route.ts';
import { invalidFilter } from '#domain/service-error.ts';
import { asArray, asObject, type Json } from '#json/json.ts';
import { listedTools } from '../openapi/interface-description.ts';
import type { ListedTool } from '../openapi/openapi.ts';
import { fitAnswer } from './fit.ts';

/** The tools of the service, each of which is a route. */

/** The tools of a token by name: those of a day, or of the service. */
export interface Tools {
  list: object[];
  /** The result of a call; null for an unknown tool. */
  call(name: string, args: Json, end: AbortController): Promise<object> | null;
}

/** A result with these texts, as far as they are not empty. */
export function toolResult(isError: boolean, ...texts: string[]) {
  return { content: texts.filter(Boolean).map((text) => ({ type: 'text', text })), isError };
}

/** Assistants cut off what is longer. */
const MAX_BYTES = 40_000;

/**
 * The routes that are tools, as these call them: the answer is its JSON, as much as fits, and in a
 * last line what that leaves out.
 */
export function toolRoutes(routes: readonly Route[]): Route[] {
  return routes.filter(({ tool }) => tool !== undefined).map(toolRoute);
}

function toolRoute(route: Route): Route {
  return {
    ...route,
    path: `/mcp${route.path}`,
    handle(context, input) {
      let text = '';
      const finish = (handled: HandlerResult) => {
        assert(isReady(handled), 'the answer of a tool is made in one go');
        for (const piece of bodyPieces(handled).pieces) text += piece;
        const count = () => route.count?.(context, input);
        const fitted = fitAnswer(text, MAX_BYTES, route, count);
        return `${fitted.text}\n${fitted.left ?? ''}`;
      };
      const handled = route.handle(context, { ...input, isFull: () => text.length > MAX_BYTES });
      return handled instanceof Promise ? handled.then(finish) : finish(handled);
    },
  };
}

/** The tools of the service that a caller may use. */
export async function serviceTools(routes: readonly Route[], caller: Caller): Promise<Tools> {
  const all: ListedTool[] = JSON.parse(await listedTools(routes));
  const mayChange = caller.rights === 'everything';
  const list = all.filter(({ annotations }) => mayChange || annotations.readOnlyHint);
  return {
    list,
    call(name, args, end) {
      const own = list.find((one) => one.name === name);
      const route = routes.find(({ tool }) => tool === name);
      return own && route
        ? answer(() => caller.call(route, ask(route, own, args), end), caller)
        : null;
    },
  };
}

/** The result of a call: the answer of the route, or its refusal. */
async function answer(call: () => Promise<string>, { explain }: Caller): Promise<object> {
  try {
    const [, text = '', left = ''] = /^(.*)\n(.*)$/s.exec(await call()) ?? [];
    return { ...toolResult(false, text, left), structuredContent: JSON.parse(text) };
  } catch (error) {
    if (error === CLIENT_LEFT) throw error;
    return toolResult(true, explain(error));
  }
}

/** The request that a call is. Throws a `ServiceError` for arguments that the tool has not. */
function ask(
  route: Route,
  { inputSchema: { properties = {}, required = [] } }: ListedTool,
  args: Json,
): Asked {
  if (route.body !== undefined) return { params: {}, json: args };
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(args)) {
    if (!Object.hasOwn(properties, name))
      throw invalidFilter(
        name.slice(0, 100),
        `is not an argument of this tool; they are ${Object.keys(properties).join(', ')}`,
      );
    if (asObject(value) ?? asArray(value))
      throw invalidFilter(name, 'expected a text, a number, true or false');
    if (value !== null) params[name] = String(value);
  }
  const missing = required.find((name) => !params[name]);
  if (missing !== undefined) throw invalidFilter(missing, 'is required');
  if (route.path.includes('{')) return { params };
  return { params: {}, query: String(new URLSearchParams(params)) };
}
