import { type Money, reported, toDollars } from '../money.ts';
import { ROLLING_WINDOW } from './conventions.ts';
import { deepestDrawdowns } from './drawdown.ts';
import { type Figure, reportFigures, rounded } from './figure.ts';
import { histogramOf } from './histogram.ts';
import { monthlyReturns, yearlyReturns } from './linked.ts';
import { reportDrawdown } from './report-returns.ts';
import { type DayOfCurve, type ReturnSeries, returnsOf, tooFew } from './returns.ts';
import { rollingRisk } from './rolling.ts';
import type { ValueGains } from './symbol-profits.ts';
import {
  type ModelTrading,
  type OpenPosition,
  type SymbolTrading,
  noSymbolTrading,
} from './trading.ts';

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
}

/** The details of one model, named as in the response. */
export function reportDetails({ curve, series, riskFree, ...rest }: DetailsInput) {
  const rolling = reportRolling(curve, series, riskFree);
  return {
    months: monthlyReturns(series).map(({ period, totalReturn, days }) => ({
      month: period,
      return: rounded(totalReturn),
      days,
    })),
    years: yearlyReturns(series).map(({ period, totalReturn, days }) => ({
      year: period,
      return: rounded(totalReturn),
      days,
    })),
    drawdowns: deepestDrawdowns(series, MAX_LISTED_DRAWDOWNS).map(reportDrawdown),
    rolling,
    symbols: reportSymbols(rest),
    histogram: histogramOf(returnsOf(series)),
  };
}

function reportRolling(
  curve: readonly DayOfCurve[],
  { days, leastReturn }: ReturnSeries,
  riskFree: number,
) {
  const points = rollingRisk(curve, { leastReturn, riskFree });
  return {
    window: ROLLING_WINDOW,
    points: points.map(({ date, sharpeRatio, annualisedVolatility }) => ({
      date,
      ...reportFigures({ sharpe_ratio: sharpeRatio, annualised_volatility: annualisedVolatility }),
    })),
    unavailable: points.length > 0 ? {} : { points: tooFew(days.length, ROLLING_WINDOW) },
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
  const open = new Map(positions.map((position) => [position.symbol, position]));
  const symbols = new Set([...trading.symbols.keys(), ...gains.keys(), ...open.keys()]);
  return [...symbols]
    .map((symbol) => {
      const [own = noSymbolTrading(), gain = reported(0)] = [
        trading.symbols.get(symbol),
        gains.get(symbol),
      ];
      return reportSymbol(symbol, { own, position: open.get(symbol), gain });
    })
    .sort((one, other) => order(one.profit, other.profit) || (one.symbol < other.symbol ? -1 : 1));
}

function order(one: number | null, other: number | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return other - one;
}

function reportSymbol(
  symbol: string,
  {
    own,
    position,
    gain,
  }: { own: SymbolTrading; position: OpenPosition | undefined; gain: Money | null },
) {
  const { trades, realised, dividends, cash } = own;
  return {
    symbol,
    trades,
    realised_profit: toDollars(realised),
    dividends: toDollars(dividends),
    ...reportFigures({
      unrealised_profit: unrealisedOf(position),
      profit:
        gain === null
          ? { reason: `The price of ${symbol} at a close of these days is unknown` }
          : toDollars(reported(cash + gain)),
    }),
  };
}

function unrealisedOf(position: OpenPosition | undefined): Figure {
  if (position === undefined) return 0;
  const { symbol, value, cost } = position;
  return value === null
    ? { reason: `No price of ${symbol} is stored` }
    : toDollars(reported(value - cost));
}
