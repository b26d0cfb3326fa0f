import type {
  ComparedModel,
  ComparedPair,
  Comparison,
} from '../../src/features/pages/responses.ts';

/** Responses of `GET /comparison` for tests of the page, which computes nothing of them. */

/** A model with so many runs; each has a return, the mean run their mean. */
export function comparedModel(
  model: string,
  runReturns: readonly number[],
  more: Partial<ComparedModel> = {},
): ComparedModel {
  const own = runReturns.reduce((sum, value) => sum + value, 0) / runReturns.length;
  return {
    model,
    runs: runReturns.map((_, index) => (index === 0 ? model : `${model}#${index + 1}`)),
    run_returns: [...runReturns],
    total_return: own,
    interval: { low: own - 0.08, high: own + 0.12 },
    standard_error_daily: 0.0011,
    degrees_of_freedom: 61.3,
    variance_share_of_runs: runReturns.length > 1 ? 0.12 : 0,
    probability_best: 0.4,
    interval_is_lower_bound: runReturns.length === 1,
    knowledge_cutoff: null,
    days_before_cutoff: 0,
    outside: [],
    incomparable: [],
    unavailable: {},
    ...more,
  };
}

/** A model that has no figures, for a reason. */
export function modelWithout(model: string, reason: string): ComparedModel {
  const names = ['total_return', 'interval', 'standard_error_daily', 'probability_best'];
  return comparedModel(model, [0], {
    run_returns: [null],
    total_return: null,
    interval: null,
    standard_error_daily: null,
    degrees_of_freedom: null,
    variance_share_of_runs: null,
    probability_best: null,
    unavailable: Object.fromEntries(names.map((name) => [name, reason])),
  });
}

export function comparedPair(
  model: string,
  against: string,
  difference: number,
  more: Partial<ComparedPair> = {},
): ComparedPair {
  return {
    model,
    against,
    difference,
    interval: { low: difference - 0.05, high: difference + 0.05 },
    mean_daily_difference: 0.0001,
    standard_error_daily: 0.0009,
    degrees_of_freedom: 70.2,
    p_value: 0.71,
    p_value_holm: 1,
    shown: false,
    smallest_difference: 0.077,
    days_needed: 1180,
    correlation: 0.42,
    variance_share_of_runs: 0.2,
    interval_is_lower_bound: false,
    sentence: `${model} ahead of ${against}: not shown.`,
    unavailable: {},
    ...more,
  };
}

/** All pairs of these models over so many days; the first leads. */
export function comparisonAnswer(
  models: readonly ComparedModel[],
  days: number,
  more: Partial<Comparison> = {},
): Comparison {
  const pairs = models.flatMap(({ model, total_return: own }, index) =>
    models
      .slice(index + 1)
      .map((other) => comparedPair(model, other.model, (own ?? 0) - (other.total_return ?? 0))),
  );
  return {
    start_date: '2025-06-03',
    end_date: '2025-10-23',
    days,
    align: 'date',
    confidence: 0.95,
    looks: 'once',
    boundary: null,
    answer: {
      sentence: `${models[0]?.model} leads.`,
      leader: models[0]?.model ?? null,
      total_return: models[0]?.total_return ?? null,
      against: models[1]?.model ?? null,
      lead: 0.0038,
      interval: { low: -0.016, high: 0.053 },
      shown: false,
      left_out: [],
      benchmark: { name: 'QQQ', total_return: 0.021 },
      days,
      start_date: '2025-06-04',
      end_date: '2025-10-20',
      unavailable: {},
    },
    study: null,
    clean_after: null,
    left_out_models: [],
    left_out: [],
    models: [...models],
    pairs,
    leader: {
      model: models[0]?.model ?? null,
      sharpe_ratio_daily: 0.17,
      probabilistic_sharpe_ratio: 0.96,
      deflated_sharpe_ratio: 0.67,
      expected_best_sharpe_ratio_daily: 0.128,
      trials: 5,
      trials_elsewhere: 0,
      unavailable: {},
    },
    conventions: { period: 'All returns are over the days compared.' },
    deployment_mode: 'DEV',
    is_dev_mode: true,
    preserve_dev_data: false,
    ...more,
  };
}
