import assert from 'node:assert/strict';
import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema';
import * as v from 'valibot';
import { bareErrorSchema, errorSchema } from '#api/schemas.ts';
import { agentAnswer, dayResponse } from '#api/day.ts';
import { VERSION } from '#process/version.ts';
import { type Example, makeExamples } from './examples.ts';
import type { Route } from '#api/route.ts';
import { fieldTexts } from './fields.ts';
import { operationTexts, parameterTexts, tagTexts } from './operations.ts';

/** Turns the schemas of requests and responses into JSON Schema, for the interface description. */

type Names = Record<string, v.GenericSchema>;

/**
 * Bodies are described as the input of a schema, query strings as its output, after the text was
 * parsed.
 */
type Side = 'input' | 'output';

/** The titled schemas among and inside these, by title. Throws when two have the same title. */
function namedSchemas(schemas: readonly v.GenericSchema[]): Names {
  const names: Names = {};
  const look = (schema: v.GenericSchema) => {
    const name = v.getTitle(schema);
    if (name !== undefined) {
      if (names[name] === schema) return;
      if (names[name] !== undefined) throw new Error(`Two schemas have the name ${name}`);
      names[name] = schema;
    }
    for (const part of nestedSchemas(schema)) look(part);
  };
  for (const schema of schemas) look(schema);
  return names;
}

/** The nested schemas of any kind of Valibot schema. */
interface Parts {
  entries?: Record<string, v.GenericSchema>;
  options?: readonly unknown[];
  item?: v.GenericSchema;
  wrapped?: v.GenericSchema;
  value?: v.GenericSchema;
}

function nestedSchemas(schema: v.GenericSchema): v.GenericSchema[] {
  const { entries = {}, options = [], item, wrapped, value } = schema as Parts;
  const parts = [...Object.values(entries), ...options, item, wrapped, value];
  return parts.filter((part): part is v.GenericSchema => typeof part === 'object' && part !== null);
}

const fields = new Map(fieldTexts);

/**
 * The named schemas themselves, as `components.schemas` has them: with what each property means,
 * where its own schema does not say it.
 */
function describeNamed(names: Names): Record<string, JsonSchema> {
  const schemas = toJsonSchemaDefs(names, conversionConfig('input'));
  for (const [title, { properties = {} }] of Object.entries(schemas))
    for (const [name, own] of Object.entries(properties))
      if (typeof own === 'object')
        own.description ??= fields.get(`${title}.${name}`) ?? fields.get(name) ?? '';
  return schemas;
}

/** A schema that refers to the titled ones by title. */
function describeSchema(schema: v.GenericSchema, names: Names, side: Side = 'input'): JsonSchema {
  const config = { ...conversionConfig(side), definitions: names };
  const { $schema: _dialect, $defs: _named, ...described } = toJsonSchema(schema, config);
  return described;
}

/**
 * What a parameter's schema says of an empty text: it counts as absent (request.ts), so one that
 * is required may not be empty.
 */
function describeEmpty({ type, pattern, enum: words }: JsonSchema, required: boolean): JsonSchema {
  if (type !== 'string' || words !== undefined) return {};
  if (required) return { minLength: 1 };
  return pattern === undefined ? {} : { pattern: `^$|${pattern}` };
}

/** What JSON Schema cannot express is left out. */
function conversionConfig(typeMode: Side): ConversionConfig {
  return {
    typeMode,
    target: 'draft-2020-12',
    errorMode: 'ignore',
    ignoreActions: ['title'],
    overrideSchema: ({ valibotSchema, jsonSchema }) => simplifySchema(valibotSchema, jsonSchema),
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  };
}

/**
 * Avoids valid schemas that some generators do not understand: constants without a type, nested
 * alternatives.
 */
function simplifySchema({ type }: { type: string }, schema: JsonSchema): JsonSchema | undefined {
  if (type === 'literal') {
    assert.equal(typeof schema.const, 'string', 'every constant of the interface is a text');
    return { type: 'string', ...schema };
  }
  if (!type.startsWith('null') || schema.anyOf === undefined) return undefined;
  return {
    ...schema,
    anyOf: schema.anyOf.flatMap((one) => (typeof one === 'object' && one.anyOf) || [one]),
  };
}

/**
 * The interface as an OpenAPI 3.1 document, made from the same schemas that check the requests. It
 * runs when the program is built (interface-description.ts).
 */
export function describeApi(routes: readonly Route[]): Record<string, unknown> {
  const bodies = routes.flatMap(({ body, response }) =>
    [body, response].filter((schema) => schema !== undefined),
  );
  const names = namedSchemas([...bodies, errorSchema, bareErrorSchema, agentAnswer]);
  const paths: Record<string, Record<string, unknown>> = {};
  const examples = makeExamples(routes);
  for (const route of routes) {
    const operation = describeRoute(route, names, examples[route.path]);
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trading Simulation Service',
      version: VERSION,
      description:
        'Runs simulated trading sessions for AI models over a range of dates and keeps every position, conversation and cost. ' +
        'Lists and long texts in the examples are shortened.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: 'The server that sent this description.' },
      {
        url: 'http://localhost:8080',
        description: 'A server on this machine, on its default port.',
      },
    ],
    tags: Object.entries(tagTexts).map(([name, description]) => ({ name, description })),
    security: [{}, { accessToken: [] }],
    paths,
    webhooks: { agentDay: { post: describeAgent(names) } },
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Needed when the server has access tokens (API_TOKEN). A token that is read-only cannot start, cancel or discard jobs.',
        },
        dayToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The token that an agent of your own is sent with its day. It opens that day, until it is decided, and nothing else.',
        },
      },
      schemas: describeNamed(names),
    },
  };
}

