import { MIN_DAYS } from './looks.ts';

/**
 * How the figures of a comparison are made, with their sources. docs/reference/metrics.md has the formulas.
 */
export const conventions = {
  returns:
    'Fractions over the days compared: exp(D · mean) − 1, the mean that of the daily log returns, ln(1 + daily return). A model is ' +
    'the mean of its runs, day by day. Daily figures are of log returns',
  days:
    'The D days on which the returns of every run of every model with figures start from the same close (by number: from the same ' +
    `number); there are figures from ${MIN_DAYS} on. Where no model has any, the days that all models share. left_out has the others`,
  answer:
    'leader has the highest return, and leads by that minus the return of against, the next model that it is paired with; interval ' +
    'is that of the pair times 1 plus the return of against. The benchmark is that of GET /performance over the same days',
  left_out_models:
    'Entries with too few active model-days in the window, where no models are named and others have enough',
  numbers:
    'With align=number, days are matched by their number in the market of each model, counted from the first date in the window ' +
    'that the model tried; a failed day leaves a gap',
  clean:
    'With days=clean, only days after clean_after, the latest knowledge cutoff of the models compared. A model without a cutoff ' +
    'is clean',
  days_before_cutoff:
    'Days compared that are on or before the knowledge cutoff: the model may remember them',
  asked_in_two_ways:
    'A model has no figures when two of its model-days in the window were asked differently: base model, parameters of the request ' +
    '(except the seed), prompt, notes, tools, steps, trading costs, dividends, universe. A run without a stored entry is ' +
    'taken to be asked like the others',
  interval:
    'mean ± t·√V, V = V_days + V_runs. V_days: Newey and West 1987 with the lag of 1994 and small-sample correction; its degrees of ' +
    'freedom are D / (1 + 2 Σ w²) − 1, w the weights of the lags (Priestley 1981); V_runs: the sample variance of the means of the ' +
    'runs over their number; degrees of freedom together: Welch 1947, Satterthwaite 1946',
  looks:
    'With looks=once, intervals and p-values hold for one look at a window chosen beforehand. With looks=daily they hold on all days ' +
    'at once, whichever day you look: the boundary c(D) (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021; Waudby-Smith, ' +
    'Arbour, Sinha, Kennedy and Ramdas 2024) replaces the normal quantile, and the p-value is the smallest level whose interval ' +
    'excludes zero',
  single_runs:
    'With one run, V_runs is 0 and the interval is a lower bound (interval_is_lower_bound): one run does not show how much a model ' +
    'itself varies. A baseline whose runs would all be the same needs only one',
  p_value_holm:
    'The two-sided p-value, adjusted over all pairs in the response (Holm 1979). Below 1 − confidence a difference is shown',
  smallest_difference:
    'The difference whose interval, as it is shown, would exclude zero with 80 % power: k standard errors, E[Φ(k − q √V̂/√V)] = 0.8 ' +
    'over V̂ as a sum of χ² variables, q Student’s quantile at its degrees of freedom. Null with fewer than 3 of these',
  days_needed:
    'How many days these runs would need to show this difference, with the same power and the degrees of freedom of so many days',
  variance_share_of_runs:
    'The part of the variance that more runs would reduce, V_runs / V; more days reduce the rest',
  correlation:
    'Pearson’s correlation (1896) of the daily log returns of both models, each the mean of its runs',
  difference_curve:
    'With curves=true, exp(Σ d) − 1 after each day compared, d the daily differences of log returns: by how much more the first ' +
    'model has grown than the second up to that day. The last one is difference',
  probability_best:
    'How often the model has the highest mean in 10,000 draws from the joint normal distribution of the means; the same draws for the ' +
    'same models and window. It is not a test: two equal models have 0.5 each',
  leader:
    'The model with the highest daily Sharpe ratio of its mean run, without a risk-free rate; probabilistic and deflated ratio: Bailey ' +
    'and López de Prado 2012, 2014',
  trials:
    'Entries of the studies compared with active model-days in the window, compared or not; trials_elsewhere counts those of others',
} as const;
