import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as v from 'valibot';
import { describeApi, errorsOf } from '../../src/http/openapi.ts';
import { openapi } from '../../src/http/openapi-handler.ts';
import { routes } from '../../src/http/routes.ts';

let document: any;
before(async () => void (document = JSON.parse(await openapi())));

test('the description that is served is the one that the schemas make', () => {
  assert.deepEqual(document, JSON.parse(JSON.stringify(describeApi(routes))));
  assert.deepEqual([document.openapi, document.info.version], ['3.1.0', '1.0.0']);
});

for (const route of routes) {
  const operationOf = () => document.paths[route.path][route.method.toLowerCase()];

  test(`${route.method} ${route.path}: every error status, and an example that fits its schema`, () => {
    const operation = operationOf();
    assert.deepEqual(Object.keys(operation.responses), ['200', ...Object.keys(errorsOf(route))]);
    assert.ok(route.example);
    if (route.response) v.parse(route.response, route.example.response);
    if (route.body) v.parse(route.body, route.example.request);
  });

  test(`${route.method} ${route.path}: parameters and fields are those that are checked`, () => {
    const operation = operationOf();
    const names = operation.parameters.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, [
      ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      ...Object.keys((route.query as any)?.entries ?? {}),
      ...Object.keys((route.headers as any)?.entries ?? {}),
    ]);
    const body = operation.requestBody?.content['application/json'].schema;
    assert.deepEqual(Object.keys(body?.properties ?? {}), Object.keys((route.body as any)?.entries ?? {}));
  });
}

test('of the trigger only end_date is required, and dates are dates', () => {
  const { required, additionalProperties, properties } =
    document.paths['/simulate/trigger'].post.requestBody.content['application/json'].schema;
  assert.deepEqual([required, additionalProperties], [['end_date'], false]);
  assert.deepEqual(properties.end_date, { type: 'string', minLength: 1, format: 'date' });
});
