import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { bareErrorSchema, errorSchema, existsInCalendar } from '../handlers/schemas.ts';
import { VERSION } from '../version.ts';
import type { Route } from './routes.ts';

/**
 * The interface as an OpenAPI 3.1 document, made from the same schemas that check the requests. Runs when the program
 * is built; what it returns is bundled, so that the converter is no dependency of the running service.
 */
export function describeApi(routes: readonly Route[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = describeRoute(route);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trading Simulation Service',
      version: VERSION,
      description:
        'Runs simulated trading sessions for AI models over a range of dates and keeps every position, conversation and cost.',
    },
    security: [{}, { accessToken: [] }],
    paths,
    components: {
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', description: 'Where the server has access tokens (README).' },
      },
      schemas: { Error: schemaOf(errorSchema), BareError: schemaOf(bareErrorSchema) },
    },
  };
}

function describeRoute(route: Route): Record<string, unknown> {
  const { summary, example, body } = route;
  return {
    summary,
    operationId: operationId(route),
    ...(route.isPublic && { security: [] }),
    parameters: [
      ...pathParameters(route),
      ...parametersOf(route.query, 'query'),
      ...parametersOf(route.headers, 'header'),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaOf(body), example: example.request } },
      },
    }),
    responses: { 200: answer(route), ...errorAnswers(route) },
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

function answer({ summary, response, example, csv }: Route): Record<string, unknown> {
  const schema = response === undefined ? { type: 'object' } : schemaOf(response);
  const table = csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' }, example: csv } };
  return { description: summary, content: { 'application/json': { schema, example: example.response }, ...table } };
}

function errorAnswers(route: Route): Record<string, unknown> {
  const schema = { $ref: `#/components/schemas/${route.bareErrors ? 'BareError' : 'Error'}` };
  const entries = Object.entries(errorsOf(route)).map(([status, description]) => [
    status,
    { description, content: { 'application/json': { schema } } },
  ]);
  return Object.fromEntries(entries);
}

/** Every error status of a route: its own, and those that the server gives in front of it. */
export function errorsOf(route: Route): Record<number, string> {
  return {
    400: 'The request cannot be read.',
    ...(route.isPublic ? {} : { 401: 'The server has access tokens, and the request none of them.' }),
    403: 'The request comes from a web page of another origin, or its access token is read-only.',
    405: 'The path has no such method; the Allow header names those it has.',
    422: 'A value does not fit its schema, or the address has no such parameter; the detail names it.',
    ...(route.path === '/health'
      ? {}
      : { 500: 'An unexpected failure, with a reference into the log, or a broken server configuration.' }),
    ...route.errors,
  };
}

function pathParameters({ path }: Route): unknown[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function parametersOf(fields: v.GenericSchema | undefined, place: 'query' | 'header'): unknown[] {
  if (fields === undefined) return [];
  const { properties = {} } = schemaOf(fields);
  return Object.entries(properties).map(([name, schema]) => ({ name, in: place, required: false, schema }));
}

/** The schema of what a client sends or reads: before transformations. What JSON Schema cannot say is left to the checks. */
function schemaOf(schema: v.GenericSchema): { properties?: Record<string, unknown> } & Record<string, unknown> {
  const { $schema: _dialect, ...rest } = toJsonSchema(schema, {
    typeMode: 'input',
    errorMode: 'ignore',
    overrideAction: ({ valibotAction, jsonSchema }) =>
      valibotAction === existsInCalendar ? { ...jsonSchema, format: 'date' } : undefined,
  });
  return rest as never;
}
