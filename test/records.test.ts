import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { toolRequest } from '../src/core/api/day.ts';
import { parseConfiguration } from '../src/core/settings/configuration.ts';
import { decodeEntry, encodeEntry } from '../src/core/settings/entry.ts';
import { validateBody } from '../src/core/http/request.ts';
import { decodeLine } from '../src/core/wire/protocol.ts';
import { storedEntry } from './support/jobs.ts';

/** Keys that a record of Valibot leaves out, in an object from outside. */
const KEYS = '{"__proto__":{"polluted":1},"prototype":[1],"constructor":1,"a":{"__proto__":1}}';

/** Where objects come from outside whose keys are data: each takes one, and returns what it keeps. */
const places: [place: string, keep: (json: string) => unknown][] = [
  [
    'extra_body of an entry',
    (json) => {
      const content = `{"models":[{"signature":"a","extra_body":${json}}]}`;
      return parseConfiguration(JSON.parse(content), 'file').models[0]?.extra_body;
    },
  ],
  [
    'parameters of a stored entry',
    (json) => {
      const entry = { ...JSON.parse(storedEntry('a')), parameters: JSON.parse(json) };
      return decodeEntry(encodeEntry(entry)).parameters;
    },
  ],
  ['arguments of a tool over HTTP', (json) => validateBody(toolRequest, JSON.parse(json))],
  [
    'what a provider wants sent back',
    (json) => {
      const carried = `{"message":${json},"calls":[${json}]}`;
      const line = `{"type":"answer","content":"","toolCalls":[],"reasoning":null,"usage":null,"note":null,"carried":${carried}}`;
      const message = decodeLine(line);
      assert.ok(message.type === 'answer');
      assert.deepEqual(message.carried?.calls[0], message.carried?.message);
      return message.carried?.message;
    },
  ],
];
for (const [place, keep] of places)
  test(`${place}: every key is kept, and none becomes a prototype`, () => {
    const kept = keep(KEYS) as object;
    const sorted = (json: string) => Object.entries(JSON.parse(json)).sort();
    assert.deepEqual(sorted(JSON.stringify(kept)), sorted(KEYS));
    assert.ok(!('polluted' in kept) && Object.getPrototypeOf(kept) === Object.prototype);
  });

test('a universe with the name of a key that every object has is a universe, and no variable has one', () => {
  const read = (more: string) => parseConfiguration(JSON.parse(`{"models":[],${more}}`), 'file');
  const { universes } = read('"universes":{"constructor":["AAPL"]}');
  assert.deepEqual(Object.entries(universes), [['constructor', ['AAPL']]]);
  assert.throws(
    () => read('"universes":{"constructor":["$"]}'),
    /universes\.constructor\[0\]: is not a/,
  );
  const entry = `{"models":[{"signature":"a","openai_api_key_env":"constructor"}]}`;
  assert.throws(
    () => parseConfiguration(JSON.parse(entry), 'file'),
    /openai_api_key_env: is the name of no variable/,
  );
  assert.ok(v.is(toolRequest, {}) && !v.is(toolRequest, []));
});
