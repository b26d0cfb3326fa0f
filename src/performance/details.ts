import { reportFigures, ROLLING_WINDOW, rounded } from './figure.ts';
import {
  annualisedVolatility,
  type DayOfCurve,
  deepestDrawdowns,
  type ReturnSeries,
  returnsBy,
  returnsOf,
  seriesOf,
  sharpeRatio,
  tooFew,
} from './risk-and-return.ts';
import { reported, toDollars } from '../basics/money.ts';
import { reportDrawdown } from './report-returns.ts';
import { type DayReturn, type Factors, reportStyle } from './style.ts';
import { highestFirst, type ValueGains } from './symbols.ts';
import { type ModelTrading, noSymbolTrading, type OpenPosition, unrealisedOf } from './trading.ts';

/** How many numbers lie in each bin. */
export interface Histogram {
  /**
   * Ascending, one more than counts: bin i holds the numbers from edge i up to, but without, edge i
   * + 1. None without numbers.
   */
  edges: number[];
  counts: number[];
}

/** More bins than that are not seen as a shape. */
const MAX_BINS = 40;
/**
 * Numbers and edges are compared as whole numbers of the last decimal, so that none falls on the
 * wrong side of an edge.
 */
const UNITS = 1e10;

/**
 * A histogram with an edge at 0, so that no bin has gains and losses, and with a width of 1, 2 or 5
 * times a power of ten: the largest that is at most the width of `ruleOf`, or the next ones if
 * there were more than `MAX_BINS` bins. The numbers are those of the response, with ten decimals.
 */
export function histogramOf(numbers: readonly number[]): Histogram {
  const units = numbers
    .map((number) => Math.round(number * UNITS))
    .sort((one, other) => one - other);
  const [least, most] = [units[0], units.at(-1)];
  if (least === undefined || most === undefined) return { edges: [], counts: [] };
  const width = widthOf(units, { least, most });
  const first = Math.floor(least / width);
  const counts = Array.from({ length: Math.floor(most / width) - first + 1 }, () => 0);
  for (const unit of units) {
    const bin = Math.floor(unit / width) - first;
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return {
    edges: Array.from({ length: counts.length + 1 }, (_, index) =>
      rounded(((first + index) * width) / UNITS),
    ),
    counts,
  };
}

/** In units; `units` are in order. */
function widthOf(
  units: readonly number[],
  { least, most }: { least: number; most: number },
): number {
  const rule = ruleOf(units, most - least);
  for (let place = 0; ; place += 1) {
    const width = roundWidth(place);
    const bins = Math.floor(most / width) - Math.floor(least / width) + 1;
    if (roundWidth(place + 1) > rule && bins <= MAX_BINS) return width;
  }
}

/**
 * The lesser of 2 · IQR / ∛n (Freedman & Diaconis, On the Histogram as a Density Estimator,
 * Probability Theory and Related Fields, 1981) and of the range over log₂ n + 1 (Sturges, The
 * Choice of a Class Interval, JASA, 1926), as `bins='auto'` of NumPy: the first asks for too few
 * bins of a few numbers, the second of many. Without an IQR, the second.
 */
function ruleOf(units: readonly number[], range: number): number {
  const sturges = range / (Math.log2(units.length) + 1);
  const spread = quartile(units, 3) - quartile(units, 1);
  return spread === 0 ? sturges : Math.min((2 * spread) / Math.cbrt(units.length), sturges);
}

/** One basis point: of numbers that do not vary, there is one bin of it. */
const SMALLEST_WIDTH = 0.0001 * UNITS;
const DIGITS = [1, 2, 5] as const;

/** 1, 2, 5, 10, 20, … times the smallest. */
function roundWidth(place: number): number {
  return (
    SMALLEST_WIDTH * (DIGITS[place % DIGITS.length] ?? 1) * 10 ** Math.floor(place / DIGITS.length)
  );
}

/** Without interpolation: type 1 in Hyndman & Fan 1996. */
function quartile(sorted: readonly number[], number: 1 | 3): number {
  return sorted[Math.ceil((sorted.length * number) / 4) - 1] ?? NaN;
}

/** How many drawdowns the response lists. */
const MAX_LISTED_DRAWDOWNS = 5;

/** What the details of a model are made of. */
export interface DetailsInput {
  curve: readonly DayOfCurve[];
  series: ReturnSeries;
  /** Per day. */
  riskFree: number;
  trading: ModelTrading;
  positions: readonly OpenPosition[];
  gains: ValueGains;
  /** Null where none are stored. */
  factors: Factors | null;
}

/** The details of one model, named as in the response. */
export function reportDetails({ curve, series, riskFree, factors, ...rest }: DetailsInput) {
  const rolling = reportRolling(curve, series, riskFree);
  return {
    months: returnsBy(series, 'YYYY-MM').map(({ period, return: own, days }) => ({
      month: period,
      return: rounded(own),
      days,
    })),
    years: returnsBy(series, 'YYYY').map(({ period, return: own, days }) => ({
      year: period,
      return: rounded(own),
      days,
    })),
    drawdowns: deepestDrawdowns(series, MAX_LISTED_DRAWDOWNS).map(reportDrawdown),
    rolling,
    symbols: reportSymbols(rest),
    histogram: histogramOf(returnsOf(series)),
    style: factors && reportStyle(withReturn(curve), factors, riskFree),
  };
}

function withReturn(curve: readonly DayOfCurve[]): DayReturn[] {
  return curve.flatMap(({ date, startDate, dailyReturn }) =>
    dailyReturn === null ? [] : [{ date, startDate, dailyReturn }],
  );
}

/**
 * The figures of risk over the last `ROLLING_WINDOW` days with a return, by the formulas of the
 * whole period, for each day on which there are that many.
 */
function reportRolling(
  curve: readonly DayOfCurve[],
  { days: { length: count }, leastReturn }: Pick<ReturnSeries, 'days' | 'leastReturn'>,
  riskFree: number,
) {
  const days = curve.filter(({ dailyReturn }) => dailyReturn !== null);
  const points = days.slice(ROLLING_WINDOW - 1).map(({ date }, index) => {
    const series = seriesOf(days.slice(index, index + ROLLING_WINDOW), leastReturn);
    const figures = reportFigures({
      sharpe_ratio: sharpeRatio(series, riskFree),
      annualised_volatility: annualisedVolatility(series),
    });
    return { date, ...figures };
  });
  return {
    window: ROLLING_WINDOW,
    points,
    unavailable: points.length > 0 ? {} : { points: tooFew(count, ROLLING_WINDOW) },
  };
}

/**
 * Every symbol that the chosen days held or traded, the most profitable first; those without a
 * known profit last.
 */
function reportSymbols({
  trading,
  positions,
  gains,
}: Pick<DetailsInput, 'trading' | 'positions' | 'gains'>) {
  const held = positions.map(({ symbol }) => symbol);
  const symbols = new Set([...trading.symbols.keys(), ...gains.keys(), ...held]);
  const reports = [...symbols].map((symbol) => {
    const { trades, realised, dividends, cash } = trading.symbols.get(symbol) ?? noSymbolTrading();
    const gain = gains.get(symbol);
    return {
      symbol,
      trades,
      realised_profit: toDollars(realised),
      dividends: toDollars(dividends),
      ...reportFigures({
        unrealised_profit: unrealisedOf(positions.filter((own) => own.symbol === symbol)),
        profit:
          gain === null
            ? { reason: `The price of ${symbol} at a close of these days is unknown` }
            : toDollars(reported(cash + (gain ?? 0))),
      }),
    };
  });
  return highestFirst(reports, 'profit');
}
