import {
  type Interval,
  intervalOf,
  lagsFor,
  measureUncertainty,
  type Uncertainty,
} from '../../src/comparison/difference.ts';
import type { ComparedModel } from '../../src/comparison/participants.ts';
import { mean, sampleVariance } from '../../src/statistics/moments.ts';
import { createNormals } from '../../src/statistics/random.ts';
import { studentTQuantile } from '../../src/statistics/student-t.ts';

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

/** Models that are equal but for chance, as the service compares them. */
export function equalModels(
  count: number,
  scenario: Scenario,
  seed: string,
): ComparedModel<number>[] {
  const normal = createNormals(seed);
  return Array.from({ length: count }, (_, index) => ({
    model: `model-${index}`,
    isDeterministic: false,
    unusable: null,
    runs: simulateRuns(scenario, 0, normal).map((logReturns, run) => ({
      run: `model-${index}#${run + 1}`,
      returns: Array.from(logReturns, (value, day): [number, number] => [day, Math.expm1(value)]),
    })),
  }));
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
   * With fewer degrees of freedom of the days: the same variance, but not treated as if its D − 1
   * deviations were independent.
   */
  coveredWithFewer: number;
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
  { simulations, seed }: { simulations: number; seed: string },
): Coverage {
  const normal = createNormals(`${seed} ${JSON.stringify(scenario)}`);
  const { difference = 0, days } = scenario;
  const truth = Math.expm1(days * difference);
  let [covered, coveredWithFewer, naive, shown] = [0, 0, 0, 0];
  for (let count = 0; count < simulations; count += 1) {
    const [one, other] = [simulate(scenario, difference, normal), simulate(scenario, 0, normal)];
    const between = differenceOf(one, other);
    const own = intervalBetween(between, days);
    if (isIn(own, truth)) covered += 1;
    if (isIn(intervalBetween(withFewerDegrees(between, days), days), truth)) coveredWithFewer += 1;
    if (own.low > 0 || own.high < 0) shown += 1;
    if (scenario.runs > 1 && isInNaiveInterval(one, other, difference)) naive += 1;
  }
  return {
    covered: covered / simulations,
    coveredWithFewer: coveredWithFewer / simulations,
    naive: scenario.runs > 1 ? naive / simulations : NaN,
    shown: shown / simulations,
  };
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

function intervalBetween({ mean: middle, uncertainty }: Difference, days: number): Interval {
  return intervalOf(middle, uncertainty, { days, confidence: 0.95 }) as Interval;
}

/**
 * The same difference with D / (1 + 2 Σ (1 − k/(L+1))²) − 1 degrees of freedom for the days instead
 * of D − 1: a variance that is estimated with weights over L lags is as uncertain as one from so
 * many independent days (the equivalent degrees of freedom of a spectral window at frequency 0,
 * Priestley, Spectral Analysis and Time Series, 1981).
 */
function withFewerDegrees({ mean: middle, uncertainty }: Difference, days: number): Difference {
  const { ofDays, total, degreesOfFreedom } = uncertainty;
  const ofRuns = total ** 2 / degreesOfFreedom - ofDays ** 2 / (days - 1);
  return {
    mean: middle,
    uncertainty: {
      ...uncertainty,
      degreesOfFreedom: total ** 2 / (ofDays ** 2 / fewerDegrees(days) + ofRuns),
    },
  };
}

export function fewerDegrees(days: number): number {
  const lags = lagsFor(days);
  let weights = 1;
  for (let lag = 1; lag <= lags; lag += 1) weights += 2 * (1 - lag / (lags + 1)) ** 2;
  return days / weights - 1;
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
