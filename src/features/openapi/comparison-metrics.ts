import { MIN_DAYS } from '../comparison/looks.ts';
import { plain, told, never, type MetricGroup } from './metric.ts';

/** The metrics of GET /comparison, by the part of the response where they are. */

const SERIES = `for fewer than ${MIN_DAYS} days, and for a model without figures`;
const SPREAD = `${SERIES}; also when nothing varies`;

export const comparisonMetrics: readonly MetricGroup[] = [
  {
    title: 'Comparison',
    place: '`models` and `pairs` of `GET /comparison`',
    missing: SPREAD,
    metrics: [
      plain(
        'ComparedModel.total_return',
        'The return over the days compared; of several runs that of their mean, day by day',
        { formula: 'exp(D δ) − 1', unit: 'fraction', missing: SERIES },
      ),
      plain(
        'run_returns',
        'The return of each run over the days compared, in the order of `runs`',
        {
          unit: 'fraction',
          missing: SERIES,
        },
      ),
      plain(
        'ComparedPair.difference',
        'By how much more the first model has grown than the second over the days compared',
        { formula: 'exp(D δ) − 1', unit: 'fraction' },
      ),
      plain(
        'mean_daily_difference',
        'The mean of the daily log returns of the first model minus those of the second',
        { formula: 'δ' },
      ),
      plain(
        'standard_error_daily',
        'The standard error of the daily mean. It allows for dependent days and for the spread of runs',
        {
          formula:
            '√(V_days + V_runs), V_days = (γ₀ + 2 Σ w γ) / (D − 1), L = ⌊4 (D / 100)^(2/9)⌋, V_runs = Σ s² / R',
          source: 'Newey and West 1987, 1994',
        },
      ),
      plain('degrees_of_freedom', 'How well the standard error is known', {
        formula:
          'V² / (V_days² / ν + Σ (s² / R)² / (R − 1)), ν = D / (1 + 2 Σ w²) − 1: 8.5 at D = 20, 20.8 at 60, 72.5 at 250',
        source: 'Priestley 1981; Welch 1947; Satterthwaite 1946',
      }),
      plain(
        'interval',
        'The interval that contains the true return or difference with the stated confidence',
        {
          formula: 'exp(D (δ ± t √V)) − 1; with looks=daily t at the level 2 (1 − Φ(c))',
          unit: 'fraction',
        },
      ),
      plain(
        'interval_is_lower_bound',
        'Whether a single run makes the interval too narrow: the true one is wider',
        never,
      ),
      plain(
        'boundary',
        'The boundary that replaces the normal quantile with `looks=daily`, in standard errors',
        {
          formula: 'c = √((1 + 1/(Dρ²)) ln((Dρ² + 1)/α²)), ρ² = (a + ln a + 1)/120, a = −2 ln α',
          source: 'Robbins 1970; Howard et al. 2021; Waudby-Smith et al. 2024',
          missing: 'with `looks=once`',
        },
      ),
      plain(
        'ComparedPair.p_value',
        'How often a difference of this size would occur by chance: two-sided. With `looks=daily` the smallest ' +
          'level whose interval excludes 0',
        { source: 'Student 1908' },
      ),
      told('p_value_holm'),
      plain(
        'shown',
        'Whether the difference is more than chance: the adjusted p-value is below 1 − `confidence`',
        never,
      ),
      told('smallest_difference', {
        source: 'Cohen 1988; Wilson and Hilferty 1931',
        unit: 'fraction',
      }),
      told('days_needed', {
        formula: 'k² D V_days / (δ² − k² V_runs), k of so many days',
        source: 'Cohen 1988',
        also: 'when more days would not show it',
      }),
      told('variance_share_of_runs', { unit: 'fraction' }),
      {
        ...told('correlation', { missing: SERIES, also: 'when either does not vary' }),
        field: 'ComparedPair.correlation',
      },
      told('probability_best', {
        formula: 'cov(i, j) = (Vᵢ + Vⱼ − Vᵢⱼ) / 2',
        source: 'Gelman et al. 2013, chapter 3',
        unit: 'fraction',
        missing: SERIES,
        also: 'without another model',
      }),
      told('days_before_cutoff', never),
    ],
  },
  {
    title: 'Tests of skill',
    place: '`leader` of `GET /comparison`, the model with the highest daily Sharpe ratio',
    missing: 'when no model has a Sharpe ratio',
    metrics: [
      plain(
        'sharpe_ratio_daily',
        'The daily Sharpe ratio of the mean run, without a risk-free rate',
        { formula: 'S = mean (x̄) / s (x̄)', source: 'Sharpe 1994' },
      ),
      plain('probabilistic_sharpe_ratio', 'The probability that the true Sharpe ratio is above 0', {
        formula:
          'PSR(S₀) = Φ((S − S₀) √(D − 1) / √(1 − g₃ S + (g₄ − 1)/4 S²)) at S₀ = 0; population moments, g₄ not in excess of 3',
        source: 'Bailey and López de Prado 2012',
        unit: 'fraction',
      }),
      plain(
        'expected_best_sharpe_ratio_daily',
        'The highest Sharpe ratio expected of so many trials without skill',
        {
          formula: 'S₀ = s(S) ((1 − γ) Φ⁻¹(1 − 1/N) + γ Φ⁻¹(1 − 1/(N e))), γ = 0.5772156649',
          source: 'Bailey and López de Prado 2014',
          missing: 'for fewer than two models with a Sharpe ratio',
        },
      ),
      plain(
        'deflated_sharpe_ratio',
        'The probability that the true Sharpe ratio is above the highest expected by luck',
        {
          formula: 'PSR(S₀)',
          source: 'Bailey and López de Prado 2014',
          unit: 'fraction',
          missing: 'for fewer than two models with a Sharpe ratio',
        },
      ),
      told('trials', { ...never, formula: 'N' }),
      plain('trials_elsewhere', 'How many entries other studies tried in these days', never),
    ],
  },
];
