import { h, on, replace } from '../element.ts';
import { change, pValue, tone } from '../format.ts';
import type { ComparedPair } from '../responses.ts';
import { type Sheet, csvButton } from '../save.ts';
import { enableArrows, toggle } from '../ui.ts';
import { type Lookup, lookupIn } from './pairs.ts';

/** A table of all pairs behind a button; a chosen cell shows the sentence of its pair. */
export function matrix(names: readonly string[], pairs: readonly ComparedPair[]): HTMLElement {
  const place = h('div', { hidden: true });
  const show = (isOn: boolean) => {
    if (isOn && place.childElementCount === 0) replace(place, ...matrixParts(names, pairs));
    place.hidden = !isOn;
  };
  return h('div.pairs', toggle('Matrix of pairs', show, { 'aria-pressed': 'false' }), place);
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
        h('tr', h('th', { scope: 'row' }, name), ...(cells[index] ?? [])),
      ),
    ),
  );
  enableArrows(grid, { rows: cells, open: say });
  on(grid, 'click', ({ target }) => say(target));
  const words =
    'Each cell says how much more the model in its row grew than the model in its column, with the p-value after Holm’s ' +
    'correction; ✓ marks a difference that is shown. Choose a cell to read its sentence. Arrow keys move between cells.';
  const file = csvButton('Differences of all pairs', () => sheetOf(rows, columns, find));
  return [h('p.quiet', words), h('div.scroll', grid), h('div.exports', sentence, file)];
}

/** A pair of models in each row. */
function sheetOf(rows: readonly string[], columns: readonly string[], find: Lookup): Sheet {
  const pairs = rows.flatMap((row) =>
    columns.map((column) => ({ row, column, view: row === column ? null : find(row, column) })),
  );
  return {
    columns: ['Model', 'Against', 'Difference', 'p after Holm', 'Shown', 'Sentence'],
    rows: pairs.flatMap(({ row, column, view }) =>
      view === null
        ? []
        : [
            [
              row,
              column,
              view.difference,
              view.pair.p_value_holm,
              view.pair.shown,
              view.pair.sentence,
            ],
          ],
    ),
  };
}

function cellOf(row: string, column: string, find: Lookup): HTMLElement {
  const view = row === column ? null : find(row, column);
  if (view === null) return h('td.same');
  const { pair, difference } = view;
  return h(
    'td',
    { class: pair.shown ? `shown ${tone(difference)}` : null, title: pair.sentence },
    h('span', `${pair.shown ? '✓ ' : ''}${change(difference)}`),
    h('small.quiet', ` p ${pValue(pair.p_value_holm)}`),
  );
}
