import { outsideMark } from '../look.ts';
import { jobPath, modelDayPath, modelPath } from '../../paths.ts';
import { get, nullIfNotFound } from '../api.ts';
import { type Child, h, replace } from '../element.ts';
import { correctStudy } from '../history.ts';
import {
  change,
  cost,
  wholeNumber,
  counted,
  duration,
  labelInCurrency,
  longDate,
  money,
  price,
  profit,
  share,
  shortId,
  tone,
  nonBreakingDate,
} from '../format.ts';
import { poll } from '../poll.ts';
import type { Message, ResultsRecord, Session } from '../../responses.ts';
import { heading, type Page } from '../router.ts';
import { nameColumn, numberColumn, table, textColumn } from '../table.ts';
import { definitionList, lazyFold, link, localTime, notFound, section } from '../ui.ts';
import { textBlock, thread } from './conversation.ts';
import { documentsShown } from './data.ts';
import { exchangeNote } from './model-data.ts';

/** One model on one date: what it read, wrote and did, and the results. */
export const showModelDay: Page = async (host, params, signal) => {
  const { model = '', date = '' } = params;
  const content = h('div.stack');
  const nav = h('nav.way', { 'aria-label': 'Other days of this model' });
  replace(host, heading(`${model}, ${nonBreakingDate(date)}`), nav, content);
  const [session, { results }] = await Promise.all([
    getSession(model, date, signal),
    get('/results', { model, date }, signal),
  ]);
  if (session === null) {
    const words = `Model ${model} has no session on ${longDate(date)}: it was not run, or was skipped.`;
    const ways = [link(modelPath(model), model), ' with all its days, '];
    return replace(content, ...notFound(words, ...ways));
  }
  correctStudy(session.study ?? '');
  replace(
    nav,
    link(modelPath(model), model),
    outsideMark(model),
    dayLink('Previous day', model, session.previous_date),
    dayLink('Next day', model, session.next_date),
  );
  showSession(content, session, results);
  if (session.completed_at === null) return () => followSession(content, session, signal);
};

/** The latest session of a model-day with its whole conversation. */
async function getSession(
  model: string,
  date: string,
  signal: AbortSignal,
): Promise<Session | null> {
  const query = { model, date, include_full_conversation: 'true' };
  const found = await get('/reasoning', query, signal).catch(nullIfNotFound);
  return found?.sessions.at(-1) ?? null;
}

/**
 * Shows a session and the records of its model-day, of which there are none until it is committed:
 * first what the model said, beside it what it did.
 */
function showSession(
  content: HTMLElement,
  session: Session,
  records: readonly ResultsRecord[] = [],
): void {
  const close = records.at(-1);
  const { opening, usage } = session;
  const summaryText = restOfSummary(session);
  const noResults =
    session.completed_at === null
      ? 'This session is running.'
      : 'This session failed: it has no results.';
  replace(
    content,
    close === undefined && h('p.notice', noResults),
    usage?.error != null && h('p.notice.bad', usage.error),
    definitionList('figures', dayFigures(session, records)),
    h(
      'div.two',
      h(
        'div.stack',
        conversationSection(session),
        documentsShown(session),
        summaryText !== null && section('How the day ended', textBlock(summaryText)),
        session.note !== null && section('Note for the next day', textBlock(session.note)),
      ),
      close !== undefined &&
        opening !== null &&
        h('div.stack', tradesOfDay(records), portfolio(close, opening, session.currency)),
    ),
  );
}

/** The messages; what the model knew that morning is folded, as long as it is. */
function conversationSection({ conversation }: Session): HTMLElement {
  const messages = conversation ?? [];
  const brief = messages.find(({ role }) => role === 'user');
  return section(
    'Conversation',
    h('p.quiet', counted(messages.length, 'message')),
    brief === undefined
      ? h('p.quiet', 'The model received no morning report.')
      : h(
          'details.brief',
          h('summary', 'What the model knew that morning'),
          textBlock(brief.content),
        ),
    thread(messages.filter((message) => message !== brief)),
  );
}

