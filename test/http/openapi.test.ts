import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { isCalendarDate } from '../../src/core/time/calendar.ts';
import { signatureSchema } from '../../src/core/settings/configuration-schema.ts';
import { readSettings } from '../../src/core/settings/settings.ts';
import { fieldTexts } from '../../src/features/openapi/fields.ts';
import { routeErrors } from '../../src/features/openapi/openapi.ts';
import { operationTexts, parameterTexts, tagTexts } from '../../src/features/openapi/operations.ts';
import { resultColumns } from '../../src/core/database/records/position-records.ts';
import { openResponder } from '../../src/features/publish/respond.ts';
import type { Route } from '../../src/core/api/route.ts';
import { routes } from '../../src/routes.ts';
import { validateBody, validateHeaders, validateQuery } from '../../src/core/http/request.ts';
import { readDecision } from '../../src/core/trading/decision.ts';
import { description, document, fits, type Json } from '../support/json-schema.ts';
import { runs } from '../support/long.ts';
import { type Operation, operations, perhapsFitting } from '../support/requests.ts';

const RUNS = runs(100, 20_000);

/** What the job of docs/guides/verify.md is asked, by path. */
const day = { model: 'simulated-1', date: '2026-10-06' };
const span = { model: day.model, start_date: day.date, end_date: day.date };
const asked: Record<string, Record<string, string>> = {
  '/simulate/status/{job_id}': {},
  '/jobs': {},
  '/results': day,
  '/reasoning': { ...day, include_full_conversation: 'true' },
  '/performance': { details: 'true' },
  '/comparison': { curves: 'true' },
  '/holdings': span,
  '/decisions': { model: day.model },
  '/search': { q: 'momentum' },
  '/models': {},
  '/prices/coverage': {},
  '/documents/coverage': {},
};
const name = 'docs/demo-package.db';
const file = openResponder(name, {
  name,
  settings: readSettings({}),
  routes,
});
after(() => file.close());
const [job] = JSON.parse(file.respond('/jobs')).jobs;
const pathOf = ({ path }: Route) => path.replace('{job_id}', job.job_id);

test('the description names its version, licence and servers', () => {
  assert.deepEqual([document.openapi, document.info.version], ['3.1.0', '1.0.0']);
  assert.deepEqual(document.info.license, { name: 'MIT', identifier: 'MIT' });
  const urls = document.servers.map(({ url }: Json) => url);
  assert.deepEqual(urls, ['/', 'http://localhost:8080']);
  assert.deepEqual(document.security, [{}, { accessToken: [] }]);
});

for (const route of routes) {
  const operationOf = () => document.paths[route.path][route.method.toLowerCase()];
  const resolved = description['paths'][route.path][route.method.toLowerCase()];

  test(`${route.method} ${route.path}: every error status; a true response, and an example if any, fit the schema`, () => {
    const { responses, requestBody } = operationOf();
    const taken = route.isRpc ? ['200', '202'] : ['200'];
    assert.deepEqual(Object.keys(responses), [...taken, ...Object.keys(routeErrors(route))]);
    const { example } = responses[200].content['application/json'];
    const query = asked[route.path];
    for (const response of [example, query && JSON.parse(file.respond(pathOf(route), query))]) {
      if (response === undefined) continue;
      v.parse(route.response, response);
      assert.ok(fits(resolved.responses[200].content['application/json'].schema, response));
    }
    if (example && route.body) v.parse(route.body, requestBody.content['application/json'].example);
    assert.equal('text/csv' in responses[200].content, route.hasTable ?? false);
  });

  test(`${route.method} ${route.path}: parameters and fields are those that are checked`, () => {
    const operation = operationOf();
    const names = operation.parameters.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, [
      ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      ...Object.keys(route.query?.entries ?? {}),
      ...Object.keys(route.headers?.entries ?? {}),
    ]);
    const body = resolved.requestBody?.content['application/json'].schema;
    assert.deepEqual(Object.keys(body?.properties ?? {}), Object.keys(route.body?.entries ?? {}));
  });
}

