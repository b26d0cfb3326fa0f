import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkBounds } from '../../src/http/json-bounds.ts';

const within = (json: string) => checkBounds(Buffer.from(json));
const many = (count: number, item: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => item(index));

const bounds: [name: string, json: string, refusal: RegExp | null][] = [
  ['100 fields', `{${many(100, (index) => `"k${index}":1`)}}`, null],
  [
    '101 fields',
    `{${many(101, (index) => `"k${index}":1`)}}`,
    /^k100: the request has more than 100 fields$/,
  ],
  ['fields of objects inside', `{"a":[${many(100, () => '{"b":1}')}]}`, /^a: the request has more/],
  ['2000 items, and another field', `{"a":[${many(2_000, () => '1')}],"b":1}`, null],
  ['2001 items', `{"a":[${many(2_001, () => '1')}]}`, /^a: at most 2000 items$/],
  [
    '2000 items in each of two fields',
    `{"a":[${many(2_000, () => '1')}],"b":[${many(2_000, () => '1')}]}`,
    null,
  ],
  ['a list of 2001', `[${many(2_001, () => '1')}]`, /^body: at most 2000 items$/],
  ['32 levels', '['.repeat(32) + ']'.repeat(32), null],
  ['33 levels', `{"a":${'['.repeat(32)}`, /^a: nested more than 32 levels deep$/],
  ['brackets, colons and commas in a text', `{"a":"${'[{:,'.repeat(1_000)}"}`, null],
  ['behind an escaped quote', `{"a":"\\"${'[{:,'.repeat(1_000)}"}`, null],
  [
    'behind an escaped backslash',
    `{"a":"\\\\",${many(101, () => '"\\u0062":1')}}`,
    /^b: the request has more/,
  ],
  ['a name as long as the body', `{"${'x'.repeat(10_000)}":${'['.repeat(32)}`, /^x{100}: nested/],
  ['a text that is not JSON', '"', null],
];
for (const [name, json, refusal] of bounds) {
  test(`${name}: ${refusal === null ? 'left to the parser' : 'refused, naming one field'}`, () => {
    if (refusal === null) within(json);
    else assert.throws(() => within(json), { status: 422, message: refusal });
  });
}

test('bytes that are not JSON cause no failure', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json().map(Buffer.from), fc.uint8Array({ maxLength: 60 })), (bytes) => {
      try {
        checkBounds(Buffer.from(bytes as Uint8Array));
      } catch (error) {
        assert.equal((error as { status?: unknown }).status, 422);
      }
    }),
  );
});
