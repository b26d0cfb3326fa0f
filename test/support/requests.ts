import fc from 'fast-check';
import { anyTextUpTo } from './any-text.ts';
import { hostileStrings } from './hostile.ts';
import { type Json, description, fits } from './json-schema.ts';

/**
 * Requests made at random from the interface description: valid ones, broken ones, and bytes that
 * are hardly a request.
 */

/** Some longer than the server reads, none longer than a head may be. */
const MAX_TARGET_LENGTH = 9_000;

export interface Operation {
  method: string;
  path: string;
  /** The schemas of the answers in JSON that the description names, by status. */
  answers: Record<string, Json>;
  parameters: {
    name: string;
    in: string;
    required: boolean;
    allowEmptyValue?: boolean;
    schema: Json;
  }[];
  body: Json | undefined;
}

/** It gets one answer, and one that the description names. */
export interface WholeRequest {
  operation: Operation;
  bytes: Buffer;
}

export const operations: Operation[] = Object.entries<Json>(description['paths']).flatMap(
  ([path, methods]) =>
    Object.entries<Json>(methods).map(([method, { responses, parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      answers: mapValues(
        responses as Record<string, Json>,
        ({ content }) => content?.['application/json'].schema ?? {}, // a notification has no answer
      ),
      parameters,
      body: requestBody?.content['application/json'].schema,
    })),
);

const hostile = fc.constantFrom(
  ...hostileStrings.map(({ text }) => text).filter((text) => text.length < 1_000),
);
const anyText = fc.oneof(hostile, anyTextUpTo(40), fc.string({ maxLength: 300 }));
/** Of a trigger with such a date little comes: most are in the future. */
const dateIn = (min: string, max: string) =>
  fc
    .date({ min: new Date(min), max: new Date(max), noInvalidDate: true })
    .map((day) => day.toISOString().slice(0, 10));
const date = fc.oneof(
  { weight: 9, arbitrary: dateIn('2090-01-01', '2099-12-31') },
  { weight: 1, arbitrary: dateIn('2000-01-01', '2020-01-01') },
);
/** The few words that are the same in several requests. */
const knownWords = fc.constantFrom(
  ...['model-a', 'model-b', 'key-1', 'key-2', '2025-11-10', '2025-11-11'],
  '00000000-0000-4000-8000-000000000000',
);

/** A value that fits a JSON schema, as far as the description goes. */
export function fitting(schema: Json): fc.Arbitrary<unknown> {
  if (schema['const'] !== undefined) return fc.constant(schema['const']);
  if (schema['enum'] !== undefined) return fc.constantFrom(...schema['enum']);
  if (schema['anyOf'] !== undefined) return fc.oneof(...schema['anyOf'].map(fitting));
  switch (schema['type']) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(fitting(schema['items'] ?? {}), { maxLength: 3 });
    case 'object':
      if (schema['properties'] === undefined)
        return fc.dictionary(anyText, fitting(schema['additionalProperties'] ?? {}), {
          maxKeys: 3,
        });
      return fc.record(mapValues(schema['properties'] ?? {}, fitting), {
        requiredKeys: schema['required'] ?? [],
      });
    case 'string':
      if (schema['format'] === 'date') return date;
      if (schema['pattern'] === undefined)
        return fc.oneof(knownWords, fc.string({ maxLength: 30 }));
      return fc
        .oneof(
          fc.stringMatching(new RegExp(schema['pattern'])),
          knownWords,
          hostile,
          fc.string({ unit: 'grapheme' }),
        )
        .filter((text) => fits(schema, text));
    case 'integer':
      return fc.integer({ min: schema['minimum'], max: schema['maximum'] });
    case 'number':
      return fc.double({ min: schema['minimum'] ?? 0, max: schema['maximum'], noNaN: true });
    default:
      return fc.jsonValue();
  }
}

/** Mostly what fits; else whatever comes. */
export function perhapsFitting(schema: Json): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 3, arbitrary: fitting(schema) },
    { weight: 1, arbitrary: anyText },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

