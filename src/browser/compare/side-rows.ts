import { change, cost, count, money, profit, ratio, share } from '../format.ts';
import type { ModelReport } from '../responses.ts';

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
