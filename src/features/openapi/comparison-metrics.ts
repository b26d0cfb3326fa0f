import { conventions } from '../comparison/conventions.ts';
import { MIN_DAYS } from '../comparison/looks.ts';
import type { MetricGroup } from './metric.ts';

/** The metrics of GET /comparison, by the part of the response where they are. */

const SERIES = `for fewer than ${MIN_DAYS} days, and for a model without figures`;
const SPREAD = `${SERIES}; also when nothing varies`;

export const comparisonMetrics: readonly MetricGroup[] = [
  {
    title: 'Comparison',
    place: '`models` and `pairs` of `GET /comparison`',
    missing: SPREAD,
    metrics: {
      'ComparedModel.total_return': {
        definition:
          'The return over the days compared; of several runs that of their mean, day by day',
        formula: 'exp(D δ) − 1',
        missing: SERIES,
      },
      run_returns: {
        definition: 'The return of each run over the days compared, in the order of `runs`',
        unit: 'fraction',
        missing: SERIES,
      },
      'ComparedPair.difference': {
        definition:
          'By how much more the first model has grown than the second over the days compared',
        formula: 'exp(D δ) − 1',
        unit: 'fraction',
      },
      mean_daily_difference: {
        definition:
          'The mean of the daily log returns of the first model minus those of the second',
        formula: 'δ',
      },
      standard_error_daily: {
        definition:
          'The standard error of the daily mean. It allows for dependent days and for the spread of runs',
        formula:
          '√(V_days + V_runs), V_days = (γ₀ + 2 Σ w γ) / (D − 1), L = ⌊4 (D / 100)^(2/9)⌋, V_runs = Σ s² / R',
        source: 'Newey and West 1987, 1994',
      },
      degrees_of_freedom: {
        definition: 'How well the standard error is known',
        formula:
          'V² / (V_days² / ν + Σ (s² / R)² / (R − 1)), ν = D / (1 + 2 Σ w²) − 1: 8.5 at D = 20, 20.8 at 60, 72.5 at 250',
        source: 'Priestley 1981; Welch 1947; Satterthwaite 1946',
      },
      interval: {
        definition:
          'The interval that contains the true return or difference with the stated confidence',
        formula: 'exp(D (δ ± t √V)) − 1; with looks=daily t at the level 2 (1 − Φ(c))',
        unit: 'fraction',
      },
      interval_is_lower_bound: {
        definition: 'Whether a single run makes the interval too narrow: the true one is wider',
        missing: '',
      },
      boundary: {
        definition:
          'The boundary that replaces the normal quantile with `looks=daily`, in standard errors',
        formula: 'c = √((1 + 1/(Dρ²)) ln((Dρ² + 1)/α²)), ρ² = (a + ln a + 1)/120, a = −2 ln α',
        source: 'Robbins 1970; Howard et al. 2021; Waudby-Smith et al. 2024',
        missing: 'with `looks=once`',
      },
      'ComparedPair.p_value': {
        definition:
          'How often a difference of this size would occur by chance: two-sided. With `looks=daily` the smallest ' +
          'level whose interval excludes 0',
        source: 'Student 1908',
      },
      p_value_holm: {},
      shown: {
        definition:
          'Whether the difference is more than chance: the adjusted p-value is below 1 − `confidence`',
        missing: '',
      },
      smallest_difference: {
        source: 'Cohen 1988; Wilson and Hilferty 1931',
        unit: 'fraction',
      },
      days_needed: {
        formula: 'k² D V_days / (δ² − k² V_runs), k of so many days',
        source: 'Cohen 1988',
        also: 'when more days would not show it',
      },
      variance_share_of_runs: { unit: 'fraction' },
      'ComparedPair.correlation': {
        definition: conventions.correlation,
        missing: SERIES,
        also: 'when either does not vary',
      },
      probability_best: {
        formula: 'cov(i, j) = (Vᵢ + Vⱼ − Vᵢⱼ) / 2',
        source: 'Gelman et al. 2013, chapter 3',
        unit: 'fraction',
        missing: SERIES,
        also: 'without another model',
      },
      days_before_cutoff: { missing: '' },
    },
  },
  {
    title: 'Tests of skill',
    place: '`leader` of `GET /comparison`, the model with the highest daily Sharpe ratio',
    missing: 'when no model has a Sharpe ratio',
    metrics: {
      sharpe_ratio_daily: {
        definition: 'The daily Sharpe ratio of the mean run, without a risk-free rate',
        formula: 'S = mean (x̄) / s (x̄)',
        source: 'Sharpe 1994',
      },
      probabilistic_sharpe_ratio: {
        definition: 'The probability that the true Sharpe ratio is above 0',
        formula:
          'PSR(S₀) = Φ((S − S₀) √(D − 1) / √(1 − g₃ S + (g₄ − 1)/4 S²)) at S₀ = 0; population moments, g₄ not in excess of 3',
        source: 'Bailey and López de Prado 2012',
        unit: 'fraction',
      },
      expected_best_sharpe_ratio_daily: {
        definition: 'The highest Sharpe ratio expected of so many trials without skill',
        formula: 'S₀ = s(S) ((1 − γ) Φ⁻¹(1 − 1/N) + γ Φ⁻¹(1 − 1/(N e))), γ = 0.5772156649',
        source: 'Bailey and López de Prado 2014',
        missing: 'for fewer than two models with a Sharpe ratio',
      },
      deflated_sharpe_ratio: {
        definition:
          'The probability that the true Sharpe ratio is above the highest expected by luck',
        formula: 'PSR(S₀)',
        source: 'Bailey and López de Prado 2014',
        unit: 'fraction',
        missing: 'for fewer than two models with a Sharpe ratio',
      },
      trials: { missing: '', formula: 'N' },
      trials_elsewhere: {
        definition: 'How many entries other studies tried in these days',
        missing: '',
      },
    },
  },
];
