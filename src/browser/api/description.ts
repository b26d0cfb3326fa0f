/** The part of an OpenAPI 3.1 document that this page reads. */
export interface Description {
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
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
}

/** A JSON schema, as far as this page reads it. */
export interface Schema {
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
export interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

/** Named schemas. */
export type Schemas = Record<string, Schema>;

/** A schema; a reference is replaced by the schema it refers to. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  const { $ref, ...own } = schema;
  return $ref === undefined ? schema : { ...schemas[nameIn($ref)], ...own };
}

/** The name of the schema that a reference refers to. */
export function nameIn($ref: string): string {
  return $ref.split('/').at(-1) ?? $ref;
}