/** Every schema of the document with the path that leads to it, those inside others too. */
function schemasIn(value: any, path: string): [path: string, schema: Json][] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value)
    .filter(([key]) => key !== 'example')
    .flatMap(([key, inner]) => schemasIn(inner, `${path}/${key}`));
  return 'type' in value && typeof value.type === 'string' ? [[path, value], ...inside] : inside;
}

test('eleven routes have an example, of which one has a table with its columns, whole lines and their end', () => {
  const contentOf = ({ path, method }: Route) =>
    document.paths[path][method.toLowerCase()].responses[200].content;
  const withExample = routes.filter((route) => 'example' in contentOf(route)['application/json']);
  assert.deepEqual(
    withExample.map(({ path }) => path),
    [
      ...['/simulate/trigger', '/simulate/status/{job_id}', '/jobs', '/results', '/reasoning'],
      ...['/decisions', '/search', '/holdings', '/comparison', '/models', '/health'],
    ],
  );
  const tables = routes.flatMap((route) => contentOf(route)['text/csv']?.example ?? []);
  assert.equal(tables.length, 1);
  const lines = tables[0].split('\r\n');
  const [header, ...records] = lines.slice(0, -1).map((line: string) => line.split(','));
  assert.deepEqual(header, resultColumns);
  assert.ok(records.length > 0 && lines.at(-1) === '');
  for (const record of records) assert.equal(record.length, resultColumns.length);
});

test('every property, operation, parameter and tag has a description, and no text of the lists is unused', () => {
  const used = new Set<string>();
  const fields = new Map(fieldTexts);
  const schemas = Object.entries<Json>(document.components.schemas);
  const properties = schemas.flatMap(([title, schema]) =>
    Object.entries<Json>(schema['properties'] ?? {}).map(([name, own]) => {
      const key = fields.has(`${title}.${name}`) ? `${title}.${name}` : name;
      if (own['description'] === fields.get(key)) used.add(key);
      return [`${title}.${name}`, own['description']] as const;
    }),
  );
  const all = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, own]) => ({
      name: `${method.toUpperCase()} ${path}`,
      own,
    })),
  );
  all.push({ name: 'POST /agentDay', own: document.webhooks.agentDay.post });
  const parameters = all.flatMap(({ own }) => (own['parameters'] ?? []) as Json[]);
  for (const { name, description: text } of parameters as { name: string; description: string }[])
    if (parameterTexts[name] === text) used.add(`parameter ${name}`);
  const described = [
    ...properties,
    ...all.map(({ name, own }) => [name, own['description']] as const),
    ...all.map(({ name, own }) => [`summary of ${name}`, own['summary']] as const),
    ...parameters.map(({ name, description: text }) => [`parameter ${name}`, text] as const),
    ...document.tags.map(({ name, description: text }: Json) => [`tag ${name}`, text]),
  ];
  assert.ok(properties.length > 700 && parameters.length > 70);
  const silent = described.filter(([, text]) => typeof text !== 'string' || text.trim().length < 4);
  assert.deepEqual(silent, []);
  assert.equal(fields.size, fieldTexts.length);
  const names = [
    ...fields.keys(),
    ...Object.keys(parameterTexts).map((name) => `parameter ${name}`),
  ];
  assert.deepEqual(
    names.filter((name) => !used.has(name)),
    [],
  );
  assert.deepEqual(all.map(({ name }) => name).sort(), Object.keys(operationTexts).sort());
  assert.deepEqual(
    document.tags.map(({ name }: Json) => name),
    Object.keys(tagTexts),
  );
});

test('what a client reads names no file of this repository', () => {
  const { paths, ...rest } = structuredClone(document);
  for (const methods of Object.values<Json>(paths))
    for (const own of Object.values<Json>(methods)) own['responses'] = null; // examples are data
  assert.doesNotMatch(JSON.stringify([paths, rest]), /\b(docs|src|test)\/[a-z]|\.(md|ts)\b/);
});

