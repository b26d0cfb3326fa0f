import { here, isPublished } from '../address.ts';
import { get } from '../api.ts';
import { type Attributes, type Child, h, newId, replace } from '../element.ts';
import { filterBar, onChoice } from '../filter-bar.ts';
import { type Filters, feedFilterNames, filtersIn, hasFilters, queryOf } from '../filters.ts';
import { counted, longDate } from '../format.ts';
import { keep } from '../history.ts';
import { poll } from '../poll.ts';
import type { Decision, KnownModels } from '../responses.ts';
import { type Page, goTo, heading } from '../router.ts';
import { button, field, fillOptions, link, messageOf, wayToAJob } from '../ui.ts';
import { messageItem } from './conversation.ts';
import { decisionCard, modelDayOf } from './decision-card.ts';

/** What all models did and why, newest first, or the messages in which they said something. */
export const showDecisions: Page = async (host, _params, signal) => {
  const choice = feedChoiceIn(here().search);
  const bar = filterBar(
    choice.filters,
    { hides: ['benchmark', 'days', 'common'], namesOf: known },
    signal,
  );
  const content = h('div.stack');
  replace(
    host,
    heading('Decisions'),
    h(
      'section.choosing',
      { 'aria-label': 'What to show', hidden: isPublished() },
      findForm(choice),
      bar,
    ),
    content,
  );
  if (choice.words !== '') return showFound(content, choice, signal);
  const shown = await showFeed(content, choice, signal);
  return () => poll(() => lookForNewer(content, { choice, shown }, signal), signal);
};

/** The runs that may have decided something: a name that no configuration had may be a typing error. */
function known(models: KnownModels['models']): string[] {
  return models.flatMap(({ signature, completed_model_days: days, entry }) =>
    days > 0 || (entry !== null && entry.kind !== 'unlisted') ? signature : [],
  );
}

/** Decisions by date, a card for each model-day. Resolves to the ids of the first part. */
async function showFeed(
  content: HTMLElement,
  choice: FeedChoice,
  signal: AbortSignal,
): Promise<string> {
  const days = h('div.stack');
  const foot = h('div.older');
  replace(content, days, foot);
  let list = h('ol.feed');
  let lastDate: string | undefined;
  const add = (modelDays: readonly Decision[][]) => {
    for (const own of modelDays) {
      const date = own[0]?.date ?? '';
      if (date !== lastDate) list = addDay(days, date);
      list.append(decisionCard(own));
      lastDate = date;
    }
  };
  const request = (before: string) => get('/decisions', decisionsQuery(choice, before), signal);
  let first: string | undefined;
  let rest: Decision[] = []; // of a model-day that the next part may continue
  const load = async (before: string) => {
    let { decisions, next_before: next } = await request(before);
    first ??= idsOf(decisions);
    // A published folder has a part for each date.
    while (isPublished() && next !== null && decisions.length < DECISIONS_PER_PAGE) {
      const more = await request(next);
      [decisions, next] = [[...decisions, ...more.decisions], more.next_before];
    }
    const items = [...Map.groupBy([...rest, ...decisions], modelDayOf).values()];
    rest = next === null ? [] : (items.pop() ?? []);
    return { items, next };
  };
  const words = { noun: 'model-day', more: 'Older decisions' };
  const count = await showParts(foot, { load, add, ...words, signal });
  if (count === 0) replace(content, h('p.notice', ...noDecisions(choice)));
  return first ?? '';
}

function idsOf(decisions: readonly Decision[]): string {
  return decisions.map(({ id }) => id).join(' ');
}

/** The reader's place stays: decisions that were made meanwhile are only offered. */
async function lookForNewer(
  content: HTMLElement,
  { choice, shown }: { choice: FeedChoice; shown: string },
  signal: AbortSignal,
): Promise<'moving' | 'still'> {
  if (content.querySelector('.newer') !== null) return 'still';
  const { decisions } = await get('/decisions', decisionsQuery(choice, ''), signal);
  if (idsOf(decisions) === shown) return 'still';
  const show = button('Show the latest', () => goTo(here().pathname + here().search));
  content.prepend(
    h('p.notice.newer', { role: 'status' }, 'The list has changed since you opened it. ', show),
  );
  return 'moving';
}

function addDay(days: HTMLElement, date: string): HTMLOListElement {
  const id = newId();
  const list = h('ol.feed');
  days.append(h('section', { 'aria-labelledby': id }, h('h2', { id }, longDate(date)), list));
  return list;
}

function noDecisions({ filters, kind, symbol }: FeedChoice): Child[] {
  if (kind !== '' || symbol !== '' || hasFilters(filters, feedFilterNames))
    return ['No decisions match these filters.'];
  return ['No model has decided anything yet.', ...wayToAJob('Start a job')];
}

/** Messages that contain the words. */
async function showFound(
  content: HTMLElement,
  choice: FeedChoice,
  signal: AbortSignal,
): Promise<void> {
  const list = h('ol.feed');
  const foot = h('div.older');
  const id = newId();
  const title = h('h2', { id }, 'Messages that contain ', h('q', choice.words));
  replace(content, h('section', { 'aria-labelledby': id }, title, list, foot));
  const load = async (before: string) => {
    const { messages, next_before: next } = await get(
      '/search',
      searchQuery(choice, before),
      signal,
    );
    return { items: messages, next };
  };
  const count = await showParts(foot, {
    load,
    add: (messages) => list.append(...messages.map(messageItem)),
    noun: 'message',
    more: 'Older messages',
    signal,
  });
  if (count === 0)
    replace(foot, h('p.notice', 'No message contains all of these words as whole words.'));
}

