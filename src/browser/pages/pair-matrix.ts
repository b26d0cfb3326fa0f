import { h, on, replace } from '../element.ts';
import { change, pValue, tone } from '../format.ts';
import type { ComparedModel, ComparedPair } from '../responses.ts';
import { type Sheet, csvButton } from '../save.ts';
import { enableArrows, lateFold } from '../ui.ts';

/** A table of all pairs in a fold; a chosen cell shows the sentence of its pair. */
export function matrix(names: readonly string[], pairs: readonly ComparedPair[]): HTMLElement {
  const fold = lateFold('Matrix of pairs', () => matrixParts(names, pairs));
  return Object.assign(fold, { className: 'fold pairs' });
}

function matrixParts(names: readonly string[], pairs: readonly ComparedPair[]): HTMLElement[] {
  const find = lookupIn(pairs);
  const hasPair = (one: string, others: readonly string[]) =>
    others.some((other) => find(one, other) !== null);
  const columns = names.filter((name) =>
    names.every((other) => other === name || hasPair(name, [other])),
  );
  const rows = names.filter((name) => hasPair(name, columns));
  const sentence = h('p.sentence', { role: 'status' });
  const cells = rows.map((row) => columns.map((column) => cellOf(row, column, find)));
  const say = (at: EventTarget | null) => {
    if (at instanceof Element) replace(sentence, at.closest('td')?.getAttribute('title'));
  };
  const grid = h(
    'table.matrix',
    { role: 'grid', 'aria-label': 'Differences of all pairs' },
    h(
      'thead',
      h('tr', h('td'), ...columns.map((name) => h('th', { scope: 'col', title: name }, name))),
    ),
    h(
      'tbody',
      ...rows.map((name, index) =>
        h('tr', h('th', { scope: 'row', title: name }, name), ...(cells[index] ?? [])),
      ),
    ),
  );
  enableArrows(grid, { rows: cells, open: say });
  on(grid, 'click', ({ target }) => say(target));
  const words =
    'How much more the model in the row grew than the model in the column; ✓ and a colour mark what is more than chance. ' +
    'Choose a cell to read its sentence and p-value; arrow keys move between cells.';
  const file = csvButton('Differences of all pairs', () => sheetOf(rows, columns, find));
  return [h('p.quiet', words), h('div.scroll', grid), h('div.exports', sentence, file)];
}

/** A pair of models in each row. */
function sheetOf(rows: readonly string[], columns: readonly string[], find: Lookup): Sheet {
  const cells = rows.flatMap((row) =>
    columns.flatMap((column) => {
      const view = row === column ? null : find(row, column);
      if (view === null) return [];
      const { pair, difference } = view;
      return [[row, column, difference, pair.p_value_holm, pair.shown, pair.sentence]];
    }),
  );
  const titles = ['Model', 'Against', 'Difference', 'p after Holm', 'More than chance', 'Sentence'];
  return { columns: titles, rows: cells };
}

function cellOf(row: string, column: string, find: Lookup): HTMLElement {
  const view = row === column ? null : find(row, column);
  if (view === null) return h('td.same');
  const { pair, difference } = view;
  const { shown: isShown, sentence, p_value_holm: p } = pair;
  const title = p === null ? sentence : `${sentence} The p-value after Holm is ${pValue(p)}.`;
  return h(
    'td',
    { class: isShown ? `shown ${tone(difference)}` : null, title },
    `${isShown ? '✓ ' : ''}${change(difference)}`,
  );
}

/** One model seen from another: the pair, and by how much more the first grew than the second. */
interface View {
  pair: ComparedPair;
  difference: number | null;
}

/** Finds the view of a model from another; null for two that were not paired. */
type Lookup = (model: string, against: string) => View | null;

/** Finds the pair of two models in either order; null for two that were not paired. */
export function lookupIn(pairs: readonly ComparedPair[]): Lookup {
  const byNames = new Map(pairs.map((pair) => [keyOf(pair.model, pair.against), pair]));
  return (model, against) => {
    const pair = byNames.get(keyOf(model, against));
    if (pair !== undefined) return { pair, difference: pair.difference };
    const turned = byNames.get(keyOf(against, model));
    return turned === undefined ? null : { pair: turned, difference: opposite(turned.difference) };
  };
}

function keyOf(model: string, against: string): string {
  return JSON.stringify([model, against]);
}

/** The second model's growth over the first one's, minus 1. */
export function opposite(difference: number | null): number | null {
  return difference === null ? null : -difference / (1 + difference);
}

/** The models that have figures, in their order. */
export function measured<Model extends Pick<ComparedModel, 'total_return'>>(
  models: readonly Model[],
): Model[] {
  return models.filter(({ total_return }) => total_return !== null);
}

/**
 * The pair of each model with the next one in the order; where all pairs share one model, every
 * pair.
 */
export function neighbours(
  models: readonly ComparedModel[],
  pairs: readonly ComparedPair[],
): ComparedPair[] {
  const find = lookupIn(pairs);
  const names = measured(models).map(({ model }) => model);
  const next = names.slice(1).map((model, index) => find(names[index] ?? '', model)?.pair);
  const found = next.filter((pair) => pair !== undefined);
  if (found.length === next.length) return found;
  return pairs.filter(({ model, against }) => names.includes(model) && names.includes(against));
}
