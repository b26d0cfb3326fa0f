import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noLead } from '../../src/features/comparison/planning.ts';
import {
  holm,
  confidenceInterval,
  measureUncertainty,
  overPeriod,
  twoSidedP,
} from '../../src/features/comparison/difference.ts';
import {
  degreesOfDays,
  lagsFor,
  varianceOfMean,
} from '../../src/features/statistics/regression.ts';
import {
  expectedBestSharpeRatio,
  probabilisticSharpeRatio,
} from '../../src/features/comparison/comparison.ts';
import {
  confidenceBoundary,
  lookKinds,
  type Period,
  tailProbability,
} from '../../src/features/comparison/looks.ts';
import {
  createPlanning,
  MORE_RUNS,
  NO_DIFFERENCE,
} from '../../src/features/comparison/planning.ts';
import { studentTQuantile } from '../../src/features/statistics/distributions.ts';
import { within } from '../support/near.ts';
import { tableOf } from '../support/text-table.ts';

const once = (days: number) => ({ days, looks: 'once' }) as const;

const assertNear = within({ absolute: 1e-12, relative: 1e-12 });

test('the number of lags grows with the ninth root of the days squared', () => {
  const days = [2, 20, 27, 28, 99, 100, 250, 273, 2500]; // 28 > 100·(3/4)^4.5 = 27.4
  assert.deepEqual(days.map(lagsFor), [1, 2, 2, 3, 3, 4, 4, 5, 8]);
});

test('the variance of a mean, by hand', () => {
  // 1, 2, 3, 6: mean 3, deviations -2, -1, 0, 3; L = 1; γ₀ = 14/4, γ₁ = (2 + 0 + 0)/4; (14/4 +
  // 2·1/2·2/4)/3 = 4/3.
  assertNear(varianceOfMean(Float64Array.of(1, 2, 3, 6)), 4 / 3);
  // 1, -1, 1, -1: γ₀ = 1, γ₁ = -3/4; (1 - 3/4)/3: days that swing back are more informative than as
  // many that do not.
  assertNear(varianceOfMean(Float64Array.of(1, -1, 1, -1)), 1 / 12);
});

test('days and runs add up, and degrees of freedom follow the larger part', () => {
  const daily = Float64Array.of(1, 2, 3, 6);
  assert.deepEqual(measureUncertainty(daily, [{ runs: 1, variance: 0 }]), {
    ofDays: varianceOfMean(daily),
    ofRuns: 0,
    total: varianceOfMean(daily),
    degreesOfFreedom: 4 / 1.5 - 1, // D / (1 + 2·(1/2)²) - 1
    spreads: [],
  });
  const both = measureUncertainty(daily, [
    { runs: 2, variance: 4 / 3 },
    { runs: 3, variance: 2 },
  ]);
  assertNear(both?.ofRuns, 4 / 3); // 4/3/2 + 2/3
  assertNear(both?.total, 8 / 3);
  assertNear(both?.degreesOfFreedom, 64 / 9 / (16 / 15 + 4 / 9 + 2 / 9)); // (4/3)²/(5/3), (2/3)²/1, (2/3)²/2
  const still = Float64Array.of(1, 1, 1, 1);
  assert.equal(measureUncertainty(still, [{ runs: 1, variance: 0 }]), null);
  assertNear(
    measureUncertainty(still, [{ runs: 2, variance: 2 }])?.degreesOfFreedom,
    1,
    'only runs vary',
  );
});

test('differences by rounding do not count as variation', () => {
  const rounding = Float64Array.from(
    { length: 250 },
    (_, day) => Math.log1p(0.1) + (day % 2) * Number.EPSILON * 0.05,
  );
  assert.equal(measureUncertainty(rounding, [{ runs: 1, variance: 0 }]), null);
});

test('an interval and a p-value of known degrees of freedom', () => {
  // t(0.975; 4) = 2.776445105197793 (scipy.stats.t.ppf)
  const uncertainty = { ofDays: 1e-6, ofRuns: 0, total: 1e-6, degreesOfFreedom: 4 };
  const period = { ...once(100), confidence: 0.95 };
  const { low, high } = confidenceInterval(0.001, uncertainty, period) as {
    low: number;
    high: number;
  };
  assertNear(Math.log1p(low), 100 * (0.001 - 0.002776445105197793));
  assertNear(Math.log1p(high), 100 * (0.001 + 0.002776445105197793));
  assertNear(twoSidedP(0.002776445105197793, uncertainty, once(100)), 0.05);
  assertNear(twoSidedP(-0.002776445105197793, uncertainty, once(100)), 0.05);
  assert.equal(twoSidedP(0, uncertainty, once(100)), 1);
});

test('an end too large for a number makes no interval', () => {
  const uncertainty = { ofDays: 0, ofRuns: 1, total: 1, degreesOfFreedom: 1 };
  const reason = 'The figure is too large for a number';
  const period = { ...once(250), confidence: 0.99 };
  assert.deepEqual(confidenceInterval(0, uncertainty, period), { reason });
  assert.deepEqual(overPeriod(3, 250), { reason });
  const { smallestDifference } = createPlanning(at95(400));
  assert.deepEqual(smallestDifference(varianceOf(400, 1)), { reason });
});

