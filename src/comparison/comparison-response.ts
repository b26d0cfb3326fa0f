import { type Day, type LeftOut, MIN_DAYS } from './participants.ts';
import type { Answer } from './answer.ts';
import type { Interval } from './difference.ts';
import type { CalendarDate } from '../basics/calendar.ts';
import { type Figure, type ReportedFigures, reportFigures } from '../performance/figure.ts';
import { at } from '../statistics/moments.ts';
import type { LeaderReport } from './leader.ts';
import type { ModelReport } from './models.ts';
import type { PairReport } from './pairs.ts';

/**
 * How the figures of a comparison are made, with their sources. docs/figures.md has the formulas.
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
    'counts as clean',
  days_before_cutoff:
    'Days compared that are on or before the knowledge cutoff: the model may remember them',
  asked_in_two_ways:
    'A model has no figures when two of its model-days in the window were asked differently: base model, parameters of the request ' +
    '(except the seed), prompt, notes, tools, steps, trading costs, dividends, universe. A run without a stored entry counts as ' +
    'asked like the others',
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
    'Two-sided p-values adjusted over all pairs in the response (Holm 1979); shown: below 1 − confidence',
  smallest_difference:
    'The difference that these days and runs would show at 5 %, two-sided, with 80 % power, at any confidence: z standard ' +
    'errors, z = 2.8016, or c(D) + 0.8416 with looks=daily',
  days_needed:
    'How many days these runs would need to show this difference, at the same level and power',
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

/** The parts of a comparison, named as in the response. */

/** Significant digits: more than the exactness of any figure here. */
const DIGITS = 12;

export function toDigits(number: number): number {
  return Number(number.toPrecision(DIGITS)) + 0; // no -0
}

function figuresOf<Name extends string>(figures: Record<Name, Figure>): ReportedFigures<Name> {
  return reportFigures(figures, toDigits);
}

/** An interval, null when it has a reason; and the reason by its name in the response. */
function reportInterval(
  value: Interval | { reason: string },
): [interval: Interval | null, reasons: Record<string, string>] {
  if ('reason' in value) return [null, { interval: value.reason }];
  return [{ low: toDigits(value.low), high: toDigits(value.high) }, {}];
}

/**
 * What a model may remember: its knowledge cutoff, and how many of the days compared are on or
 * before it.
 */
export interface Cutoff {
  knowledgeCutoff: CalendarDate | null;
  daysBefore: number;
}

export function modelOf(report: ModelReport, { knowledgeCutoff, daysBefore }: Cutoff) {
  const { unavailable: reasons, ...figures } = figuresOf({
    total_return: report.totalReturn,
    standard_error_daily: report.standardErrorDaily,
    degrees_of_freedom: report.degreesOfFreedom,
    variance_share_of_runs: report.varianceShareOfRuns,
    probability_best: report.probabilityBest,
  });
  const [range, rangeReasons] = reportInterval(report.interval);
  const missing = report.runReturns.find((own) => typeof own !== 'number');
  const runReasons = missing === undefined ? {} : { run_returns: missing.reason };
  return {
    model: report.model,
    runs: report.runs,
    run_returns: report.runReturns.map((own) => (typeof own === 'number' ? toDigits(own) : null)),
    ...figures,
    interval: range,
    interval_is_lower_bound: report.isSingleRun,
    knowledge_cutoff: knowledgeCutoff,
    days_before_cutoff: daysBefore,
    unavailable: { ...runReasons, ...reasons, ...rangeReasons },
  };
}

/** The pair; `days` are those of its curve, which it has only where the curves are wanted. */
export function pairOf(report: PairReport, days: readonly Day[]) {
  const { unavailable: reasons, ...figures } = figuresOf({
    difference: report.difference,
    mean_daily_difference: report.meanDailyDifference,
    standard_error_daily: report.standardErrorDaily,
    degrees_of_freedom: report.degreesOfFreedom,
    p_value: report.pValue,
    p_value_holm: report.pValueHolm,
    smallest_difference: report.smallestDifference,
    days_needed: report.daysNeeded,
    variance_share_of_runs: report.varianceShareOfRuns,
    correlation: report.correlation,
  });
  const [range, rangeReasons] = reportInterval(report.interval);
  const missing = report.curve?.find((difference) => typeof difference !== 'number');
  return {
    model: report.model,
    against: report.against,
    ...figures,
    interval: range,
    interval_is_lower_bound: report.singleRuns.length > 0,
    shown: report.isShown,
    sentence: report.sentence,
    ...(report.curve !== null && {
      curve: report.curve.map((difference, index) => pointOf(difference, at(days, index))),
    }),
    unavailable: {
      ...reasons,
      ...rangeReasons,
      ...(missing !== undefined && { curve: missing.reason }),
    },
  };
}