/**
 * Bodies that take a parser far longer than their bytes: many fields, many objects of different
 * shapes, many items.
 */
const hugeShape = fc
  .tuple(fc.nat({ max: 20_000 }), fc.constantFrom('fields', 'objects', 'items', 'texts'))
  .map(([count, kind]) => {
    const parts = (part: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => part(index)).join();
    if (kind === 'fields') return `{${parts((index) => `"k${index}":1`)}}`;
    if (kind === 'objects') return `{"models":[${parts((index) => `{"k${index}":1}`)}]}`;
    return `{"models":[${parts(() => (kind === 'items' ? '1' : '""'))}]}`;
  });

function bodyFor(schema: Json): fc.Arbitrary<string> {
  const fields = mapValues((schema['properties'] ?? {}) as Json, perhapsFitting);
  const extended = fc
    .tuple(
      fc.record(fields, { requiredKeys: [] }),
      fc.dictionary(anyText, fc.jsonValue(), { maxKeys: 2 }),
    )
    .map(([known, unknown]) => JSON.stringify({ ...unknown, ...known }));
  return fc.oneof(
    { weight: 2, arbitrary: fitting(schema).map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: extended },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: anyText },
    { weight: 1, arbitrary: hugeShape },
    {
      weight: 1,
      arbitrary: fc
        .nat({ max: 20_000 })
        .map((depth) => `{"end_date":${'['.repeat(depth)}${']'.repeat(depth)}}`),
    },
  );
}

/** Percent-encoded as browsers do it, or byte by byte, or not at all where the text allows it. */
const encoded = (text: fc.Arbitrary<unknown>) =>
  fc.tuple(text, fc.constantFrom('component', 'bytes', 'none')).map(([value, how]) => {
    const words = (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
    if (how === 'none' && /^[!-~]*$/.test(words)) return words.replaceAll(' ', '+');
    return how === 'bytes'
      ? Buffer.from(words).toString('hex').replace(/../g, '%$&')
      : encodeURIComponent(words);
  });

function targetFor({ path, parameters }: Operation): fc.Arbitrary<string> {
  const segments = path
    .split('/')
    .map((part) =>
      part.startsWith('{') ? encoded(fc.oneof(knownWords, anyText)) : fc.constant(part),
    );
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const pair = (parameter: (typeof known)[number]) =>
    encoded(perhapsFitting(parameter.schema)).map((value) => `${parameter.name}=${value}`);
  const odd = fc
    .tuple(encoded(anyText), encoded(anyText))
    .map(([name, value]) => `${name}=${value}`);
  const query = fc
    .array(fc.oneof(...known.map(pair), odd), { maxLength: 4 })
    .map((pairs) => pairs.join('&'));
  return fc
    .tuple(fc.tuple(...segments), query)
    .map(([parts, text]) =>
      (parts.join('/') + (text === '' ? '' : `?${text}`)).slice(0, MAX_TARGET_LENGTH),
    );
}

const headerValue = fc
  .oneof(knownWords, fc.string({ maxLength: 60 }))
  .map((text) => text.replace(/[^ -~]/g, ''));
const HARMLESS_HEADERS =
  'Accept Cookie X-Forwarded-For Upgrade TE Range If-None-Match Authorization'.split(' ');
const CHECKED_HEADERS = ['Idempotency-Key', 'Content-Encoding', 'Content-Type', 'Origin'];
const ORIGINS = 'null http://localhost http://evil.example http://127.0.0.1'.split(' ');
const oddHeaders = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...HARMLESS_HEADERS), headerValue) },
    { weight: 4, arbitrary: fc.tuple(fc.stringMatching(/^X-[A-Za-z0-9-]{1,20}$/), headerValue) },
    { weight: 3, arbitrary: fc.tuple(fc.constant('Idempotency-Key'), headerValue) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...CHECKED_HEADERS), headerValue) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('Origin'), fc.constantFrom(...ORIGINS)) },
  ),
  { maxLength: 4 },
);
/** Mostly the operation's own. */
const otherMethods = fc.oneof(
  { weight: 15, arbitrary: fc.constant(null) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...'PUT DELETE OPTIONS PATCH GET POST TRACE QUERY'.split(' ')),
  },
);

