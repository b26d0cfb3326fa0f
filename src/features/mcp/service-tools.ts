import { CLIENT_LEFT, type Input } from '#api/handler.ts';
import type { Route } from '#api/route.ts';
import { HttpError } from '#http/errors.ts';
import { validateBody, validateQuery } from '#http/request.ts';
import { asObject, type Json } from '#json/json.ts';
import { interfaceDescription } from '../openapi/interface-description.ts';

/** The tools of the service, each of which is a route. */

export interface ServiceTool {
  route: Route;
  inputSchema: { type: string; properties: Json; required?: string[]; additionalProperties: false };
}

/** An operation of the description of the interface, as far as it has arguments. */
interface Operation {
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Json }[];
  requestBody?: { content: { 'application/json': { schema: ServiceTool['inputSchema'] } } };
}

/** Parameters of answers that are not JSON. */
const OF_TABLES = ['format', 'table'];
/** Assistants cut off what is longer. */
const MAX_ANSWER_BYTES = 40_000;

let known: Promise<[string, ServiceTool][]> | undefined;

/** The tools that a request may call, by name. Their arguments are those that the interface describes. */
export async function serviceTools(routes: () => readonly Route[], { caller }: Input) {
  known ??= interfaceDescription(routes).then((text) => {
    const description = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> };
    return routes().flatMap((route) => {
      const operation = description.paths[route.path]?.[route.method.toLowerCase()];
      if (route.tool === undefined || operation === undefined) return [];
      return [[route.tool, { route, inputSchema: inline(argumentsOf(operation), description) }]];
    });
  });
  const mayChange = caller?.rights === 'everything';
  return new Map((await known).filter(([, { route }]) => mayChange || route.method === 'GET'));
}

function argumentsOf({ parameters, requestBody }: Operation): ServiceTool['inputSchema'] {
  if (requestBody !== undefined) return requestBody.content['application/json'].schema;
  const own = parameters.filter(({ name, in: place }) => {
    return place !== 'header' && !OF_TABLES.includes(name);
  });
  const properties = own.map(({ name, description, schema }) => [name, { ...schema, description }]);
  const required = own.filter((one) => one.required).map(({ name }) => name);
  const object = { type: 'object', additionalProperties: false } as const;
  return { ...object, properties: Object.fromEntries(properties), required };
}

/** A part of a description with what its references name in their place. */
function inline<Part>(part: Part, whole: object): Part {
  const parse = (_name: string, value: unknown): unknown => {
    const { $ref: reference } = asObject(value) ?? {};
    if (typeof reference !== 'string') return value;
    const names = reference.split('/').slice(1);
    const named = names.reduce<unknown>((place, name) => asObject(place)?.[name], whole);
    return inline(named, whole);
  };
  return JSON.parse(JSON.stringify(part), parse);
}

export function describeServiceTool([name, { route, inputSchema }]: [string, ServiceTool]) {
  const annotations = { readOnlyHint: route.method === 'GET' };
  return { name, description: route.summary, inputSchema, annotations };
}

/** The result of a call, as JSON: the answer of the route, or its refusal. */
export async function callServiceTool(
  tool: ServiceTool,
  args: Json,
  { caller }: Input,
): Promise<string> {
  const contentOf = (...texts: (string | null | undefined)[]) =>
    JSON.stringify(texts.flatMap((text) => (text ? { type: 'text', text } : [])));
  try {
    const { text = '{}', left } = (await caller?.call(tool.route, readArguments(tool, args))) ?? {};
    return `{"content":${contentOf(text, left)},"structuredContent":${text},"isError":false}`;
  } catch (error) {
    if (error === CLIENT_LEFT) throw error;
    return `{"content":${contentOf(caller?.explain(error))},"isError":true}`;
  }
}

function readArguments(
  { route, inputSchema: { properties, required = [] } }: ServiceTool,
  args: Json,
) {
  const input = { params: {}, query: {}, body: null, headers: {}, token: null } as const;
  const whole: Input = { ...input, format: 'json', most: MAX_ANSWER_BYTES };
  if (route.body !== undefined) return { ...whole, body: validateBody(route.body, args) };
  const names = Object.keys(properties);
  const texts = Object.entries(args).flatMap(([name, value]) => {
    if (!names.includes(name))
      throw new HttpError(
        422,
        `${name.slice(0, 100)}: is not an argument of this tool; they are ${names.join(', ')}`,
      );
    if (value === null) return [];
    if (typeof value !== 'object') return [[name, String(value)] as const];
    throw new HttpError(422, `${name}: expected a text, a number, true or false`);
  });
  const params = Object.fromEntries(texts);
  const missing = required.find((name) => !params[name]);
  if (missing !== undefined) throw new HttpError(422, `${missing}: is required`);
  if (route.path.includes('{')) return { ...whole, params };
  return { ...whole, query: validateQuery(route.query, String(new URLSearchParams(params))) };
}
