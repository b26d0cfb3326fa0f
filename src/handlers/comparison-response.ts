import * as v from 'valibot';
import { conventions } from '../comparison/conventions.ts';
import {
  countSchema as count,
  dateText,
  deploymentEntries,
  figure,
  named,
  unavailable,
} from './schemas.ts';

/**
 * The response of GET /comparison. Returns and shares are fractions; a null has its reason in
 * `unavailable`.
 */

/** Both ends as returns over the period. */
const interval = v.nullable(named('Interval', { low: v.number(), high: v.number() }));
const modelName = v.string();

const uncertaintyEntries = {
  standard_error_daily: figure,
  degrees_of_freedom: figure,
  variance_share_of_runs: figure,
  /** Whether a single run keeps the interval too narrow. */
  interval_is_lower_bound: v.boolean(),
  unavailable,
};

export const comparisonResponse = named('ComparisonResponse', {
  start_date: v.nullable(dateText),
  end_date: v.nullable(dateText),
  /** How many days are compared. */
  days: count,
  align: v.picklist(['date', 'number']),
  confidence: v.number(),
  /** Only later days are compared; null when all are. */
  clean_after: v.nullable(dateText),
  /** Entries with too few model-days. */
  left_out_models: v.array(modelName),
  /** Days on which the runs named here have no return; by date, or by number. */
  left_out: v.array(
    named('LeftOutDay', {
      date: v.optional(dateText),
      number: v.optional(count),
      runs: v.array(v.string()),
    }),
  ),
  models: v.array(
    named('ComparedModel', {
      model: modelName,
      runs: v.array(v.string()),
      run_returns: v.array(figure),
      total_return: figure,
      interval,
      probability_best: figure,
      knowledge_cutoff: v.nullable(dateText),
      /** Of the days compared. */
      days_before_cutoff: count,
      ...uncertaintyEntries,
    }),
  ),
  pairs: v.array(
    named('ComparedPair', {
      model: modelName,
      against: modelName,
      difference: figure,
      interval,
      mean_daily_difference: figure,
      p_value: figure,
      p_value_holm: figure,
      shown: v.boolean(),
      smallest_difference: figure,
      days_needed: figure,
      /** Of the daily log returns of both models. */
      correlation: figure,
      /** The difference after each day compared; only with `curves=true`. */
      curve: v.optional(
        v.array(
          named('DifferencePoint', {
            date: v.optional(dateText),
            number: v.optional(count),
            difference: figure,
          }),
        ),
      ),
      sentence: v.string(),
      ...uncertaintyEntries,
    }),
  ),
  leader: named('Leader', {
    model: v.nullable(modelName),
    sharpe_ratio_daily: figure,
    probabilistic_sharpe_ratio: figure,
    deflated_sharpe_ratio: figure,
    expected_best_sharpe_ratio_daily: figure,
    trials: count,
    unavailable,
  }),
  conventions: named(
    'ComparisonConventions',
    Object.fromEntries(Object.keys(conventions).map((name) => [name, v.string()])),
  ),
  ...deploymentEntries,
});
