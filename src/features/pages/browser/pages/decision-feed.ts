import { pageStudy, pageUrl, isPublished } from '../address.ts';
import { get } from '../api.ts';
import { type Attributes, type Child, h, replace } from '../element.ts';
import {
  type Filters,
  feedFilterNames,
  readFilters,
  hasFilters,
  readParameters,
  filterQuery,
} from '../filters.ts';
import { filterBar, navigateOnSubmit } from '../filter-bar.ts';
import { longDate, wholeNumber, counted, price } from '../format.ts';
import { poll } from '../poll.ts';
import type { Decision, KnownModels } from '../../responses.ts';
import { type Page, goTo, heading } from '../router.ts';
import { button, field, fillOptions, link, section, startJobHint, localTime } from '../ui.ts';
import { messageItem, dayLink } from './conversation.ts';

/** A model-day with more orders than this shows them when it is unfolded. */
const MOST_ORDERS = 6;

/** Which model-day a decision belongs to. */
function modelDayKey({ model, date, job_id: job }: Decision): string {
  return JSON.stringify([model, date, job]);
}

/**
 * What a model did on a day, in a line, and why, in its words; then its orders. The decisions are
 * those of one model-day, the last one first, as the response has them.
 */
export function decisionCard(lastFirst: readonly Decision[]): HTMLElement {
  const all = withReasons(lastFirst.toReversed());
  const last = all.at(-1);
  if (last === undefined) return h('li');
  const orders = all.filter(({ side }) => side !== null);
  const reasons = new Set(all.map(({ reason }) => reason));
  const listed = orders.length > 1 ? orders : [];
  const others = all.filter((one) => !listed.includes(one));
  const said = reasons.size === 1 ? reasons : new Set(others.map(({ reason }) => reason));
  return h(
    'li',
    h(
      'p.did',
      dayLink(last.model, last.date),
      ...outcome(all),
      h('span.when.quiet', localTime(last.timestamp)),
    ),
    ...[...new Set(others.map(({ detail }) => detail))].map(
      (detail) => detail !== null && h('p.detail', detail),
    ),
    ...[...said].map((reason) => reason !== null && h('p.reason', reason)),
    listed.length > 0 && orderList(listed, reasons.size > 1),
  );
}

/**
 * Where the service found no words shortly before an order, those before the order above it are
 * still the last that the model said.
 */
function withReasons(decisions: readonly Decision[]): Decision[] {
  let last: string | null = null;
  return decisions.map((one) => {
    last = one.reason ?? last;
    return { ...one, reason: last };
  });
}

/** "Bought 52 symbols", "Sold 10 AAPL at 231.20", "2 orders refused", "1 malformed call". */
function outcome(all: readonly Decision[]): HTMLElement[] {
  const part = (
    kind: Decision['kind'],
    words: (own: readonly Decision[]) => string,
    side: Decision['side'] = null,
  ) => {
    const own = all.filter((one) => one.kind === kind && (side === null || one.side === side));
    return own.length === 0 ? [] : h(`span.act.${kind}`, words(own));
  };
  return [
    part('trade', (own) => `Bought ${tradesText(own)}`, 'buy'),
    part('trade', (own) => `Sold ${tradesText(own)}`, 'sell'),
    part('refusal', refusalsText),
    part('malformed', (own) => counted(own.length, 'malformed call')),
    part('failure', () => 'Failed'),
    part('no_trade', () => 'No trade'),
  ].flat();
}

function tradesText(trades: readonly Decision[]): string {
  const symbols = new Set(trades.map(({ symbol }) => symbol));
  if (symbols.size > 1) return counted(symbols.size, 'symbol');
  const shares = trades.reduce((sum, { amount }) => sum + (amount ?? 0), 0);
  const how = trades.length > 1 ? `in ${trades.length} orders` : `at ${price(trades[0]?.price)}`;
  return `${wholeNumber(shares)} ${[...symbols].join()} ${how}`;
}

function refusalsText(orders: readonly Decision[]): string {
  const [{ side, amount, symbol } = {}, second] = orders;
  if (second !== undefined) return `${counted(orders.length, 'order')} refused`;
  return `Order refused: ${[side, amount != null && wholeNumber(amount), symbol].filter(Boolean).join(' ')}`;
}

/** The orders, folded where they are many; with the reasons, where these differ. */
function orderList(orders: readonly Decision[], saysWhy: boolean): HTMLElement {
  const [first] = orders;
  const all = orderTable(orders, saysWhy);
  if (first === undefined || orders.length <= MOST_ORDERS) return all;
  const summary = h('summary', `All ${counted(orders.length, 'order')}`);
  return h('details.fold', { 'data-name': modelDayKey(first) }, summary, all);
}

