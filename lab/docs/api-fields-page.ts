import { deploymentEntries } from '../../src/core/api/schemas.ts';
import { describeApi } from '../../src/features/openapi/openapi.ts';
import { routes } from '../../src/routes.ts';

/** docs/reference/api-fields.md: operations, parameters and fields, from the description of the interface. */

interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: string[];
  format?: string;
  description?: string;
  anyOf?: Schema[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  default?: unknown;
}

interface Operation {
  description: string;
  parameters?: (Schema & { name: string; in: string; required: boolean; schema: Schema })[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

interface Description {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation & { tags: string[] }>>;
  webhooks: { agentDay: { post: Operation } };
  components: { schemas: Record<string, Schema> };
}

/** Errors of every operation. */
const USUAL = ['400', '401', '403', '405', '422', '500'];

/** In most responses. */
const COMMON = Object.keys(deploymentEntries);

function typeText(schema: Schema): string {
  const { $ref, type, enum: words, anyOf, items, additionalProperties: values, format } = schema;
  if ($ref !== undefined) return linkTo($ref.split('/').at(-1) ?? '');
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeText))].join(' or ');
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(', ');
  if (schema.const === '') return 'empty text';
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (type === 'array') {
    const item = items ? typeText(items) : 'any';
    return `list of ${items?.anyOf ? `(${item})` : item}`;
  }
  if (type === 'object')
    return typeof values === 'object' && Object.keys(values).length > 0
      ? `object of ${typeText(values)}`
      : 'object';
  if (type === 'string') return format === 'date' || format === 'date-time' ? format : 'text';
  return type ?? 'any';
}

function linkTo(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

/** `place`: where a parameter is, unless it is in the query. */
function fieldItem(name: string, schema: Schema, isOptional: boolean, place?: string): string {
  const { default: usual } = schema;
  const optional =
    isOptional && (usual === undefined ? 'optional' : `default \`${JSON.stringify(usual)}\``);
  const facts = [typeText(schema), optional, place && `in the ${place}`].filter(Boolean);
  return `- \`${name}\` (${facts.join(', ')}): ${sentence(schema.description)}`;
}

function schemaSection(name: string, schema: Schema): string {
  const { properties = {}, required = [], description } = schema;
  const own = Object.entries(properties).filter(([field]) => !COMMON.includes(field));
  const items = own.map(([field, value]) => fieldItem(field, value, !required.includes(field)));
  const isShared = own.length < Object.keys(properties).length;
  return [
    `### ${name}`,
    description,
    items.length > 0 ? items.join('\n') : `${capital(typeText(schema))}.`,
    isShared && 'And the fields of most responses.',
  ]
    .filter(Boolean)
    .join('\n\n');
}

const sentence = (text = '') => (/[.?!]$/.test(text) ? text : `${text}.`);

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function operationSection(title: string, operation: Operation): string {
  const { description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const [ok, ...errors] = Object.entries(responses);
  const answer = ok?.[1].content?.['application/json']?.schema;
  const special = errors.filter(([status]) => !USUAL.includes(status));
  return [
    `### ${title}`,
    description,
    parameters
      .map(({ name, in: place, required, schema, description: text }) =>
        fieldItem(
          name,
          { ...schema, ...(text && { description: text }) },
          !required,
          place === 'query' ? undefined : place,
        ),
      )
      .join('\n'),
    [
      body && `Body: ${typeText(body)}.`,
      answer && `Response: ${answer.description?.replace(/\.$/, '') ?? typeText(answer)}.`,
      ...special.map(([status, own]) => `${status}: ${own.description}`),
    ]
      .filter(Boolean)
      .join(' '),
  ]
    .filter(Boolean)
    .join('\n\n');
}

export function apiFieldsPage(): string {
  const { tags, paths, webhooks, components }: Description = JSON.parse(
    JSON.stringify(describeApi(routes)),
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, own]) => ({
      title: `${method.toUpperCase()} ${path}`,
      own,
    })),
  );
  const parts = tags.map(({ name, description }) =>
    [
      `## ${capital(name)}`,
      description,
      ...operations
        .filter(({ own }) => own.tags.includes(name))
        .map(({ title, own }) => operationSection(title, own)),
      ...(name === 'agents'
        ? [operationSection('Request to an agent', webhooks.agentDay.post)]
        : []),
    ].join('\n\n'),
  );
  const common = components.schemas['HealthResponse'];
  return [
    '# Fields of the API',
    'For client programmers: every operation with its parameters, and the meaning of every field.',
    '`GET /openapi.json` has the same for programs. Every operation can also answer 400, 401, 403, 405, 422 or 500 with an ' +
      '[ErrorResponse](#errorresponse), whose `detail` says what is wrong. Money is in the currency of the market; what a model costs is in dollars.',
    `The fields of most responses:\n\n${COMMON.map((name) => fieldItem(name, common?.properties?.[name] ?? {}, false)).join('\n')}`,
    ...parts,
    '## Objects',
    ...Object.entries(components.schemas).map(([name, schema]) => schemaSection(name, schema)),
  ]
    .join('\n\n')
    .concat('\n');
}
