import * as v from 'valibot';
import { asObject } from '../json.ts';
import { HttpError } from './http-error.ts';

/**
 * Problems listed in one response: the client controls how many there are, and no one reads more at
 * once.
 */
const MAX_LISTED_PROBLEMS = 20;
const MAX_SHOWN_NAME = 100;
/** The query or the headers of a route: texts, each checked and read by its schema. */
export type Fields = v.ObjectSchema<v.ObjectEntries, undefined>;

/** Fields of older versions of the interface, with their replacements. */
const RETIRED_FIELDS = new Map([
  ['date_range', 'is no longer accepted; use start_date and end_date'],
  ['config_path', "is no longer accepted; the path of the configuration is the server's own"],
]);

/** Checks a JSON body. Throws a 422 with one sentence per problem, the field first. */
export function validateBody<Schema extends v.GenericSchema>(
  schema: Schema,
  body: unknown,
): v.InferOutput<Schema> {
  if (asObject(body) === undefined) throw new HttpError(422, 'body: expected a JSON object');
  return validate(schema, body);
}

/** The query of a route that takes no parameters. */
const noQuery = v.object({});

/**
 * Checks the parameters of a query string. An empty value counts as absent. Throws for a parameter
 * that is given twice, because it is ambiguous, and for one that the route does not have, because
 * ignoring a misspelt filter would give wrong figures.
 */
export function validateQuery<Schema extends Fields>(
  schema: Schema | undefined,
  query: string,
): v.InferOutput<Schema> {
  if (schema === undefined && query === '') return {} as v.InferOutput<Schema>;
  const given = [...new URLSearchParams(query)].filter(([, value]) => value !== '');
  const names = namesOf(schema ?? noQuery);
  const unknown = given.find(([name]) => !names.includes(name));
  if (unknown !== undefined) throw unknownParameter(unknown[0], names);
  refuseRepeated(names.filter((name) => given.filter((pair) => pair[0] === name).length > 1));
  return validate(schema ?? noQuery, Object.fromEntries(given));
}

function unknownParameter(name: string, known: readonly string[]): HttpError {
  const those = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
  return new HttpError(422, `${shorten(name)}: is not a query parameter of this path; ${those}`);
}

/** Checks the headers that a route uses. A known one given twice is refused. */
export function validateHeaders<Schema extends Fields>(
  schema: Schema,
  headers: NodeJS.Dict<string[]>,
): v.InferOutput<Schema> {
  const given = namesOf(schema).map((name) => [name, headers[name.toLowerCase()]] as const);
  const repeated = given.filter(([, values]) => values !== undefined && values.length > 1);
  refuseRepeated(repeated.map(([name]) => name));
  return validate(
    schema,
    Object.fromEntries(given.flatMap(([name, values]) => (values ? [[name, values[0]]] : []))),
  );
}

function namesOf({ entries }: Fields): string[] {
  return Object.keys(entries);
}

function refuseRepeated(names: readonly string[]): void {
  if (names.length > 0)
    throw new HttpError(422, names.map((name) => `${name}: given more than once`).join('; '));
}

function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  const sentences = result.issues.slice(0, MAX_LISTED_PROBLEMS).map(describeIssue);
  const more = result.issues.length - sentences.length;
  throw new HttpError(422, [...sentences, ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const field = pathOf(issue);
  const isAbsent = issue.type === 'object' && issue.path !== undefined; // a parameter that a query must have
  if (issue.type !== 'strict_object' && !isAbsent) return `${field}: ${issue.message}`;
  if (issue.expected === 'never')
    return `${field}: ${RETIRED_FIELDS.get(field) ?? 'is not a field of this request'}`;
  return `${field}: ${field} is required and cannot be null or empty`;
}

/** `models[2]`; shortened, because the client controls the names of unknown fields. */
function pathOf(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map(({ key }) =>
    typeof key === 'number' ? `[${key}]` : String(key),
  ) ?? ['body'];
  return shorten(keys.join(''));
}

function shorten(name: string): string {
  return name.slice(0, MAX_SHOWN_NAME);
}
