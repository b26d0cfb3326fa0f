import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { errorPosition } from '../src/core/json/json.ts';
import { runs } from './support/long.ts';

const broken: [text: string, place: string][] = [
  ['', 'line 1 column 1'],
  ['{', 'line 1 column 2'],
  ['sk-secret', 'line 1 column 1'],
  ['{\n  "a": 1,\n}', 'line 3 column 1'],
  ['{\r\n  "a": tru }', 'line 2 column 8'],
  ['{"a": 1 "b": 2}', 'line 1 column 9'],
  ['{"a" 1}', 'line 1 column 6'],
  ['{"a": }', 'line 1 column 7'],
  ['{a: 1}', 'line 1 column 2'],
  ['[1, 2', 'line 1 column 6'],
  ['[1,]', 'line 1 column 4'],
  ['[1}', 'line 1 column 3'],
  ['{"a": 1]', 'line 1 column 8'],
  ['1 2', 'line 1 column 3'],
  ['{} ,', 'line 1 column 4'],
  ['"a\nb"', 'line 1 column 1'],
  ['["\\x"]', 'line 1 column 2'],
  ['[NaN]', 'line 1 column 2'],
  ['[01]', 'line 1 column 3'],
  ['[1.]', 'line 1 column 3'],
  ["{'a': 1}", 'line 1 column 2'],
  ['{"a": 1} // done', 'line 1 column 10'],
  ['\n\n]', 'line 3 column 1'],
];
test('where a text stops being JSON, by line and column', () => {
  for (const [text, place] of broken) {
    assert.throws(() => JSON.parse(text), SyntaxError, text);
    assert.equal(errorPosition(text), place, JSON.stringify(text));
  }
});

test('what stands before the place could still become JSON, and valid JSON has its place at its end', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '}', ',', '"', 'x', '1', ':', '['),
      (text, at, sign) => {
        assert.equal(errorPosition(text), `line 1 column ${text.length + 1}`);
        const end = at % (text.length + 1);
        const changed = text.slice(0, end) + sign + text.slice(end + 1);
        try {
          JSON.parse(changed);
        } catch {
          const place = errorPosition(changed);
          const column = Number(/^line 1 column (\d+)$/.exec(place)?.[1]);
          assert.ok(column <= changed.length + 1, changed);
          assert.equal(
            errorPosition(changed.slice(0, column - 1)),
            place,
            'nothing is wrong before it',
          );
        }
      },
    ),
    { numRuns: runs(300, 10_000) },
  );
});
