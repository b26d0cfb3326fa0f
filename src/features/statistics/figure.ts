/** Feature: the statistics that figures and comparisons are made of. */

/** A figure, or the reason why there is none. Missing data never becomes 0 or infinity. */
export type Figure = number | { reason: string };

/** Beyond any figure of daily returns of a billion dollars. */
const DECIMALS = 10;

/** Figures by name, null where missing, with the reasons for the nulls. */
type ReportedFigures<Name extends string> = Record<Name, number | null> & {
  unavailable: Partial<Record<Name, string>>;
};

export const TOO_LARGE = { reason: 'The figure is too large for a number' };

export function reportFigures<Name extends string>(
  figures: Record<Name, Figure>,
  round: (number: number) => number = rounded,
): ReportedFigures<Name> {
  const numbers: Record<string, number | null> = {};
  const unavailable: Record<string, string> = {};
  for (const [name, given] of Object.entries<Figure>(figures)) {
    // JSON has no infinity: it would become a null without a reason.
    const figure = typeof given === 'number' && !Number.isFinite(given) ? TOO_LARGE : given;
    numbers[name] = typeof figure === 'number' ? round(figure) : null;
    if (typeof figure !== 'number') unavailable[name] = figure.reason;
  }
  return { ...numbers, unavailable } as ReportedFigures<Name>;
}

/** Figures that are all missing for one reason. */
export function allMissing<Name extends string>(
  names: readonly Name[],
  reason: string,
): Record<Name, Figure> {
  return Object.fromEntries(names.map((name) => [name, { reason }])) as Record<Name, Figure>;
}

export function rounded(number: number): number {
  const scale = 10 ** DECIMALS;
  if (Math.abs(number) >= Number.MAX_SAFE_INTEGER / scale) return number;
  return Math.round(number * scale) / scale + 0; // no -0
}

/** `dividend / divisor`, or the reason when the divisor is not above 0. */
export function ratio(dividend: Figure, divisor: Figure, reason: string): Figure {
  if (typeof dividend !== 'number') return dividend;
  if (typeof divisor !== 'number') return divisor;
  if (divisor === Infinity) return TOO_LARGE;
  return divisor > 0 ? dividend / divisor : { reason };
}

/** Applies `transform` to a figure; a missing one keeps its reason. */
export function mapFigure(figure: Figure, transform: (number: number) => number): Figure {
  return typeof figure === 'number' ? transform(figure) : figure;
}

/** The conventions of all figures. GET /performance reports every number here. */

/** A period is one model-day; a year has this many. */
export const TRADING_DAYS_PER_YEAR = 252;
/**
 * A return over less than a year is not annualised, because that would predict the rest of the year
 * (CFA Institute, Global Investment Performance Standards: returns for periods of less than one
 * year must not be annualised).
 */
export const MIN_DAYS_FOR_ANNUAL_RETURN = TRADING_DAYS_PER_YEAR;
/** About a month. Value at risk is the worst twentieth of the days: at least one day in twenty. */
export const MIN_DAYS_FOR_RISK = 20;
/**
 * With model-days on a smaller fraction of weekdays, a model-day is not one day of the market, and
 * 252 of them are not a year.
 */
export const MIN_SHARE_OF_WEEKDAYS = 2 / 3;
/**
 * Without a bar a benchmark is worth its last close for this many calendar days, like a suspended
 * share; two weeks exceed any exchange's holidays. After that it has no return, and a symbol leaves
 * the universe, until its next bar.
 */
export const MAX_STILL_DAYS = 14;
/** Relative differences up to this are floating-point rounding, not risk. */
export const ROUNDING = 1e-12;

/**
 * The smallest return that is not rounding for a series without a ledger, such as a benchmark:
 * 1/10000 dollar of 10,000 dollars. For a model it is 1/10000 dollar of its portfolio's value.
 */
export const LEAST_RETURN = 1e-8;

/** The yearly risk-free rate per trading day, compounded: (1 + yearly)^(1/252) - 1. */
export function dailyRate(yearlyRate: number): number {
  return (1 + yearlyRate) ** (1 / TRADING_DAYS_PER_YEAR) - 1;
}