function pointOf(difference: Figure, day: Day) {
  return {
    ...dayOf(day),
    difference: typeof difference === 'number' ? toDigits(difference) : null,
  };
}

/** Who leads over these days, and what the benchmark made. */
export function answerIn({ benchmark, ...answer }: Answer, days: readonly Day[]) {
  const { unavailable: reasons, ...figures } = figuresOf({
    total_return: answer.totalReturn,
    lead: answer.lead,
  });
  const [range, rangeReasons] = reportInterval(answer.interval);
  const isKnown = 'name' in benchmark;
  const dateOf = (day: Day | undefined) => (typeof day === 'string' ? day : null);
  return {
    sentence: answer.sentence,
    leader: answer.leader,
    against: answer.against,
    ...figures,
    interval: range,
    shown: answer.isShown,
    left_out: answer.leftOut,
    benchmark: isKnown
      ? { name: benchmark.name, total_return: toDigits(benchmark.totalReturn) }
      : null,
    days: days.length,
    start_date: dateOf(days[0]),
    end_date: dateOf(days.at(-1)),
    unavailable: { ...reasons, ...rangeReasons, ...(!isKnown && { benchmark: benchmark.reason }) },
  };
}

export function leaderOf(report: LeaderReport) {
  const figures = figuresOf({
    sharpe_ratio_daily: report.sharpeRatioDaily,
    probabilistic_sharpe_ratio: report.probabilisticSharpeRatio,
    deflated_sharpe_ratio: report.deflatedSharpeRatio,
    expected_best_sharpe_ratio_daily: report.expectedBestSharpeRatioDaily,
  });
  return { model: report.model, ...figures, trials: report.trials };
}

export function leftOutOf({ day, runs, reason }: LeftOut<Day>) {
  return { ...dayOf(day), runs, reason };
}

function dayOf(day: Day): { date: CalendarDate } | { number: number } {
  return typeof day === 'number' ? { number: day } : { date: day };
}

/** The parts of a comparison as rows of tables, with a cell per column. */

const modelColumns = [
  'model',
  'runs',
  'run_returns',
  'total_return',
  'interval_low',
  'interval_high',
  'standard_error_daily',
  'degrees_of_freedom',
  'variance_share_of_runs',
  'probability_best',
  'knowledge_cutoff',
  'days_before_cutoff',
  'unavailable',
] as const satisfies readonly (keyof ReturnType<typeof modelCells>)[];

const pairColumns = [
  'model',
  'against',
  'difference',
  'interval_low',
  'interval_high',
  'mean_daily_difference',
  'standard_error_daily',
  'degrees_of_freedom',
  'p_value',
  'p_value_holm',
  'shown',
  'smallest_difference',
  'days_needed',
  'variance_share_of_runs',
  'sentence',
  'unavailable',
] as const satisfies readonly (keyof ReturnType<typeof pairCells>)[];

export const columns = { models: modelColumns, pairs: pairColumns };

type Row = (string | number | boolean | null)[];

/** `run_returns` is `gpt-5:0.031 gpt-5#2:0.012`; `unavailable` says why figures are empty. */
export function modelRow(report: ModelReport, cutoff: Cutoff): Row {
  const cells = modelCells(report, cutoff);
  return modelColumns.map((name) => cells[name]);
}

export function pairRow(report: PairReport): Row {
  const cells = pairCells(report);
  return pairColumns.map((name) => cells[name]);
}

function modelCells(report: ModelReport, cutoff: Cutoff) {
  const model = modelOf(report, cutoff);
  const returns = model.runs.map((run, index) => `${run}:${model.run_returns[index] ?? ''}`);
  return {
    ...model,
    runs: model.runs.length,
    run_returns: returns.join(' '),
    ...commonCells(model),
  };
}

/** Correlation and curve are not in the table, so neither are their reasons. */
function pairCells(report: PairReport) {
  const { correlation: _, ...pair } = pairOf({ ...report, curve: null }, []);
  const { correlation: _reason, ...unavailable } = pair.unavailable;
  return { ...pair, ...commonCells({ ...pair, unavailable }) };
}

function commonCells({
  interval,
  unavailable,
}: {
  interval: Interval | null;
  unavailable: Record<string, string | undefined>;
}) {
  const reasons = [...new Set(Object.values(unavailable))].join('; ');
  return {
    interval_low: interval?.low ?? null,
    interval_high: interval?.high ?? null,
    unavailable: reasons || null,
  };
}
