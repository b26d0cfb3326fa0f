import { type Json, asArray, asObject } from '../../json.ts';

/** What a schema may say where a provider holds the model to it strictly (OpenAI, "Structured outputs: supported schemas"). */
const KEYWORDS = new Set([
  ...['type', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'anyOf', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems'],
]);

/** Whether a tool's schema can be asked for strictly: every property is required, others are excluded, and no keyword is unknown. */
export function allowsStrict(schema: Json): boolean {
  if (!Object.keys(schema).every((keyword) => KEYWORDS.has(keyword))) return false;
  const { type, properties, required, additionalProperties, items, anyOf } = schema;
  const inner = [...Object.values(asObject(properties) ?? {}), ...(asArray(anyOf) ?? []), ...(items === undefined ? [] : [items])];
  if (!inner.every((part) => allowsStrict(asObject(part) ?? { unknown: true }))) return false;
  if (type !== 'object') return true;
  const names = asArray(required) ?? [];
  return additionalProperties === false && Object.keys(asObject(properties) ?? {}).every((name) => names.includes(name));
}
