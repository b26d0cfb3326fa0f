import { getDescription } from '../api.ts';
import { h, replace } from '../element.ts';
import { type Page, heading } from '../router.ts';
import { definitions, lateFold, link } from '../ui.ts';
import {
  type Description,
  type Endpoint,
  type Parameter,
  type Schema,
  type Schemas,
  resolve,
} from './description.ts';
import { schemaTable } from './schema.ts';
import { tryIt } from './try-it.ts';

/** The interface from its own description, each operation with a form to try it. */
export const showReference: Page = async (host, _params, signal) => {
  const content = h('div.stack');
  replace(host, heading('API'), content);
  const { info, tags, paths, components } = (await getDescription(signal)) as Description;
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const groups = tags.map(({ name, description }) => {
    const own = endpoints.filter(({ operation }) => operation.tags.includes(name));
    const views = own.map((endpoint) => operationView(endpoint, components.schemas));
    return h('div.operations', h('h2', description), ...views);
  });
  const version = h('span.quiet', `Version ${info.version}.`);
  const file = link('/openapi.json', '/openapi.json');
  replace(content, h('p', info.description, ' ', version, ' For programs: ', file, '.'), ...groups);
};

function operationView(endpoint: Endpoint, schemas: Schemas): HTMLElement {
  const { method, path, operation } = endpoint;
  const { operationId: id, summary, parameters, requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const title = [
    h(`span.method.${method.toLowerCase()}`, method),
    h('code', path),
    h('span', summary),
  ];
  const success = Object.entries(responses['200']?.content ?? {}).map(
    ([type, { schema, example }]) => {
      const shown = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
      const content = () => [
        schemaTable(schema, schemas),
        example !== undefined && h('pre', { tabindex: 0 }, shown),
      ];
      return lateFold(`Response as ${type}`, content);
    },
  );
  return h(
    'details.operation',
    { id },
    h('summary', ...title),
    parameters.length > 0 && h('h3', 'Parameters'),
    parameters.length > 0 && schemaTable(asSchema(parameters, schemas), schemas),
    body && h('h3', 'Body'),
    body && schemaTable(body.schema, schemas),
    h('h3', 'Responses'),
    definitions(
      'responses',
      Object.entries(responses).map(([status, { description }]) => [status, description]),
    ),
    ...success,
    h('h3', 'Try it'),
    tryIt(endpoint, schemas),
  );
}

function asSchema(parameters: readonly Parameter[], schemas: Schemas): Schema {
  const described = parameters.map(({ name, in: place, description, schema }) => [
    name,
    { ...resolve(schema, schemas), place, ...(description !== undefined && { description }) },
  ]);
  return {
    properties: Object.fromEntries(described),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}
