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
} from '../format.ts';
import type { ModelReport } from '../responses.ts';
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

const own = figuresIn((report) => report);
const relative = figuresIn((report) => report.relative);
const trading = figuresIn((report) => report.trading);
const trips = figuresIn((report) => report.round_trips);
const usage = figuresIn((report) => report.usage);

const volatility = own('annualised_volatility', share, { label: 'Volatility' });
const shortfall = own('expected_shortfall_95', share, { label: 'Expected shortfall' });
const winningDays = own('winning_days_share', share, { label: 'Winning days' });
const drawdown = own('max_drawdown', share, {
  label: 'Maximum drawdown',
  read: (report) => report.max_drawdown.depth,
});

/** The figures side by side, in the order in which they are read. */
export const sideFigures: readonly Figure[] = [
  own('total_return', change, { label: 'Return' }),
  own('annualised_return', change),
  relative('excess_return', change),
  own('profit', profit),
  own('dividends', money),
  volatility,
  own('sharpe_ratio', ratio),
  own('sortino_ratio', ratio),
  own('calmar_ratio', ratio),
  drawdown,
  shortfall,
  winningDays,
  relative('beta', ratio),
  trading('trades', count),
  trading('commission', money),
  trading('exposure', share),
  trading('turnover', ratio),
  trips('win_rate', share),
  trips('profit_factor', ratio),
  trips('expectancy', profit),
  usage('cost_usd', cost, { label: 'Model cost' }),
  own('model_days', count, { label: 'Days' }),
  own('failed_model_days', count, { label: 'Failed days' }),
];

/** The figures on the page of a model. */
const returns: readonly Figure[] = [
  own('end_value', money),
  own('profit', profit),
  own('dividends', money, { text: dividendsText }),
  own('total_return', change),
  own('annualised_return', change),
  own('best_day', change, { isToned: false, text: (report) => dayText(report.best_day) }),
  own('worst_day', change, { isToned: false, text: (report) => dayText(report.worst_day) }),
  winningDays,
  own('longest_winning_run', count, { text: (row) => counted(row.longest_winning_run, 'day') }),
  own('longest_losing_run', count, { text: (row) => counted(row.longest_losing_run, 'day') }),
];
const risk: readonly Figure[] = [
  volatility,
  own('sharpe_ratio', ratio),
  own('sortino_ratio', ratio),
  own('calmar_ratio', ratio),
  drawdown,
  own('value_at_risk_95', share, { label: 'Value at risk, 95 %' }),
  shortfall,
  own('skewness', ratio),
  own('kurtosis', ratio, { label: 'Excess kurtosis' }),
];
const againstBenchmark: readonly Figure[] = [
  relative('benchmark_return', change),
  relative('excess_return', change),
  relative('alpha', change),
  relative('beta', ratio),
  relative('correlation', ratio),
  relative('tracking_error', share),
  relative('information_ratio', ratio),
];
const orders: readonly Figure[] = [
  trading('trades', count),
  trading('exposure', share),
  trading('turnover', ratio),
  trading('bought', money),
  trading('sold', money),
  trading('realised_profit', profit),
  trading('unrealised_profit', profit),
  trading('commission', money),
];
const roundTrips: readonly Figure[] = [
  trips('count', count, { label: 'Round trips', name: 'round_trips' }),
  trips('win_rate', share),
  trips('average_win', money),
  trips('average_loss', money),
  trips('expectancy', profit),
  trips('payoff_ratio', ratio),
  trips('profit_factor', ratio),
  trips('mean_holding_days', ratio, { label: 'Mean holding, days' }),
];
const modelCost: readonly Figure[] = [
  usage('cost_usd', cost, { label: 'Cost' }),
  usage('profit_per_cost_usd', ratio, { label: 'Profit per dollar', isToned: true }),
  usage('requests', count),
  usage('prompt_tokens', count, { label: 'Tokens in' }),
  usage('completion_tokens', count, { label: 'Tokens out' }),
  usage('cached_tokens', count),
  usage('reasoning_tokens', count),
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
    ['Trading', orders],
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

function dayText(day: ModelReport['best_day']): Child {
  if (day === null) return MISSING;
  const { date, daily_return } = day;
  return h(`span.${tone(daily_return)}`, change(daily_return), h('small.quiet', ` ${date}`));
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
