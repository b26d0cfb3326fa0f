import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareModels } from '../../src/comparison/comparison.ts';
import type { ComparedModel } from '../../src/comparison/input.ts';
import { createNormals } from '../../src/statistics/random.ts';
import { inputOf } from '../support/comparisons.ts';

/** How the work of a large comparison is cut into steps. */

const MODELS = 12;
const RUNS = 3;
const DAYS = 250;

function manyModels(): ComparedModel<number>[] {
  const normal = createNormals('many');
  return Array.from({ length: MODELS }, (_, model) => ({
    model: `model-${model}`,
    isDeterministic: false,
    unusable: null,
    runs: Array.from({ length: RUNS }, (_, run) => ({
      run: `model-${model}#${run + 1}`,
      returns: Array.from({ length: DAYS }, (_, day): [number, number] => [day, normal() / 100]),
    })),
  }));
}

test('the work yields after every run, every pair and some draws', () => {
  const steps = compareModels(inputOf(manyModels()));
  let count = 0;
  for (let step = steps.next(); step.done !== true; step = steps.next()) count += 1;
  const [runs, pairs] = [MODELS * RUNS, (MODELS * (MODELS - 1)) / 2];
  const [reading, looking, averaging, leftOut, draws] = [runs, runs, runs, DAYS, 10_000 / 20];
  assert.ok(count >= reading + looking + averaging + 3 * pairs + leftOut + draws, `${count} steps`);
});

test('returns are read once, so that they need not be in memory', () => {
  const reads = new Map<string, number>();
  const models = manyModels().map((model) => ({
    ...model,
    runs: model.runs.map(({ run, returns }) => ({
      run,
      returns: {
        *[Symbol.iterator]() {
          reads.set(run, (reads.get(run) ?? 0) + 1);
          yield* returns;
        },
      },
    })),
  }));
  for (const _ of compareModels(inputOf(models)));
  assert.deepEqual(new Set(reads.values()), new Set([1]));
  assert.equal(reads.size, MODELS * RUNS);
});