test('every object has a name, every name is used, every operation has an id and a tag that is described', () => {
  const isNamed = (path: string) => /^#\/components\/schemas\/\w+$/.test(path);
  for (const [path, { type }] of schemasIn(document, '#'))
    assert.ok(type !== 'object' || isNamed(path), path);
  const text = JSON.stringify(document);
  for (const name of Object.keys(document.components.schemas))
    assert.ok(text.includes(`schemas/${name}"`), name);
  const all = Object.values<Json>(document.paths).flatMap((methods) =>
    Object.values<Json>(methods),
  );
  assert.equal(new Set(all.map(({ operationId }) => operationId)).size, all.length);
  const tags = document.tags.map(({ name }: Json) => name);
  const used = new Set(all.flatMap((operation) => operation['tags']));
  assert.deepEqual([...used].sort(), [...tags].sort());
});

test('the trigger requires only end_date; parameters of a query are described as the values that their text represents', () => {
  const { required, additionalProperties, properties } = document.components.schemas.TriggerRequest;
  assert.deepEqual([required, additionalProperties], [['end_date'], false]);
  assert.deepEqual([properties.end_date.type, properties.end_date.format], ['string', 'date']);
  const parameter = (path: string, name: string) =>
    document.paths[path].get.parameters.find((one: Json) => one['name'] === name).schema;
  const limit = { type: 'integer', minimum: 1, maximum: 200, default: 50 };
  assert.deepEqual(parameter('/jobs', 'limit'), limit);
  const flag = { type: 'boolean', default: false };
  assert.deepEqual(parameter('/reasoning', 'include_full_conversation'), flag);
  assert.equal(parameter('/reasoning', 'date').format, 'date');
  assert.equal(parameter('/performance', 'start_date').format, 'date');
  assert.ok(parameter('/performance', 'benchmark').pattern);
  assert.ok(parameter('/prices/coverage', 'symbol').pattern);
});

test('the pattern of a signature knows the same characters as the service', () => {
  const { anyOf } = document.components.schemas.TriggerRequest.properties.models;
  const pattern = new RegExp(anyOf[0].items.pattern);
  const differing = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (character) =>
      character.isWellFormed() &&
      [character, `a${character}b`].some(
        (text) => pattern.test(text) !== v.safeParse(signatureSchema, text).success,
      ),
  );
  assert.deepEqual(differing, []);
});

