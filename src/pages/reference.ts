import { getDescription } from './api.ts';
import { h, replace } from './element.ts';
import { type Page, heading } from './router.ts';
import { schemaTable } from './schema.ts';
import { tryIt } from './try-it.ts';

/** What of an OpenAPI 3.1 document this page reads. */
export interface Description {
  info: { title: string; version: string; description?: string };
  paths: Record<string, Record<string, Operation>>;
}

export interface Operation {
  summary: string;
  operationId: string;
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}

export interface Schema {
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  $ref?: string;
  [keyword: string]: unknown;
}

type Content = Record<string, { schema: Schema; example?: unknown }>;

/** The interface as its own description tells it, each operation with a form to try it. */
export const showReference: Page = async (host, _params, signal) => {
  const content = h('div', { class: 'stack' });
  replace(host, heading('API'), content);
  const { info, paths } = (await getDescription(signal)) as Description;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  replace(
    content,
    h(
      'p',
      {},
      info.description,
      ' ',
      h('span', { class: 'quiet' }, `Version ${info.version}.`),
      ' Machines read ',
      h('a', { href: '/openapi.json' }, '/openapi.json'),
      '.',
    ),
    h('div', { class: 'operations' }, ...operations.map(section)),
  );
};

function section({ method, path, operation }: { method: string; path: string; operation: Operation }): HTMLElement {
  const body = jsonOf(operation.requestBody?.content);
  const answer = operation.responses['200']?.content;
  return h(
    'details',
    { class: 'operation', id: operation.operationId },
    h(
      'summary',
      {},
      h('span', { class: `method ${method.toLowerCase()}` }, method),
      h('code', {}, path),
      h('span', {}, operation.summary),
    ),
    operation.parameters.length > 0 && h('h3', {}, 'Parameters'),
    operation.parameters.length > 0 && schemaTable(asSchema(operation.parameters)),
    body && h('h3', {}, 'Body'),
    body && schemaTable(body.schema),
    h('h3', {}, 'Answers'),
    h(
      'dl',
      { class: 'answers' },
      ...Object.entries(operation.responses).map(([status, { description }]) =>
        h('div', {}, h('dt', {}, status), h('dd', {}, description)),
      ),
    ),
    ...Object.entries(answer ?? {}).map(([type, { schema, example }]) =>
      h(
        'details',
        {},
        h('summary', {}, `The answer as ${type}`),
        schemaTable(schema),
        example !== undefined && h('pre', {}, typeof example === 'string' ? example : JSON.stringify(example, null, 2)),
      ),
    ),
    h('h3', {}, 'Try it'),
    tryIt({ method, path, operation }),
  );
}

export function jsonOf(content: Content | undefined): { schema: Schema; example?: unknown } | undefined {
  return content?.['application/json'];
}

function asSchema(parameters: readonly Parameter[]): Schema {
  return {
    properties: Object.fromEntries(parameters.map(({ name, in: place, schema }) => [name, { ...schema, place }])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}
