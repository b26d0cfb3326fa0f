import { getResults, getSession, getStatus } from '../service/requests.ts';
import { type Day, daysOf } from '../model/days.ts';
import { type Child, h, replace } from '../parts/element.ts';
import { change, cost, count, counted, duration, longDate, money, price, profit, tone } from '../parts/format.ts';
import { jobPath, modelDayPath, modelPath } from '../../page-paths.ts';
import { poll } from '../service/poll.ts';
import { type Page, heading } from '../parts/page.ts';
import type { ResultsRecord, Session } from '../service/responses.ts';
import { table } from '../parts/table.ts';
import { text, thread } from './thread.ts';
import { moment } from '../parts/time.ts';

/** Of a dollar: what sums of exact amounts may be off by when computed here. */
const SMALLEST = 0.00005;

/** One model on one date: what it knew, what it said and did, and what came of it. */
export const showModelDay: Page = async (host, params, signal) => {
  const { model = '', date = '' } = params;
  const content = h('div', { class: 'stack' });
  const way = h('nav', { class: 'way', 'aria-label': 'Other days of this model' });
  replace(host, heading(`${model}, ${longDate(date)}`), way, content);
  const [session, { results }] = await Promise.all([getSession(model, date, signal), getResults(model, signal)]);
  const days = daysOf(results);
  const place = days.findIndex((day) => day.date === date);
  const [before, day] = [days.findLast((one) => one.date < date), days[place]];
  const after = days.find((one) => one.date > date);
  replace(
    way,
    h('a', { href: modelPath(model) }, model),
    dayLink('Previous day', model, before),
    dayLink('Next day', model, after),
  );
  if (session === null) {
    return replace(
      content,
      h('p', { class: 'notice' }, `Model ${model} has no session on ${date}: it was not run, or was skipped.`),
    );
  }
  const figures = h('div');
  show(content, { session, day, before, figures });
  return async () => {
    await showUsage(figures, session, signal);
    if (session.completed_at === null) await followSession(content, { session, day, before, figures }, signal);
  };
};

interface Parts {
  session: Session;
  day: Day | undefined;
  before: Day | undefined;
  figures: HTMLElement;
}

function show(content: HTMLElement, { session, day, before, figures }: Parts): void {
  const conversation = session.conversation ?? [];
  const briefAt = conversation.findIndex(({ role }) => role === 'user');
  const brief = conversation[briefAt];
  replace(
    content,
    day === undefined &&
      h(
        'p',
        { class: 'notice' },
        session.completed_at === null ? 'This session is running.' : 'This session failed: it has no results.',
      ),
    day !== undefined && summary(day),
    figures,
    day !== undefined && h('div', { class: 'two' }, portfolio(day, before), trades(day)),
    h(
      'section',
      {},
      h('h2', {}, 'What it knew'),
      brief === undefined
        ? h('p', { class: 'quiet' }, 'Nothing was told to it.')
        : h('div', { class: 'brief' }, text(brief.content)),
    ),
    h(
      'section',
      {},
      h('h2', {}, 'Conversation'),
      h('p', { class: 'quiet' }, counted(conversation.length, 'message')),
      thread(conversation.filter((_message, index) => index !== briefAt)),
    ),
    session.session_summary !== null && h('section', {}, h('h2', {}, 'Its summary'), text(session.session_summary)),
  );
}

function summary({ close, jobId }: Day): HTMLElement {
  const { portfolio_value, daily_profit, daily_return_pct } = close;
  return figureLine([
    ['Value at the close', money(portfolio_value)],
    ['Profit of the day', h('span', { class: tone(daily_profit) }, profit(daily_profit))],
    [
      'Return of the day',
      h('span', { class: tone(daily_return_pct) }, change(daily_return_pct === null ? null : daily_return_pct / 100)),
    ],
    ['Job', h('a', { href: jobPath(jobId) }, jobId.slice(0, 8))],
  ]);
}

function figureLine(entries: readonly [string, Child][]): HTMLElement {
  return h(
    'dl',
    { class: 'figures' },
    ...entries.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
  );
}

/** Tokens and cost stand with the job; where that answer is missing, so are they. */
async function showUsage(place: HTMLElement, session: Session, signal: AbortSignal): Promise<void> {
  const status = await getStatus(session.job_id, signal).catch(() => null);
  const detail = status?.details.find(({ date, model }) => date === session.date && model === session.model);
  if (detail === undefined) return;
  replace(
    place,
    detail.error !== null && h('p', { class: 'notice bad' }, detail.error),
    figureLine([
      ['Started', moment(session.started_at)],
      ['Took', duration(detail.duration_seconds)],
      ['Steps', count(detail.steps)],
      ['Requests', count(detail.requests)],
      ['Tokens in', count(detail.prompt_tokens)],
      ['cached', count(detail.cached_tokens)],
      ['Tokens out', count(detail.completion_tokens)],
      ['reasoning', count(detail.reasoning_tokens)],
      ['Cost', cost(detail.cost_usd)],
    ]),
  );
}

