import * as v from 'valibot';
import { outsideKinds } from '#domain/vocabulary.ts';
import {
  countSchema as count,
  dateText,
  namedResponse,
  figure,
  named,
  namedRecord,
  studyField,
  unavailable,
  usageEntries,
  nullableDate,
  nullableText,
} from '#api/schemas.ts';
import { suspectedKinds } from '#database/suspicion-queries.ts';
import { incomparabilityKinds } from './comparability.ts';
import { dividendStatuses } from './report.ts';

/** The details of a model in the response of GET /performance. */

const drawdown = named('Drawdown', {
  depth: v.number(),
  peak_date: nullableDate,
  trough_date: nullableDate,
  recovery_date: nullableDate,
  length: count,
});

const style = named('Style', {
  factors: v.array(
    named('StyleFactor', {
      factor: v.string(),
      beta: v.number(),
      standard_error: v.number(),
      p_value: v.number(),
      contribution: v.number(),
    }),
  ),
  alpha: figure,
  alpha_standard_error: figure,
  alpha_p_value: figure,
  alpha_contribution: figure,
  r_squared: figure,
  days: count,
  left_out_factors: v.array(v.string()),
  left_out_days: named('LeftOutDays', {
    count,
    first: nullableDate,
    last: nullableDate,
  }),
  unavailable: nullableText,
});

const modelDetails = named('ModelDetails', {
  months: v.array(named('MonthReturn', { month: v.string(), return: v.number(), days: count })),
  years: v.array(named('YearReturn', { year: v.string(), return: v.number(), days: count })),
  drawdowns: v.array(drawdown),
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
  style: v.nullable(style),
  cost_sensitivity: v.array(
    named('CostSensitivity', { basis_points: v.number(), total_return: v.number() }),
  ),
  break_even_bps: figure,
  unavailable,
});

/** The response of GET /performance. */

const dividendStatus = v.pipe(v.picklist(dividendStatuses), v.title('DividendStatus'));

const day = v.nullable(named('DayReturn', { date: dateText, daily_return: v.number() }));

const returnEntries = {
  total_return: figure,
  annualised_return: figure,
  annualised_volatility: figure,
  sharpe_ratio: figure,
  sortino_ratio: figure,
  calmar_ratio: figure,
  value_at_risk_95: figure,
  expected_shortfall_95: figure,
  skewness: figure,
  kurtosis: figure,
  winning_days_share: figure,
  unavailable,
  max_drawdown: drawdown,
  longest_winning_run: count,
  longest_losing_run: count,
  best_day: day,
  worst_day: day,
};

const relative = named('RelativeFigures', {
  days: count,
  benchmark_return: figure,
  excess_return: figure,
  alpha: figure,
  alpha_standard_error: figure,
  alpha_p_value: figure,
  beta: figure,
  beta_standard_error: figure,
  correlation: figure,
  tracking_error: figure,
  information_ratio: figure,
  unavailable,
});

const trading = named('TradingFigures', {
  trades: count,
  refused_orders: count,
  malformed_calls: count,
  refused_answers: count,
  bought: v.number(),
  sold: v.number(),
  commission: v.number(),
  realised_profit: figure,
  unrealised_profit: figure,
  exposure: figure,
  turnover: figure,
  unavailable,
});

const roundTrips = named('RoundTrips', {
  count,
  profit: v.number(),
  win_rate: figure,
  profit_factor: figure,
  average_win: figure,
  average_loss: figure,
  expectancy: figure,
  payoff_ratio: figure,
  mean_holding_days: figure,
  unavailable,
  latest: v.array(
    named('RoundTrip', {
      symbol: v.string(),
      quantity: v.number(),
      buy_date: dateText,
      sell_date: dateText,
      cost: v.number(),
      proceeds: v.number(),
      profit: v.number(),
      holding_days: count,
    }),
  ),
});

const openPositions = v.array(
  named('OpenPosition', {
    symbol: v.string(),
    quantity: v.number(),
    since: dateText,
    cost_basis: v.number(),
    value: figure,
    unrealised_profit: figure,
  }),
);

const usage = named('Usage', {
  ...usageEntries,
  model_days_without_cost: count,
  cost_usd: figure,
  profit_per_cost_usd: figure,
  unavailable,
});

