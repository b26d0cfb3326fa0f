import { type Child, h, newId } from '../element.ts';
import {
  MISSING,
  change,
  cost,
  count,
  counted,
  money,
  profit,
  ratio,
  share,
  tone,
  unbrokenDate,
} from '../format.ts';
import type { ModelReport } from '../responses.ts';
import { numberColumn } from '../table.ts';
import type { ModelData } from './model-data.ts';

type Format = (value: number | null) => string;

/** A figure that every model has. */
export interface Figure {
  label: string;
  /** Its name in the response, which has its definition. */
  name: string;
  read: (report: ModelReport) => number | null;
  format: Format;
  /** Whether gains and losses have colours. */
  isToned: boolean;
  /** Why it is missing. */
  reason: (report: ModelReport) => string | undefined;
  /** What the page of a model shows, where it is more than the number. */
  text?: (report: ModelReport) => Child;
}

/** In these formats gains and losses have colours. */
const TONED: readonly unknown[] = [change, profit];

/** Makes figures of a part of a report; one without a label of its own has its name as one. */
function figuresIn<Part extends { unavailable: Record<string, string> }>(
  partOf: (report: ModelReport) => Part,
) {
  return (name: keyof Part & string, format: Format, more: Partial<Figure> = {}): Figure => ({
    label: name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' '),
    name,
    read: (report) => {
      const value = partOf(report)[name];
      return typeof value === 'number' ? value : null;
    },
    format,
    isToned: TONED.includes(format),
    reason: (report) => partOf(report).unavailable[name],
    ...more,
  });
}

/** Figures of a whole report, and of its parts. */
export const reportFigure = figuresIn((report) => report);
export const relativeFigure = figuresIn((report) => report.relative);
const tradingFigure = figuresIn((report) => report.trading);
const tripFigure = figuresIn((report) => report.round_trips);
export const usageFigure = figuresIn((report) => report.usage);

const NO_DETAILS = { unavailable: {} as Record<string, string> };
const selectionFigure = figuresIn<NonNullable<ModelReport['details']>['selection']>(
  (report) => report.details?.selection ?? (NO_DETAILS as never),
);
const costFigure = figuresIn<NonNullable<ModelReport['details']>>(
  (report) => report.details ?? (NO_DETAILS as never),
);

const volatility = reportFigure('annualised_volatility', share, { label: 'Volatility' });
const shortfall = reportFigure('expected_shortfall_95', share, { label: 'Expected shortfall' });
const winningDays = reportFigure('winning_days_share', share, { label: 'Winning days' });
const drawdown = reportFigure('max_drawdown', share, {
  label: 'Maximum drawdown',
  read: (report) => report.max_drawdown.depth,
});

/** The figures that tell models apart, in few words. */
export const brief = {
  sharpe: reportFigure('sharpe_ratio', ratio, { label: 'Sharpe' }),
  drawdown: { ...drawdown, label: 'Drawdown' },
  selection: selectionFigure('percentile', share, { label: 'Selection', name: 'selection' }),
  trades: tradingFigure('trades', count),
  cost: usageFigure('cost_usd', cost, { label: 'Cost' }),
} as const;

/** A column with a figure of each model; `definitions` say what the figures mean. */
export function figureColumn(
  { label, name, read, format, isToned, reason }: Figure,
  definitions: Readonly<Record<string, string>>,
) {
  const meaning = definitions[name];
  return numberColumn<ModelReport>(label, read, format, { isToned, meaning, reason });
}

