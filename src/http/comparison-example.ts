import { conventions } from '../comparison/comparison-response.ts';
import { deployment } from './job-examples.ts';

const SENTENCE =
  'gpt-5 is ahead of claude by 1.0 % over 98 days (−4.7 % to +7.1 % or wider, for a single look): this could be chance. ' +
  'These 98 days can show 8.5 % or more; more days cannot show this, more runs can.';

export const comparison = {
  response: {
    start_date: '2025-06-03',
    end_date: '2025-10-23',
    days: 98,
    align: 'date',
    confidence: 0.95,
    looks: 'once',
    boundary: null,
    clean_after: null,
    left_out_models: ['momentum'],
    left_out: [
      {
        date: '2025-07-08',
        runs: ['gpt-5#2'],
        reason: 'No return on this day',
      },
    ],
    models: [
      {
        model: 'gpt-5',
        runs: ['gpt-5', 'gpt-5#2'],
        run_returns: [0.031, 0.0118],
        total_return: 0.0213550059,
        interval: { low: -0.0805, high: 0.1345 },
        interval_is_lower_bound: false,
        standard_error_daily: 0.00054,
        degrees_of_freedom: 93.8,
        variance_share_of_runs: 0.0315,
        probability_best: 0.61,
        knowledge_cutoff: null,
        days_before_cutoff: 0,
        unavailable: {},
      },
      {
        model: 'claude',
        runs: ['claude'],
        run_returns: [0.0111],
        total_return: 0.0111,
        interval: { low: -0.079, high: 0.11 },
        interval_is_lower_bound: true,
        standard_error_daily: 0.00048,
        degrees_of_freedom: 97,
        variance_share_of_runs: 0,
        probability_best: 0.39,
        knowledge_cutoff: null,
        days_before_cutoff: 0,
        unavailable: {},
      },
    ],
    pairs: [
      {
        model: 'gpt-5',
        against: 'claude',
        difference: 0.0101,
        interval: { low: -0.0473, high: 0.0711 },
        interval_is_lower_bound: true,
        mean_daily_difference: 0.000103,
        standard_error_daily: 0.000298,
        degrees_of_freedom: 52.6,
        p_value: 0.73,
        p_value_holm: 0.73,
        shown: false,
        smallest_difference: 0.0853,
        days_needed: null,
        variance_share_of_runs: 0.104,
        correlation: 0.871,
        sentence: SENTENCE,
        unavailable: { days_needed: 'More days cannot show it, more runs can' },
      },
    ],
    leader: {
      model: 'gpt-5',
      sharpe_ratio_daily: 0.17,
      probabilistic_sharpe_ratio: 0.96,
      deflated_sharpe_ratio: 0.67,
      expected_best_sharpe_ratio_daily: 0.128,
      trials: 3,
      unavailable: {},
    },
    conventions,
    ...deployment,
  },
  csv: [
    'model,runs,run_returns,total_return,interval_low,interval_high,standard_error_daily,degrees_of_freedom,' +
      'variance_share_of_runs,probability_best,knowledge_cutoff,days_before_cutoff,unavailable',
    'gpt-5,2,gpt-5:0.031 gpt-5#2:0.0118,0.0213550059,-0.0805,0.1345,0.00054,93.8,0.0315,0.61,,0,',
    'claude,1,claude:0.0111,0.0111,-0.079,0.11,0.00048,97,0,0.39,,0,',
    '',
  ].join('\r\n'),
};
