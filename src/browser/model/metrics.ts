import { type Child, h, newId } from '../parts/element.ts';
import { MISSING, change, cost, count, money, profit, ratio, share, tone } from '../parts/format.ts';
import type { ModelReport, Performance } from '../service/responses.ts';

type Figure = number | null;

interface Metric {
  label: string;
  /** The name in the server's answer, which has the definition and, for a missing figure, the reason under it. */
  name: string;
  text: Child;
  tone?: string;
  /** Why it is missing. */
  reason?: string | undefined;
}

/** All figures of a model; each says what it means to whoever points at it or tabs to it. */
export function metrics(report: ModelReport, { conventions, benchmark }: Performance): HTMLElement {
  const groups: [title: string, metrics: Metric[]][] = [
    ['Return', returns(report)],
    ['Risk', risk(report)],
    [`Against ${benchmark.name === 'universe' ? 'the universe' : benchmark.name}`, relative(report)],
    ['Trading', trading(report)],
    ['Round trips', roundTrips(report)],
    ['Model cost', usage(report)],
  ];
  const sections = groups.map(([title, own]) =>
    h(
      'div',
      { class: 'group' },
      h('h3', {}, title),
      h('dl', {}, ...own.map((metric) => entry(metric, conventions.definitions))),
    ),
  );
  return h('div', { class: 'metrics' }, ...sections);
}

function entry({ label, name, text, tone: colour, reason }: Metric, definitions: Record<string, string>): HTMLElement {
  const isMissing = text === MISSING;
  const meaning = [definitions[name], isMissing ? reason : undefined].filter((part) => part !== undefined).join('. ');
  const id = newId();
  const term =
    meaning === '' ? h('dt', {}, label) : h('dt', { class: 'defined', tabindex: 0, 'aria-describedby': id }, label);
  return h(
    'div',
    {},
    term,
    h('dd', { class: colour ?? null }, text),
    meaning !== '' && h('div', { class: 'meaning', role: 'tooltip', id }, meaning),
  );
}

function reader(source: Record<string, unknown>, reasons: Record<string, string>) {
  return (label: string, name: string, format: (value: Figure) => string, hasTone = false): Metric => {
    const raw = source[name];
    const value = typeof raw === 'number' ? raw : null;
    return { label, name, text: format(value), reason: reasons[name], ...(hasTone && { tone: tone(value) }) };
  };
}

function returns(report: ModelReport): Metric[] {
  const read = reader({ ...report }, report.unavailable);
  const day = (label: string, name: 'best_day' | 'worst_day'): Metric => {
    const found = report[name];
    return {
      label,
      name,
      text:
        found === null
          ? MISSING
          : h('span', {}, change(found.daily_return), h('small', { class: 'quiet' }, ` ${found.date}`)),
      tone: tone(found?.daily_return),
      reason: report.unavailable[name],
    };
  };
  return [
    { label: 'End value', name: 'end_value', text: money(report.end_value) },
    read('Profit', 'profit', profit, true),
    read('Total return', 'total_return', change, true),
    read('Annualised return', 'annualised_return', change, true),
    day('Best day', 'best_day'),
    day('Worst day', 'worst_day'),
    read('Winning days', 'winning_days_share', share),
  ];
}

function risk(report: ModelReport): Metric[] {
  const read = reader({ ...report }, report.unavailable);
  const { depth, peak_date, trough_date, recovery_date, length } = report.max_drawdown;
  const end = recovery_date === null ? 'not recovered' : `recovered ${recovery_date}`;
  const course = depth === 0 ? '' : ` ${peak_date ?? 'start'} to ${trough_date}, ${end}, ${count(length)} days`;
  return [
    read('Volatility', 'annualised_volatility', share),
    read('Sharpe ratio', 'sharpe_ratio', ratio),
    read('Sortino ratio', 'sortino_ratio', ratio),
    read('Calmar ratio', 'calmar_ratio', ratio),
    {
      label: 'Maximum drawdown',
      name: 'max_drawdown',
      text: h('span', {}, share(depth), h('small', { class: 'quiet' }, course)),
    },
    read('Value at risk, 95 %', 'value_at_risk_95', share),
  ];
}

function relative({ relative: source }: ModelReport): Metric[] {
  const read = reader(source, source.unavailable);
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

function trading({ trading: source }: ModelReport): Metric[] {
  const read = reader(source, source.unavailable);
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

function roundTrips({ round_trips: source }: ModelReport): Metric[] {
  const read = reader(source, source.unavailable);
  return [
    { ...read('Round trips', 'count', count), name: 'round_trips' },
    read('Win rate', 'win_rate', share),
    read('Profit factor', 'profit_factor', ratio),
    read('Mean holding, days', 'mean_holding_days', ratio),
  ];
}

function usage({ usage: source }: ModelReport): Metric[] {
  const read = reader({ ...source }, source.unavailable);
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
