import { modelDayPath } from '../../page-paths.ts';
import { text } from '../model-day/thread.ts';
import { button, link, messageOf, section } from '../parts/blocks.ts';
import { h, on, replace } from '../parts/element.ts';
import { change, longDate, money, tone } from '../parts/format.ts';
import { type Look, looksOf } from '../parts/look.ts';
import { swatch } from '../parts/swatch.ts';
import { getDecisions } from '../service/requests.ts';
import type { Decision, ModelReport, Performance } from '../service/responses.ts';
import { addressOf, choiceIn } from './choice.ts';
import { datesOf, placeOf } from './columns.ts';
import { decisionWords, inOrder } from './decision-words.ts';

export interface SameDay {
  element: HTMLElement;
  /** Shows the decisions of a date, and puts it into the address. */
  open(date: string): void;
}

/** What each of these runs decided on one day, and why; the reader chooses the day. */
export function sameDay(performance: Performance, runs: readonly string[], signal: AbortSignal): SameDay | null {
  const reports = runs.flatMap((run) => performance.models.find(({ model }) => model === run) ?? []);
  const dates = datesOf(reports);
  const looks = looksOf(runs);
  const first = placeOf(dates, choiceIn(location.search).options.date);
  if (first === null) return null;
  const columns = h('div.sides', { 'aria-live': 'polite' });
  const chooser = h('select', { name: 'date', 'aria-label': 'Date' }, ...dates.map((date) => h('option', { value: date }, longDate(date))));
  let loading = new AbortController();
  let place = first;
  const show = async (date: string) => {
    place = placeOf(dates, date) ?? first;
    loading.abort();
    loading = new AbortController();
    chooser.value = place.date;
    earlier.disabled = place.previous === null;
    later.disabled = place.next === null;
    const asked = AbortSignal.any([signal, loading.signal]);
    const all = await Promise.all(reports.map((report) => columnOf(report, place.date, { look: looks.get(report.model), signal: asked })));
    if (!asked.aborted) replace(columns, ...all);
  };
  const open = (date: string | null) => {
    if (date === null) return;
    const choice = choiceIn(location.search);
    history.replaceState(history.state, '', addressOf({ ...choice, options: { ...choice.options, date } }));
    void show(date);
  };
  const earlier = button('Previous day', () => open(place.previous));
  const later = button('Next day', () => open(place.next));
  on(chooser, 'change', () => open(chooser.value));
  void show(first.date);
  const tools = h('div.tools', earlier, chooser, later);
  const element = section('Decisions of the same day', h('p.quiet', 'What each model did on this day, and what it said just before.'), tools, columns);
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
  { look, signal }: { look: Look | undefined; signal: AbortSignal },
): Promise<HTMLElement> {
  const title = h('h3', link(modelDayPath(model, date), look !== undefined && swatch(look), model));
  const day = curve.find((point) => point.date === date);
  const figures = day && h('p', `${money(day.value)} `, h(`span.${tone(day.daily_return)}`, change(day.daily_return)));
  const found = await getDecisions({ model, start_date: date, end_date: date }, signal).catch((error: unknown) => messageOf(error));
  const content = typeof found === 'string' ? h('p.notice.bad', found) : decisionList(found.decisions);
  return h('div.side', title, figures, content);
}

function decisionList(newestFirst: readonly Decision[]): HTMLElement {
  if (newestFirst.length === 0) return h('p.quiet', 'This model has no model-day on this date.');
  return h('ol.decided', ...inOrder(newestFirst).map(decisionItem));
}

function decisionItem(decision: Decision): HTMLElement {
  const { kind, detail, reason } = decision;
  const isWrong = kind === 'refusal' || kind === 'failure';
  return h(
    `li.${kind}`,
    h(isWrong ? 'strong.loss' : 'strong', decisionWords(decision)),
    detail !== null && h('p', detail),
    reason !== null && h('div.quiet', text(reason)),
  );
}
