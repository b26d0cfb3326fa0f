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
import type { ModelReport, Performance } from '../responses.ts';

interface ShownFigure {
  label: string;
  /** Its name in the response, which has its definition. */
  name: string;
  text: Child;
  look?: string;
  /** Why it is missing. */
  reason?: string | undefined;
}

type Group = [title: string, figures: ShownFigure[]];

/**
 * All figures of a model; each explains itself when the reader points at it or moves the focus to
 * it.
 */
export function figures(report: ModelReport, { conventions, benchmark }: Performance): HTMLElement {
  const name = benchmark.name === 'universe' ? 'the universe' : benchmark.name;
  const groups = [...performanceGroups(report, name), ...tradingGroups(report)].map(
    ([title, own]) => {
      const entries = own.map((figure) => entry(figure, conventions.definitions[figure.name]));
      return h('div.group', h('h3', title), h('dl', ...entries));
    },
  );
  return h('div.figure-groups', ...groups);
}

function entry(
  { label, text, look, reason }: ShownFigure,
  definition: string | undefined,
): HTMLElement {
  const value = h('dd', { class: look }, text);
  const meaning = [definition, text === MISSING ? reason : undefined]
    .filter((part) => part !== undefined)
    .join('. ');
  if (meaning === '') return h('div', h('dt', label), value);
  const id = newId();
  const term = h('dt.defined', { tabindex: 0, 'aria-describedby': id }, label);
  return h('div', term, value, h('div.meaning', { role: 'tooltip', id }, meaning));
}

/** In these formats gains and losses have colours. */
const TONED: readonly unknown[] = [change, profit];

/**
 * Reads figures by name from a part of the response; a figure without a label of its own has its
 * name as one.
 */
function reader<Source extends { unavailable: Record<string, string> }>(source: Source) {
  return <Name extends keyof Source & string>(
    name: Name,
    format: (value: Source[Name]) => Child,
    {
      label = inWords(name),
      isToned = TONED.includes(format),
    }: { label?: string; isToned?: boolean } = {},
  ): ShownFigure => {
    const value = source[name];
    const look = isToned && { look: tone(typeof value === 'number' ? value : null) };
    return { label, name, text: format(value), reason: source.unavailable[name], ...look };
  };
}

function inWords(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
}

function performanceGroups(report: ModelReport, benchmark: string): Group[] {
  const [own, relative] = [reader(report), reader(report.relative)];
  const returns = [
    own('end_value', money),
    own('profit', profit),
    { label: 'Dividends', name: 'dividends', text: dividendsText(report) },
    own('total_return', change),
    own('annualised_return', change),
    own('best_day', dayText),
    own('worst_day', dayText),
    own('winning_days_share', share, { label: 'Winning days' }),
    own('longest_winning_run', daysText),
    own('longest_losing_run', daysText),
  ];
  const risk = [
    own('annualised_volatility', share, { label: 'Volatility' }),
    own('sharpe_ratio', ratio),
    own('sortino_ratio', ratio),
    own('calmar_ratio', ratio),
    own('max_drawdown', ({ depth }) => share(depth), { label: 'Maximum drawdown' }),
    own('value_at_risk_95', share, { label: 'Value at risk, 95 %' }),
    own('expected_shortfall_95', share, { label: 'Expected shortfall' }),
    own('skewness', ratio),
    own('kurtosis', ratio, { label: 'Excess kurtosis' }),
  ];
  const comparison = [
    relative('benchmark_return', change),
    relative('excess_return', change),
    relative('alpha', change),
    relative('beta', ratio),
    relative('correlation', ratio),
    relative('tracking_error', share),
    relative('information_ratio', ratio),
  ];
  return [
    ['Return', returns],
    ['Risk', risk],
    [`Against ${benchmark}`, comparison],
  ];
}

function tradingGroups(report: ModelReport): Group[] {
  const [own, trips, usage] = [
    reader(report.trading),
    reader(report.round_trips),
    reader(report.usage),
  ];
  const trading = [
    own('trades', count),
    own('exposure', share),
    own('turnover', ratio),
    own('bought', money),
    own('sold', money),
    own('realised_profit', profit),
    own('unrealised_profit', profit),
    own('commission', money),
  ];
  const roundTrips = [
    { ...trips('count', count, { label: 'Round trips' }), name: 'round_trips' },
    trips('win_rate', share),
    trips('average_win', money),
    trips('average_loss', money),
    trips('expectancy', profit),
    trips('payoff_ratio', ratio),
    trips('profit_factor', ratio),
    trips('mean_holding_days', ratio, { label: 'Mean holding, days' }),
  ];
  const modelCost = [
    usage('cost_usd', cost, { label: 'Cost' }),
    usage('profit_per_cost_usd', ratio, { label: 'Profit per dollar', isToned: true }),
    usage('requests', count),
    usage('prompt_tokens', count, { label: 'Tokens in' }),
    usage('completion_tokens', count, { label: 'Tokens out' }),
    usage('cached_tokens', count),
    usage('reasoning_tokens', count),
  ];
  return [
    ['Trading', trading],
    ['Round trips', roundTrips],
    ['Model cost', modelCost],
  ];
}