/** The figures side by side, in the order in which they are read. */
export const sideFigures: readonly Figure[] = [
  reportFigure('total_return', change, { label: 'Return' }),
  reportFigure('annualised_return', change),
  relativeFigure('excess_return', change),
  reportFigure('profit', profit),
  reportFigure('dividends', money),
  volatility,
  reportFigure('sharpe_ratio', ratio),
  reportFigure('sortino_ratio', ratio),
  reportFigure('calmar_ratio', ratio),
  drawdown,
  shortfall,
  winningDays,
  relativeFigure('beta', ratio),
  tradingFigure('trades', count),
  tradingFigure('commission', money, { text: commissionText }),
  tradingFigure('exposure', share),
  tradingFigure('turnover', ratio),
  tripFigure('win_rate', share),
  tripFigure('profit_factor', ratio),
  tripFigure('expectancy', profit),
  usageFigure('cost_usd', cost, { label: 'Model cost' }),
  reportFigure('model_days', count, { label: 'Days' }),
  reportFigure('failed_model_days', count, { label: 'Failed days' }),
];

/** The figures on the page of a model. */
const returns: readonly Figure[] = [
  reportFigure('end_value', money),
  reportFigure('profit', profit),
  reportFigure('dividends', money, { text: dividendsText }),
  reportFigure('total_return', change),
  reportFigure('annualised_return', change),
  reportFigure('best_day', change, { isToned: false, text: (report) => dayText(report.best_day) }),
  reportFigure('worst_day', change, {
    isToned: false,
    text: (report) => dayText(report.worst_day),
  }),
  winningDays,
  reportFigure('longest_winning_run', count, {
    text: (row) => counted(row.longest_winning_run, 'day'),
  }),
  reportFigure('longest_losing_run', count, {
    text: (row) => counted(row.longest_losing_run, 'day'),
  }),
];
const risk: readonly Figure[] = [
  volatility,
  reportFigure('sharpe_ratio', ratio),
  reportFigure('sortino_ratio', ratio),
  reportFigure('calmar_ratio', ratio),
  drawdown,
  reportFigure('value_at_risk_95', share, { label: 'Value at risk, 95 %' }),
  shortfall,
  reportFigure('skewness', ratio),
  reportFigure('kurtosis', ratio, { label: 'Excess kurtosis' }),
];
const againstBenchmark: readonly Figure[] = [
  relativeFigure('benchmark_return', change),
  relativeFigure('excess_return', change),
  relativeFigure('alpha', change),
  relativeFigure('alpha_standard_error', share, { label: 'Alpha, standard error' }),
  relativeFigure('alpha_p_value', ratio, { label: 'Alpha, p-value' }),
  relativeFigure('beta', ratio),
  relativeFigure('beta_standard_error', ratio, { label: 'Beta, standard error' }),
  relativeFigure('correlation', ratio),
  relativeFigure('tracking_error', share),
  relativeFigure('information_ratio', ratio),
];
const orders: readonly Figure[] = [
  tradingFigure('trades', count),
  tradingFigure('exposure', share),
  tradingFigure('turnover', ratio),
  tradingFigure('bought', money),
  tradingFigure('sold', money),
  tradingFigure('realised_profit', profit),
  tradingFigure('unrealised_profit', profit),
  tradingFigure('commission', money, { text: commissionText }),
];
const roundTrips: readonly Figure[] = [
  tripFigure('count', count, { label: 'Round trips', name: 'round_trips' }),
  tripFigure('win_rate', share),
  tripFigure('average_win', money),
  tripFigure('average_loss', money),
  tripFigure('expectancy', profit),
  tripFigure('payoff_ratio', ratio),
  tripFigure('profit_factor', ratio),
  tripFigure('mean_holding_days', ratio, { label: 'Mean holding, days' }),
];
const names: readonly Figure[] = [
  selectionFigure('percentile', share, { name: 'selection' }),
  selectionFigure('p_value', ratio, { label: 'P-value' }),
  selectionFigure('return', change, { label: 'Return of its names' }),
  selectionFigure('median', change, { label: 'Middle of other names' }),
  selectionFigure('interval_90', change, {
    label: 'Nine of ten others',
    read: (report) => report.details?.selection.interval_90?.low ?? null,
    text: ({ details }) => {
      const interval = details?.selection.interval_90 ?? null;
      return interval === null ? MISSING : `${change(interval.low)} to ${change(interval.high)}`;
    },
    isToned: false,
  }),
];
const costs: readonly Figure[] = [
  ...[0, 5, 10, 25, 50].map((bps) =>
    costFigure('cost_sensitivity', change, {
      label: bps === 0 ? 'Return as it was' : `${bps} basis points more`,
      read: ({ details }) =>
        details?.cost_sensitivity.find(({ basis_points: own }) => own === bps)?.total_return ??
        null,
    }),
  ),
  costFigure('break_even_bps', ratio, { label: 'Break-even, basis points' }),
];
const modelCost: readonly Figure[] = [
  usageFigure('cost_usd', cost, { label: 'Cost' }),
  usageFigure('profit_per_cost_usd', ratio, { label: 'Profit per dollar', isToned: true }),
  usageFigure('requests', count),
  usageFigure('prompt_tokens', count, { label: 'Tokens in' }),
  usageFigure('completion_tokens', count, { label: 'Tokens out' }),
  usageFigure('cached_tokens', count),
  usageFigure('reasoning_tokens', count),
];

