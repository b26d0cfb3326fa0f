import { MIN_DAYS } from './input.ts';
import { DETECTION } from './planning.ts';

/**
 * How the figures of a comparison are made, with their sources. docs/figures.md has the formulas.
 */
export const conventions = {
  returns:
    'Fractions over the days compared: exp(D · mean) − 1, the mean that of the daily log returns, ln(1 + daily return). A model is ' +
    'the mean of its runs, day by day. Daily figures are of log returns',
  days:
    `The D days on which every run of every model with figures has a return; there are figures from ${MIN_DAYS} on. Where no model ` +
    'has any, the days that all models share. left_out has the others',
  left_out_models: `Entries with fewer than ${MIN_DAYS} active model-days in the window, where no models are named and others have enough`,
  numbers:
    'With align=number, the days of two models meet by their number in the market of each, from the first one in the window that ' +
    'the model tried; a failed day leaves a gap',
  clean:
    'With days=clean, only days after clean_after, the latest knowledge cutoff of the models compared. A model without a cutoff ' +
    'counts as clean',
  days_before_cutoff:
    'Days compared that are on or before the knowledge cutoff, which the model may remember',
  asked_in_two_ways:
    'A model has no figures when two of its model-days in the window were asked differently: base model, parameters of the request ' +
    '(except the seed), prompt, notes, tools, steps, trading costs, dividends, universe. A run without a stored entry counts as ' +
    'asked like the others',
  interval:
    'mean ± t·√V, V = V_days + V_runs. V_days: Newey and West 1987 with the lag of 1994 and small-sample correction; V_runs: the ' +
    'sample variance of the means of the runs over their number; degrees of freedom: Welch 1947, Satterthwaite 1946',
  single_runs:
    'With one run, V_runs is 0 and the interval is a lower bound (interval_is_lower_bound): one run tells nothing about a model’s own ' +
    'chance. Baselines whose runs would all be the same need only one',
  p_value_holm:
    'Two-sided p-values adjusted over all pairs in the response (Holm 1979); shown: below 1 − confidence',
  smallest_difference: `What these days and runs can show at 5 %, two-sided, with 80 % power (z = ${DETECTION}), at any confidence`,
  days_needed: 'Days with which these runs would show this difference, at the same level and power',
  variance_share_of_runs: 'V_runs / V: more runs reduce this part, more days the rest',
  correlation:
    'Pearson’s correlation (1896) of the daily log returns of both models, each the mean of its runs',
  difference_curve:
    'With curves=true, exp(Σ d) − 1 after each day compared, d the daily differences of log returns: by how much more the first ' +
    'model has grown than the second up to that day. The last one is difference',
  probability_best:
    'How often the model has the highest mean in 10,000 draws from the joint normal distribution of the means; the same draws for the ' +
    'same models and window',
  leader:
    'The model with the highest daily Sharpe ratio of its mean run, without a risk-free rate; probabilistic and deflated ratio: Bailey ' +
    'and López de Prado 2012, 2014',
  trials: 'Entries with active model-days in the window, compared or not',
} as const;