// scipy.stats.t.isf(scipy.stats.norm.sf(c), ν)
const factors: [days: number, once: number, boundary: number, daily: number][] = [
  [20, 2.2837576400029858, 3.406271272438698, 5.230265086969335],
  [60, 2.0807203155958915, 3.0699150009854783, 3.502439555198346],
  [120, 2.0316027155580847, 3.035446396635931, 3.2777524190905223],
  [250, 1.9932149988269887, 3.072555700598651, 3.1868708995900517],
  [500, 1.9795532350387715, 3.143419105113914, 3.214787845095635],
];

test('how many standard errors an interval reaches, for a single look and for a look on every day', () => {
  for (const [days, once, boundary, daily] of factors) {
    assertNear(confidenceBoundary(days, 0.05), boundary, `${days} days`);
    const uncertainty = { ofDays: 1, ofRuns: 0, total: 1, degreesOfFreedom: degreesOfDays(days) };
    for (const [looks, wanted] of [
      ['once', once],
      ['daily', daily],
    ] as const) {
      const period = { days, confidence: 0.95, looks };
      const reach = -studentTQuantile(tailProbability(period), uncertainty.degreesOfFreedom);
      assertNear(reach / wanted, 1, `${days} days, ${looks}`);
      // The p-value of a mean at the end of its interval is the level of the interval.
      assertNear(twoSidedP(reach, uncertainty, period), 0.05, `${days} days, ${looks}`);
    }
  }
});

// scipy.optimize.brentq over the boundary, at the normal score of the tail
const levels: [days: number, t: number, level: number][] = [
  [20, 0, 1],
  [20, 2, 1],
  [20, 4, 0.1740784281075575],
  [20, 9, 0.0018610053483860078],
  [60, 1, 1],
  [60, 2.5, 0.2850241221066142],
  [60, 6, 0.00030507003312865163],
  [250, 3, 0.07829060963827279],
  [250, 12, 1.2417451670739314e-16],
  [2500, 1.39, 1],
  [2500, 1.5, 0.8565602917677839],
  [2500, 30, 2.4127253748305958e-102],
];

test('the p-value over all days is the smallest level whose interval excludes zero; 1 where none does', () => {
  for (const [days, t, level] of levels) {
    const uncertainty = { ofDays: 1, ofRuns: 0, total: 1, degreesOfFreedom: degreesOfDays(days) };
    const found = twoSidedP(t, uncertainty, { days, looks: 'daily' });
    assertNear(found / level, 1, `${days} days, t = ${t}: ${found}`);
  }
});

const holmTable = tableOf<[pValues: string, adjusted: string]>(`
                        |
  0.03                  | 0.03
  0.01 0.04 0.03        | 0.03 0.06 0.06
  0.5 0.01 0.5          | 1 0.03 1
  0.02 0.02 0.9         | 0.06 0.06 0.9
  0.001 0.02 0.012 0.3  | 0.004 0.04 0.036 0.3`);

test('p-values adjusted by Holm, by hand', () => {
  const numbers = (cell: string) => cell.split(' ').filter(Boolean).map(Number);
  for (const [pValues, adjusted] of holmTable) {
    const found = holm(numbers(pValues));
    assert.equal(found.length, numbers(adjusted).length);
    for (const [index, wanted] of numbers(adjusted).entries())
      assertNear(found[index], wanted, pValues);
  }
});

const at95 = (days: number) => ({ ...once(days), confidence: 0.95 });

/** A variance of days, and of as many runs of each of two models. */
function varianceOf(days: number, ofDays: number, runs = 1, variance = 0) {
  const spreads = runs === 1 ? [] : [0, 1].map(() => ({ runs, variance }));
  const ofRuns = (2 * variance) / runs;
  const total = ofDays + ofRuns;
  const terms = runs === 1 ? 0 : (2 * (variance / runs) ** 2) / (runs - 1);
  const degreesOfFreedom = total ** 2 / (ofDays ** 2 / degreesOfDays(days) + terms);
  return { ofDays, ofRuns, total, degreesOfFreedom, spreads };
}

const errorsIn = (
  days: number,
  { runs = 1, share = 0, ...more }: Partial<Period> & { runs?: number; share?: number } = {},
) => {
  const uncertainty = varianceOf(days, 1e-6 * (1 - share), runs, (1e-6 * share * runs) / 2);
  const { smallestDifference } = createPlanning({ ...at95(days), ...more });
  return Math.log1p(smallestDifference(uncertainty) as number) / days / 0.001;
};