/** A part of a list, and where the next one begins; null at the end. */
interface Part<Item> {
  items: Item[];
  next: string | null;
}

interface List<Item> {
  /** Loads a part; `before` is empty for the first. */
  load(before: string): Promise<Part<Item>>;
  /** Adds the items to the end of what is shown. */
  add(items: readonly Item[]): void;
  /** What an item is called. */
  noun: string;
  /** What the button says. */
  more: string;
  signal: AbortSignal;
}

/** Long enough for any reader; after Back the parts are loaded one after another. */
const MOST_PARTS_AFTER_BACK = 20;

/**
 * Shows a list part by part: older items are added below, so the reader's place stays, and Back
 * finds as many as there were. A part may be empty, when a search took long or a model-day
 * continues in the next one; then that is loaded at once, until there is something to show. Resolves when the first parts are shown, to how
 * many items these are.
 */
async function showParts<Item>(
  foot: HTMLElement,
  { load, add, noun, more, signal }: List<Item>,
): Promise<number> {
  const kept = keep('scroll parts'); // as the scrolling, it suits only this list
  const status = h('p.quiet', { role: 'status' });
  let before: string | null = '';
  let count = 0;
  let parts = 0;
  const loadPart = async () => {
    let found = 0;
    while (found === 0 && before !== null && !signal.aborted) {
      const part: Part<Item> = await load(before);
      before = part.next;
      found = part.items.length;
      add(part.items);
      if (found === 0 && before !== null) replace(status, 'Searching for older ones…');
    }
    count += found;
    parts += 1;
    replace(status, `${counted(count, noun)} ${before === null ? 'in total' : 'so far'}.`);
    moreButton.hidden = before === null;
  };
  const loadMore = async () => {
    moreButton.disabled = true;
    try {
      await loadPart();
      kept.write(parts);
    } catch (error) {
      if (!signal.aborted) replace(status, messageOf(error));
    } finally {
      moreButton.disabled = false;
    }
  };
  const moreButton = button(more, () => void loadMore());
  moreButton.hidden = true;
  replace(foot, moreButton, status);
  const wanted = Math.min(Number(kept.read()) || 1, MOST_PARTS_AFTER_BACK);
  do await loadPart();
  while (parts < wanted && before !== null);
  return count;
}

/** The search box, and without a search the kind and the symbol of decisions. */
function findForm(choice: FeedChoice): HTMLElement {
  const input = (name: string, value: string, more: Attributes) =>
    h('input', { name, value, autocomplete: 'off', spellcheck: 'false', ...more });
  const asked = { type: 'search', maxlength: 200, placeholder: 'Words in any order' };
  const kind = h('select', { name: 'kind' });
  fillOptions(kind, [['', 'All decisions'], ...Object.entries(kindWords)], choice.kind);
  const symbol = input('symbol', choice.symbol, { placeholder: 'All symbols', size: 10 });
  const others =
    choice.words === ''
      ? [field('Kind', kind), field('Symbol', symbol)]
      : [link(feedPath({ ...choice, words: '' }), 'Show decisions')];
  return onChoice(
    h(
      'form.find',
      { role: 'search', 'aria-label': 'Decisions and conversations' },
      field('Search in conversations', input('q', choice.words, asked)),
      ...others,
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
}

/** How many items the feed requests at a time. */
const DECISIONS_PER_PAGE = 100;
const MESSAGES_PER_PAGE = 20;

/** The kinds of decisions in words. */
const kindWords: Record<Decision['kind'], string> = {
  trade: 'Trades',
  refusal: 'Refused orders',
  failure: 'Failed model-days',
  no_trade: 'Days without a trade',
};

/** The choice in the page's address; the service checks it. */
export function feedChoiceIn(search: string): FeedChoice {
  const query = new URLSearchParams(search);
  const read = (name: string) => query.get(name)?.trim() ?? '';
  return {
    filters: filtersIn(search),
    kind: read('kind'),
    symbol: read('symbol'),
    words: read('q'),
  };
}

/** The page's address with this choice. */
export function feedPath({ filters, kind, symbol, words }: FeedChoice): string {
  return `/decision-feed${queryOf(filters, feedFilterNames, { q: words, kind, symbol })}`;
}

/** The query for a page of decisions; `before` is empty for the first. */
export function decisionsQuery({ filters, kind, symbol }: FeedChoice, before: string): string {
  return queryOf(filters, feedFilterNames, {
    kind,
    symbol,
    limit: String(DECISIONS_PER_PAGE),
    before,
  });
}

/** The query for a page of messages; `before` is empty for the first. */
export function searchQuery({ filters, words }: FeedChoice, before: string): string {
  const limit = String(MESSAGES_PER_PAGE);
  return queryOf(filters, feedFilterNames, { q: words, limit, before });
}
