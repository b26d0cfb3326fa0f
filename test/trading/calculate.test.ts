import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_EXPRESSION_LENGTH, calculate } from '../../src/trading/calculate.ts';
import { anyTextUpTo } from '../support/any-text.ts';
import { runs } from '../support/long.ts';

const sums: [expression: string, result: number][] = [
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['10 / 4', 2.5],
  ['-2 ^ 2', -4],
  ['2 ^ 3 ^ 2', 512],
  ['2 ** -1', 0.5],
  ['7 % 4', 3],
  ['--3', 3],
  ['.5 + 1.5e2', 150.5],
  ['floor(10000 / 245.27)', 40],
  ['max(1, 2, min(9, 3))', 3],
  ['round(2.5) + abs(-1) + ceil(0.1) + sqrt(9)', 8],
  ['  42  ', 42],
];
for (const [expression, result] of sums)
  test(`${expression} is ${result}`, () => assert.equal(calculate(expression), result));

const refused: [expression: string, message: RegExp][] = [
  ['', /ends too early/],
  ['1 +', /ends too early/],
  ['(1', /a '\)' is missing/],
  ['1 2', /unexpected '2'/],
  ['1 / 0', /not a finite number/],
  ['sqrt(-1)', /not a finite number/],
  ['process.exit()', /unexpected/],
  ['constructor(1)', /unexpected 'constructor'/],
  ['__proto__', /unexpected '_'/],
  ['1;2', /unexpected ';'/],
  ['"a"', /unexpected '"'/],
  ['1'.repeat(MAX_EXPRESSION_LENGTH + 1), /longer than/],
];
for (const [expression, message] of refused) {
  test(`${expression.slice(0, 20) || 'nothing'} is refused`, () => assert.throws(() => calculate(expression), message));
}

test('on arithmetic it agrees with JavaScript, and on anything else it only ever throws an Error', () => {
  const number = fc.integer({ min: 1, max: 99 }).map(String);
  const expression = fc.letrec<{ sum: string }>((tie) => ({
    sum: fc.oneof(
      { maxDepth: 4 },
      number,
      fc
        .tuple(tie('sum'), fc.constantFrom('+', '-', '*'), tie('sum'))
        .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    ),
  })).sum;
  fc.assert(
    fc.property(
      expression,
      (text) => text.length > MAX_EXPRESSION_LENGTH || assert.equal(calculate(text), Function(`return ${text}`)()),
    ),
    { numRuns: runs(200, 1_000) },
  );
  fc.assert(
    fc.property(anyTextUpTo(200), (text) => {
      try {
        assert.equal(typeof calculate(text), 'number');
      } catch (error) {
        assert.equal((error as Error).constructor, Error);
      }
    }),
    { numRuns: runs(200, 1_000) },
  );
});
