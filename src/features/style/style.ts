import type { CalendarDate, DateSpan } from '#time/calendar.ts';
import { invalidFilter } from '#domain/service-error.ts';
import { list } from '#text/sentences.ts';
import type { Reader } from '#database/database.ts';
import { factorNames, factorsBetween, RISK_FREE } from './queries.ts';
import { type Coefficient, fitPlane } from '../statistics/regression.ts';
import { studentTUpperTail } from '../statistics/distributions.ts';
import { rounded, TRADING_DAYS_PER_YEAR } from '../statistics/figure.ts';

/** Where a return came from: factors, and what is left. */

const DAYS_NEEDED = 60;
const DAYS_PER_FACTOR = 10;

/** A return from one close to another; from its open where there is none before. */
export interface DayReturn {
  date: CalendarDate;
  startDate: CalendarDate | null;
  dailyReturn: number;
}

export type StyleReport = ReturnType<typeof reportStyle>;

/** The factors that a request picks, with their returns. */
export type Factors = NonNullable<ReturnType<typeof readFactors>>;

/** Throws a `ServiceError` (`unknown_factor`) for a factor that is not stored. */
export function checkFactors(reader: Reader, picked: readonly string[] | undefined): void {
  if (picked === undefined) return;
  const known = factorNames(reader);
  const unknown = picked.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const name = JSON.stringify(unknown);
  throw invalidFilter(
    'factors',
    known.length === 0
      ? `${name} is not stored, nor is any other; import a file with import-factors first`
      : `${name} is not stored; stored factors: ${list(known)}`,
  );
}

/** The picked factors, or all that are stored; null without any. Their days are by date, in order. */
export function readFactors(reader: Reader, picked: readonly string[] | undefined, span: DateSpan) {
  const wanted = picked ?? factorNames(reader);
  if (wanted.length === 0) return null;
  const days = new Map<CalendarDate, Map<string, number>>();
  for (const { factor, date, value } of factorsBetween(reader, span))
    if (factor === RISK_FREE || wanted.includes(factor))
      days.set(date, (days.get(date) ?? new Map<string, number>()).set(factor, value));
  return { wanted, isPicked: picked !== undefined, days };
}

/** A factor with fewer of the days would cost the others those that it lacks. */
const LEAST_COVERAGE = 0.95;

/** The picked factors, or those that have enough of the returns' dates: of the one with the most. */
function chooseFactors(
  returns: readonly DayReturn[],
  { wanted, isPicked, days }: Factors,
): string[] {
  const counts = wanted.map(
    (name) => returns.filter(({ date }) => days.get(date)?.has(name)).length,
  );
  const least = LEAST_COVERAGE * Math.max(...counts);
  return wanted.filter((_name, index) => isPicked || Number(counts[index]) >= least);
}

const NO_STYLE = {
  factors: [],
  alpha: null,
  alpha_standard_error: null,
  alpha_p_value: null,
  alpha_contribution: null,
  r_squared: null,
};

/**
 * The style of returns: unless factors are picked, one that is the same on all of the days is left
 * out, so that it does not take the others from every model.
 */
export function reportStyle(returns: readonly DayReturn[], factors: Factors, riskFree: number) {
  const still: string[] = [];
  const { wanted, isPicked } = factors;
  for (;;) {
    const varying = wanted.filter((name) => !still.includes(name));
    const { constant, ...style } = fitStyle(returns, { ...factors, wanted: varying }, riskFree);
    if (constant !== null && !isPicked && varying.length > 1) still.push(constant);
    else return { ...style, left_out_factors: [...still, ...style.left_out_factors].sort() };
  }
}

/**
 * Ordinary least squares of the returns above the risk-free one on the factors, with the errors of
 * `fitPlane`. `riskFree` is per day, for days of which the factors' file has none. `constant` is a
 * factor that does not vary.
 */
function fitStyle(returns: readonly DayReturn[], factors: Factors, riskFree: number) {
  const { wanted, days } = factors;
  const names = chooseFactors(returns, factors);
  const counted = [...names, RISK_FREE];
  const dates = [...days].flatMap(([date, day]) =>
    counted.some((one) => day.has(one)) ? date : [],
  );
  const rows = returns.map((day) => ({
    ...day,
    row: regressionRow(day, { names, days, dates, riskFree }),
  }));
  const used = rows.flatMap(({ row }) => row ?? []);
  const left = rows.filter(({ row }) => row === null).map(({ date }) => date);
  const counts = {
    days: used.length,
    left_out_factors: wanted.filter((name) => !names.includes(name)),
    left_out_days: { count: left.length, first: left[0] ?? null, last: left.at(-1) ?? null },
  };
  const needed = Math.max(DAYS_NEEDED, DAYS_PER_FACTOR * (names.length + 1));
  const columns = names.map((_name, index) =>
    Float64Array.from(used, ({ factors }) => factors[index] ?? NaN),
  );
  const y = Float64Array.from(used, ({ excess }) => excess);
  const tooFew =
    used.length < needed &&
    `Needs ${needed} days with a return and every factor; it has ${used.length}`;
  const still = columns.findIndex((column) => column.every((value) => value === column[0]));
  const fitted = tooFew || still !== -1 ? null : fitPlane(columns, y);
  if (fitted === null) {
    const words =
      still === -1
        ? `The factors ${list(names)} depend on each other`
        : `The factor ${names[still]} does not vary`;
    const constant = used.length < DAYS_NEEDED ? null : (names[still] ?? null);
    return { ...NO_STYLE, ...counts, unavailable: tooFew || words, constant };
  }
  const pValue = ({ value, standardError }: Coefficient) =>
    rounded(2 * studentTUpperTail(Math.abs(value / standardError), used.length - names.length - 1));
  const sum = (column: Float64Array) => column.reduce((total, value) => total + value, 0);
  const { intercept, slopes, rSquared } = fitted;
  const contributions = slopes.map(({ value }, index) => value * sum(columns[index] ?? y));
  const rest = sum(y) - contributions.reduce((total, one) => total + one, 0);
  return {
    factors: slopes.map((slope, index) => ({
      factor: names[index] ?? '',
      beta: rounded(slope.value),
      standard_error: rounded(slope.standardError),
      p_value: pValue(slope),
      contribution: contributions[index] ?? NaN,
    })),
    alpha: rounded(intercept.value * TRADING_DAYS_PER_YEAR),
    alpha_standard_error: rounded(intercept.standardError * TRADING_DAYS_PER_YEAR),
    alpha_p_value: pValue(intercept),
    alpha_contribution: rest,
    r_squared: rounded(rSquared),
    ...counts,
    unavailable: null,
    constant: null,
  };
}

/**
 * The factors over the days of a return, compounded where it covers several, and the return above
 * the risk-free one; null where a factor of one of its days is not stored.
 */
function regressionRow(
  { date, startDate, dailyReturn }: DayReturn,
  {
    names,
    days,
    dates,
    riskFree,
  }: Pick<Factors, 'days'> & { names: string[]; dates: readonly CalendarDate[]; riskFree: number },
) {
  if (!days.has(date)) return null;
  const own = startDate === null ? [date] : dates.filter((one) => one > startDate && one <= date);
  const compounded = (returnOf: (day: ReadonlyMap<string, number> | undefined) => number) =>
    own.reduce((growth, one) => growth * (1 + returnOf(days.get(one))), 1) - 1;
  const factors = names.map((name) => compounded((day) => day?.get(name) ?? NaN));
  if (factors.some(Number.isNaN)) return null;
  const free = compounded((day) => day?.get(RISK_FREE) ?? riskFree);
  return { factors, excess: dailyReturn - free };
}
