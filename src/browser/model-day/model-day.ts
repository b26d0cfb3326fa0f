import { jobPath, modelDayPath, modelPath } from '../../page-paths.ts';
import { getDayResults, getSession } from '../api.ts';
import { h, replace } from '../element.ts';
import {
  change,
  cost,
  count,
  counted,
  duration,
  longDate,
  money,
  profit,
  shortId,
  tone,
} from '../format.ts';
import { poll } from '../poll.ts';
import type { Session } from '../responses.ts';
import { type Page, heading } from '../router.ts';
import { definitions, link, localTime, missing, section } from '../ui.ts';
import { type Day, daysOf, dividendsOf } from './day.ts';
import { portfolio } from './portfolio.ts';
import { restOfSummary } from './summary.ts';
import { text, thread } from './thread.ts';
import { tradesOfDay } from './trades.ts';

/** One model on one date: what it read, wrote and did, and the results. */
export const showModelDay: Page = async (host, params, signal) => {
  const { model = '', date = '' } = params;
  const content = h('div.stack');
  const nav = h('nav.way', { 'aria-label': 'Other days of this model' });
  replace(host, heading(`${model}, ${longDate(date)}`), nav, content);
  const [session, { results }] = await Promise.all([
    getSession(model, date, signal),
    getDayResults(model, date, signal),
  ]);
  if (session === null) return replace(content, ...noSession(model, date));
  showWays(nav, session);
  show(content, { session, day: daysOf(results)[0] });
  if (session.completed_at === null) return () => followSession(content, session, signal);
};

interface Parts {
  session: Session;
  /** Undefined until the model-day is committed. */
  day: Day | undefined;
}

/** What the page of a model-day says that does not exist, with ways on. */
function noSession(model: string, date: string): HTMLElement[] {
  const words = `Model ${model} has no session on ${date}: it was not run, or was skipped.`;
  return missing(words, link(modelPath(model), model), ' with all its days, ');
}

function showWays(
  nav: HTMLElement,
  { model, previous_date: previous, next_date: next }: Session,
): void {
  const neighbours = [dayLink('Previous day', model, previous), dayLink('Next day', model, next)];
  replace(nav, link(modelPath(model), model), ...neighbours);
}

function show(content: HTMLElement, { session, day }: Parts): void {
  const conversation = session.conversation ?? [];
  const { opening, usage } = session;
  const summaryText = restOfSummary(session);
  const brief = conversation.find(({ role }) => role === 'user');
  const isRunning = session.completed_at === null;
  const noResults = isRunning
    ? 'This session is running.'
    : 'This session failed: it has no results.';
  replace(
    content,
    day === undefined ? h('p.notice', noResults) : summary(day, session),
    usage !== null && usage.error !== null && h('p.notice.bad', usage.error),
    usage !== null && usageOf(session.started_at, usage),
    day !== undefined &&
      opening !== null &&
      h('div.two', portfolio(day, opening), tradesOfDay(day.records)),
    section(
      'What the model knew',
      brief === undefined
        ? h('p.quiet', 'The model received no brief.')
        : h('div.brief', text(brief.content)),
    ),
    section(
      'Conversation',
      h('p.quiet', counted(conversation.length, 'message')),
      thread(conversation.filter((message) => message !== brief)),
    ),
    summaryText !== null && section('How the day ended', text(summaryText)),
    session.note !== null && section('Note for the next day', text(session.note)),
  );
}

function summary(day: Day, { opening }: Session): HTMLElement {
  const { portfolio_value, daily_profit, daily_return_pct } = day.close;
  const dividends = dividendsOf(day, opening ?? undefined);
  const fraction = daily_return_pct === null ? null : daily_return_pct / 100;
  return definitions('figures', [
    ['Value at the close', money(portfolio_value)],
    ['Profit of the day', h(`span.${tone(daily_profit)}`, profit(daily_profit))],
    ['Return of the day', h(`span.${tone(fraction)}`, change(fraction))],
    ...(dividends === null
      ? []
      : [['Dividends received', h('span.gain', profit(dividends))] as const]),
    ['Job', link(jobPath(day.jobId), shortId(day.jobId))],
  ]);
}

function usageOf(startedAt: string, usage: NonNullable<Session['usage']>): HTMLElement {
  return definitions('figures', [
    ['Started', localTime(startedAt)],
    ['Took', duration(usage.duration_seconds)],
    ['Steps', count(usage.steps)],
    ['Requests', count(usage.requests)],
    ['Tokens in', count(usage.prompt_tokens)],
    ['Cached tokens', count(usage.cached_tokens)],
    ['Tokens out', count(usage.completion_tokens)],
    ['Reasoning tokens', count(usage.reasoning_tokens)],
    ['Cost', cost(usage.cost_usd)],
  ]);
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
    const isRunning = session?.completed_at === null;
    if (session === null || (isRunning && session.total_messages === messages)) return 'still';
    if (isRunning) {
      messages = session.total_messages;
      show(content, { session, day: undefined });
      return 'moving';
    }
    const { results } = await getDayResults(model, date, signal);
    show(content, { session, day: daysOf(results)[0] });
    over.abort(); // only now: if they did not arrive, they are requested again
    return 'still';
  };
  await poll(refresh, AbortSignal.any([signal, over.signal]));
}

function dayLink(label: string, model: string, date: string | null): HTMLElement {
  if (date === null) return h('span.quiet', label);
  return h(
    'a',
    { href: modelDayPath(model, date), 'aria-label': `${label}, ${longDate(date)}` },
    label,
  );
}
