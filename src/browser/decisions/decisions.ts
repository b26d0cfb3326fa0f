import { getDecisions, getFound, getJobs, getModels } from '../api.ts';
import { type Child, h, newId, replace } from '../element.ts';
import { OFFERED_JOBS, filterBar } from '../filter-bar.ts';
import { hasFilters } from '../filters.ts';
import { counted, longDate } from '../format.ts';
import { poll } from '../poll.ts';
import type { Decision } from '../responses.ts';
import { type Page, goTo, heading } from '../router.ts';
import { button, wayToAJob } from '../ui.ts';
import {
  type FeedChoice,
  decisionsRequest,
  feedChoiceIn,
  feedFilterNames,
  searchRequest,
} from './choice.ts';
import { findForm } from './find.ts';
import { decisionItem, messageItem } from './items.ts';
import { showParts } from './older.ts';

/** What all models did and why, newest first, or the messages in which they said something. */
export const showDecisions: Page = async (host, _params, signal) => {
  const choice = feedChoiceIn(location.search);
  const bar = filterBar(choice.filters, { hides: ['benchmark', 'days', 'common'] });
  const content = h('div.stack');
  replace(
    host,
    heading('Decisions'),
    h('section.choosing', { 'aria-label': 'What to show' }, findForm(choice), bar.element),
    content,
  );
  const offers = Promise.all([getModels(signal), getJobs(OFFERED_JOBS, signal)]).then(
    ([{ models }, { jobs }]) =>
      bar.offer({
        models: models
          .filter(({ last_job: job }) => job !== null)
          .map(({ signature }) => signature),
        jobs,
      }),
  );
  offers.catch(() => {}); // the page says so, if it cannot be loaded either
  if (choice.words !== '') return showFound(content, choice, signal);
  const shown = await showFeed(content, choice, signal);
  return () => poll(() => lookForNewer(content, { choice, shown }, signal), signal);
};

/** Decisions by date. Resolves to the ids of the first part. */
async function showFeed(
  content: HTMLElement,
  choice: FeedChoice,
  signal: AbortSignal,
): Promise<string> {
  const days = h('div.stack');
  const foot = h('div.older');
  replace(content, days, foot);
  let list = h('ol.feed');
  let above: Decision | null = null;
  const add = (decisions: readonly Decision[]) => {
    for (const decision of decisions) {
      if (decision.date !== above?.date) list = addDay(days, decision.date);
      list.append(decisionItem(decision, above));
      above = decision;
    }
  };
  let first: string | undefined;
  const load = async (before: string) => {
    const { decisions, next_before: next } = await getDecisions(
      decisionsRequest(choice, before),
      signal,
    );
    first ??= idsOf(decisions);
    return { items: decisions, next };
  };
  const describe = (count: number) => counted(count, 'decision');
  const count = await showParts(foot, { load, add, describe, more: 'Older decisions', signal });
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
  const { decisions } = await getDecisions(decisionsRequest(choice, ''), signal);
  if (idsOf(decisions) === shown) return 'still';
  const show = button('Show the latest', () => goTo(location.pathname + location.search));
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
    const { messages, next_before: next } = await getFound(searchRequest(choice, before), signal);
    return { items: messages, next };
  };
  const count = await showParts(foot, {
    load,
    add: (messages) => list.append(...messages.map(messageItem)),
    describe: (found) => counted(found, 'message'),
    more: 'Older messages',
    signal,
  });
  if (count === 0)
    replace(foot, h('p.notice', 'No message contains all of these words as whole words.'));
}
