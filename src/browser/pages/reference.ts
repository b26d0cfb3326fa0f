import { getDescription, send } from '../api.ts';
import { type Attributes, h, replace } from '../element.ts';
import { count, prettyJson } from '../format.ts';
import { type Page, heading } from '../router.ts';
import { table } from '../table.ts';
import { definitions, field, lateFold, link, onSubmit } from '../ui.ts';

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

const MAX_DEPTH = 6;

/** The fields of a schema; those of objects and lists inside it follow their own. */
function schemaTable(schema: Schema, schemas: Schemas): HTMLElement {
  const rows = fieldsOf(schema, { schemas, prefix: '', depth: 0 });
  if (rows.length === 0) return h('p.quiet', `${typeOf(schema, schemas)}.`);
  return table<Field>({
    caption: 'Fields',
    rows,
    columns: [
      { title: 'Field', isName: true, cell: ({ name }) => h('code', name) },
      { title: 'Type', cell: ({ type }) => type },
      { title: 'Meaning', cell: ({ note }) => note, look: () => 'quiet note' },
    ],
  });
}

interface Field {
  name: string;
  type: string;
  note: string;
}

interface Place {
  schemas: Schemas;
  /** The names of the fields around it. */
  prefix: string;
  depth: number;
}

function fieldsOf(schema: Schema, { schemas, prefix, depth }: Place): Field[] {
  if (depth > MAX_DEPTH) return [];
  const alternatives = [schema, ...(schema.anyOf ?? [])].map((one) => resolve(one, schemas));
  const inner = alternatives.find(({ properties, items }) => properties ?? items);
  if (inner?.items)
    return fieldsOf(inner.items, { schemas, prefix: `${prefix}[]`, depth: depth + 1 });
  return Object.entries(inner?.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isRequired = inner?.required?.includes(name) ?? false;
    const row = { name: path, type: typeOf(field, schemas), note: noteOf(field, isRequired) };
    return [row, ...fieldsOf(field, { schemas, prefix: path, depth: depth + 1 })];
  });
}

/** The name of an object, whose fields follow; any other type in full. */
function typeOf(schema: Schema, schemas: Schemas): string {
  const { type, format, enum: values, const: fixed, anyOf, items } = resolve(schema, schemas);
  if (fixed !== undefined) return JSON.stringify(fixed);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf !== undefined)
    return [...new Set(anyOf.map((one) => typeOf(one, schemas)))].join(' | ');
  if (schema.$ref !== undefined) return nameIn(schema.$ref);
  if (items !== undefined) return `list of ${typeOf(items, schemas)}`;
  const name = Array.isArray(type) ? type.join(' | ') : (type ?? 'anything');
  return format === undefined ? name : `${name} (${format})`;
}

function noteOf(field: Schema, isRequired: boolean): string {
  const { description, default: standard, minimum, maximum, place } = field;
  const notes = [
    typeof place === 'string' ? `in the ${place}` : '',
    isRequired ? 'required' : '',
    minimum !== undefined && maximum !== undefined
      ? `${String(minimum)} to ${String(maximum)}`
      : '',
    standard === undefined ? '' : `default ${JSON.stringify(standard)}`,
    description ?? '',
  ];
  return notes.filter((note) => note !== '').join('; ');
}

/** How many characters of a longer response are shown. */
const MAX_SHOWN = 100_000;

/** A form with a field per parameter; it sends the request and shows the response. */
function tryIt({ method, path, operation }: Endpoint, schemas: Schemas): HTMLElement {
  const { parameters, requestBody } = operation;
  const example = JSON.stringify(requestBody?.content['application/json']?.example, null, 2);
  const body =
    requestBody && h('textarea', { name: ' body', rows: 8, spellcheck: 'false' }, example);
  const place = h('div.response', { 'aria-live': 'polite' });
  const form = h(
    'form.try',
    h('div.pair', ...parameters.map((parameter) => fieldOf(parameter, schemas))),
    body && field('Body', body),
    h('button.primary', { type: 'submit' }, `Send ${method}`),
    place,
  );
  onSubmit(form, async (data) => {
    const { url, headers } = requestOf(data, { path, parameters });
    const startedAt = performance.now();
    try {
      const response = await send(url, { method, headers, ...(body && { body: body.value }) });
      const text = await response.text();
      const took = Math.round(performance.now() - startedAt);
      replace(
        place,
        h('p', h('code', `${method} ${url}`)),
        h(
          response.ok ? 'p.gain' : 'p.loss',
          h('strong', response.status),
          ` ${response.statusText}, ${took} ms, ${count(text.length)} characters`,
        ),
        h('pre', { tabindex: 0 }, shown(text)),
      );
    } catch (error) {
      replace(place, h('p.notice.bad', `No response: ${String(error)}`));
    }
  });
  return form;
}

function fieldOf(
  { name, in: place, required, schema: described }: Parameter,
  schemas: Schemas,
): HTMLElement {
  const schema = resolve(described, schemas);
  const choices = schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : undefined);
  const input =
    choices === undefined
      ? h('input', {
          name,
          required,
          autocomplete: 'off',
          spellcheck: 'false',
          ...inputFor(schema),
        })
      : h(
          'select',
          { name },
          ...['', ...choices].map((value) => h('option', { value: String(value) }, String(value))),
        );
  return field([name, h('span.quiet', ` ${place}`)], input);
}

/** The browser's own input aids: a calendar, a number within its limits. */
function inputFor({ type, format, minimum, maximum }: Schema): Attributes {
  if (type === 'integer') return { type: 'number', min: minimum, max: maximum, step: 1 };
  return { type: format === 'date' ? 'date' : 'text' };
}

function requestOf(
  form: FormData,
  { path, parameters }: { path: string; parameters: readonly Parameter[] },
) {
  const given = (place: Parameter['in']) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name }): [string, string] => [name, String(form.get(name) ?? '')])
      .filter(([, value]) => value !== '');
  const values = new Map(given('path'));
  const filled = path.replace(/\{(\w+)\}/g, (part, name: string) =>
    encodeURIComponent(values.get(name) ?? part),
  );
  const query = new URLSearchParams(given('query'));
  return {
    url: query.size === 0 ? filled : `${filled}?${query}`,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(given('header')) },
  };
}

function shown(text: string): string {
  const pretty = prettyJson(text);
  return pretty.length <= MAX_SHOWN ? pretty : `${pretty.slice(0, MAX_SHOWN)}\n… cut off here`;
}

/** The part of an OpenAPI 3.1 document that this page reads. */
interface Description {
  info: { title: string; version: string; description?: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Schemas };
}

interface Operation {
  summary: string;
  operationId: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

/** A parameter of an operation. */
interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
}

/** A JSON schema, as far as this page reads it. */
interface Schema {
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  $ref?: string;
  minimum?: number;
  maximum?: number;
  [keyword: string]: unknown;
}

type Content = Record<string, { schema: Schema; example?: unknown }>;

/** An operation of the interface with its method and path. */
interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

/** Named schemas. */
type Schemas = Record<string, Schema>;

/** A schema; a reference is replaced by the schema it refers to. */
function resolve(schema: Schema, schemas: Schemas): Schema {
  const { $ref, ...own } = schema;
  return $ref === undefined ? schema : { ...schemas[nameIn($ref)], ...own };
}

/** The name of the schema that a reference refers to. */
function nameIn($ref: string): string {
  return $ref.split('/').at(-1) ?? $ref;
}
