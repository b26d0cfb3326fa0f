/** The names of metrics for readers: on the pages and in docs/reference/metrics.md. */

const words: Readonly<Record<string, string>> = {
  max_drawdown: 'Maximum drawdown',
  value_at_risk_95: 'Value at risk (95 %)',
  expected_shortfall_95: 'Expected shortfall (95 %)',
  kurtosis: 'Excess kurtosis',
  winning_days_share: 'Share of winning days',
  alpha_standard_error: 'Standard error of alpha',
  alpha_p_value: 'p-value of alpha',
  alpha_contribution: 'Alpha after style',
  beta_standard_error: 'Standard error of beta',
  r_squared: 'R²',
  bought: 'Purchases',
  sold: 'Sales',
  count: 'Number of round trips',
  cost_usd: 'Model cost',
  profit_per_cost_usd: 'Profit per dollar of model cost',
  cost_sensitivity: 'Return at higher trading costs',
  break_even_bps: 'Break-even cost (basis points)',
  symbols: 'Profit by symbol',
  months: 'Monthly returns',
  years: 'Yearly returns',
  p_value: 'p-value',
  p_value_holm: 'p-value after Holm',
  probability_best: 'Probability of being best',
  shown: 'More than chance',
  relative: 'Against the benchmark',
  run_returns: 'Returns of the runs',
  standard_error_daily: 'Daily standard error',
  sharpe_ratio_daily: 'Daily Sharpe ratio',
};

/** In tables with many columns. */
const shortWords: Readonly<Record<string, string>> = {
  total_return: 'Return',
  excess_return: 'vs. benchmark',
  sharpe_ratio: 'Sharpe',
  max_drawdown: 'Drawdown',
  refused_orders: 'Refused',
  malformed_calls: 'Malformed',
  cost_usd: 'Cost',
  model_days: 'Days',
  p_value_holm: 'p after Holm',
};

/** `Sharpe ratio`, `Model-days` */
export function metricLabel(name: string): string {
  const plain = name
    .replace('model_day', 'model-day')
    .replaceAll('_', ' ')
    .replace('sharpe', 'Sharpe');
  return words[name] ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** `Sharpe`; where there is no shorter one, the label. */
export function shortLabel(name: string): string {
  return shortWords[name] ?? metricLabel(name);
}