/** A session that runs grows while one reads it. */
async function followSession(content: HTMLElement, parts: Parts, signal: AbortSignal): Promise<void> {
  const { model, date } = parts.session;
  const over = new AbortController();
  let messages = parts.session.total_messages;
  await poll(
    async () => {
      const session = await getSession(model, date, signal);
      if (session === null || (session.completed_at === null && session.total_messages === messages)) return 'still';
      messages = session.total_messages;
      if (session.completed_at === null) {
        show(content, { ...parts, session });
        return 'moving';
      }
      over.abort();
      const { results } = await getResults(model, signal);
      show(content, { ...parts, session, day: daysOf(results).find((day) => day.date === date) });
      await showUsage(parts.figures, session, signal);
      return 'still';
    },
    AbortSignal.any([signal, over.signal]),
  );
}

/** What the first day of a model starts with: all cash. */
function startCash({ close: { portfolio_value, daily_profit } }: Day): number {
  return portfolio_value - (daily_profit ?? 0);
}

/** Cash, holdings and value as they were in the morning and as they were left, side by side. */
function portfolio({ close, ...day }: Day, before: Day | undefined): HTMLElement {
  const cashBefore = before?.close.cash ?? startCash({ close, ...day });
  const had = new Map(before?.close.holdings.map(({ symbol, quantity }) => [symbol, quantity]));
  const has = new Map(close.holdings.map(({ symbol, quantity }) => [symbol, quantity]));
  const symbols = [...new Set([...had.keys(), ...has.keys()])].sort();
  const headings = ['Holding', 'Before', 'After', 'Change'];
  const start = before === undefined ? 'the initial cash' : `the close of ${longDate(before.date)}`;
  return h(
    'section',
    { class: 'portfolio' },
    h('h2', {}, 'Portfolio'),
    h(
      'p',
      { class: 'quiet' },
      `Shares, and dollars of cash and value. Before: ${start}. After: valued at the close of the day.`,
    ),
    h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Portfolio' },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ...headings.map((title, index) => h('th', { scope: 'col', class: index > 0 && 'figure' }, title)),
          ),
        ),
        h(
          'tbody',
          {},
          portfolioRow('Cash', { before: cashBefore, after: close.cash, format: money, formatChange: profit }),
          ...symbols.map((symbol) =>
            portfolioRow(symbol, {
              before: had.get(symbol) ?? 0,
              after: has.get(symbol) ?? 0,
              format: count,
              formatChange: countChange,
            }),
          ),
        ),
        h(
          'tfoot',
          {},
          portfolioRow('Value', {
            before: before?.close.portfolio_value ?? cashBefore,
            after: close.portfolio_value,
            format: money,
            formatChange: profit,
          }),
        ),
      ),
    ),
  );
}

interface Pair {
  before: number;
  after: number;
  format: (value: number) => string;
  formatChange: (value: number) => string;
}

function portfolioRow(name: string, { before, after, format, formatChange }: Pair): HTMLElement {
  const difference = after - before;
  const cells = [format(before), format(after), Math.abs(difference) < SMALLEST ? '' : formatChange(difference)];
  return h('tr', {}, h('th', { scope: 'row' }, name), ...cells.map((cell) => h('td', { class: 'figure' }, cell)));
}

function countChange(shares: number): string {
  return `${shares > 0 ? '+' : ''}${count(shares)}`;
}

function trades({ records }: Day): HTMLElement {
  const rows = records.filter(({ action_type }) => action_type !== 'no_trade');
  return h(
    'section',
    {},
    h('h2', {}, 'Trades'),
    rows.length === 0
      ? h('p', { class: 'quiet' }, 'It did not trade.')
      : table<ResultsRecord>({
          caption: 'Trades of the day',
          rows,
          columns: [
            { title: '#', isFigure: true, cell: (row) => row.action_id },
            { title: 'Action', cell: (row) => row.action_type, tone: (row) => `action ${row.action_type}` },
            { title: 'Symbol', cell: ({ symbol }) => symbol },
            { title: 'Shares', isFigure: true, cell: ({ amount }) => count(amount) },
            { title: 'Price', isFigure: true, cell: (row) => price(row.price) },
            { title: 'Cash after', isFigure: true, cell: ({ cash }) => money(cash) },
          ],
        }),
  );
}

function dayLink(label: string, model: string, day: Day | undefined): HTMLElement {
  return day === undefined
    ? h('span', { class: 'quiet' }, label)
    : h('a', { href: modelDayPath(model, day.date), 'aria-label': `${label}, ${longDate(day.date)}` }, label);
}
