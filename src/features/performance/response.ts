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
      /** beta · Σ factor: all contributions add up to Σ (return − risk-free). */
      contribution: v.number(),
    }),
  ),
  /** Per year: the daily constant · 252. */
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
  /** Why there are no figures. */
  unavailable: nullableText,
});

const modelDetails = named('ModelDetails', {
  /** Months and years in which a day has a return, in order. */
  months: v.array(named('MonthReturn', { month: v.string(), return: v.number(), days: count })),
  years: v.array(named('YearReturn', { year: v.string(), return: v.number(), days: count })),
  /** The five deepest, the deepest first. */
  drawdowns: v.array(drawdown),
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
  /** Where the return came from: factors, and what is left; null without stored factors. */
  style: v.nullable(style),
  /** The total return if every order had cost so much more. */
  cost_sensitivity: v.array(
    named('CostSensitivity', { basis_points: v.number(), total_return: v.number() }),
  ),
  /** The added cost at which the excess return would be zero. */
  break_even_bps: figure,
  unavailable,
});

/**
 * The response of GET /performance. Dollars and fractions (0.01 is one percent); a null has its
 * reason in `unavailable`.
 */

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
  /** In excess of a normal distribution's. */
  kurtosis: figure,
  winning_days_share: figure,
  unavailable,
  max_drawdown: drawdown,
  /** In days with a return. */
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
  /** Per year, like alpha. */
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
  /** Dollars; a loss above 0. */
  average_win: figure,
  average_loss: figure,
  /** Dollars per round trip. */
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
      /** The signature of the entry whose run it is, in a study `signature@study`. */
      family: v.string(),
      study: studyField,
      /** Model-days on or before it the model may remember; null when its entry names none. */
      knowledge_cutoff: nullableDate,
      days_before_cutoff: count,
      outside,
      start_date: dateText,
      end_date: dateText,
      model_days: count,
      /** In the chosen period and jobs: those that have failed and were not completed. */
      failed_model_days: count,
      stale_model_days: count,
      /** Of jobs with `dividends` off. */
      model_days_without_dividends: count,
      /**
       * That held a symbol over a morning for which its dividends are neither stored nor covered.
       */
      model_days_with_unknown_dividends: count,
      /** What its model-days held a symbol over that the prices may not know. */
      suspected: v.array(
        named('Suspected', {
          kind: v.picklist(suspectedKinds),
          symbol: v.string(),
          /** Of the jump, the ex-date, or the first session without a bar. */
          date: dateText,
          /** The close before. */
          from: v.number(),
          /** The open, the dividend; null of an end. */
          to: v.nullable(v.number()),
          model_days: count,
        }),
      ),
      /** Empty for a model that is comparable with most of the others. */
      incomparable: v.array(incomparability),
      /** Of its money; what it cost itself is in dollars. */
      currency: v.string(),
      /** With which its first completed day of all started; null when that is not stored. */
      initial_cash: v.nullable(v.pipe(v.number(), v.minValue(0))),
      /** Whether orders cost nothing on top of their price in all its jobs. */
      no_trading_costs: v.boolean(),
      /** Its value before the first of these days. */
      start_value: v.number(),
      end_value: v.number(),
      profit: v.number(),
      /** Received in cash, and part of the profit. */
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
          /** Received that morning. */
          dividends: v.number(),
          dividend_status: dividendStatus,
          /** What one dollar has grown to since the start of the first day. */
          growth: v.number(),
          drawdown: v.number(),
        }),
      ),
      /** Null unless they are asked for. */
      details: v.nullable(modelDetails),
    }),
  ),
  count,
  /**
   * Only later days count; null unless only clean ones are asked for and a knowledge cutoff
   * restricts them.
   */
  clean_after: nullableDate,
  /** Models that would be here if all days counted, not only clean ones. */
  without_clean_days: v.array(leftOutModel),
  /** Models of which model-days have failed and none was completed. */
  without_completed_days: v.array(leftOutModel),
  /** The dates that a comparison of the models has; null unless only these are asked for. */
  common: v.nullable(
    named('CommonDays', {
      start_date: nullableDate,
      end_date: nullableDate,
      days: count,
      /** Models without a return that starts from the same close on all of them. */
      left_out: v.array(leftOutModel),
      /**
       * Dates that only some compared models share: how many do not, and up to five of their names.
       */
      left_out_days: v.array(
        named('PartlyCommonDay', { date: dateText, missing: count, models: v.array(v.string()) }),
      ),
    }),
  ),
  /** Shared by all models. */
  incomparable: v.array(
    named('IncomparableModel', { model: v.string(), ...incomparability.entries }),
  ),
  /** Entries of which several runs match, with the spread of their returns; with `by=entry` all. */
  families: v.array(
    named('Family', {
      family: v.string(),
      runs: v.array(
        named('FamilyRun', { model: v.string(), model_days: count, total_return: figure }),
      ),
      /** exp(mean log return) − 1, as in GET /comparison. */
      mean_total_return: figure,
      total_return_deviation: figure,
      lowest_total_return: figure,
      highest_total_return: figure,
      unavailable,
      /**
       * What one dollar has become in the mean, the lowest and the highest of several runs; with
       * `by=entry`.
       */
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
      /** Of the mean run; with `by=entry` and details. */
      details: v.optional(named('FamilyDetails', { style: v.nullable(style) })),
    }),
  ),
  benchmark: named('Benchmark', {
    name: v.string(),
    symbols: count,
    start_date: nullableDate,
    days: count,
    /** Dates on which no model-day pays dividends: there it is measured without its own. */
    days_without_dividends: count,
    /**
     * Dates over whose mornings a dividend of its own, or of a symbol of the universe, is neither
     * stored nor covered.
     */
    days_with_unknown_dividends: count,
    /** Why it does not cover all days of the models; null when it does. */
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
    /** The stored factors; `style` says which of them it leaves out. */
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
