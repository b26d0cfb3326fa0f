import assert from 'node:assert/strict';

/**
 * How far a figure may be from the expected one: the absolute part, plus the relative part of the
 * expected figure.
 */
export interface Leeway {
  absolute?: number;
  relative?: number;
}

/**
 * An assertion that a figure is within the leeway of the expected one. What is not a number, such
 * as null, must be equal.
 */
export function within({ absolute = 0, relative = 0 }: Leeway) {
  return (actual: unknown, expected: unknown, what = 'the figure'): void => {
    if (typeof expected !== 'number') return assert.deepEqual(actual, expected, what);
    const isNear =
      typeof actual === 'number' &&
      Math.abs(actual - expected) <= absolute + relative * Math.abs(expected);
    assert.ok(isNear, `${what} is ${actual}, should be ${expected}`);
  };
}
