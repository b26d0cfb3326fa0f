import { type Child, h, newId } from '../parts/element.ts';
import { MISSING, change, cost, count, money, profit, ratio, share, tone } from '../parts/format.ts';
import type { ModelReport, Performance } from '../service/responses.ts';

interface Figure {
  label: string;
  /** Its name in the response, which has its definition. */
  name: string;
  text: Child;
  look?: string;
  /** Why it is missing. */
  reason?: string | undefined;
}

type Group = [title: string, figures: Figure[]];

/** All figures of a model; each explains itself when the reader points at it or moves the focus to it. */
export function figures(report: ModelReport, { conventions, benchmark }: Performance): HTMLElement {
  const name = benchmark.name === 'universe' ? 'the universe' : benchmark.name;
  const groups = [...performanceGroups(report, name), ...tradingGroups(report)].map(([title, own]) => {
    const entries = own.map((figure) => entry(figure, conventions.definitions[figure.name]));
    return h('div.group', h('h3', title), h('dl', ...entries));
  });
  return h('div.figure-groups', ...groups);
}

function entry({ label, text, look, reason }: Figure, definition: string | undefined): HTMLElement {
  const value = h('dd', { class: look }, text);
  const meaning = [definition, text === MISSING ? reason : undefined].filter((part) => part !== undefined).join('. ');
  if (meaning === '') return h('div', h('dt', label), value);
  const id = newId();
  const term = h('dt.defined', { tabindex: 0, 'aria-describedby': id }, label);
  return h('div', term, value, h('div.meaning', { role: 'tooltip', id }, meaning));
}

/** Reads figures by name from a part of the response; with `isToned`, gains and losses have colours. */
function reader<Source extends { unavailable: Record<string, string> }>(source: Source) {
  return <Name extends keyof Source & string>(
    label: string,
    name: Name,
    format: (value: Source[Name]) => Child,
    isToned = false,
  ): Figure => {
    const value = source[name];
    const look = isToned && { look: tone(typeof value === 'number' ? value : null) };
    return { label, name, text: format(value), reason: source.unavailable[name], ...look };
  };
}

function performanceGroups(report: ModelReport, benchmark: string): Group[] {
  const [own, relative] = [reader(report), reader(report.relative)];
  const returns = [
    own('End value', 'end_value', money),
    own('Profit', 'profit', profit, true),
    own('Total return', 'total_return', change, true),
    own('Annualised return', 'annualised_return', change, true),
    own('Best day', 'best_day', dayText),
    own('Worst day', 'worst_day', dayText),
    own('Winning days', 'winning_days_share', share),
  ];
  const risk = [
    own('Volatility', 'annualised_volatility', share),
    own('Sharpe ratio', 'sharpe_ratio', ratio),
    own('Sortino ratio', 'sortino_ratio', ratio),
    own('Calmar ratio', 'calmar_ratio', ratio),
    own('Maximum drawdown', 'max_drawdown', drawdownText),
    own('Value at risk, 95 %', 'value_at_risk_95', share),
  ];
  const comparison = [
    relative('Benchmark return', 'benchmark_return', change, true),
    relative('Excess return', 'excess_return', change, true),
    relative('Alpha', 'alpha', change, true),
    relative('Beta', 'beta', ratio),
    relative('Correlation', 'correlation', ratio),
    relative('Tracking error', 'tracking_error', share),
    relative('Information ratio', 'information_ratio', ratio),
  ];
  return [['Return', returns], ['Risk', risk], [`Against ${benchmark}`, comparison]];
}

function tradingGroups(report: ModelReport): Group[] {
  const [own, trips, usage] = [reader(report.trading), reader(report.round_trips), reader(report.usage)];
  const trading = [
    own('Trades', 'trades', count),
    own('Exposure', 'exposure', share),
    own('Turnover', 'turnover', ratio),
    own('Bought', 'bought', money),
    own('Sold', 'sold', money),
    own('Realised profit', 'realised_profit', profit, true),
    own('Unrealised profit', 'unrealised_profit', profit, true),
    own('Commission', 'commission', money),
  ];
  const roundTrips = [
    { ...trips('Round trips', 'count', count), name: 'round_trips' },
    trips('Win rate', 'win_rate', share),
    trips('Profit factor', 'profit_factor', ratio),
    trips('Mean holding, days', 'mean_holding_days', ratio),
  ];
  const modelCost = [
    usage('Cost', 'cost_usd', cost),
    usage('Profit per dollar', 'profit_per_cost_usd', ratio, true),
    usage('Requests', 'requests', count),
    usage('Tokens in', 'prompt_tokens', count),
    usage('Tokens out', 'completion_tokens', count),
    usage('Cached tokens', 'cached_tokens', count),
    usage('Reasoning tokens', 'reasoning_tokens', count),
  ];
  return [['Trading', trading], ['Round trips', roundTrips], ['Model cost', modelCost]];
}

function dayText(day: ModelReport['best_day']): Child {
  if (day === null) return MISSING;
  const { date, daily_return } = day;
  return h(`span.${tone(daily_return)}`, change(daily_return), h('small.quiet', ` ${date}`));
}

function drawdownText({ depth, peak_date, trough_date, recovery_date, length }: ModelReport['max_drawdown']): Child {
  const end = recovery_date === null ? 'not recovered' : `recovered ${recovery_date}`;
  const course = ` ${peak_date ?? 'start'} to ${trough_date}, ${end}, ${count(length)} days`;
  return h('span', share(depth), h('small.quiet', depth === 0 ? '' : course));
}
