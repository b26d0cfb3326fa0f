import { type Child, h, newId } from '../parts/element.ts';
import { MISSING, change, cost, count, money, profit, ratio, share, tone } from '../parts/format.ts';
import type { ModelReport, Performance } from '../service/responses.ts';

interface Figure {
  label: string;
  /** Its name in the response, which has its definition and, if it is missing, the reason. */
  name: string;
  text: Child;
  tone?: string;
  /** Why it is missing. */
  reason?: string | undefined;
}

/** All figures of a model; each explains itself when the reader points at it or moves the focus to it. */
export function figures(report: ModelReport, { conventions, benchmark }: Performance): HTMLElement {
  const { relative, trading, usage } = report;
  const groups: [title: string, figures: Figure[]][] = [
    ['Return', returns(report)],
    ['Risk', risk(report)],
    [`Against ${benchmark.name === 'universe' ? 'the universe' : benchmark.name}`, relativeFigures(relative)],
    ['Trading', tradingFigures(trading)],
    ['Round trips', roundTrips(report)],
    ['Model cost', usageFigures(usage)],
  ];
  const sections = groups.map(([title, own]) => {
    const entries = own.map((figure) => entry(figure, conventions.definitions[figure.name]));
    return h('div.group', h('h3', title), h('dl', ...entries));
  });
  return h('div.figure-groups', ...sections);
}

function entry({ label, text, tone: colour, reason }: Figure, definition: string | undefined): HTMLElement {
  const value = h('dd', { class: colour }, text);
  const meaning = [definition, text === MISSING ? reason : undefined].filter((part) => part !== undefined).join('. ');
  if (meaning === '') return h('div', h('dt', label), value);
  const id = newId();
  const term = h('dt.defined', { tabindex: 0, 'aria-describedby': id }, label);
  return h('div', term, value, h('div.meaning', { role: 'tooltip', id }, meaning));
}

/** Reads figures by name from a part of the response. */
function reader(source: { unavailable: Record<string, string> }) {
  return (label: string, name: string, format: (value: number | null) => string, isToned = false): Figure => {
    const raw = (source as Record<string, unknown>)[name];
    const value = typeof raw === 'number' ? raw : null;
    const reason = source.unavailable[name];
    return { label, name, text: format(value), reason, ...(isToned && { tone: tone(value) }) };
  };
}

function withNote(text: string, note: string): HTMLElement {
  return h('span', text, h('small.quiet', ` ${note}`));
}

function returns(report: ModelReport): Figure[] {
  const read = reader(report);
  const day = (label: string, name: 'best_day' | 'worst_day'): Figure => {
    const found = report[name];
    const text = found === null ? MISSING : withNote(change(found.daily_return), found.date);
    return { label, name, text, tone: tone(found?.daily_return), reason: report.unavailable[name] };
  };
  return [
    read('End value', 'end_value', money),
    read('Profit', 'profit', profit, true),
    read('Total return', 'total_return', change, true),
    read('Annualised return', 'annualised_return', change, true),
    day('Best day', 'best_day'),
    day('Worst day', 'worst_day'),
    read('Winning days', 'winning_days_share', share),
  ];
}

function risk(report: ModelReport): Figure[] {
  const read = reader(report);
  const { depth, peak_date, trough_date, recovery_date, length } = report.max_drawdown;
  const end = recovery_date === null ? 'not recovered' : `recovered ${recovery_date}`;
  const course = depth === 0 ? '' : `${peak_date ?? 'start'} to ${trough_date}, ${end}, ${count(length)} days`;
  return [
    read('Volatility', 'annualised_volatility', share),
    read('Sharpe ratio', 'sharpe_ratio', ratio),
    read('Sortino ratio', 'sortino_ratio', ratio),
    read('Calmar ratio', 'calmar_ratio', ratio),
    { label: 'Maximum drawdown', name: 'max_drawdown', text: withNote(share(depth), course) },
    read('Value at risk, 95 %', 'value_at_risk_95', share),
  ];
}

function relativeFigures(source: ModelReport['relative']): Figure[] {
  const read = reader(source);
  return [
    read('Benchmark return', 'benchmark_return', change, true),
    read('Excess return', 'excess_return', change, true),
    read('Alpha', 'alpha', change, true),
    read('Beta', 'beta', ratio),
    read('Correlation', 'correlation', ratio),
    read('Tracking error', 'tracking_error', share),
    read('Information ratio', 'information_ratio', ratio),
  ];
}

function tradingFigures(source: ModelReport['trading']): Figure[] {
  const read = reader(source);
  return [
    read('Trades', 'trades', count),
    read('Exposure', 'exposure', share),
    read('Turnover', 'turnover', ratio),
    read('Bought', 'bought', money),
    read('Sold', 'sold', money),
    read('Realised profit', 'realised_profit', profit, true),
    read('Unrealised profit', 'unrealised_profit', profit, true),
    read('Commission', 'commission', money),
  ];
}

function roundTrips({ round_trips: source }: ModelReport): Figure[] {
  const read = reader(source);
  return [
    { ...read('Round trips', 'count', count), name: 'round_trips' },
    read('Win rate', 'win_rate', share),
    read('Profit factor', 'profit_factor', ratio),
    read('Mean holding, days', 'mean_holding_days', ratio),
  ];
}

function usageFigures(source: ModelReport['usage']): Figure[] {
  const read = reader(source);
  return [
    read('Cost', 'cost_usd', cost),
    read('Profit per dollar', 'profit_per_cost_usd', ratio, true),
    read('Requests', 'requests', count),
    read('Tokens in', 'prompt_tokens', count),
    read('Tokens out', 'completion_tokens', count),
    read('Cached tokens', 'cached_tokens', count),
    read('Reasoning tokens', 'reasoning_tokens', count),
  ];
}
