import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { lookKinds } from '../../src/features/comparison/looks.ts';
import { fitLine } from '../../src/features/statistics/regression.ts';
import { createNormals, createUniforms } from '../../src/features/statistics/random.ts';
import { addDays } from '../../src/core/time/calendar.ts';
import { compare, modelsOf, type StockFile } from '../../test/support/comparisons.ts';
import { ORACLE_PYTHON, withoutPackages } from '../../test/support/oracle.ts';
import { within } from '../../test/support/near.ts';

/** Random returns against numpy, scipy and statsmodels. */
const skip = withoutPackages('numpy', 'scipy', 'statsmodels');
const SCRIPT = new URL('comparison.py', import.meta.url).pathname;
const TRIALS = 7;
/** The oracle has exact quantiles in place of nodes. */
const planned = ['smallestDifference'];
const assertPlanned = within({ relative: 0.03 });

/** Returns of ten runs of four models, some of them missing, with days that depend on each other. */
function randomFile(seed: string, count: number): StockFile {
  const [normal, uniform] = [createNormals(seed), createUniforms(seed)];
  const days = Array.from({ length: count }, (_, day) => addDays('2025-01-01', day));
  const runs = 'one one#2 one#3 two two#2 three four four#2 four#3 four#4'.split(' ');
  const market = new Map<string, number[]>();
  for (const run of runs) {
    const model = run.split('#')[0] ?? '';
    let last = 0;
    const own =
      market.get(model) ??
      days.map(() => (last = 0.3 * last + 0.002 * (model.length - 3) + normal() / 60));
    market.set(model, own);
  }
  const returns = runs.map((run) => [
    run,
    (market.get(run.split('#')[0] ?? '') ?? []).map((value) => value + normal() / 150),
  ]);
  const missing = Object.fromEntries(
    runs.slice(0, 3).map((run) => [run, days.filter(() => uniform() < 0.02)]),
  );
  return { days, missing, returns: Object.fromEntries(returns) };
}

const assertNear = within({ absolute: 1e-9, relative: 1e-9 });

function assertFigures(
  found: object | undefined,
  wanted: Record<string, unknown>,
  what: string,
): void {
  const { interval, ...rest } = found as { interval: object };
  const flat: Record<string, unknown> = { ...rest, ...interval };
  for (const [name, value] of Object.entries(wanted)) {
    if (name === 'probabilityBest' || typeof value === 'string') continue;
    const near = planned.includes(name) ? assertPlanned : assertNear;
    if (typeof value === 'number') near(flat[name], value, `${what} ${name}`);
    if (value === null) assert.equal(typeof flat[name], 'object', `${what} ${name}`);
  }
}

for (const [seed, days] of [
  ['a', 40],
  ['b', 75],
  ['c', 130],
  ['d', 260],
  ['e', 420],
] as const)
  test(`${days} random days (${seed}) agree with other libraries`, { skip }, () => {
    const file = randomFile(seed, days);
    const { stdout, stderr } = spawnSync(ORACLE_PYTHON, [SCRIPT], {
      input: JSON.stringify(file),
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
    assert.ok(stdout.startsWith('{'), stderr);
    const wanted = JSON.parse(stdout);
    for (const looks of lookKinds) {
      const found = compare(modelsOf(file), { trials: TRIALS, looks });
      assert.equal(found.days.length, wanted.days);
      assertNear(found.boundary ?? 0, wanted[looks].boundary ?? 0, 'boundary');
      for (const own of wanted[looks].models)
        assertFigures(
          found.models.find(({ model }) => model === own.model),
          own,
          `${looks} ${own.model}`,
        );
      for (const { pValueHolm, ...own } of wanted[looks].pairs) {
        const { pairs } = compare(modelsOf(file), { against: own.against, looks });
        const pair = pairs.find(({ model }) => model === own.model);
        assertFigures(pair, own, `${looks} ${own.model} ${own.against}`);
        const among = found.pairs.find(
          (one) =>
            [one.model, one.against].sort().join() === [own.model, own.against].sort().join(),
        );
        assertNear(among?.pValueHolm, pValueHolm, 'Holm');
      }
    }
    for (const { x, y, pValue: _, ...line } of wanted.lines)
      for (const [name, value] of Object.entries(fitLine(wanted.series[x], wanted.series[y])))
        assertNear(value, line[name], `${y} over ${x}: ${name}`);
  });
