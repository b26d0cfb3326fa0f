import assert from 'node:assert/strict';
import * as v from 'valibot';
import type { TestService } from './service.ts';

/**
 * The body that the service returns for a path, with status 200: it has every field of the schema,
 * and no other.
 */
export async function validBody<Schema extends v.GenericSchema>(
  service: Pick<TestService, 'get'>,
  path: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const { status, body } = await service.get(path);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(v.parse(schema, body), body, 'no field more than the schema has');
  return body;
}