function daysText(days: number): string {
  return counted(days, 'day');
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

/** A figure of every model. */
export interface FigureRow {
  label: string;
  /** Its name in the response, which has its definition. */
  name: string;
  read: (report: ModelReport) => number | null;
  format: (value: number | null) => string;
  /** Whether gains and losses have colours. */
  isToned?: boolean;
  /** Where the response says why it is missing. */
  reasons?: (report: ModelReport) => Record<string, string>;
}

const own = (report: ModelReport) => report.unavailable;
const relative = (report: ModelReport) => report.relative.unavailable;
const trips = (report: ModelReport) => report.round_trips.unavailable;
const usage = (report: ModelReport) => report.usage.unavailable;
const trading = (report: ModelReport) => report.trading.unavailable;

const excess = (report: ModelReport) => report.relative.excess_return;
const perYear = (report: ModelReport) => report.annualised_return;

/** The figures side by side, in the order in which they are read. */
export const figureRows: readonly FigureRow[] = [
  {
    label: 'Return',
    name: 'total_return',
    read: (row) => row.total_return,
    format: change,
    isToned: true,
    reasons: own,
  },
  {
    label: 'Annualised return',
    name: 'annualised_return',
    read: perYear,
    format: change,
    isToned: true,
    reasons: own,
  },
  {
    label: 'Excess return',
    name: 'excess_return',
    read: excess,
    format: change,
    isToned: true,
    reasons: relative,
  },
  { label: 'Profit', name: 'profit', read: (row) => row.profit, format: profit, isToned: true },
  { label: 'Dividends', name: 'dividends', read: (row) => row.dividends, format: money },
  {
    label: 'Volatility',
    name: 'annualised_volatility',
    read: (row) => row.annualised_volatility,
    format: share,
    reasons: own,
  },
  {
    label: 'Sharpe ratio',
    name: 'sharpe_ratio',
    read: (row) => row.sharpe_ratio,
    format: ratio,
    reasons: own,
  },
  {
    label: 'Sortino ratio',
    name: 'sortino_ratio',
    read: (row) => row.sortino_ratio,
    format: ratio,
    reasons: own,
  },
  {
    label: 'Calmar ratio',
    name: 'calmar_ratio',
    read: (row) => row.calmar_ratio,
    format: ratio,
    reasons: own,
  },
  {
    label: 'Maximum drawdown',
    name: 'max_drawdown',
    read: (row) => row.max_drawdown.depth,
    format: share,
  },
  {
    label: 'Expected shortfall',
    name: 'expected_shortfall_95',
    read: (row) => row.expected_shortfall_95,
    format: share,
    reasons: own,
  },
  {
    label: 'Winning days',
    name: 'winning_days_share',
    read: (row) => row.winning_days_share,
    format: share,
    reasons: own,
  },
  {
    label: 'Beta',
    name: 'beta',
    read: ({ relative: r }) => r.beta,
    format: ratio,
    reasons: relative,
  },
  { label: 'Trades', name: 'trades', read: (row) => row.trading.trades, format: count },
  { label: 'Commission', name: 'commission', read: (row) => row.trading.commission, format: money },
  {
    label: 'Exposure',
    name: 'exposure',
    read: (row) => row.trading.exposure,
    format: share,
    reasons: trading,
  },
  {
    label: 'Turnover',
    name: 'turnover',
    read: (row) => row.trading.turnover,
    format: ratio,
    reasons: trading,
  },
  {
    label: 'Win rate',
    name: 'win_rate',
    read: (row) => row.round_trips.win_rate,
    format: share,
    reasons: trips,
  },
  {
    label: 'Profit factor',
    name: 'profit_factor',
    read: ({ round_trips: own }) => own.profit_factor,
    format: ratio,
    reasons: trips,
  },
  {
    label: 'Expectancy',
    name: 'expectancy',
    read: (row) => row.round_trips.expectancy,
    format: profit,
    isToned: true,
    reasons: trips,
  },
  {
    label: 'Model cost',
    name: 'cost_usd',
    read: (row) => row.usage.cost_usd,
    format: cost,
    reasons: usage,
  },
  { label: 'Days', name: 'model_days', read: (row) => row.model_days, format: count },
  {
    label: 'Failed days',
    name: 'failed_model_days',
    read: (row) => row.failed_model_days,
    format: count,
  },
];
