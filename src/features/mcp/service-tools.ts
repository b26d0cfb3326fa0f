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
import { asObject, asObjects, type Json } from '#json/json.ts';
import { comparisonRoute } from '../comparison/route.ts';
import { coverageRoute } from '../coverage/route.ts';
import { decisionsRoute } from '../decisions/route.ts';
import { interfaceDescription } from '../openapi/interface-description.ts';
import { performanceRoute } from '../performance/route.ts';

/** The tools of the service, each of which is a route. */

const routes: Record<string, Route> = {
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
};
/** Parameters of answers that are not JSON. */
const OF_TABLES = ['format', 'table'];
/** Assistants cut off what is longer. */
const MAX_ANSWER_BYTES = 40_000;

/** The tools that a request may call, by name. */
export function serviceTools({ caller }: Input): ReadonlyMap<string, Route> {
  const mayChange = caller?.rights === 'everything';
  return new Map(Object.entries(routes).filter(([, own]) => mayChange || own.method === 'GET'));
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

let schemas: Promise<ReadonlyMap<string, Json>> | undefined;

/** JSON Schemas of the tools' arguments, by the paths of their routes: as the interface is described. */
function readSchemas(): Promise<ReadonlyMap<string, Json>> {
  const all = Object.values(routes);
  return (schemas ??= interfaceDescription(() => all).then((text) => {
    const description: Json = JSON.parse(text);
    const withoutReferences = (value: unknown): unknown => {
      const { $ref: reference } = asObject(value) ?? {};
      if (typeof reference === 'string') return withoutReferences(partAt(description, reference));
      if (typeof value !== 'object' || value === null) return value;
      const parts = Object.entries(value).map(([name, own]) => [name, withoutReferences(own)]);
      return Array.isArray(value) ? parts.map(([, own]) => own) : Object.fromEntries(parts);
    };
    const { paths } = description;
    return new Map(
      all.map(({ path, method }) => {
        const operation = asObject(asObject(asObject(paths)?.[path])?.[method.toLowerCase()]) ?? {};
        return [path, asObject(withoutReferences(argumentsOf(operation))) ?? {}];
      }),
    );
  }));
}

/** The part of a description that `#/requestBody/content` names. */
function partAt(whole: Json, reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((part, name) => asObject(part)?.[name], whole);
}

function argumentsOf(operation: Json): unknown {
  const content = asObject(partAt(operation, '#/requestBody/content'));
  if (content !== undefined) return asObject(content['application/json'])?.['schema'];
  const parameters = asObjects(operation['parameters']).filter(
    (own) => own['in'] !== 'header' && !OF_TABLES.includes(String(own['name'])),
  );
  const described = parameters.map(({ name, description, schema }) => {
    return [name, { ...asObject(schema), description }];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(described),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** The result of a call, as JSON: the answer of the route, or its refusal. */
export async function callServiceTool(
  route: Route,
  args: Json,
  { caller }: Input,
): Promise<string> {
  const contentOf = (texts: readonly (string | null)[]) =>
    JSON.stringify(texts.flatMap((text) => (text === null ? [] : { type: 'text', text })));
  try {
    const input = await readArguments(route, args);
    const { text = '{}', left = null } = (await caller?.call(route, input)) ?? {};
    return `{"content":${contentOf([text, left])},"structuredContent":${text},"isError":false}`;
  } catch (error) {
    return `{"content":${contentOf([caller?.explain(error) ?? ''])},"isError":true}`;
  }
}

async function readArguments(route: Route, args: Json): Promise<Input> {
  const input = {
    params: {},
    query: {},
    body: null,
    format: 'json',
    headers: {},
    token: null,
  } as const;
  if (route.body !== undefined) return { ...input, body: validateBody(route.body, args) };
  const known = Object.keys(asObject((await readSchemas()).get(route.path)?.['properties']) ?? {});
  const unknown = Object.keys(args).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalidArgument(unknown, `is not an argument of this tool; they are ${known.join(', ')}`);
  const { job_id: job } = args;
  const isInPath = route.path.endsWith('/{job_id}');
  if (isInPath && (typeof job !== 'string' || job === ''))
    throw invalidArgument('job_id', 'is required, and a text');
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(isInPath ? {} : args)) {
    if (typeof value === 'object' && value !== null)
      throw invalidArgument(name, 'expected a text, a number, true or false');
    if (value != null) query.set(name, String(value));
  }
  return {
    ...input,
    params: { job_id: String(job) },
    query: validateQuery(route.query, String(query)),
    most: MAX_ANSWER_BYTES,
  };
}

function invalidArgument(name: string, why: string): HttpError {
  return new HttpError(422, `${name.slice(0, 100)}: ${why}`);
}
