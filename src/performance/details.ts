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
import { reported, toDollars, type Money } from '../basics/money.ts';
import { reportDrawdown } from './report-returns.ts';
import { type Factors, reportStyle } from './style.ts';
import { type ModelTrading, noSymbolTrading, type OpenPosition, unrealisedOf } from './trading.ts';
import type { Database } from '../database/database.ts';
import { type Closing, closingsOf } from '../database/records/holdings.ts';
import type { LedgerDay } from '../database/records/performance.ts';
import type { CalendarDate } from '../basics/calendar.ts';

/**
 * By symbol: what the chosen days end with minus what they began with, in exact money; null where a
 * price is unknown.
 */
type ValueGains = ReadonlyMap<string, Money | null>;

/**
 * The profit on a symbol in the chosen days is the value of its shares at their closes, minus that
 * at the closes they started from, plus the cash that its actions brought in. So over all symbols
 * it adds up to the profit of these days, whether or not they are a whole chain. This is the part
 * without the cash. Where a day starts from a chosen one, the value in between cancels out and is
 * not read.
 */
export function readValueGains(
  database: Database,
  ledger: readonly LedgerDay[],
  chosen: ReadonlyMap<number, unknown>,
): ValueGains {
  const counts = boundaryCounts(ledger, chosen);
  const gains = new Map<string, Money | null>();
  const boundaries = [...counts].flatMap(([sessionId, count]) => (count === 0 ? [] : [sessionId]));
  for (const closing of closingsOf(database, boundaries))
    addClosing(gains, closing, counts.get(closing.sessionId) ?? 0);
  return gains;
}

/**
 * By session: how often its close is an end of a chosen day, minus how often it is the start of
 * one.
 */
export function boundaryCounts(
  ledger: readonly LedgerDay[],
  chosen: ReadonlyMap<number, unknown>,
): Map<number, number> {
  const counts = new Map<number, number>();
  const add = (sessionId: number, count: number) =>
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + count);
  for (const { sessionId, startedFrom } of ledger) {
    if (!chosen.has(sessionId)) continue;
    add(sessionId, 1);
    if (startedFrom !== null) add(startedFrom, -1);
  }
  return counts;
}

/** Adds what is held at a close to the gains, so many times. */
export function addClosing(
  gains: Map<string, Money | null>,
  { holdings }: Pick<Closing, 'holdings'>,
  count: number,
): void {
  for (const { symbol, quantity, price } of holdings) {
    const before = gains.get(symbol);
    gains.set(
      symbol,
      price === null || before === null ? null : reported((before ?? 0) + count * quantity * price),
    );
  }
}

/**
 * A portfolio at the close, named as in the response. A weight is a share of the portfolio's value,
 * so that the weights of cash and holdings add up to 1; there are none of a portfolio that is worth
 * nothing.
 */
export function reportClosing({ date, cash, value, holdings }: Closing) {
  const weightOf = (part: Money) => (value === 0 ? null : rounded(part / value));
  const valued = holdings.map(({ price, ...holding }) => {
    const own = price === null ? null : reported(holding.quantity * price);
    return { ...holding, price, value: own };
  });
  return {
    date,
    cash: toDollars(cash),
    value: toDollars(value),
    cash_weight: weightOf(cash),
    holdings: highestFirst(valued, 'value').map(({ symbol, quantity, price, value: own }) => ({
      symbol,
      quantity,
      price: price === null ? null : toDollars(price),
      value: own === null ? null : toDollars(own),
      weight: own === null ? null : weightOf(own),
    })),
  };
}

/** The highest first, equal ones by symbol; those of which it is unknown last. */
function highestFirst<
  Name extends string,
  Item extends { symbol: string } & Record<Name, number | null>,
>(items: readonly Item[], name: Name): Item[] {
  const orderOf = (item: Item) => item[name] ?? -Number.MAX_VALUE;
  return items.toSorted(
    (one, other) => orderOf(other) - orderOf(one) || (one.symbol < other.symbol ? -1 : 1),
  );
}

/** One symbol over some days; a weight that is unknown makes the sum and the highest NaN. */
interface HeldSymbol {
  days: number;
  first: CalendarDate;
  last: CalendarDate;
  sum: number;
  highest: number;
}

/**
 * What each symbol was in a portfolio over some days. The mean weight is over all days on which the
 * portfolio was worth something: on those without the symbol its weight is 0. It is null where one
 * of its weights is unknown.
 */
export function collectHeldSymbols() {
  const bySymbol = new Map<string, HeldSymbol>();
  let daysWithValue = 0;
  return {
    /** Adds a day; days come in order. */
    add({ date, value, holdings }: ReturnType<typeof reportClosing>) {
      if (value !== 0) daysWithValue += 1;
      for (const { symbol, weight } of holdings) {
        const unheld: HeldSymbol = { days: 0, first: date, last: date, sum: 0, highest: 0 };
        const held = bySymbol.get(symbol) ?? unheld;
        bySymbol.set(symbol, held);
        const own = value === 0 ? 0 : (weight ?? NaN);
        held.days += 1;
        held.last = date;
        held.sum += own;
        held.highest = Math.max(held.highest, own);
      }
    },
    /** Each symbol, the one with the highest mean weight first, named as in the response. */
    report: () =>
      highestFirst(
        [...bySymbol].map(([symbol, held]) => reportSymbol(symbol, held, daysWithValue)),
        'mean_weight',
      ),
  };
}

function reportSymbol(
  symbol: string,
  { days, first, last, sum, highest }: HeldSymbol,
  daysWithValue: number,
) {
  const isKnown = !Number.isNaN(sum) && daysWithValue > 0;
  return {
    symbol,
    days,
    first_date: first,
    last_date: last,
    mean_weight: isKnown ? rounded(sum / daysWithValue) : null,
    highest_weight: isKnown ? highest : null,
  };
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
export function histogramOf(numbers: readonly number[]) {
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
    /**
     * Ascending, one more than counts: bin i holds the numbers from edge i up to, but without, edge
     * i + 1. None without numbers.
     */
    edges: Array.from({ length: counts.length + 1 }, (_, index) =>
      rounded(((first + index) * width) / UNITS),
    ),
    /** How many numbers lie in each bin. */
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
interface DetailsInput {
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
  return {
    months: returnsBy(series, 'YYYY-MM').map(({ period: month, ...own }) => ({ month, ...own })),
    years: returnsBy(series, 'YYYY').map(({ period: year, ...own }) => ({ year, ...own })),
    drawdowns: deepestDrawdowns(series, MAX_LISTED_DRAWDOWNS).map(reportDrawdown),
    rolling: reportRolling(curve, series, riskFree),
    symbols: reportSymbols(rest),
    histogram: histogramOf(returnsOf(series)),
    style:
      factors &&
      reportStyle(
        curve.flatMap(({ date, startDate, dailyReturn }) =>
          dailyReturn === null ? [] : [{ date, startDate, dailyReturn }],
        ),
        factors,
        riskFree,
      ),
  };
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
