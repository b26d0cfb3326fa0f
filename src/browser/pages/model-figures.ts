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
  partOf: (report: ModelReport) => Part | null | undefined,
) {
  return (name: keyof Part & string, format: Format, more: Partial<Figure> = {}): Figure => ({
    label: name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' '),
    name,
    read: (report) => {
      const value = partOf(report)?.[name];
      return typeof value === 'number' ? value : null;
    },
    format,
    isToned: TONED.includes(format),
    reason: (report) => partOf(report)?.unavailable[name],
    ...more,
  });
}

/** Makes several figures, each named with its format, and with its label or what else it needs. */
function groupsOf<Name extends string>(
  figure: (name: Name, format: Format, more?: Partial<Figure>) => Figure,
) {
  type Made = Format | readonly [Format, string | Partial<Figure>];
  return (group: { readonly [Own in Name]?: Made }): Figure[] =>
    Object.entries(group as Readonly<Record<string, Made>>).map(([name, made]) => {
      const [format, more = {}] = typeof made === 'function' ? [made] : made;
      return figure(name as Name, format, typeof more === 'string' ? { label: more } : more);
    });
}

/** Figures of a whole report, and of its parts. */
export const reportFigure = figuresIn((report) => report);
export const relativeFigure = figuresIn((report) => report.relative);
const usageFigure = figuresIn((report) => report.usage);
const reportFigures = groupsOf(reportFigure);
const relativeFigures = groupsOf(relativeFigure);
export const usageFigures = groupsOf(usageFigure);
const tradingFigure = figuresIn((report) => report.trading);
const tradingFigures = groupsOf(tradingFigure);
const tripFigures = groupsOf(figuresIn((report) => report.round_trips));

const selectionFigure = figuresIn((report) => report.details?.selection);
const selectionFigures = groupsOf(selectionFigure);
const costFigure = figuresIn((report) => report.details);

const volatility = [share, 'Volatility'] as const;
const shortfall = [share, 'Expected shortfall'] as const;
const winningDays = [share, 'Winning days'] as const;
const drawdown = [share, { label: 'Maximum drawdown', read: depthOf }] as const;

/** The figures that tell models apart, in few words. */
export const brief = {
  sharpe: reportFigure('sharpe_ratio', ratio, { label: 'Sharpe' }),
  drawdown: reportFigure('max_drawdown', share, { label: 'Drawdown', read: depthOf }),
  selection: selectionFigure('percentile', share, { label: 'Skill in picking', name: 'selection' }),
  trades: tradingFigure('trades', count),
  refused: tradingFigure('refused_orders', count, {
    label: 'Refused',
    read: ({ trading }) => trading.refused_orders + trading.malformed_calls,
  }),
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
  ...reportFigures({ total_return: [change, 'Return'], annualised_return: change }),
  ...relativeFigures({ excess_return: change }),
  ...reportFigures({
    profit,
    dividends: money,
    annualised_volatility: volatility,
    sharpe_ratio: ratio,
    sortino_ratio: ratio,
    calmar_ratio: ratio,
    max_drawdown: drawdown,
    expected_shortfall_95: shortfall,
    winning_days_share: winningDays,
  }),
  ...relativeFigures({ beta: ratio }),
  ...tradingFigures({
    trades: count,
    commission: [money, { text: commissionText }],
    exposure: share,
    turnover: ratio,
  }),
  ...tripFigures({ win_rate: share, profit_factor: ratio, expectancy: profit }),
  ...usageFigures({ cost_usd: [cost, 'Model cost'] }),
  ...reportFigures({
    model_days: [count, 'Days'],
    failed_model_days: [count, 'Failed days'],
  }),
];

/** The figures on the page of a model. */
const returns = reportFigures({
  end_value: money,
  profit,
  dividends: [money, { text: dividendsText }],
  total_return: change,
  annualised_return: change,
  best_day: [change, { isToned: false, text: (report) => dayText(report.best_day) }],
  worst_day: [change, { isToned: false, text: (report) => dayText(report.worst_day) }],
  winning_days_share: winningDays,
  longest_winning_run: [count, { text: (row) => counted(row.longest_winning_run, 'day') }],
  longest_losing_run: [count, { text: (row) => counted(row.longest_losing_run, 'day') }],
});
const risk = reportFigures({
  annualised_volatility: volatility,
  sharpe_ratio: ratio,
  sortino_ratio: ratio,
  calmar_ratio: ratio,
  max_drawdown: drawdown,
  value_at_risk_95: [share, 'Value at risk, 95 %'],
  expected_shortfall_95: shortfall,
  skewness: ratio,
  kurtosis: [ratio, 'Excess kurtosis'],
});
const againstBenchmark = relativeFigures({
  benchmark_return: change,
  excess_return: change,
  alpha: change,
  alpha_standard_error: [share, 'Alpha, standard error'],
  alpha_p_value: [ratio, 'Alpha, p-value'],
  beta: ratio,
  beta_standard_error: [ratio, 'Beta, standard error'],
  correlation: ratio,
  tracking_error: share,
  information_ratio: ratio,
});
const orders = tradingFigures({
  trades: count,
  refused_orders: count,
  malformed_calls: count,
  exposure: share,
  turnover: ratio,
  bought: money,
  sold: money,
  realised_profit: profit,
  unrealised_profit: profit,
  commission: [money, { text: commissionText }],
});
const roundTrips = tripFigures({
  count: [count, { label: 'Round trips', name: 'round_trips' }],
  win_rate: share,
  average_win: money,
  average_loss: money,
  expectancy: profit,
  payoff_ratio: ratio,
  profit_factor: ratio,
  mean_holding_days: [ratio, 'Mean holding, days'],
});
const names = selectionFigures({
  percentile: [share, { name: 'selection' }],
  p_value: [ratio, 'P-value'],
  return: [change, 'Return of its names'],
  median: [change, 'Median of other names'],
  interval_90: [
    change,
    {
      label: 'Middle 90 % of others',
      read: (report) => report.details?.selection.interval_90?.low ?? null,
      text: ({ details }) => {
        const interval = details?.selection.interval_90 ?? null;
        return interval === null ? MISSING : `${change(interval.low)} to ${change(interval.high)}`;
      },
      isToned: false,
    },
  ],
});
const costs: readonly Figure[] = [
  ...[0, 5, 10, 25, 50].map((bps) =>
    costFigure('cost_sensitivity', change, {
      label: bps === 0 ? 'Actual return' : `${bps} basis points more`,
      read: ({ details }) =>
        details?.cost_sensitivity.find(({ basis_points: own }) => own === bps)?.total_return ??
        null,
    }),
  ),
  costFigure('break_even_bps', ratio, { label: 'Break-even, basis points' }),
];
const modelCost = usageFigures({
  cost_usd: [cost, 'Cost'],
  profit_per_cost_usd: [ratio, { label: 'Profit per dollar', isToned: true }],
  requests: count,
  prompt_tokens: [count, 'Tokens in'],
  completion_tokens: [count, 'Tokens out'],
  cached_tokens: count,
  reasoning_tokens: count,
});

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
    ['Skill in picking', names],
    ['Trading', orders],
    ['If trading had cost more', costs],
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

function depthOf({ max_drawdown: { depth } }: ModelReport): number | null {
  return depth;
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
