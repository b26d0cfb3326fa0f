import { cancelRoute, jobsRoute } from '#api/jobs.ts';
import { modelsRoute } from '#api/models.ts';
import { reasoningRoute } from '#api/reasoning.ts';
import { resultsRoute } from '#api/results.ts';
import { statusRoute } from '#api/status.ts';
import { triggerRoute } from '#api/trigger.ts';
import type { Input } from '#api/handler.ts';
import type { Route } from '#api/route.ts';
import { HttpError } from '#http/errors.ts';
import { validateBody, validateQuery } from '#http/request.ts';
import { asArray, asObject, type Json, plainText, tryParse } from '#json/json.ts';
import { comparisonRoute } from '../comparison/route.ts';
import { coverageRoute } from '../coverage/route.ts';
import { decisionsRoute } from '../decisions/route.ts';
import { interfaceDescription } from '../openapi/interface-description.ts';
import { performanceRoute } from '../performance/route.ts';

/** The tools of the service, each of which is a route. */

const TOOLS = new Map<string, Route>(
  Object.entries({
    start_job: triggerRoute,
    job_status: statusRoute,
    cancel_job: cancelRoute,
    list_jobs: jobsRoute,
    results: resultsRoute,
    performance: performanceRoute,
    comparison: comparisonRoute,
    decisions: decisionsRoute,
    reasoning: reasoningRoute,
    models: modelsRoute,
    price_coverage: coverageRoute,
  }),
);
const ROUTES = [...TOOLS.values()];
/** In a query, of answers that are not JSON. */
const OTHER_FORMATS = ['format', 'table'];
/** Assistants cut off what is longer. */
const MAX_ANSWER_BYTES = 40_000;

/** The tools that a request may call, by name. */
export function serviceTools({ caller }: Input): ReadonlyMap<string, Route> {
  if (caller?.rights === 'everything') return TOOLS;
  return new Map([...TOOLS].filter(([, { method }]) => method === 'GET'));
}

interface InputSchema {
  type: 'object';
  properties: Json;
  required?: string[];
  additionalProperties: false;
}

export async function listServiceTools(input: Input) {
  const schemas = await readSchemas();
  return [...serviceTools(input)].map(([name, route]) => ({
    name,
    description: route.summary,
    inputSchema: schemas.get(route.path),
    annotations: { readOnlyHint: route.method === 'GET' },
  }));
}

let known: Promise<ReadonlyMap<string, InputSchema>> | null = null;

/** The arguments of each tool, by the path of its route: what the description of the interface has. */
function readSchemas() {
  return (known ??= interfaceDescription(() => ROUTES).then((text) => {
    const description = tryParse(text) as Json;
    const paths = asObject(description['paths']) as Record<string, Json>;
    const resolve = (value: unknown): unknown => {
      const list = asArray(value);
      if (list !== undefined) return list.map(resolve);
      const { $ref: reference, ...own } = asObject(value) ?? {};
      if (typeof reference === 'string') return resolve(partAt(description, reference));
      if (asObject(value) === undefined) return value;
      return Object.fromEntries(Object.entries(own).map(([name, part]) => [name, resolve(part)]));
    };
    return new Map(
      ROUTES.map(({ path, method }) => [
        path,
        resolve(argumentsOf(asObject(paths[path]?.[method.toLowerCase()]) ?? {})) as InputSchema,
      ]),
    );
  }));
}

/** What a reference such as `#/components/schemas/Job` means. */
function partAt(description: Json, reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((part, name) => asObject(part)?.[name], description);
}

function argumentsOf({ parameters, requestBody }: Json): unknown {
  const body = partAt({ requestBody }, '#/requestBody/content');
  if (body !== undefined) return asObject(asObject(body)?.['application/json'])?.['schema'];
  const all = (
    parameters as {
      name: string;
      in: string;
      required: boolean;
      description?: string;
      schema: Json;
    }[]
  ).filter((own) => own.in !== 'header' && !OTHER_FORMATS.includes(own.name));
  return {
    type: 'object',
    properties: Object.fromEntries(
      all.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ),
    required: all.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** The members of a tool's result: the answer of its route, as text and as it is, or why there is none. */
export async function callServiceTool(
  route: Route,
  args: Json,
  { caller }: Input,
): Promise<string> {
  try {
    const input = await readArguments(route, args);
    const answer = await caller?.call(route, input);
    const { text = '', left = null } = answer ?? {};
    const content = [text, left].flatMap((own) =>
      own === null ? [] : { type: 'text', text: own },
    );
    return `"content":${JSON.stringify(content)},"structuredContent":${text},"isError":false`;
  } catch (error) {
    const content = [{ type: 'text', text: caller?.explain(error) }];
    return `"content":${JSON.stringify(content)},"isError":true`;
  }
}

async function readArguments(route: Route, args: Json): Promise<Input> {
  const whole = {
    params: {},
    query: {},
    body: undefined,
    format: 'json',
    headers: {},
    token: null,
  } as const;
  if (route.body !== undefined) return { ...whole, body: validateBody(route.body, args) };
  const { properties = {} } = (await readSchemas()).get(route.path) ?? {};
  const unknown = Object.keys(args).find((name) => !(name in properties));
  if (unknown !== undefined)
    throw new HttpError(
      422,
      `${unknown.slice(0, 100)}: is not an argument of this tool; they are ${Object.keys(properties).join(', ') || 'none'}`,
    );
  const { job_id: job, ...others } = args;
  const isInPath = route.path.includes('{job_id}');
  if (isInPath && plainText(job || undefined) === undefined)
    throw new HttpError(422, 'job_id: is required');
  const query = isInPath ? others : args;
  const texts = Object.entries(query).flatMap(([name, value]) => {
    const text = plainText(asArray(value)?.join() ?? value);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    ...whole,
    params: isInPath ? { job_id: String(job) } : {},
    query: validateQuery(route.query, String(new URLSearchParams(Object.fromEntries(texts)))),
    most: MAX_ANSWER_BYTES,
  };
}
