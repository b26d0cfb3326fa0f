import { h } from '../element.ts';
import { modelLink, runLink } from '../filters.ts';
import { byName, change, count, money, tone } from '../format.ts';
import { lookOf, swatch } from '../look.ts';
import type { KnownModels, ModelReport, Performance } from '../responses.ts';
import { table } from '../table.ts';
import { definitions, section } from '../ui.ts';
import { type EntryReport, entriesOf, meanOf } from './entries.ts';
import { equityCurves } from './equity-curves.ts';
import { brief, type Figure, figureColumn, relativeFigure, reportFigure } from './model-figures.ts';

/** What a model's page says first, and the page of an entry with several runs. */

const total = reportFigure('total_return', change, { label: 'Return' });
const excess = relativeFigure('excess_return', change, { label: 'vs. benchmark' });
const figures: readonly Figure[] = [total, excess, ...Object.values(brief)];
/** A key figure: the number of trades says little of a model. */
const KEY = [
  reportFigure('end_value', money, { label: 'Value' }),
  ...figures.filter((figure) => figure !== brief.trades),
];

/** The key figures in one row: of one run, or the means of all. */
export function keyFigures(runs: readonly ModelReport[], mean: number | null): HTMLElement {
  return definitions(
    'figures',
    KEY.map((figure) => {
      const value = figure === total ? mean : meanOf({ runs }, figure.read);
      return [
        figure.label,
        h('span', { class: figure.isToned && tone(value) }, figure.format(value)),
      ];
    }),
  );
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
  const words = `The means of ${count(entry.runs.length)} runs over the ${count(days)} days that all of them share.`;
  return [
    keyFigures(entry.runs, entry.mean_total_return),
    h('p.quiet', words),
    equityCurves(performance, signal).element,
    section('Runs', runTable(entry, performance)),
  ];
}

function runTable({ runs }: EntryReport, { conventions }: Performance): HTMLElement {
  return table<ModelReport>({
    caption: 'Runs of this model',
    rows: runs.toSorted((one, other) => byName(one.model, other.model)),
    sortedBy: 'Return',
    columns: [
      {
        title: 'Run',
        isName: true,
        by: ({ model }) => model,
        raw: ({ model }) => model,
        cell: (run) => h('span', swatch(lookOf(run.model)), runLink(run)),
      },
      ...figures.map((figure) => figureColumn(figure, conventions.definitions)),
    ],
  });
}