/** A respect in which a model is not comparable with the others, for machines and for people. */
export const incomparability = named('Incomparability', {
  kind: v.pipe(v.picklist(incomparabilityKinds), v.title('IncomparabilityKind')),
  reason: v.string(),
});

const leftOutModel = named('LeftOutModel', { model: v.string(), reason: v.string() });

/**
 * Not empty for an agent of the user's, which has a network of its own and may look up the future.
 */
export const outside = v.array(v.picklist(outsideKinds));

export const performanceResponse = namedResponse('PerformanceResponse', {
  models: v.array(
    named('ModelPerformance', {
      model: v.string(),
      family: v.string(),
      study: studyField,
      knowledge_cutoff: nullableDate,
      days_before_cutoff: count,
      outside,
      start_date: dateText,
      end_date: dateText,
      model_days: count,
      failed_model_days: count,
      stale_model_days: count,
      model_days_without_dividends: count,
      model_days_with_unknown_dividends: count,
      suspected: v.array(
        named('Suspected', {
          kind: v.picklist(suspectedKinds),
          symbol: v.string(),
          date: dateText,
          from: v.number(),
          to: v.nullable(v.number()),
          model_days: count,
        }),
      ),
      incomparable: v.array(incomparability),
      currency: v.string(),
      initial_cash: v.nullable(v.pipe(v.number(), v.minValue(0))),
      no_trading_costs: v.boolean(),
      start_value: v.number(),
      end_value: v.number(),
      profit: v.number(),
      dividends: v.number(),
      ...returnEntries,
      relative,
      trading,
      round_trips: roundTrips,
      open_positions: openPositions,
      usage,
      curve: v.array(
        named('CurvePoint', {
          date: dateText,
          value: v.number(),
          daily_return: figure,
          stale: v.boolean(),
          dividends: v.number(),
          dividend_status: dividendStatus,
          growth: v.number(),
          drawdown: v.number(),
        }),
      ),
      details: v.nullable(modelDetails),
    }),
  ),
  count,
  clean_after: nullableDate,
  without_clean_days: v.array(leftOutModel),
  without_completed_days: v.array(leftOutModel),
  common: v.nullable(
    named('CommonDays', {
      start_date: nullableDate,
      end_date: nullableDate,
      days: count,
      left_out: v.array(leftOutModel),
      left_out_days: v.array(
        named('PartlyCommonDay', { date: dateText, missing: count, models: v.array(v.string()) }),
      ),
    }),
  ),
  incomparable: v.array(
    named('IncomparableModel', { model: v.string(), ...incomparability.entries }),
  ),
  families: v.array(
    named('Family', {
      family: v.string(),
      runs: v.array(
        named('FamilyRun', { model: v.string(), model_days: count, total_return: figure }),
      ),
      mean_total_return: figure,
      total_return_deviation: figure,
      lowest_total_return: figure,
      highest_total_return: figure,
      unavailable,
      curve: v.optional(
        v.array(
          named('FamilyPoint', {
            date: dateText,
            growth: v.number(),
            low: v.number(),
            high: v.number(),
          }),
        ),
      ),
      details: v.optional(named('FamilyDetails', { style: v.nullable(style) })),
    }),
  ),
  benchmark: named('Benchmark', {
    name: v.string(),
    symbols: count,
    start_date: nullableDate,
    days: count,
    days_without_dividends: count,
    days_with_unknown_dividends: count,
    incomplete: nullableText,
    ...returnEntries,
    curve: v.array(
      named('BenchmarkPoint', {
        date: dateText,
        value: v.number(),
        daily_return: v.number(),
        dividend_status: dividendStatus,
      }),
    ),
  }),
  conventions: named('Conventions', {
    period: v.string(),
    fractions: v.string(),
    factors: v.array(v.string()),
    trading_days_per_year: count,
    deviation: v.string(),
    risk_free_rate: v.number(),
    risk_free_rate_daily: v.number(),
    min_days_for_annual_return: count,
    min_days_for_risk: count,
    min_share_of_weekdays: v.number(),
    dividends: v.string(),
    universe_benchmark: v.string(),
    benchmark_gaps: v.string(),
    survivorship: v.string(),
    adjusted_prices: v.string(),
    definitions: namedRecord('Definitions', v.string()),
    units: namedRecord('Units', v.array(v.string())),
  }),
});
