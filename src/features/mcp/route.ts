import assert from 'node:assert/strict';
import * as v from 'valibot';
import { type AsyncBody, asyncText, type Context, type Input } from '#api/handler.ts';
import { route, BAD_BODY, type Caller, type Route } from '#api/route.ts';
import { namedRecord } from '#api/schemas.ts';
import { errorCode } from '#domain/service-error.ts';
import { asObject, tryParse } from '#json/json.ts';
import { COMMAND_NAME, VERSION } from '#process/version.ts';
import { serviceTools, toolResult, type Tools } from './service-tools.ts';
import {
  checkRevision,
  HEADERS,
  type Headers,
  isModern,
  message,
  OLDER,
  PREFIX,
  refusal,
  SUPPORTED,
} from './revisions.ts';

/** Feature: the Model Context Protocol: the tools of a model-day for its token, of the service for others. */

const BATCH = 'Batches are not taken: send each message in a request of its own';
const MALFORMED =
  'Expected a message of JSON-RPC 2.0: jsonrpc "2.0", a method, params that are an object, and an id that is a text or an integer';

export const mcpRoute = (toolRoutes: () => readonly Route[]): Route =>
  route({
    method: 'POST',
    path: '/mcp',
    tag: 'agents',
    summary:
      'The Model Context Protocol: the tools of a day for its token, else those of the service.',
    body: v.pipe(message, v.title('McpMessage')),
    headers: HEADERS,
    response: namedRecord('McpResponse', v.unknown()),
    errors: {
      400: 'The message is malformed, or of an unknown revision of the protocol.',
      401: 'The token opens nothing.',
      404: 'The method is unknown, in the revisions from 2026-07-28 on.',
      ...BAD_BODY,
    },
    isRpc: true,
    async handle(context, input, caller) {
      assert(caller !== undefined, 'a route of JSON-RPC may call others');
      const day = findDay(context, caller, input.token);
      return answer(input, day ?? (await serviceTools(toolRoutes(), caller)));
    },
  });

const SERVER = { name: COMMAND_NAME, version: VERSION };
const IDENTITY = { resultType: 'complete', _meta: { [`${PREFIX}serverInfo`]: SERVER } };
const capabilities = { tools: {} };
/** How long a client may keep what it read of the tools. */
const CACHED = { ttlMs: 60_000, cacheScope: 'private' };

function answer(
  { body, headers }: Input<unknown, unknown, Headers>,
  tools: Tools,
): string | AsyncBody {
  const { success, output: sent } = v.safeParse(message, body);
  if (!success) throw refusal(400, undefined, 'request', Array.isArray(body) ? BATCH : MALFORMED);
  const { id, method, params } = sent;
  checkRevision(sent, headers);
  if (id === undefined) return '';
  const isLater = isModern(sent, headers);
  const respond = (result: object) =>
    JSON.stringify({ jsonrpc: '2.0', id, result: { ...(isLater && IDENTITY), ...result } });
  if (isLater && method === 'server/discover')
    return respond({ supportedVersions: SUPPORTED, capabilities, ...CACHED });
  if (!isLater && method === 'ping') return respond({});
  if (!isLater && method === 'initialize') {
    const protocolVersion = OLDER.find((own) => own === params['protocolVersion']) ?? OLDER[0];
    return respond({ protocolVersion, capabilities, serverInfo: SERVER });
  }
  if (method === 'tools/list') return respond({ tools: tools.list, ...(isLater && CACHED) });
  if (method !== 'tools/call')
    throw refusal(isLater ? 404 : 200, id, 'method', `There is no method ${method.slice(0, 100)}`);
  const { name, arguments: given = {} } = params;
  const args = asObject(given);
  if (typeof name !== 'string' || args === undefined)
    throw refusal(400, id, 'params', 'Expected a name, and arguments in an object');
  const end = new AbortController();
  const result = tools.call(name, args, end);
  if (result === null) throw refusal(200, id, 'params', `There is no tool ${name.slice(0, 100)}`);
  return asyncText(result.then(respond), end);
}

/** The tools of the day that a token opens, none of which works after its decision; null without one. */
function findDay({ agentDays }: Context, caller: Caller, token: string | null): Tools | null {
  if (caller.rights !== 'day' || agentDays === null) return null;
  try {
    const day = agentDays.find(token);
    return {
      list: day.tools.map(({ parameters: inputSchema, ...tool }) => ({ ...tool, inputSchema })),
      async call(name, args) {
        const text = await day.call(name, args);
        return toolResult('error' in (asObject(tryParse(text)) ?? {}), text);
      },
    };
  } catch (error) {
    if (errorCode(error) !== 'day_decided') throw error;
    const decided = toolResult(true, caller.explain(error));
    return { list: [], call: async () => decided };
  }
}