function orderTable(orders: readonly Decision[], saysWhy: boolean): HTMLElement {
  const titles = ['Order', 'Shares', 'Symbol', 'Price'].map((title, place) =>
    h(place % 2 === 0 ? 'th' : 'th.number', { scope: 'col' }, title),
  );
  const groups = [...Map.groupBy(orders, ({ reason }) => reason)].map(([reason, own]) =>
    h(
      'tbody',
      saysWhy &&
        reason !== null &&
        h('tr', h('th.reason', { scope: 'rowgroup', colspan: 4 }, reason)),
      ...own.flatMap(orderRows),
    ),
  );
  const { model = '' } = orders[0] ?? {};
  return h(
    'table.orders',
    { 'aria-label': `Orders of ${model}` },
    h('thead', h('tr', ...titles)),
    ...groups,
  );
}

function orderRows({ side, amount, symbol, price: paid, kind, detail }: Decision): HTMLElement[] {
  const row = h(
    'tr',
    h(`td.action.${side}`, side === 'buy' ? 'Buy' : 'Sell'),
    h('td.number', wholeNumber(amount)),
    h('td', symbol ?? ''),
    h('td.number', kind === 'refusal' ? h('span.act.refusal', 'refused') : price(paid)),
  );
  return detail === null ? [row] : [row, h('tr', h('td.detail', { colspan: 4 }, detail))];
}

/** What all models did and why, newest first, or the messages in which they said something. */
export const showDecisions: Page = async (host, _params, signal) => {
  const choice = readFeedChoice(pageUrl().search);
  const bar = filterBar(
    choice.filters,
    { hides: ['benchmark', 'days', 'common'], fields: [newestInput()], selectNames: knownRuns },
    signal,
  );
  const content = h('div.stack');
  replace(
    host,
    heading('Decisions'),
    h(
      'section.choosing',
      { 'aria-label': 'What to show', hidden: isPublished() && pageStudy() === null },
      searchForm(choice),
      bar,
    ),
    content,
  );
  if (choice.words !== '') return showMessages(content, choice, signal);
  const shown = await showFeed(content, choice, signal);
  // Older pages never get another decision.
  if (choice.before === '')
    return () => poll(() => offerNewer(content, { choice, shown }, signal), signal);
};

/** The runs that may have decided something: a name in no configuration may be a typing error. */
function knownRuns(models: KnownModels['models']): string[] {
  return models.flatMap(({ signature, completed_model_days: days, entry }) =>
    days > 0 || (entry !== null && entry.kind !== 'unlisted') ? signature : [],
  );
}

/**
 * A page of decisions by date, a card for each model-day. Resolves to the ids of those that it
 * asked for first.
 */
async function showFeed(
  content: HTMLElement,
  choice: FeedChoice,
  signal: AbortSignal,
): Promise<string> {
  const load = (before: string) => get('/decisions', decisionsQuery({ ...choice, before }), signal);
  let { decisions, next_before: next } = await load(choice.before);
  const shown = joinIds(decisions);
  // A published folder has a part for each date; elsewhere the last model-day may continue.
  const isShort = () =>
    isPublished()
      ? decisions.length < DECISIONS_PER_PAGE
      : new Set(decisions.map(modelDayKey)).size < 2;
  while (next !== null && isShort()) {
    const more = await load(next);
    [decisions, next] = [[...decisions, ...more.decisions], more.next_before];
  }
  const modelDays = [...Map.groupBy(decisions, modelDayKey).values()];
  if (next !== null && !isPublished()) {
    modelDays.pop();
    next = modelDays.at(-1)?.at(-1)?.id ?? next;
  }
  const days = [...Map.groupBy(modelDays, ([first]) => first?.date ?? '')].map(([date, own]) =>
    section(longDate(date), h('ol.feed', ...own.map(decisionCard))),
  );
  replace(
    content,
    ...(days.length === 0 ? [h('p.notice', ...noDecisions(choice))] : days),
    pager(choice, next, 'decisions'),
  );
  return shown;
}

/** The way back to newer ones is Back, or the first page. */
function pager(choice: FeedChoice, next: string | null, what: string): HTMLElement {
  return h(
    'nav.way',
    { 'aria-label': `Pages of ${what}` },
    choice.before !== '' && link(feedPath({ ...choice, before: '' }), `Newest ${what}`),
    next !== null && link(feedPath({ ...choice, before: next }), `Older ${what}`),
  );
}

function joinIds(decisions: readonly Decision[]): string {
  return decisions.map(({ id }) => id).join(' ');
}

