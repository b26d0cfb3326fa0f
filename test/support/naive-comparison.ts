/**
 * The figures of a comparison a second time, the slow and simple way, by definition. It shares no
 * formula with the service: variances come from the products of all pairs of days or of runs, tails
 * of distributions from numerical integration.
 */

/** By model: by run: by day. */
export type NaiveModels = Record<string, Record<string, ReadonlyMap<number, number>>>;

export function naiveComparison(models: NaiveModels) {
  const runs = Object.values(models).flatMap((own) => Object.values(own));
  const startOf = (run: ReadonlyMap<number, number>, day: number) =>
    Math.max(0, ...[...run.keys()].filter((own) => own < day));
  const days = [...new Set(runs.flatMap((run) => [...run.keys()]))].filter(
    (day) =>
      runs.every((run) => run.has(day)) && new Set(runs.map((run) => startOf(run, day))).size === 1,
  );
  days.sort((one, other) => one - other);
  const logs = (run: ReadonlyMap<number, number>) =>
    days.map((day) => Math.log(1 + (run.get(day) as number)));
  const series = Object.entries(models).map(([model, own]) => {
    const each = Object.values(own).map(logs);
    return {
      model,
      daily: days.map((_, day) => average(each.map((run) => run[day] as number))),
      growths: days.map((day) =>
        geometricMean(Object.values(own).map((run) => 1 + (run.get(day) as number))),
      ),
      ofRuns: allPairsVariance(each.map(average)) / each.length,
      runs: each.length,
    };
  });
  const names = series.map(({ model }) => model);
  const of = (name: string) => series[names.indexOf(name)] as NaiveSeries;
  return {
    days,
    model: (name: string) => naiveEstimate([of(name)]),
    pair: (one: string, other: string) => naiveEstimate([of(one), of(other)]),
    correlation: (one: string, other: string) => naiveCorrelation(of(one).daily, of(other).daily),
    curve: (one: string, other: string) => naiveCurve(of(one).growths, of(other).growths),
    sharpeRatio: (name: string) => naiveSharpe(of(name).daily),
  };
}

interface NaiveSeries {
  daily: number[];
  /** The geometric mean of the runs' 1 + daily return. */
  growths: number[];
  ofRuns: number;
  runs: number;
}

/** Of one series, or of the difference of two. */
function naiveEstimate(series: readonly NaiveSeries[]) {
  const [first, second] = series as [NaiveSeries, NaiveSeries?];
  const daily = first.daily.map((value, day) => value - (second?.daily[day] ?? 0));
  const ofDays = naiveVarianceOfMean(daily);
  const ofRuns = series.reduce((sum, one) => sum + one.ofRuns, 0);
  const parts = [{ variance: ofDays, freedom: naiveFreedom(daily.length) }];
  for (const one of series)
    if (one.runs > 1) parts.push({ variance: one.ofRuns, freedom: one.runs - 1 });
  const variance = ofDays + ofRuns;
  const denominator = parts.reduce(
    (sum, part) => sum + (part.variance * part.variance) / part.freedom,
    0,
  );
  const degreesOfFreedom = (variance * variance) / denominator;
  const mean = average(daily);
  return {
    mean,
    variance,
    degreesOfFreedom,
    ofRuns,
    growth: Math.exp(daily.reduce((sum, value) => sum + value, 0)) - 1,
    pValue: naiveTwoSidedP(Math.abs(mean) / Math.sqrt(variance), degreesOfFreedom),
  };
}

/** D over the sum of the squared weights of all lags, before and after, less one. */
function naiveFreedom(days: number): number {
  const lags = Math.floor(4 * (days / 100) ** (2 / 9));
  let squares = 0;
  for (let lag = -lags; lag <= lags; lag += 1)
    squares += ((lags + 1 - Math.abs(lag)) / (lags + 1)) ** 2;
  return days / squares - 1;
}

/**
 * Sums of two series vary more than their differences as far as both move together: var(x + y) −
 * var(x − y) = 4 cov(x, y).
 */
function naiveCorrelation(one: readonly number[], other: readonly number[]): number {
  const sums = one.map((value, day) => value + (other[day] as number));
  const differences = one.map((value, day) => value - (other[day] as number));
  const covariance = (spread(sums) - spread(differences)) / 4;
  return covariance / Math.sqrt(spread(one) * spread(other));
}

