import assert from 'node:assert/strict';
import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema';
import * as v from 'valibot';

/** Turns the schemas of requests and responses into JSON Schema, for the interface description. */

type Names = Record<string, v.GenericSchema>;

/**
 * Bodies are described as the input of a schema, query strings as its output, after the text was
 * parsed.
 */
export type Side = 'input' | 'output';

/** The titled schemas among and inside these, by title. Throws when two have the same title. */
export function namedSchemas(schemas: readonly v.GenericSchema[]): Names {
  const names: Names = {};
  const look = (schema: v.GenericSchema) => {
    const name = v.getTitle(schema);
    if (name !== undefined && names[name] === schema) return;
    if (name !== undefined && names[name] !== undefined)
      throw new Error(`Two schemas have the name ${name}`);
    if (name !== undefined) names[name] = schema;
    for (const part of partsOf(schema)) look(part);
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

function partsOf(schema: v.GenericSchema): v.GenericSchema[] {
  const { entries = {}, options = [], item, wrapped, value } = schema as Parts;
  const parts = [...Object.values(entries), ...options, item, wrapped, value];
  return parts.filter((part): part is v.GenericSchema => typeof part === 'object' && part !== null);
}

/** The named schemas themselves, as `components.schemas` has them. */
export function describeNamed(names: Names): Record<string, JsonSchema> {
  const described = Object.entries(toJsonSchemaDefs(names, configFor('input')));
  return Object.fromEntries(
    described.map(([name, { title: _title, ...schema }]) => [name, schema]),
  );
}

/** A schema that refers to the titled ones by title. */
export function describeSchema(
  schema: v.GenericSchema,
  { names, side }: { names: Names; side: Side },
): JsonSchema {
  const config = { ...configFor(side), definitions: names };
  const { $schema: _dialect, $defs: _named, ...described } = toJsonSchema(schema, config);
  return described;
}

/**
 * What a parameter's schema says of an empty text: it counts as absent (validate.ts), so one that
 * is required may not be empty.
 */
export function describeEmpty(
  { type, pattern, enum: words }: JsonSchema,
  required: boolean,
): JsonSchema {
  if (type !== 'string' || words !== undefined) return {};
  if (required) return { minLength: 1 };
  return pattern === undefined ? {} : { pattern: `^$|${pattern}` };
}

/** What JSON Schema cannot express is left out. */
function configFor(typeMode: Side): ConversionConfig {
  return {
    typeMode,
    target: 'draft-2020-12',
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema, jsonSchema }) => simplified(valibotSchema, jsonSchema),
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  };
}

/**
 * Avoids valid schemas that some generators do not understand: constants without a type, nested
 * alternatives.
 */
function simplified({ type }: { type: string }, schema: JsonSchema): JsonSchema | undefined {
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
