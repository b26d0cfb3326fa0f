import { getDescription } from '../service/requests.ts';
import { h, replace } from '../parts/element.ts';
import { type Page, heading } from '../parts/page.ts';
import { type Description, type Endpoint, type Parameter, type Schema, type Schemas, jsonOf, resolve } from './description.ts';
import { schemaTable } from './schema.ts';
import { tryIt } from './try-it.ts';

/** The interface as its own description tells it, each operation with a form to try it. */
export const showReference: Page = async (host, _params, signal) => {
  const content = h('div', { class: 'stack' });
  replace(host, heading('API'), content);
  const { info, tags, paths, components } = (await getDescription(signal)) as Description;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = tags.map(({ name, description }) => ({
    description,
    members: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
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
    ...groups.map(({ description, members }) =>
      h(
        'div',
        { class: 'operations' },
        h('h2', {}, description),
        ...members.map((member) => section(member, components.schemas)),
      ),
    ),
  );
};

function section({ method, path, operation }: Endpoint, schemas: Schemas): HTMLElement {
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
    operation.parameters.length > 0 && schemaTable(asSchema(operation.parameters, schemas), schemas),
    body && h('h3', {}, 'Body'),
    body && schemaTable(body.schema, schemas),
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
        schemaTable(schema, schemas),
        example !== undefined && h('pre', {}, typeof example === 'string' ? example : JSON.stringify(example, null, 2)),
      ),
    ),
    h('h3', {}, 'Try it'),
    tryIt({ method, path, operation }, schemas),
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