/** The reader's place stays: decisions that were made meanwhile are only offered. */
async function offerNewer(
  content: HTMLElement,
  { choice, shown }: { choice: FeedChoice; shown: string },
  signal: AbortSignal,
): Promise<'moving' | 'still'> {
  if (content.querySelector('.newer') !== null) return 'still';
  const { decisions } = await get('/decisions', decisionsQuery(choice), signal);
  if (joinIds(decisions) === shown) return 'still';
  const show = button('Show the latest', () => goTo(pageUrl().pathname + pageUrl().search));
  content.prepend(
    h('p.notice.newer', { role: 'status' }, 'The list has changed since you opened it. ', show),
  );
  return 'moving';
}

function noDecisions({ filters, kind, symbol, before }: FeedChoice): Child[] {
  if (before !== '') return ['There are no older decisions.'];
  if (kind !== '' || symbol !== '' || hasFilters(filters, feedFilterNames))
    return ['No decisions match these filters.'];
  return ['No model has decided anything yet.', ...startJobHint('Start a job')];
}

/** A page of messages that contain the words. */
async function showMessages(
  content: HTMLElement,
  choice: FeedChoice,
  signal: AbortSignal,
): Promise<void> {
  const load = (before: string) => get('/search', searchQuery({ ...choice, before }), signal);
  let { messages, next_before: next } = await load(choice.before);
  // A search that took long has found nothing so far.
  while (messages.length === 0 && next !== null)
    ({ messages, next_before: next } = await load(next));
  replace(
    content,
    section(
      h('span', 'Messages that contain ', h('q', choice.words)),
      messages.length === 0
        ? h('p.notice', 'No message contains all of these words as whole words.')
        : h('ol.feed', ...messages.map(messageItem)),
    ),
    pager(choice, next, 'messages'),
  );
}

/** Another choice begins with its newest page. */
function newestInput(): HTMLElement {
  return h('input', { type: 'hidden', name: 'before' });
}

/** The search box, and without a search the kind and the symbol of decisions. */
function searchForm(choice: FeedChoice): HTMLElement {
  const input = (name: string, value: string, more: Attributes) =>
    h('input', { name, value, autocomplete: 'off', spellcheck: 'false', ...more });
  const asked = { type: 'search', maxlength: 200, placeholder: 'Words in any order' };
  const kinds = Object.entries({ '': 'All decisions', ...kindLabels });
  const kind = fillOptions(h('select', { name: 'kind' }), kinds, choice.kind);
  const symbol = input('symbol', choice.symbol, { placeholder: 'All symbols', size: 10 });
  const others =
    choice.words === ''
      ? [field('Kind', kind), field('Symbol', symbol)]
      : [link(feedPath({ ...choice, words: '' }), 'Show decisions')];
  return navigateOnSubmit(
    h(
      'form.find',
      { role: 'search', 'aria-label': 'Decisions and conversations', hidden: isPublished() },
      field('Search in conversations', input('q', choice.words, asked)),
      ...others,
      newestInput(),
      h('button', { type: 'submit' }, 'Find'),
    ),
  );
}

/**
 * What a reader looks at: the filters of all pages, and which decisions, or which words in
 * conversations; empty means all.
 */
interface FeedChoice {
  filters: Filters;
  kind: string;
  symbol: string;
  /** Words to search for; with any, the page shows messages instead of decisions. */
  words: string;
  /** Where the page begins; empty for the newest. */
  before: string;
}

/** How many items the feed requests at a time. */
const DECISIONS_PER_PAGE = 100;
const MESSAGES_PER_PAGE = 20;

/** The kinds of decisions in words. */
const kindLabels: Record<Decision['kind'], string> = {
  trade: 'Trades',
  refusal: 'Refused orders',
  malformed: 'Malformed calls',
  failure: 'Failed model-days',
  no_trade: 'Days without a trade',
};

/** The choice in the page's address; the service checks it. */
export function readFeedChoice(search: string): FeedChoice {
  const { q: words, ...own } = readParameters(search, ['kind', 'symbol', 'q', 'before']);
  return { filters: readFilters(search), words, ...own };
}

/** The page's address with this choice. */
export function feedPath({ filters, words, ...own }: FeedChoice): string {
  return `/decision-feed${filterQuery(filters, feedFilterNames, { q: words, ...own })}`;
}

/** The query for a page of decisions. */
export function decisionsQuery({ filters, words, ...own }: FeedChoice): string {
  return filterQuery(filters, feedFilterNames, { ...own, limit: String(DECISIONS_PER_PAGE) });
}

/** The query for a page of messages. */
export function searchQuery({ filters, words, before }: FeedChoice): string {
  return filterQuery(filters, feedFilterNames, {
    q: words,
    limit: String(MESSAGES_PER_PAGE),
    before,
  });
}