function spread(numbers: readonly number[]): number {
  return allPairsVariance(numbers) * numbers.length;
}

/**
 * After each day, the value of a dollar in the first model divided by that of a dollar in the
 * second.
 */
function naiveCurve(one: readonly number[], other: readonly number[]): number[] {
  const grown = (growths: readonly number[], day: number) =>
    growths.slice(0, day + 1).reduce((value, growth) => value * growth, 1);
  return one.map((_, day) => grown(one, day) / grown(other, day) - 1);
}

function geometricMean(numbers: readonly number[]): number {
  return numbers.reduce((product, number) => product * number, 1) ** (1 / numbers.length);
}

/**
 * A matrix of weights between all days: 1 on the diagonal, falling in a straight line to 0 beyond
 * the last lag.
 */
export function naiveVarianceOfMean(daily: readonly number[]): number {
  const count = daily.length;
  let lags = 0;
  while (100 * ((lags + 1) / 4) ** 4.5 <= count * (1 + 1e-12)) lags += 1;
  const middle = average(daily);
  let sum = 0;
  for (const [day, one] of daily.entries())
    for (const [other, two] of daily.entries())
      sum += Math.max(0, 1 - Math.abs(day - other) / (lags + 1)) * (one - middle) * (two - middle);
  return sum / count / (count - 1);
}

/** From the squared differences of all pairs. */
function allPairsVariance(numbers: readonly number[]): number {
  if (numbers.length === 1) return 0;
  let sum = 0;
  for (const one of numbers) for (const other of numbers) sum += (one - other) ** 2;
  return sum / 2 / numbers.length / (numbers.length - 1);
}

function naiveSharpe(daily: readonly number[]) {
  const count = daily.length;
  const ratio = average(daily) / Math.sqrt(allPairsVariance(daily));
  const middle = average(daily);
  const scale = Math.sqrt(average(daily.map((value) => (value - middle) ** 2)));
  const skewness = average(daily.map((value) => ((value - middle) / scale) ** 3));
  const kurtosis = average(daily.map((value) => ((value - middle) / scale) ** 4));
  const spread = Math.sqrt(1 - skewness * ratio + ((kurtosis - 1) / 4) * ratio * ratio);
  return { ratio, probability: naiveNormalCdf((ratio * Math.sqrt(count - 1)) / spread) };
}

/**
 * With t = √ν·tan θ the density becomes cos^(ν−1) θ: a quotient of two integrals, without any gamma
 * function.
 */
export function naiveTwoSidedP(t: number, degreesOfFreedom: number): number {
  // From the end at 90 degrees, by cubes, so that the integrand is smooth there for any ν from 1
  // on.
  const integrand = (root: number) =>
    3 * root * root * Math.sin(root ** 3) ** (degreesOfFreedom - 1);
  const end = Math.atan(Math.sqrt(degreesOfFreedom) / t);
  return integral(integrand, Math.cbrt(end)) / integral(integrand, Math.cbrt(Math.PI / 2));
}

export function naiveNormalCdf(z: number): number {
  const density = (x: number) => Math.exp(-(x * x) / 2) / Math.sqrt(2 * Math.PI);
  return 0.5 + Math.sign(z) * integral(density, Math.min(Math.abs(z), 40));
}

/** From 0 to an end, by Simpson's rule. */
function integral(integrand: (x: number) => number, end: number): number {
  const steps = 4000;
  const width = end / steps;
  let sum = integrand(0) + integrand(end);
  for (let step = 1; step < steps; step += 1)
    sum += (step % 2 === 1 ? 4 : 2) * integrand(step * width);
  return (sum * width) / 3;
}

/**
 * Each adjusted p-value by definition: the largest over all that are at most as large, of p times
 * how many are at least as large.
 */
export function naiveHolm(pValues: readonly number[]): number[] {
  return pValues.map((own) => {
    const candidates = pValues.filter((other) => other <= own);
    return Math.min(
      1,
      Math.max(...candidates.map((p) => p * pValues.filter((other) => other >= p).length)),
    );
  });
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
