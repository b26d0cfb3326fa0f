import * as v from 'valibot';
import { ServiceError } from '../domain.ts';

/** Fields of older versions of the interface, with what replaced them. */
const RETIRED_FIELDS = new Map([
  ['date_range', 'is no longer accepted; use start_date and end_date'],
  ['config_path', "is no longer accepted; the path of the configuration is the server's own"],
]);

/** Checks a JSON body. Throws a `ServiceError` (`unprocessable`) with one sentence per problem, the field first. */
export function validateBody<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ServiceError('unprocessable', 'body: expected a JSON object');
  return validate(schema, body);
}

/**
 * Checks the parameters of a query string. An empty value counts as an absent one and unknown parameters are ignored;
 * a known one that is given twice is refused, for nobody could say which is meant.
 */
export function validateQuery<Schema extends v.GenericSchema>(schema: Schema, query: string): v.InferOutput<Schema> {
  const given = new URLSearchParams(query);
  const names = Object.keys((schema as unknown as v.ObjectSchema<v.ObjectEntries, undefined>).entries);
  const repeated = names.filter((name) => given.getAll(name).length > 1);
  if (repeated.length > 0)
    throw new ServiceError('unprocessable', repeated.map((name) => `${name}: given more than once`).join('; '));
  const values = names.flatMap((name) => (given.get(name) ? [[name, given.get(name)]] : []));
  return validate(schema, Object.fromEntries(values));
}

function validate<Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  throw new ServiceError('unprocessable', result.issues.map(describeIssue).join('; '));
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const field = pathOf(issue);
  if (issue.type !== 'strict_object') return `${field}: ${issue.message}`;
  if (issue.expected === 'never') return `${field}: ${RETIRED_FIELDS.get(field) ?? 'is not a field of this request'}`;
  return `${field}: ${field} is required and cannot be null or empty`;
}

/** `models[2]`; bounded, because a client chooses the names of unknown fields. */
function pathOf(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map(({ key }) => (typeof key === 'number' ? `[${key}]` : String(key))) ?? ['body'];
  return keys.join('').slice(0, 100);
}
