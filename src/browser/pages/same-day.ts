import { modelDayPath } from '../../basics/paths.ts';
import { here } from '../address.ts';
import { get } from '../api.ts';
import { h, on, replace } from '../element.ts';
import { change, longDate, money, tone } from '../format.ts';
import { replaceAddress } from '../history.ts';
import { lookOf, swatch } from '../look.ts';
import { datesOf } from '../plot/lines.ts';
import type { Decisions, ModelReport, Performance } from '../responses.ts';
import { button, link, messageOf, section } from '../ui.ts';
import { addressOf, choiceIn } from './compare-options.ts';
import { decisionCard } from './decision-card.ts';

/** Of one model on one day; more than a day has, as a rule. */
const MOST_DECISIONS = '200';

/** Runs that are shown side by side. */
export interface NamedRuns {
  runs: string[];
  /** The first of several runs has the name of its model, whose return is another: here it is `gpt-5#1`. */
  nameOf: (run: string) => string;
  /** Which runs have no column. */
  note: string | null;
}

/** A view of one day, whose date can be changed from elsewhere. */
interface SameDay {
  element: HTMLElement;
  /** Shows the decisions of a date, and puts it into the address. */
  open(date: string): void;
}

/** What each of these runs decided on one day, and why; the reader chooses the day. */
export async function sameDay(
  performance: Performance,
  { runs, nameOf, note }: NamedRuns,
  signal: AbortSignal,
): Promise<SameDay | null> {
  const reports = runs.flatMap(
    (run) => performance.models.find(({ model }) => model === run) ?? [],
  );
  const dates = datesOf(reports);
  const last = dates.at(-1);
  if (last === undefined) return null;
  const columns = h('div.sides', { 'aria-live': 'polite' });
  const chooser = h(
    'select',
    { name: 'date', 'aria-label': 'Date' },
    ...dates.map((date) => h('option', { value: date }, longDate(date))),
  );
  let loading = new AbortController();
  const show = async (wanted: string) => {
    const date = dates.includes(wanted) ? wanted : last;
    loading.abort();
    loading = new AbortController();
    chooser.value = date;
    earlier.disabled = date === dates[0];
    later.disabled = date === last;
    const over = AbortSignal.any([signal, loading.signal]);
    const all = await Promise.all(
      reports.map((report) => columnOf(report, date, { name: nameOf(report.model), signal: over })),
    );
    if (!over.aborted) replace(columns, ...all);
  };
  const open = (date: string) => {
    const choice = choiceIn(here().search);
    replaceAddress(addressOf({ ...choice, options: { ...choice.options, date } }));
    void show(date);
  };
  const step = (days: number) => open(dates[chooser.selectedIndex + days] ?? last);
  const earlier = button('Previous day', () => step(-1));
  const later = button('Next day', () => step(1));
  on(chooser, 'change', () => open(chooser.value));
  // The day of the address, or the last; now, so that nothing moves once the page is complete.
  await show(choiceIn(here().search).options.date);
  const tools = h('div.tools', earlier, chooser, later);
  const what = 'What each model did on this day, and what it said just before.';
  const words = h('p.quiet', [what, note].filter(Boolean).join(' '));
  const element = section('Decisions of the same day', words, tools, columns);
  return {
    element,
    open(date) {
      open(date);
      element.scrollIntoView({ block: 'nearest' });
    },
  };
}

async function columnOf(
  { model, curve }: ModelReport,
  date: string,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<HTMLElement> {
  const title = h('h3', link(modelDayPath(model, date), swatch(lookOf(model)), name));
  const day = curve.find((point) => point.date === date);
  const figures =
    day &&
    h(
      'p',
      `Value ${money(day.value)}, return of the day `,
      h(`span.${tone(day.daily_return)}`, change(day.daily_return)),
    );
  const query = { model, start_date: date, end_date: date, limit: MOST_DECISIONS };
  const found = await get('/decisions', query, signal).catch(messageOf);
  const content = typeof found === 'string' ? h('p.notice.bad', found) : decisionList(found);
  return h('div.side', title, figures, content);
}

function decisionList({ decisions, next_before: more }: Decisions): HTMLElement {
  if (decisions.length === 0) return h('p.quiet', 'This model has no model-day on this date.');
  const list = h('ol.feed', decisionCard(decisions));
  return more === null
    ? list
    : h('div', h('p.quiet', `The last ${decisions.length} decisions of the day.`), list);
}