function describeRoute(route: Route, names: Names, example?: Example) {
  const { summary, tag, body } = route;
  return {
    summary,
    description: operationTexts[`${route.method} ${route.path}`],
    operationId: operationId(route),
    tags: [tag],
    ...(route.isPublic && { security: [] }),
    ...(route.isOfDay && { security: [{ dayToken: [] }] }),
    parameters: [
      ...pathParameters(route),
      ...describeParameters(route.query, 'query', names),
      ...describeParameters(route.headers, 'header', names),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: jsonContent(body, names, example?.request),
      },
    }),
    responses: {
      200: describeResponse(route, names, example),
      ...(route.isRpc && { 202: { description: 'A notification was taken; there is no body.' } }),
      ...describeErrors(route, names),
    },
  };
}

/** What an agent of the user's is sent, and what it answers. */
function describeAgent(names: Names) {
  const description = 'The decision of the day.';
  return {
    summary: 'Ask an agent of your own for the decision of a day.',
    description: operationTexts['POST /agentDay'],
    operationId: 'postAgentDay',
    tags: ['agents'],
    requestBody: { required: true, content: jsonContent(dayResponse, names) },
    responses: { 200: { description, content: jsonContent(agentAnswer, names) } },
  };
}

function operationId({ method, path }: Route): string {
  const words = path
    .replace(/\.json$/, '')
    .split('/')
    .filter((part) => part !== '' && !part.startsWith('{'));
  return [method.toLowerCase(), ...words]
    .map((word, index) => (index === 0 ? word : word[0]?.toUpperCase() + word.slice(1)))
    .join('');
}

function describeResponse(route: Route, names: Names, example?: Example) {
  const csv = { schema: { type: 'string' }, example: example?.csv };
  const table = route.hasTable && { 'text/csv': csv };
  const json = jsonContent(route.response, names, example?.response);
  return { description: route.summary, content: { ...json, ...table } };
}

function describeErrors(route: Route, names: Names) {
  const usual = route.bareErrors ? bareErrorSchema : errorSchema;
  const content = jsonContent(route.isRpc ? route.response : usual, names);
  return Object.fromEntries(
    Object.entries(routeErrors(route)).map(([status, description]) => [
      status,
      { description, content },
    ]),
  );
}

/** Every error status of a route: its own, and those that the server returns before it. */
export function routeErrors(route: Route): Record<number, string> {
  return {
    400: 'The request cannot be read.',
    ...(!route.isPublic && {
      401: 'The server has access tokens, and the request has none of them.',
    }),
    403: 'The request comes from a web page of another origin, or its access token is read-only.',
    405: 'The path has no such method; the Allow header names those it has.',
    422: 'A value does not fit its schema, or the path has no such query parameter; the detail names it.',
    ...(route.path !== '/health' && {
      500: 'An unexpected failure, with a reference into the log, or a broken server configuration.',
    }),
    ...route.errors,
  };
}

/** Parameters of answers that are not JSON. */
const OF_TABLES = ['format', 'table'];

/** A route as a tool of the Model Context Protocol: its arguments are the body, or the parameters. */
export function describeTool(route: Route) {
  const { tool: name, summary: description, method, body } = route;
  const parameters = [...pathParameters(route), ...describeParameters(route.query, 'query', {})];
  const own = parameters.filter((one) => !OF_TABLES.includes(one.name));
  const properties = own.map((one) => [one.name, { ...one.schema, description: one.description }]);
  const fields = {
    ...{ type: 'object', additionalProperties: false },
    properties: Object.fromEntries(properties),
    required: own.filter(({ required }) => required).map((one) => one.name),
  };
  const inputSchema = body ? describeSchema(body, {}) : fields;
  return { name, description, inputSchema, annotations: { readOnlyHint: method === 'GET' } };
}

export type ListedTool = ReturnType<typeof describeTool>;

function pathParameters({ path }: Route) {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: parameterTexts[name],
    schema: { type: 'string', minLength: 1 },
  }));
}

/** The parameters of a query or a header, as the values that their text represents. */
function describeParameters(fields: Route['query'], place: 'query' | 'header', names: Names) {
  return Object.entries(fields?.entries ?? {}).map(([name, field]) => {
    const { description = parameterTexts[name], ...schema } = describeSchema(
      field,
      names,
      'output',
    );
    const value = 'default' in schema && { default: v.parse(field, undefined) };
    const required = !v.is(field, undefined);
    const emptiness = place === 'query' && describeEmpty(schema, required);
    const isEmptyAllowed = place === 'query' && !required && { allowEmptyValue: true };
    return {
      name,
      in: place,
      required,
      ...isEmptyAllowed,
      description,
      schema: { ...schema, ...value, ...emptiness },
    };
  });
}

/** JSON of a schema, as the body of a request or a response. */
function jsonContent(schema: v.GenericSchema, names: Names, example?: unknown) {
  return { 'application/json': { schema: describeSchema(schema, names), example } };
}