/**
 * All figures of a model; each explains itself when the reader points at it or moves the focus to
 * it.
 */
export function modelFigures({ report, performance }: ModelData): HTMLElement {
  const { conventions, benchmark } = performance;
  const groups: [title: string, figures: readonly Figure[]][] = [
    ['Return', returns],
    ['Risk', risk],
    [
      `Against ${benchmark.name === 'universe' ? 'the universe' : benchmark.name}`,
      againstBenchmark,
    ],
    ['Selection of names', names],
    ['Trading', orders],
    ['If orders had cost more', costs],
    ['Round trips', roundTrips],
    ['Model cost', modelCost],
  ];
  const views = groups.map(([title, figures]) => {
    const entries = figures.map((figure) =>
      entry(figure, report, conventions.definitions[figure.name]),
    );
    return h('div.group', h('h3', title), h('dl', ...entries));
  });
  return h('div.figure-groups', ...views);
}

function entry(figure: Figure, report: ModelReport, definition: string | undefined): HTMLElement {
  const { label, read, format, isToned, reason, text } = figure;
  const number = read(report);
  const shown = text === undefined ? format(number) : text(report);
  const value = h('dd', { class: isToned && tone(number) }, shown);
  const meaning = [definition, shown === MISSING ? reason(report) : undefined]
    .filter((part) => part !== undefined)
    .join('. ');
  if (meaning === '') return h('div', h('dt', label), value);
  const id = newId();
  const term = h('dt.defined', { tabindex: 0, 'aria-describedby': id }, label);
  return h('div', term, value, h('div.meaning', { role: 'tooltip', id }, meaning));
}

/** A model that paid nothing is not compared with one that did without a word. */
function commissionText(report: ModelReport): Child {
  const paid = money(report.trading.commission);
  return report.no_trading_costs ? h('span', paid, h('small.quiet', ' no trading costs')) : paid;
}

function dayText(day: ModelReport['best_day']): Child {
  if (day === null) return MISSING;
  const { date, daily_return } = day;
  return h(
    `span.${tone(daily_return)}`,
    change(daily_return),
    h('small.quiet', ` ${unbrokenDate(date)}`),
  );
}

/** What was received, and on how many model-days that is not known, or nothing is paid. */
function dividendsText(report: ModelReport): Child {
  const { model_days_with_unknown_dividends: unknown, model_days_without_dividends: unpaid } =
    report;
  const words = [
    ...(unknown > 0 ? [`unknown on ${counted(unknown, 'model-day')}`] : []),
    ...(unpaid > 0 ? [`not paid on ${counted(unpaid, 'model-day')}`] : []),
  ];
  return h(
    'span',
    money(report.dividends),
    h('small.quiet', words.map((part) => ` ${part}`).join(',')),
  );
}
