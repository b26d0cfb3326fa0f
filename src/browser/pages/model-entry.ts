import { h } from '../element.ts';
import { modelLink, runLink } from '../filters.ts';
import { byName, count, counted, money, tone } from '../format.ts';
import { lookOf, swatch } from '../look.ts';
import type { KnownModels, ModelReport, Performance } from '../responses.ts';
import { nameColumn, table } from '../table.ts';
import { definitions, section } from '../ui.ts';
import { type Compared, type EntryReport, entriesOf, entryFigure, valueOf } from './entries.ts';
import { equityCurves, usualStart } from './equity-curves.ts';
import { notices } from './leaderboard.ts';
import { briefFigures, figureColumn } from './model-figures.ts';
import { styleView } from './model-style.ts';

/** What a model's page says first, and the page of an entry with several runs. */

/** The key figures in one row: of one run, or the means of all as the leaderboard has them. */
export function keyFigures(
  entry: Compared,
  value: number | null,
  { conventions }: Performance,
): HTMLElement {
  const shown = briefFigures(conventions).map((figure) => {
    const own = entryFigure(figure, entry);
    const look = { class: figure.isToned && tone(own) };
    return [figure.label, h('span', look, figure.format(own))] as const;
  });
  return definitions('figures', [['Value', money(value)], ...shown]);
}

/** The runs of an entry with results, as links; none for a single one. */
export function runTabs(
  known: KnownModels['models'],
  { model, isAll }: { model: string; isAll: boolean },
): HTMLElement | null {
  const family = known.find(({ signature }) => signature === model)?.family ?? model;
  const runs = known
    .filter((own) => own.family === family && own.completed_model_days > 0)
    .map(({ signature }) => signature)
    .sort(byName);
  if (runs.length < 2) return null;
  const tab = (element: HTMLAnchorElement, isHere: boolean) => {
    if (isHere) element.setAttribute('aria-current', 'page');
    return element;
  };
  const all = modelLink(family, undefined, 'All runs');
  const tabs = runs.map((run) => tab(runLink({ model: run, family }), !isAll && run === model));
  return h('nav.tabs', { 'aria-label': `Runs of ${family}` }, tab(all, isAll), ...tabs);
}

/** An entry with several runs: the mean of them, and each beside the others. */
export function entryViews(performance: Performance, signal: AbortSignal): HTMLElement[] {
  const [entry] = entriesOf(performance);
  if (entry === undefined) return [];
  const days = entry.runs[0]?.model_days ?? 0;
  const words = `The means of ${count(entry.runs.length)} runs over the ${counted(days, 'day')} that all of them share.`;
  const style = styleView(entry.details?.style);
  return [
    keyFigures(entry, valueOf(entry.mean_total_return, usualStart(entry.runs)), performance),
    h('p.quiet', words),
    ...notices(entry.runs),
    equityCurves(performance, signal).element,
    section('Runs', runTable(entry, performance)),
    ...(style === null ? [] : [style]),
  ];
}

function runTable({ runs }: EntryReport, { conventions }: Performance): HTMLElement {
  return table<ModelReport>({
    caption: 'Runs of this model',
    rows: runs.toSorted((one, other) => byName(one.model, other.model)),
    sortedBy: 'Return',
    columns: [
      nameColumn('Run', 'model', {
        cell: (run) => h('span', swatch(lookOf(run.model)), runLink(run)),
      }),
      ...briefFigures(conventions).map(figureColumn),
    ],
  });
}
