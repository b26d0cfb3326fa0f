import * as v from 'valibot';
import { type Context, asyncText, type Input, type StatusBody } from '#api/handler.ts';
import { route, BAD_BODY, type Route } from '#api/route.ts';
import { rpcError } from '#api/rpc-error.ts';
import { namedRecord } from '#api/schemas.ts';
import { errorCode } from '#domain/service-error.ts';
import { asObject, type Json, tryParse } from '#json/json.ts';
import type { AgentDay } from '#trading/agent-days.ts';
import { VERSION } from '#process/version.ts';
import { callServiceTool, listServiceTools, serviceTools } from './service-tools.ts';
import {
  type Message,
  message,
  checkHeaders,
  HEADERS,
  INVALID_PARAMS,
  isModern,
  MODERN,
  MODERN_NAME,
  OLDER,
} from './revisions.ts';

/**
 * Feature: the Model Context Protocol over Streamable HTTP: whole JSON bodies, no sessions, no events.
 * The tools are those of a model-day for its token, and some routes of the service for all others.
 */

const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const SERVER = { name: 'trading-simulation-service', version: VERSION };
const CAPABILITIES = { tools: {} };
/** How long a list of tools stays as it is; that of a day as long as the day. */
const LIST_MS = 60_000;

export const mcpRoute: Route = route({
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
  handle(context, input) {
    const { body, headers } = input;
    const malformed = (words: string) => failure(400, null, INVALID_REQUEST, words);
    if (Array.isArray(body))
      return malformed('Batches are not taken: send each message in a request of its own');
    const read = v.safeParse(message, body);
    if (!read.success)
      return malformed(
        'Expected a message of JSON-RPC 2.0: jsonrpc "2.0", a method, params that are an object, and an id that is a text or an integer',
      );
    const { output: sent } = read;
    const refused = checkHeaders(sent, headers);
    if (refused !== null)
      return failure(400, sent.id ?? null, refused.code, refused.message, refused.data);
    if (sent.id === undefined) return { status: 202, json: '' };
    return answer(context, input, { ...sent, id: sent.id });
  },
});

type Request = Message & { id: string | number };

/** A call of the service's tools is answered while its route is, and sends white space meanwhile. */
function answer(context: Context, input: Input, request: Request) {
  const modern = isModern(request, input.headers as v.InferOutput<typeof HEADERS>);
  const { id: to, method, params = {} } = request;
  const respond = (members: string) => {
    const more = modern
      ? `"resultType":"complete","_meta":${JSON.stringify({ [`${MODERN_NAME}/serverInfo`]: SERVER })}`
      : '';
    return `{"jsonrpc":"2.0","id":${JSON.stringify(to)},"result":{${[members, more].filter(Boolean).join(',')}}}`;
  };
  const ok = (result: object): StatusBody => ({
    status: 200,
    json: respond(JSON.stringify(result).slice(1, -1)),
  });
  const cached = { ttlMs: LIST_MS, cacheScope: 'private' };
  const day = findDay(context, input);
  if (method === 'tools/list') {
    const tools = day === null ? listServiceTools(input) : Promise.resolve(listDayTools(day));
    return tools.then((all) => ok({ tools: all, ...(modern && cached) }));
  }
  if (method === 'tools/call') {
    const { name, arguments: args = {} } = params;
    const given = asObject(args);
    if (typeof name !== 'string' || given === undefined)
      return failure(
        400,
        to,
        INVALID_PARAMS,
        'Expected a name that is a text, and arguments that are an object',
      );
    if (day !== null) return callDayTool(day, name, given).then(ok);
    const tool = serviceTools(input).get(name);
    if (tool === undefined)
      return failure(200, to, INVALID_PARAMS, `There is no tool ${name.slice(0, 100)} here`);
    return asyncText(callServiceTool(tool, given, input).then(respond), new AbortController());
  }
  if (modern && method === 'server/discover')
    return ok({ supportedVersions: [MODERN, ...OLDER], capabilities: CAPABILITIES, ...cached });
  if (!modern && method === 'ping') return ok({});
  if (!modern && method === 'initialize') {
    const { protocolVersion: asked } = params;
    const version = OLDER.find((own) => own === asked) ?? OLDER[0];
    return ok({ protocolVersion: version, capabilities: CAPABILITIES, serverInfo: SERVER });
  }
  return failure(
    modern ? 404 : 200,
    to,
    METHOD_NOT_FOUND,
    `There is no method ${method.slice(0, 100)}`,
  );
}

function failure(status: number, ...error: Parameters<typeof rpcError>): StatusBody {
  return { status, json: JSON.stringify(rpcError(...error)) };
}

/** The day that the token opens, or why it does not any more; null for the tools of the service. */
function findDay({ agentDays }: Context, { caller, token }: Input): AgentDay | string | null {
  if (caller?.rights !== 'day' || agentDays === null) return null;
  try {
    return agentDays.find(token);
  } catch (error) {
    if (errorCode(error) === 'day_decided') return caller.explain(error);
    throw error;
  }
}

function listDayTools(day: AgentDay | string) {
  const tools = typeof day === 'string' ? [] : day.tools;
  return tools.map(({ name, description, parameters: inputSchema }) => {
    return { name, description, inputSchema };
  });
}

async function callDayTool(day: AgentDay | string, name: string, args: Json) {
  const text = typeof day === 'string' ? day : await day.call(name, args);
  const isError = typeof day === 'string' || 'error' in (asObject(tryParse(text)) ?? {});
  return { content: [{ type: 'text', text }], isError };
}
