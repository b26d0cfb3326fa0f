import {
  holm,
  type Interval,
  confidenceInterval,
  measureUncertainty,
  twoSidedP,
  type Uncertainty,
} from '../../src/features/comparison/difference.ts';
import { createPlanning } from '../../src/features/comparison/planning.ts';
import type { Looks, Period } from '../../src/features/comparison/looks.ts';
import { degreesOfDays } from '../../src/features/statistics/regression.ts';
import { mean, sampleVariance } from '../../src/features/statistics/moments.ts';
import { createNormals } from '../../src/features/statistics/random.ts';
import { studentTQuantile } from '../../src/features/statistics/distributions.ts';

/**
 * How often a nominal interval covers the truth, found out by simulating models whose true
 * difference is known. A run's log return of a day is the model's day, shared by its runs, plus
 * what the run does in the whole window (its effect), plus what the run does on that day.
 */

/** Deviation of the daily difference of two models: baskets of 25 stocks of the NASDAQ-100. */
const DAY_DEVIATION = 0.0061;
const BASIS_POINT = 1e-4;

export interface Scenario {
  days: number;
  runs: number;
  /** Standard deviation of the effect of a run, in basis points a day. */
  runEffect: number;
  /** What a run does on its own from day to day, as a share of the deviation of a model's days. */
  ownNoise?: number;
  /** The true mean daily difference of the two models' log returns. */
  difference?: number;
}

/** The daily log returns of each run of one model. */
function simulateRuns(
  { days, runs, runEffect, ownNoise = 0 }: Scenario,
  middle: number,
  normal: () => number,
): Float64Array[] {
  const deviation = DAY_DEVIATION / Math.SQRT2;
  const shared = Float64Array.from({ length: days }, () => middle + deviation * normal());
  return Array.from({ length: runs }, () => {
    const effect = runEffect * BASIS_POINT * normal();
    return shared.map(
      (day) => day + effect + (ownNoise === 0 ? 0 : ownNoise * deviation * normal()),
    );
  });
}

/** The results of a model's mean run, and the means of its runs. */
interface Simulated {
  logReturns: Float64Array;
  runMeans: Float64Array;
}

function simulate(scenario: Scenario, middle: number, normal: () => number): Simulated {
  const each = simulateRuns(scenario, middle, normal);
  const logReturns = new Float64Array(scenario.days);
  for (const own of each)
    for (let day = 0; day < own.length; day += 1)
      logReturns[day] = (logReturns[day] as number) + (own[day] as number) / each.length;
  return { logReturns, runMeans: Float64Array.from(each, mean) };
}

/**
 * Shares of simulations: whose interval covered the truth; of the naive one; which showed a
 * difference.
 */
export interface Coverage {
  covered: number;
  /**
   * Mean ± interval over the repeats, as runs of one model are usually compared; NaN for single
   * runs.
   */
  naive: number;
  shown: number;
}

/** The shares over that many simulations, the same for the same seed. */
export function measureCoverage(
  scenario: Scenario,
  { simulations, seed, looks = 'once' }: { simulations: number; seed: string; looks?: Looks },
): Coverage {
  const normal = createNormals(`${seed} ${JSON.stringify(scenario)}`);
  const { difference = 0, days } = scenario;
  const truth = Math.expm1(days * difference);
  let [covered, naive, shown] = [0, 0, 0];
  for (let count = 0; count < simulations; count += 1) {
    const [one, other] = [simulate(scenario, difference, normal), simulate(scenario, 0, normal)];
    const between = differenceOf(one, other);
    const own = intervalBetween(between, { days, confidence: 0.95, looks });
    if (isIn(own, truth)) covered += 1;
    if (own.low > 0 || own.high < 0) shown += 1;
    if (scenario.runs > 1 && isInNaiveInterval(one, other, difference)) naive += 1;
  }
  return {
    covered: covered / simulations,
    naive: scenario.runs > 1 ? naive / simulations : NaN,
    shown: shown / simulations,
  };
}

/** What a comparison estimates of the scenario: its true variances. */
export function truthOf({ days, runs, runEffect, ownNoise = 0 }: Scenario): Uncertainty {
  const ofDays = (DAY_DEVIATION ** 2 * (1 + ownNoise ** 2 / runs)) / days;
  // The noise of the days of a run is seen in its mean too.
  const noise = (DAY_DEVIATION * ownNoise) ** 2 / 2 / days;
  const variance = (runEffect * BASIS_POINT) ** 2 + noise;
  const spreads = runs === 1 ? [] : [1, 2].map(() => ({ runs, variance }));
  const ofRuns = (spreads.length * variance) / runs;
  const total = ofDays + ofRuns;
  const runTerms = (spreads.length * (variance / runs) ** 2) / (runs - 1 || 1);
  const degreesOfFreedom = total ** 2 / (ofDays ** 2 / degreesOfDays(days) + runTerms);
  return { ofDays, ofRuns, total, degreesOfFreedom, spreads };
}

/**
 * How often the interval excludes zero where the true lead is the smallest that would be likely to
 * show; NaN where none would.
 */
export function shareShowingLead(
  scenario: Scenario,
  { looks, ...options }: { simulations: number; seed: string; looks: Looks },
): number {
  const { days } = scenario;
  const planning = createPlanning({ days, confidence: 0.95, looks });
  const least = planning.smallestDifference(truthOf(scenario));
  if (typeof least !== 'number') return NaN;
  const difference = Math.log1p(least) / days;
  return measureCoverage({ ...scenario, difference }, { ...options, looks }).shown;
}

