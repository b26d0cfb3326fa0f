import { reportFigures, rounded } from '../statistics/figure.ts';
import {
  type CurveDay,
  deepestDrawdowns,
  type ReturnSeries,
  returnsBy,
} from './risk-and-return.ts';
import { asMoney, toDollars, type Money } from '#money/money.ts';
import { reportDrawdown } from './report-returns.ts';
import { type Factors, reportStyle } from '../style/style.ts';
import {
  type ModelTrading,
  noSymbolTrading,
  type OpenPosition,
  unrealisedProfit,
} from './trading.ts';
import type { Database } from '#database/database.ts';
import { type Closing, readClosings } from './holdings-queries.ts';
import type { LedgerDay } from './queries.ts';
import type { CalendarDate } from '#time/calendar.ts';

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
  for (const closing of readClosings(database, boundaries))
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
      price === null || before === null ? null : asMoney((before ?? 0) + count * quantity * price),
    );
  }
}

/**
 * A portfolio at the close, named as in the response. A weight is a share of the portfolio's value,
 * so that the weights of cash and holdings add up to 1; there are none of a portfolio that is worth
 * nothing.
 */
export function reportClosing({ date, cash, value, holdings }: Closing) {
  const portfolioWeight = (part: Money) => (value === 0 ? null : rounded(part / value));
  const valued = holdings.map(({ symbol, quantity, price }) => {
    if (price === null) return { symbol, quantity, price, value: null, weight: null };
    const own = asMoney(quantity * price);
    const weight = portfolioWeight(own);
    return { symbol, quantity, price: toDollars(price), value: toDollars(own), weight };
  });
  return {
    date,
    cash: toDollars(cash),
    value: toDollars(value),
    cash_weight: portfolioWeight(cash),
    holdings: sortDescending(valued, 'value'),
  };
}

/** The highest first, equal ones by symbol; those of which it is unknown last. */
function sortDescending<
  Name extends string,
  Item extends { symbol: string } & Record<Name, number | null>,
>(items: readonly Item[], name: Name): Item[] {
  const sortKey = (item: Item) => item[name] ?? -Number.MAX_VALUE;
  return items.toSorted(
    (one, other) => sortKey(other) - sortKey(one) || (one.symbol < other.symbol ? -1 : 1),
  );
}

/**
 * One symbol over some days, in sums: the days themselves are streamed, and may be many. A weight
 * that is unknown makes the sum and the highest NaN.
 */
interface SymbolHolding {
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
  const bySymbol = new Map<string, SymbolHolding>();
  let daysWithValue = 0;
  return {
    /** Adds a day; days come in order. */
    add({ date, value, holdings }: ReturnType<typeof reportClosing>) {
      if (value !== 0) daysWithValue += 1;
      for (const { symbol, weight } of holdings) {
        const unheld = { days: 0, first: date, last: date, sum: 0, highest: 0 };
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
    report() {
      const symbols = [...bySymbol].map(([symbol, { days, first, last, sum, highest }]) => {
        const isKnown = !Number.isNaN(sum) && daysWithValue > 0;
        return {
          symbol,
          days,
          first_date: first,
          last_date: last,
          mean_weight: isKnown ? rounded(sum / daysWithValue) : null,
          highest_weight: isKnown ? highest : null,
        };
      });
      return sortDescending(symbols, 'mean_weight');
    },
  };
}

/** How many drawdowns the response lists. */
const MAX_LISTED_DRAWDOWNS = 5;

/** What the details of a model are made of. */
interface DetailsInput {
  curve: readonly CurveDay[];
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
    symbols: reportSymbols(rest),
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
        unrealised_profit: unrealisedProfit(positions.filter((own) => own.symbol === symbol)),
        profit:
          gain === null
            ? { reason: `The price of ${symbol} at a close of these days is unknown` }
            : toDollars(asMoney(cash + (gain ?? 0))),
      }),
    };
  });
  return sortDescending(reports, 'profit');
}