const OTHER_TYPES = ['text/plain', 'application/json; charset=utf-8', 'multipart/form-data'];

/** A request that every parser reads in the same way, whatever it asks for. */
function requestOf(operation: Operation): fc.Arbitrary<WholeRequest> {
  const body = operation.body === undefined ? fc.constant('') : bodyFor(operation.body);
  const type = fc.oneof(
    { weight: 5, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: fc.constantFrom(...OTHER_TYPES) },
  );
  const parts = fc.tuple(otherMethods, targetFor(operation), body, type, oddHeaders);
  return parts.map(([otherMethod, target, text, contentType, headers]) => {
    const bytes = Buffer.from(text.toWellFormed());
    const length = String(bytes.length);
    const own = [
      ['Content-Type', contentType],
      ['Content-Length', length],
    ];
    const all = [['Host', 'localhost'], ...(operation.body === undefined ? [] : own), ...headers];
    const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const head = `${otherMethod ?? operation.method} ${target} HTTP/1.1\r\n${lines}\r\n`;
    return { operation, bytes: Buffer.concat([Buffer.from(head), bytes]) };
  });
}

export const wholeRequest: fc.Arbitrary<WholeRequest> = fc.oneof(...operations.map(requestOf));

type Mutation = (bytes: Buffer) => Buffer;
const PIECES = [
  ...['\r\n', '\r\n\r\n', ':', ' ', '\0', '%', '?', '[', '"', 'HTTP/1.0', '0\r\n\r\n'],
  ...['Host: b\r\n', 'Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n'],
  ...['Expect: 100-continue\r\n', 'Connection: close\r\n', 'x'.repeat(9_000)],
];
const noise = fc.oneof(
  fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(...PIECES).map((text) => Buffer.from(text)),
);
const place = fc.double({ min: 0, max: 1, noNaN: true });
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, noise).map(([at, added]) => splicing(at, 0, added)),
  fc.tuple(place, noise).map(([at, added]) => splicing(at, added.length, added)),
  fc.tuple(place, fc.nat({ max: 40 })).map(([at, remove]) => splicing(at, remove)),
  place.map(
    (end): Mutation =>
      (bytes) =>
        bytes.subarray(0, Math.floor(bytes.length * end)),
  ),
  fc.constant<Mutation>((bytes) => Buffer.concat([bytes, bytes])),
  fc.tuple(place, fc.nat({ max: 7 })).map(([at, bit]) => flipping(at, bit)),
);

function splicing(at: number, remove: number, added: Buffer = Buffer.alloc(0)): Mutation {
  return (bytes) => {
    const index = Math.floor(bytes.length * at);
    return Buffer.concat([bytes.subarray(0, index), added, bytes.subarray(index + remove)]);
  };
}

function flipping(at: number, bit: number): Mutation {
  return (bytes) => {
    const copy = Buffer.from(bytes);
    const index = Math.min(copy.length - 1, Math.floor(copy.length * at));
    if (copy.length > 0) copy[index] = (copy[index] as number) ^ (1 << bit);
    return copy;
  };
}

/** Bytes that once were requests. Whatever comes of them, it is no failure of the server. */
export const brokenRequest: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.array(wholeRequest, { minLength: 1, maxLength: 3 }),
    fc.array(mutation, { minLength: 1, maxLength: 4 }),
  )
  .map(([requests, mutations]) => {
    let bytes: Buffer = Buffer.concat(requests.map((request) => request.bytes));
    for (const change of mutations) bytes = change(bytes);
    return bytes;
  });

function mapValues<Value, Result>(
  record: Record<string, Value>,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