function isIn({ low, high }: Interval, truth: number): boolean {
  return low <= truth && truth <= high;
}

interface Difference {
  mean: number;
  uncertainty: Uncertainty;
}

function differenceOf(one: Simulated, other: Simulated): Difference {
  const differences = one.logReturns.map((value, day) => value - (other.logReturns[day] as number));
  const spreads = [one, other].map(({ runMeans }) => ({
    runs: runMeans.length,
    variance: sampleVariance(runMeans),
  }));
  return {
    mean: mean(differences),
    uncertainty: measureUncertainty(differences, spreads) as Uncertainty,
  };
}

function intervalBetween({ mean: middle, uncertainty }: Difference, period: Period): Interval {
  return confidenceInterval(middle, uncertainty, period) as Interval;
}

/** Welch's interval of the means of the runs, as if each run had days of its own. */
function isInNaiveInterval(one: Simulated, other: Simulated, truth: number): boolean {
  const [first, second] = [one, other].map(
    ({ runMeans }) => sampleVariance(runMeans) / runMeans.length,
  ) as [number, number];
  const freedom = (first + second) ** 2 / ((first ** 2 + second ** 2) / (one.runMeans.length - 1));
  if (!(freedom > 0)) return false;
  const reach = studentTQuantile(0.975, freedom) * Math.sqrt(first + second);
  return Math.abs(mean(one.runMeans) - mean(other.runMeans) - truth) <= reach;
}

/** What the issue asks for: the effects of single runs cannot be measured, so these have none. */
export const scenarios: Scenario[] = [20, 60, 250].flatMap((days) => [
  { days, runs: 1, runEffect: 0 },
  ...[3, 10].flatMap((runs) => [0, 3, 10].map((runEffect) => ({ days, runs, runEffect }))),
]);

/** The same where runs also differ from day to day, by as much as models do. */
export const noisyScenarios: Scenario[] = scenarios
  .filter(({ runs }) => runs > 1)
  .map((scenario) => ({ ...scenario, ownNoise: 1 }));

/** What is compared where the lead is the smallest that would be likely to show. */
export const leadScenarios: Scenario[] = [20, 60, 250].flatMap((days) => [
  { days, runs: 1, runEffect: 0 },
  ...[2, 3, 10].flatMap((runs) => [3, 10].map((runEffect) => ({ days, runs, runEffect }))),
]);

/** How many equal models are compared over so many days, each day with part of the one before. */
export interface EqualScenario {
  models: number;
  days: number;
  autocorrelation: number;
}

/** How many equal models a response compares, over how many days. */
export const responses: EqualScenario[] = [20, 60, 250].flatMap((days) =>
  [2, 5, 20].flatMap((models) =>
    [0, 0.2].map((autocorrelation) => ({ models, days, autocorrelation })),
  ),
);

/** The days up to which a comparison of two models is looked at every day, from day 20 on. */
export const horizons = [60, 120, 250] as const;
const FIRST_LOOK = 20;
const ALONE = { runs: 1, variance: 0 };

/** Daily log returns with a first-order autocorrelation. */
function simulateDays(
  { days, autocorrelation }: Omit<EqualScenario, 'models'>,
  normal: () => number,
): Float64Array {
  const own = Math.sqrt(1 - autocorrelation ** 2);
  let last = normal();
  return Float64Array.from({ length: days }, () => {
    const day = last * DAY_DEVIATION;
    last = autocorrelation * last + own * normal();
    return day;
  });
}

/** The p-value of two series of returns up to a day. */
function pValueBetween(differences: Float64Array, days: number, looks: Looks): number {
  const seen = differences.subarray(0, days);
  return twoSidedP(mean(seen), measureUncertainty(seen, [ALONE, ALONE]) as Uncertainty, {
    days,
    looks,
  });
}

/** The share of responses over equal models that show any pair at 5 %. */
export function shareShowingAny(
  scenario: EqualScenario,
  { simulations, seed, looks }: { simulations: number; seed: string; looks: Looks },
): number {
  const normal = createNormals(`${seed} ${JSON.stringify(scenario)}`);
  let wrong = 0;
  for (let count = 0; count < simulations; count += 1) {
    const series = Array.from({ length: scenario.models }, () => simulateDays(scenario, normal));
    const pValues = series.flatMap((one, index) =>
      series.slice(index + 1).map((other) =>
        pValueBetween(
          one.map((value, day) => value - (other[day] ?? NaN)),
          scenario.days,
          looks,
        ),
      ),
    );
    if (holm(pValues).some((pValue) => pValue < 0.05)) wrong += 1;
  }
  return wrong / simulations;
}

/** The shares of daily comparisons of two equal models that show one by each horizon. */
export function sharesShownBy(
  autocorrelation: number,
  { simulations, seed, looks }: { simulations: number; seed: string; looks: Looks },
): number[] {
  const days = Math.max(...horizons);
  const normal = createNormals(`${seed} daily ${autocorrelation}`);
  const firsts: number[] = [];
  for (let count = 0; count < simulations; count += 1) {
    const differences = simulateDays({ days, autocorrelation }, normal);
    let day = FIRST_LOOK;
    while (day <= days && !(pValueBetween(differences, day, looks) < 0.05)) day += 1;
    firsts.push(day);
  }
  return horizons.map((horizon) => firsts.filter((day) => day <= horizon).length / simulations);
}