/** What became of the day, and what it took, in one strip. */
function dayFigures(
  { started_at: startedAt, usage, job_id: jobId, confidence, currency }: Session,
  records: readonly ResultsRecord[],
): [string, Child][] {
  const close = records.at(-1);
  const started = h('small.quiet', 'Started ', localTime(startedAt));
  const used: [string, Child][] = usage === null ? [] : usageFigures(usage);
  if (confidence !== null) used.unshift(['Confidence', share(confidence)]);
  used.push(['Job', h('span', link(jobPath(jobId), shortId(jobId)), started)]);
  if (close === undefined) return used;
  const { daily_return_pct: percent } = close;
  const fraction = percent === null ? null : percent / 100;
  const trades = records.filter(({ action_type: type }) => type === 'buy' || type === 'sell');
  return [
    [labelInCurrency('Value at the close', currency), money(close.portfolio_value)],
    [
      'Return of the day',
      withNote(
        h(`span.${tone(change(fraction))}`, change(fraction)),
        `${labelInCurrency('Profit', currency)} ${profit(close.daily_profit)}`,
      ),
    ],
    ['Trades', wholeNumber(trades.length)],
    ...used,
  ];
}

function usageFigures(usage: NonNullable<Session['usage']>): [string, Child][] {
  const { cached_tokens: cached, reasoning_tokens: reasoning } = usage;
  return [
    ['Cost', cost(usage.cost_usd)],
    [
      'Tokens in',
      withNote(
        wholeNumber(usage.prompt_tokens),
        cached !== null && `${wholeNumber(cached)} cached`,
      ),
    ],
    [
      'Tokens out',
      withNote(
        wholeNumber(usage.completion_tokens),
        reasoning !== null && `${wholeNumber(reasoning)} reasoning`,
      ),
    ],
    [
      'Took',
      withNote(
        duration(usage.duration_seconds),
        `${counted(usage.steps, 'step')}, ${counted(usage.requests, 'request')}`,
      ),
    ],
  ];
}

/** A figure with a small line below it. */
function withNote(figure: Child, more: string | false): HTMLElement {
  return h('span', figure, more !== false && h('small.quiet', more));
}

/** Shows the messages of a running session as they come, and its results at the end. */
async function followSession(
  content: HTMLElement,
  first: Session,
  signal: AbortSignal,
): Promise<void> {
  const { model, date } = first;
  const over = new AbortController();
  let messages = first.total_messages;
  const refresh = async () => {
    const session = await getSession(model, date, signal);
    if (session === null) return 'still';
    if (session.completed_at === null) {
      if (session.total_messages === messages) return 'still';
      messages = session.total_messages;
      showSession(content, session);
      return 'moving';
    }
    const { results } = await get('/results', { model, date }, signal);
    showSession(content, session, results);
    over.abort(); // only now: if they did not arrive, they are requested again
    return 'still';
  };
  await poll(refresh, AbortSignal.any([signal, over.signal]));
}

function dayLink(label: string, model: string, date: string | null): HTMLElement {
  if (date === null) return h('span.quiet', label);
  const own = { href: modelDayPath(model, date), 'aria-label': `${label}, ${longDate(date)}` };
  return h('a', own, label);
}

/** Smallest difference in dollars; less is floating-point error. */
const SMALLEST = 0.00005;

interface Holding {
  name: string;
  before: number;
  after: number;
  format: (value: number) => string;
  formatChange: (value: number) => string;
}

/**
 * Cash, value and the holdings that changed, before the day and at its close; the others are
 * folded.
 */
