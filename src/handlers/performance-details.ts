import * as v from 'valibot';
import { countSchema as count, dateText, figure, named, unavailable } from './schemas.ts';

/** The details of a model in the response of GET /performance. */

export const drawdown = named('Drawdown', {
  depth: v.number(),
  peak_date: v.nullable(dateText),
  trough_date: v.nullable(dateText),
  recovery_date: v.nullable(dateText),
  length: count,
});

export const modelDetails = named('ModelDetails', {
  /** Months and years in which a day has a return, in order. */
  months: v.array(named('MonthReturn', { month: v.string(), return: v.number(), days: count })),
  years: v.array(named('YearReturn', { year: v.string(), return: v.number(), days: count })),
  /** The five deepest, the deepest first. */
  drawdowns: v.array(drawdown),
  rolling: named('RollingFigures', {
    /** In days with a return. */
    window: count,
    points: v.array(
      named('RollingPoint', {
        date: dateText,
        sharpe_ratio: figure,
        annualised_volatility: figure,
        unavailable,
      }),
    ),
    unavailable,
  }),
  /** Every symbol held or traded, by profit; those without a known profit last. */
  symbols: v.array(
    named('SymbolProfit', {
      symbol: v.string(),
      trades: count,
      realised_profit: v.number(),
      dividends: v.number(),
      unrealised_profit: figure,
      profit: figure,
      unavailable,
    }),
  ),
  /** Bin i counts the daily returns from edge i up to, but without, edge i + 1. */
  histogram: named('Histogram', { edges: v.array(v.number()), counts: v.array(count) }),
});