/** Whether a check accepts something. */
function accepts(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/** The value that a text of a query or header represents; a text that represents none is itself. */
function typed({ type }: Json, text: string): unknown {
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  if (type === 'number' && /^\d*\.?\d+$/.test(text)) return Number(text);
  return type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

/**
 * Words for true and false that clients of older versions send; the description has only the plain
 * ones.
 */
const OTHER_BOOLEANS = /^(true|false|yes|no|on|off|[tfyn01])$/i;

const asText = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();

/** Texts by name, as a query or headers have them, some of which fit. */
function textsFor(
  parameters: Operation['parameters'],
): fc.Arbitrary<Record<string, string | undefined>> {
  const text = (schema: Json) =>
    fc.oneof(
      { weight: 9, arbitrary: perhapsFitting(schema).map(asText) },
      { weight: 1, arbitrary: fc.constant('') },
    );
  const values = parameters.map(({ name, schema }) => [name, text(schema)] as const);
  return fc.record(Object.fromEntries(values), { requiredKeys: [] });
}

function isAllowed(
  parameters: Operation['parameters'],
  texts: Record<string, string | undefined>,
): boolean {
  return parameters.every(({ name, schema, required, allowEmptyValue }) => {
    const text = texts[name];
    if (text === undefined) return !required;
    return (text === '' && allowEmptyValue === true) || fits(schema, typed(schema, text));
  });
}

for (const { method, path, parameters, body } of operations) {
  const route = routes.find((one) => one.method === method && one.path === path);
  assert.ok(route);
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const inHeaders = parameters.filter((parameter) => parameter.in === 'header');

  if (inQuery.length > 0)
    test(`${method} ${path}: a query is accepted if and only if the description allows it`, () => {
      const property = fc.property(textsFor(inQuery), (texts) => {
        const isOther = ({ name, schema }: Operation['parameters'][number]) =>
          schema['type'] === 'boolean' && OTHER_BOOLEANS.test(texts[name] ?? '');
        fc.pre(isAllowed(inQuery, texts) || !inQuery.some(isOther));
        // That endpoint checks its date itself, because an invalid one is a 400 there.
        const isDate = path !== '/reasoning' || !texts['date'] || isCalendarDate(texts['date']);
        const search = String(new URLSearchParams(texts as Record<string, string>));
        const isAccepted = accepts(() => validateQuery(route.query, search)) && isDate;
        assert.equal(isAccepted, isAllowed(inQuery, texts));
      });
      fc.assert(property, { numRuns: RUNS });
    });

  for (const { name, required, allowEmptyValue, schema } of inQuery)
    test(`${method} ${path}: ${name} ${required ? 'is required and may not' : 'is optional and may'} be empty, and is described so`, () => {
      // A value that all other parameters fit, so that only this one decides.
      const others = inQuery
        .filter((other) => other.required && other.name !== name)
        .map((other) => `${other.name}=a`);
      const accepted = (...pairs: string[]) =>
        accepts(() => validateQuery(route.query, [...others, ...pairs].join('&')));
      assert.deepEqual([accepted(`${name}=`), accepted()], [!required, !required]);
      assert.equal(allowEmptyValue ?? false, !required);
      if (schema['type'] === 'string' && schema['enum'] === undefined)
        assert.equal(fits(schema, ''), !required);
      if (required) assert.equal(schema['minLength'], 1);
    });

  if (inHeaders.length > 0)
    test(`${method} ${path}: headers are accepted if and only if the description allows them`, () => {
      const property = fc.property(textsFor(inHeaders), (texts) => {
        const given = Object.entries(texts).map(
          ([name, text = '']) => [name.toLowerCase(), [text.trim()]] as [string, string[]],
        );
        const allowed = inHeaders.every(
          ({ name, schema }) => !(name in texts) || fits(schema, texts[name]?.trim()),
        );
        const check = () => validateHeaders(route.headers as never, Object.fromEntries(given));
        assert.equal(accepts(check), allowed);
      });
      fc.assert(property, { numRuns: RUNS });
    });

  if (body !== undefined)
    test(`${method} ${path}: a body is accepted if and only if the description allows it`, () => {
      const fields = Object.fromEntries(
        Object.entries<Json>(body['properties'] ?? {}).map(([name, schema]) => [
          name,
          perhapsFitting(schema),
        ]),
      );
      const bodies = fc.oneof(
        { weight: 6, arbitrary: fc.record(fields, { requiredKeys: [] }) },
        { weight: 1, arbitrary: fc.record({ ...fields, other: fc.jsonValue() }) },
        { weight: 1, arbitrary: fc.jsonValue() },
      );
      const property = fc.property(bodies, (value) => {
        // As it goes over the wire, where no text contains half a character.
        const whole = (_: string, inner: unknown) =>
          typeof inner === 'string' ? inner.toWellFormed() : inner;
        const sent = JSON.parse(JSON.stringify(value, whole));
        const found = accepts(() => validateBody(route.body as never, sent));
        assert.equal(found, fits(body, sent));
      });
      fc.assert(property, { numRuns: RUNS });
    });
}

/** What no schema says of a decision: which fields go together, a sum, the size of digits in a text. */
const BEYOND_SCHEMAS =
  /exactly one of orders and weights|must add up to at most 1|amount must be a whole number .* got \d+\.$/;

test('an answer of an agent is read if and only if the description allows it', () => {
  const [decision, done] =
    description['webhooks'].agentDay.post.responses[200].content['application/json'].schema.anyOf;
  const bodies = [decision, done].map(({ properties: { usage: _usage, ...properties } }) => {
    const fields = Object.entries<Json>(properties).map(([name, schema]) => [
      name,
      perhapsFitting(schema),
    ]);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  });
  const orders = fc.array(perhapsFitting(decision.properties.orders.anyOf[0].items));
  const withOrders = fc.record({ orders, reason: fc.constant('') });
  let read = 0;
  const property = fc.property(fc.oneof(...bodies, withOrders, fc.jsonValue()), (value) => {
    const sent = JSON.stringify(value);
    const { problem } = readDecision(sent, 'agent');
    read += problem === undefined ? 1 : 0;
    const isAllowed = [decision, done].some((schema) => fits(schema, JSON.parse(sent)));
    if (isAllowed && problem !== undefined) assert.match(problem, BEYOND_SCHEMAS);
    else assert.equal(problem === undefined, isAllowed, `${sent} ${problem}`);
  });
  fc.assert(property, { numRuns: RUNS });
  assert.ok(read > 0);
});

const order = { side: 'buy', symbol: 'AAPL', amount: 1 };
/** The other side of each bound. */
const beyondBounds: [name: string, inside: Json, outside: Json][] = [
  ['orders', { orders: Array(1_000).fill(order) }, { orders: Array(1_001).fill(order) }],
  ['side', { orders: [order] }, { orders: [{ ...order, side: 'hold' }] }],
  ['symbol', { orders: [{ ...order, symbol: ' brk-b' }] }, { orders: [{ ...order, symbol: '' }] }],
  ['amount', { orders: [order] }, { orders: [{ ...order, amount: 0 }] }],
  ['part', { orders: [{ ...order, amount: '2' }] }, { orders: [{ ...order, amount: 0.5 }] }],
  ['weight', { weights: { A: 1.000001 } }, { weights: { A: 1.1 } }],
  ['below', { weights: { A: -1e-10, B: 1 } }, { weights: { A: -0.1 } }],
  ['kind', { weights: {} }, { weights: ['A'] }],
  ['reason', { reason: '\u{1f600}'.repeat(20_000) }, { reason: 'x'.repeat(20_001) }],
  ['confidence', { confidence: 1 }, { confidence: 1.01 }],
];
test('the description of a decision has the bounds that are checked', () => {
  const schema = description['components'].schemas.TradingDecision;
  for (const [name, inside, outside] of beyondBounds)
    for (const [change, isFitting] of [[inside, true] as const, [outside, false] as const]) {
      const orders = 'weights' in change ? {} : { orders: [] };
      const answer = { reason: '', ...orders, ...change };
      const { problem } = readDecision(JSON.stringify(answer), 'agent');
      assert.deepEqual(
        [fits(schema, answer), problem === undefined],
        [isFitting, isFitting],
        `${name}: ${problem}`,
      );
    }
});

const limits: [name: string, body: Json][] = [
  ['200 characters', { models: ['x'.repeat(200)] }],
  ['201 characters', { models: ['x'.repeat(201)] }],
  ['200 emoji', { models: ['\u{1f600}'.repeat(200)] }],
  ['201 emoji', { models: ['\u{1f600}'.repeat(201)] }],
  ['200 models', { models: Array.from({ length: 200 }, (_, index) => `m${index}`) }],
  ['201 models', { models: Array.from({ length: 201 }, (_, index) => `m${index}`) }],
  ['an empty start', { start_date: '' }],
  ['an empty end', { end_date: '' }],
  ['no end', { end_date: undefined }],
  ['nothing', { start_date: null, models: null }],
  ['no boolean', { replace_existing: null }],
  ['a day that does not exist', { start_date: '2025-02-30' }],
  ['the first day', { start_date: '1900-01-01' }],
  ['the day before', { start_date: '1899-12-31' }],
];
const triggered = operations.find(({ path }) => path === '/simulate/trigger');
test('the trigger and its description agree at every limit', () => {
  const trigger = routes.find(({ path }) => path === '/simulate/trigger');
  for (const [name, change] of limits) {
    const body = JSON.parse(JSON.stringify({ end_date: '2025-11-10', ...change }));
    const isAccepted = accepts(() => validateBody(trigger?.body as never, body));
    assert.equal(isAccepted, fits(triggered?.body as Json, body), name);
  }
});

test('the description of a search allows no larger cursor than the search takes', () => {
  const { parameters = [] } = operations.find(({ path }) => path === '/search') ?? {};
  const own = parameters.filter(({ name }) => name === 'before');
  const route = routes.find(({ path }) => path === '/search');
  for (const before of ['999999999999999', '1000000000000000']) {
    const isAccepted = accepts(() => validateQuery(route?.query as never, `q=a&before=${before}`));
    assert.equal(isAccepted, isAllowed(own, { before }), before);
  }
});
