/** What of an OpenAPI 3.1 document this page reads. */
export interface Description {
  info: { title: string; version: string; description?: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Schemas };
}

export interface Operation {
  summary: string;
  operationId: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
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

/** An operation of the interface and how it is reached. */
export interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

/** The schemas that have a name, by it. */
export type Schemas = Record<string, Schema>;

/** A schema with what it refers to in place of the reference. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  const { $ref, ...own } = schema;
  return $ref === undefined ? schema : { ...schemas[nameIn($ref)], ...own };
}

export function nameIn($ref: string): string {
  return $ref.split('/').at(-1) ?? $ref;
}

export function jsonOf(content: Content | undefined): { schema: Schema; example?: unknown } | undefined {
  return content?.['application/json'];
}