// scipy: nct.sf(t.isf(0.025, ν)·√b, …) = 0.8, ν = degreesOfDays, b the bias of the days
const ofDays: [days: number, errors: number][] = [
  [20, 3.0524],
  [60, 2.886],
  [250, 2.8233],
];
test('the smallest difference is what the interval, as it is shown, excludes zero of four times of five', () => {
  for (const [days, errors] of ofDays)
    within({ absolute: 0.001 })(errorsIn(days), errors, `${days} days`);
  assert.ok(errorsIn(60, { runs: 3, share: 0.9 }) > 3.5, 'Student’s t of few runs');
  assert.ok(errorsIn(60, { confidence: 0.99 }) > 3.6, 'at the confidence that is shown');
  assert.ok(errorsIn(60, { looks: 'daily' }) > 4.2, 'for the looks that are shown');
});

test('with fewer than three degrees of freedom no lead would show, and more days do not help', () => {
  const runs = varianceOf(24, 1e-7, 2, 1e-6);
  assert.ok(runs.degreesOfFreedom < 3);
  const { smallestDifference, daysNeeded } = createPlanning(at95(24));
  const reason = noLead(24);
  assert.deepEqual(smallestDifference(runs), { reason });
  assert.deepEqual(daysNeeded(0.5, runs), { reason: MORE_RUNS });
  // Of a pair that is shown neither can be said.
  const none = { reason: 'With fewer than 3 degrees of freedom it is not computed' };
  assert.deepEqual([smallestDifference(runs, true), daysNeeded(0.5, runs, true)], [none, none]);
  assert.equal(typeof smallestDifference(varianceOf(24, 1e-7, 3, 1e-6)), 'number');
});

test('the days that a difference needs are those after which it is the smallest that shows', () => {
  for (const looks of lookKinds)
    for (const runs of [1, 5]) {
      const uncertainty = varianceOf(40, 1e-6, runs, 2e-7);
      const { smallestDifference, daysNeeded } = createPlanning({ ...at95(40), looks });
      const own = Math.log1p(smallestDifference(uncertainty) as number) / 40;
      assert.ok(Math.abs((daysNeeded(own, uncertainty) as number) - 40) <= 1);
      const needed = daysNeeded(own * 0.8, uncertainty) as number;
      assert.equal(daysNeeded(-own * 0.8, uncertainty), needed);
      assert.ok(needed > 50 && needed < 80, `${needed}`);
      assert.ok((daysNeeded(own * 2, uncertainty) as number) < 40);
      assert.deepEqual(daysNeeded(0, uncertainty), { reason: NO_DIFFERENCE });
    }
  const { daysNeeded } = createPlanning(at95(20));
  const runs = varianceOf(20, 1e-6, 5, 2.5e-6);
  assert.deepEqual(daysNeeded(0.0025, runs), { reason: MORE_RUNS }, 'V_runs is 0.001²');
  assert.equal(typeof daysNeeded(0.0035, runs), 'number');
});

test('the planning example: 0.61 % a day, 1 % in twenty days, about 1,180 days', () => {
  const { daysNeeded } = createPlanning(at95(20));
  const needed = daysNeeded(Math.log(1.01) / 20, varianceOf(20, 0.0061 ** 2 / 20)) as number;
  assert.ok(needed > 1170 && needed < 1190, `${needed}`);
});

test('the probabilistic Sharpe ratio of returns without skew, and of some that are not informative', () => {
  // ±1 and 0 with a mean of 0: ratio 0, so Φ(0 - S₀√(D-1)); Φ(-0.3) = 0.3820885778110474
  // (scipy.stats.norm.cdf)
  const even = Float64Array.of(1, 0, -1, 1, 0, -1, 1, -1, 0, 0);
  assertNear(probabilisticSharpeRatio(even, 0), 0.5);
  assertNear(probabilisticSharpeRatio(even, 0.1), 0.3820885778110474);
  const still = new Float64Array(20).fill(0.001);
  assert.deepEqual(probabilisticSharpeRatio(still, 0), {
    reason: 'The daily returns of the mean run do not vary',
  });
  // Four days of twenty at one value, the others 1 below: g₃ = 3/2, and a ratio of 4/3 makes the
  // variance (1 - g₃S/2)² = 0.
  const lower = (4 / 3) * Math.sqrt((0.16 * 20) / 19) - 0.2;
  const twoValues = Float64Array.from({ length: 20 }, (_, day) =>
    day % 5 === 0 ? lower + 1 : lower,
  );
  const reason =
    'The daily returns take only two values, so the error of the ratio cannot be estimated';
  assert.deepEqual(probabilisticSharpeRatio(twoValues, 0), { reason });
});

test('the best of many without skill: none of one model, more of more trials', () => {
  assert.deepEqual(expectedBestSharpeRatio([0.1], 5), {
    reason: 'Needs the Sharpe ratios of two models; there is one',
  });
  // sd = √0.02; (1 - γ)Φ⁻¹(0.8) + γΦ⁻¹(1 - 1/(5e)) = 1.1925940010138572 (scipy.stats.norm.ppf)
  const bestOfFive = Math.sqrt(0.02) * 1.1925940010138572;
  assertNear(expectedBestSharpeRatio([0.1, 0.3], 5), bestOfFive);
  assert.ok((expectedBestSharpeRatio([0.1, 0.3], 50) as number) > bestOfFive);
});
