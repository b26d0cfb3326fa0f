import { describeApi } from '../../src/features/openapi/openapi.ts';
import { routes } from '../../src/routes.ts';

/** An independent reading of JSON Schema, as far as the interface description uses it. */

export type Json = Record<string, any>;

/** The interface description as clients read it. */
export const document: any = JSON.parse(JSON.stringify(describeApi(routes)));

export const description: Json = resolved(document);

/** The document with every `$ref` replaced by what it refers to; none refers to itself. */
function resolved(document: Json): Json {
  const follow = (value: any): any => {
    if (Array.isArray(value)) return value.map(follow);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value;
    const entries = Object.entries(rest).map(([key, inner]) => [key, follow(inner)]);
    return {
      ...(typeof $ref === 'string' ? follow(at(document, $ref)) : {}),
      ...Object.fromEntries(entries),
    };
  };
  return follow(document);
}

function at(document: Json, reference: string): Json {
  const found = reference
    .split('/')
    .slice(1)
    .reduce<any>((value, key) => value?.[key], document);
  if (found === undefined) throw new Error(`The description has no ${reference}`);
  return found;
}

const KNOWN = new Set(
  (
    'type format description const enum anyOf properties required additionalProperties propertyNames items minLength ' +
    'maxLength maxItems pattern minimum maximum exclusiveMinimum default'
  ).split(' '),
);

/**
 * Whether a value fits a schema. Throws for a keyword that it does not know, so that none is
 * overlooked.
 */
export function fits(schema: Json, value: unknown): boolean {
  const unknown = Object.keys(schema).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0) throw new Error(`This test does not know ${unknown.join(', ')}`);
  if (schema['anyOf'] !== undefined && !schema['anyOf'].some((one: Json) => fits(one, value)))
    return false;
  if (schema['const'] !== undefined && schema['const'] !== value) return false;
  if (schema['enum'] !== undefined && !schema['enum'].includes(value)) return false;
  if (schema['type'] !== undefined && !isOfType(schema['type'], value)) return false;
  if (typeof value === 'string') return fitsText(schema, value);
  if (typeof value === 'number')
    return (
      value >= (schema['minimum'] ?? -Infinity) &&
      value <= (schema['maximum'] ?? Infinity) &&
      value > (schema['exclusiveMinimum'] ?? -Infinity)
    );
  if (Array.isArray(value))
    return (
      value.length <= (schema['maxItems'] ?? Infinity) &&
      value.every((item) => fits(schema['items'] ?? {}, item))
    );
  return typeof value === 'object' && value !== null ? fitsObject(schema, value as Json) : true;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object')
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** JSON Schema counts characters, and its patterns know them. */
function fitsText(
  { minLength = 0, maxLength = Infinity, pattern, format }: Json,
  text: string,
): boolean {
  const length = [...text].length;
  if (length < minLength || length > maxLength) return false;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) return false;
  // A format says what a text means; the pattern of an optional parameter allows none.
  return format !== 'date' || text === '' || (/^\d{4}-\d\d-\d\d$/.test(text) && dayExists(text));
}

function dayExists(text: string): boolean {
  const instant = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
}

function fitsObject(
  { properties = {}, required = [], additionalProperties = {} }: Json,
  value: Json,
): boolean {
  if (required.some((name: string) => !Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, inner]) => {
    if (Object.hasOwn(properties, name)) return fits(properties[name], inner);
    return additionalProperties !== false && fits(additionalProperties, inner);
  });
}
