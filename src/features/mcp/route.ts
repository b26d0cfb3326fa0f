import * as v from 'valibot';
import {
  type AsyncBody,
  type Context,
  asyncText,
  type Input,
  type StatusBody,
} from '#api/handler.ts';
import { route, BAD_BODY, type Route } from '#api/route.ts';
import { rpcError } from '#api/rpc-error.ts';
import { namedRecord } from '#api/schemas.ts';
import { errorCode } from '#domain/service-error.ts';
import { asObject, type Json, tryParse } from '#json/json.ts';
import type { AgentDay } from '#trading/agent-days.ts';
import { VERSION } from '#process/version.ts';
import {
  callServiceTool,
  describeServiceTool,
  type ServiceTool,
  serviceTools,
} from './service-tools.ts';
import {
  findMismatch,
  HEADERS,
  type Headers,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isModern,
  type RpcMessage,
  message,
  METHOD_NOT_FOUND,
  OLDER,
  PREFIX,
  SUPPORTED,
} from './revisions.ts';

/** Feature: the Model Context Protocol: the tools of a model-day for its token, of the service for others. */

const BATCH = 'Batches are not taken: send each message in a request of its own';
const MALFORMED =
  'Expected a message of JSON-RPC 2.0: jsonrpc "2.0", a method, params that are an object, and an id that is a text or an integer';

export const mcpRoute = (routes: () => readonly Route[]): Route =>
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
    async handle(context, input) {
      const { success, output: sent } = v.safeParse(message, input.body);
      if (!success)
        return refuse(400, null, INVALID_REQUEST, Array.isArray(input.body) ? BATCH : MALFORMED);
      const { id = null } = sent;
      const mismatch = findMismatch(sent, input.headers);
      if (mismatch !== null) return refuse(400, id, ...mismatch);
      if (id === null) return { status: 202, json: '' };
      return answer({ ...sent, id }, input, {
        day: findDay(context, input),
        tools: await serviceTools(routes, input),
      });
    },
  });

function refuse(status: number, ...error: Parameters<typeof rpcError>): StatusBody {
  return { status, json: JSON.stringify(rpcError(...error)) };
}

const SERVER = { name: 'trading-simulation-service', version: VERSION };
const CAPABILITIES = { tools: {} };
/** How long a client may keep what it read of the tools. */
const CACHED = { ttlMs: 60_000, cacheScope: 'private' };
const IDENTITY = JSON.stringify({
  resultType: 'complete',
  _meta: { [`${PREFIX}serverInfo`]: SERVER },
});

/** Tools: those of a day, or why it takes no more calls; else those of the service. */
interface Tools {
  day: AgentDay | string | null;
  tools: ReadonlyMap<string, ServiceTool>;
}

/** A call of the service's tools is answered as its route is, with white space until it is made. */
async function answer(
  { id, ...sent }: RpcMessage & { id: string | number },
  input: Input,
  { day, tools }: Tools,
): Promise<StatusBody | AsyncBody> {
  const { method, params } = sent;
  const modern = isModern(sent, input.headers as Headers);
  const respond = (result: string) => {
    const whole = modern ? `${IDENTITY.slice(0, -1)},${result.slice(1)}` : result;
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${whole}}`;
  };
  const ok = (result: object) => ({ status: 200, json: respond(JSON.stringify(result)) });
  switch (`${modern} ${method}`) {
    case 'false initialize': {
      const version = OLDER.find((own) => own === params['protocolVersion']) ?? OLDER[0];
      return ok({ protocolVersion: version, capabilities: CAPABILITIES, serverInfo: SERVER });
    }
    case 'false ping':
      return ok({});
    case 'true server/discover':
      return ok({ supportedVersions: SUPPORTED, capabilities: CAPABILITIES, ...CACHED });
    case 'false tools/list':
    case 'true tools/list': {
      const all = day === null ? [...tools].map(describeServiceTool) : listDayTools(day);
      return ok({ tools: all, ...(modern && CACHED) });
    }
    case 'false tools/call':
    case 'true tools/call': {
      const { name, arguments: given = {} } = params;
      const args = asObject(given);
      if (typeof name !== 'string' || args === undefined)
        return refuse(400, id, INVALID_PARAMS, 'Expected a name, and arguments in an object');
      if (day !== null) return ok(await callDayTool(day, name, args));
      const tool = tools.get(name);
      return tool === undefined
        ? refuse(200, id, INVALID_PARAMS, `There is no tool ${name.slice(0, 100)}`)
        : asyncText(callServiceTool(tool, args, input).then(respond), new AbortController());
    }
  }
  const unknown = `There is no method ${method.slice(0, 100)}`;
  return refuse(modern ? 404 : 200, id, METHOD_NOT_FOUND, unknown);
}

/** The day that the token opens, or why it takes no more calls; null for the tools of the service. */
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
  return tools.map(({ parameters: inputSchema, ...tool }) => ({ ...tool, inputSchema }));
}

async function callDayTool(day: AgentDay | string, name: string, args: Json) {
  const isOver = typeof day === 'string';
  const text = isOver ? day : await day.call(name, args);
  const isError = isOver || 'error' in (asObject(tryParse(text)) ?? {});
  return { content: [{ type: 'text', text }], isError };
}