function portfolio(
  close: ResultsRecord,
  opening: NonNullable<Session['opening']>,
  currency: string,
): HTMLElement {
  const cashFormats = { format: money, formatChange: profit };
  const shares = { format: wholeNumber, formatChange: countChange };
  const had = sharesBySymbol(opening);
  const has = sharesBySymbol(close);
  const holdings = [...new Set([...had.keys(), ...has.keys()])].sort().map((name): Holding => {
    return { name, before: had.get(name) ?? 0, after: has.get(name) ?? 0, ...shares };
  });
  const { same = [], changed = [] } = Object.groupBy(holdings, ({ before, after }) =>
    before === after ? 'same' : 'changed',
  );
  const start =
    opening.date === null ? 'the initial cash' : `the close of ${nonBreakingDate(opening.date)}`;
  const unit = currency === 'USD' ? 'dollars' : currency;
  const words = `Holdings in shares, cash and value in ${unit}. Before: ${start}. After: the close of the day.`;
  const content = table<Holding>({
    caption: 'Portfolio',
    rows: [{ name: 'Cash', before: opening.cash, after: close.cash, ...cashFormats }, ...changed],
    footer: [
      {
        name: 'Value',
        before: opening.portfolio_value,
        after: close.portfolio_value,
        ...cashFormats,
      },
    ],
    columns: [
      { title: 'Holding', isName: true, cell: ({ name }) => name },
      { title: 'Before', isNumber: true, cell: ({ before, format }) => format(before) },
      { title: 'After', isNumber: true, cell: ({ after, format }) => format(after) },
      { title: 'Change', isNumber: true, cell: changeText },
    ],
  });
  const others = lazyFold(`${counted(same.length, 'holding')} unchanged`, () => [
    table({
      caption: 'Unchanged holdings',
      rows: same,
      columns: [nameColumn('Holding', 'name'), numberColumn('Shares', 'after', wholeNumber)],
    }),
  ]);
  const element = section('Portfolio', h('p.quiet', words), content, same.length > 0 && others);
  return Object.assign(element, { className: 'portfolio' });
}

function changeText({ before, after, formatChange }: Holding): string {
  const difference = after - before;
  return Math.abs(difference) < SMALLEST ? '' : formatChange(difference);
}

function countChange(shares: number): string {
  return `${shares > 0 ? '+' : ''}${wholeNumber(shares)}`;
}

/**
 * The executed orders, splits, dividends and exchanges of one model-day, in the order in which they
 * happened.
 */
function tradesOfDay(records: readonly ResultsRecord[]): HTMLElement {
  return section(
    'Trades',
    exchangeNote(records.map(({ action_type: type }) => type)),
    table<ResultsRecord>({
      caption: 'Trades of the day',
      rows: records.filter(({ action_type: type }) => type !== 'no_trade'),
      empty: 'The model did not trade.',
      isFixed: true,
      columns: [
        numberColumn('#', 'action_id', wholeNumber),
        textColumn('Action', 'action_type', { look: (row) => `action ${row.action_type}` }),
        textColumn('Symbol', 'symbol'),
        numberColumn('Shares', 'amount', wholeNumber),
        numberColumn('Price', 'price', price),
        numberColumn('Cash after', 'cash', money),
      ],
    }),
  );
}

/** The shares held after a record, by symbol. */
function sharesBySymbol({ holdings }: Pick<ResultsRecord, 'holdings'>): Map<string, number> {
  return new Map(holdings.map(({ symbol, quantity }) => [symbol, quantity]));
}

interface EndedSession extends Pick<Session, 'session_summary'> {
  conversation?: readonly Pick<Message, 'role' | 'content'>[] | null | undefined;
}

/**
 * What the end of a day says beyond the conversation: the summary is the model's last message,
 * which the conversation shows, and sometimes a note on how the day ended, such as that it reached
 * the limit of steps. Null when there is no more.
 */
export function restOfSummary({
  session_summary: summary,
  conversation,
}: EndedSession): string | null {
  const last = conversation?.findLast(({ role }) => role === 'assistant')?.content.trim() ?? '';
  const rest = (summary ?? '').trim();
  const more = rest.startsWith(last) ? rest.slice(last.length).trim() : rest;
  return more === '' ? null : more;
}
