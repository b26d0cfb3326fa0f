import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_EXPRESSION_LENGTH, calculate } from '../../src/core/trading/calculate.ts';
import { anyTextUpTo } from '../support/any-text.ts';
import { runs } from '../support/long.ts';

const sums: [expression: string, result: number][] = [
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['10 / 4', 2.5],
  ['-2 ^ 2', -4],
  ['2 ^ 3 ^ 2', 512],
  ['2 ** -1', 0.5],
  // Powers have the same digits in every program: by multiplication, or rounded to 15 digits.
  ['1.0001 ^ 252', 1.025518911987689],
  ['3 ^ 0.5', 1.73205080756888],
  ['9 ^ 0.5', 3],
  ['1.07 ** -3', 1 / (1.07 * (1.07 * 1.07))],
  ['0 ^ 0', 1],
  ['(-2) ^ 3', -8],
  ['2 ^ 1023 * 1', 2 ** 1023],
  ['7 % 4', 3],
  ['--3', 3],
  ['.5 + 1.5e2', 150.5],
  ['floor(10000 / 245.27)', 40],
  ['max(1, 2, min(9, 3))', 3],
  ['round(2.5) + abs(-1) + ceil(0.1) + sqrt(9)', 8],
  ['  42  ', 42],
];
test('sums are evaluated as they are commonly written', () => {
  for (const [expression, result] of sums) assert.equal(calculate(expression), result, expression);
});

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
test('text that cannot be calculated is refused with the reason', () => {
  for (const [expression, message] of refused) assert.throws(() => calculate(expression), message);
});

test('a whole power is a product in one order, however large the exponent', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 2, noNaN: true }),
      fc.integer({ min: -1_000, max: 1_000 }),
      (base, exponent) => {
        const bits = [...Math.abs(exponent).toString(2)].reverse();
        const squares = bits.reduce<number[]>(
          (list) => [...list, (list.at(-1) as number) * (list.at(-1) as number)],
          [base],
        );
        const product = bits.reduce(
          (value, bit, index) => (bit === '1' ? value * (squares[index] as number) : value),
          1,
        );
        const power = calculate(`${base} ^ ${exponent}`);
        assert.equal(power, exponent < 0 ? 1 / product : product);
        const near = base ** exponent; // V8's own differ in the last digits from version to version
        assert.ok(Math.abs(power - near) <= Math.abs(near) * 1e-12, `${base} ** ${exponent}`);
      },
    ),
    { numRuns: runs(100, 5_000) },
  );
  assert.equal(calculate('1 ^ 1e300'), 1);
  assert.throws(() => calculate('2 ^ 1e300'), /not a finite number/);
});

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
      (text) =>
        text.length > MAX_EXPRESSION_LENGTH ||
        assert.equal(calculate(text), Function(`return ${text}`)()),
    ),
    { numRuns: runs(100, 1_000) },
  );
  fc.assert(
    fc.property(anyTextUpTo(200), (text) => {
      try {
        assert.equal(typeof calculate(text), 'number');
      } catch (error) {
        assert.equal((error as Error).constructor, Error);
      }
    }),
    { numRuns: runs(100, 1_000) },
  );
});
