import assert from 'node:assert/strict';
import { test } from 'node:test';
import { centralMoment, mean, sampleVariance } from '../../src/features/statistics/moments.ts';
import { normalCdf } from '../../src/features/statistics/distributions.ts';
import {
  createNormals,
  createUniforms,
  createWords,
} from '../../src/features/statistics/random.ts';
import { runs } from '../support/long.ts';

const COUNT = runs(50_000, 2_000_000);

test('the generator makes the words of the reference implementation (version 1.1)', () => {
  const next = createWords([1, 2, 3, 4]);
  assert.deepEqual([next(), next(), next(), next()], [11_520, 0, 5_927_040, 70_819_200]);
  const other = createWords([0x964d4a0c, 0xd40ab895, 0xad7fdecb, 0x3006f0f0]);
  assert.deepEqual(
    [other(), other(), other(), other()],
    [0xf1391922, 0x6fe53806, 0xa5be2840, 0xf510ee70],
  );
});

test('the same seed makes the same numbers, another seed others', () => {
  const first = (seed: string) => {
    const normal = createNormals(seed);
    return [normal(), normal(), normal()];
  };
  assert.deepEqual(first('a'), first('a'));
  assert.notDeepEqual(first('a'), first('b'));
  assert.deepEqual(
    first('pinned: an answer stays the same over releases'),
    [-0.45482508885782413, -0.6115415866813537, -1.849505235370492],
  );
});

test('uniform numbers fill 0 to 1 evenly, down to their last bits', () => {
  const uniform = createUniforms('uniform');
  const numbers = Float64Array.from({ length: COUNT }, uniform);
  assert.ok(numbers.every((number) => number >= 0 && number < 1));
  assert.ok(deviation(numbers.toSorted()) < 1.95, 'Kolmogorov and Smirnov, 0.1 %');
  const lastBits = numbers.map((number) => (number * 2 ** 32) % 1);
  assert.ok(deviation(lastBits.toSorted()) < 1.95, 'the lowest 21 bits as well');
});

test('normal numbers follow the distribution, and neighbours are independent', () => {
  const normal = createNormals('normal');
  const numbers = Float64Array.from({ length: COUNT }, normal);
  assert.ok(deviation(numbers.map(normalCdf).toSorted()) < 1.95, 'Kolmogorov and Smirnov, 0.1 %');
  const error = 1 / Math.sqrt(COUNT);
  assert.ok(Math.abs(mean(numbers)) < 4 * error);
  assert.ok(Math.abs(sampleVariance(numbers) - 1) < 4 * Math.SQRT2 * error);
  assert.ok(Math.abs(centralMoment(numbers, 3)) < 4 * Math.sqrt(15) * error);
  assert.ok(Math.abs(centralMoment(numbers, 4) - 3) < 4 * Math.sqrt(96) * error);
  const neighbours = mean(
    numbers.slice(1).map((number, index) => number * (numbers[index] as number)),
  );
  assert.ok(Math.abs(neighbours) < 4 * error);
});

/** √n times the largest distance between a sorted sample and the uniform distribution. */
function deviation(sorted: Float64Array): number {
  const distances = sorted.map((number, index) => Math.abs(number - (index + 0.5) / sorted.length));
  return (
    Math.sqrt(sorted.length) * distances.reduce((most, distance) => Math.max(most, distance), 0)
  );
}
