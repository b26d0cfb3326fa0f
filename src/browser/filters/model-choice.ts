import { button } from '../parts/blocks.ts';
import { modelBox } from '../parts/choices.ts';
import { h, on, replace } from '../parts/element.ts';
import { counted } from '../parts/format.ts';
import { byName } from '../parts/names.ts';

interface ModelChoice {
  element: HTMLElement;
  offer(names: readonly string[]): void;
}

/**
 * A list of models that unfolds; closing it applies what is ticked, and Escape closes it without.
 */
export function modelChoice(
  chosen: readonly string[],
  apply: (models: string[]) => void,
): ModelChoice {
  const boxes = h('div.choices');
  const summary = h('summary', { name: 'models' }, summaryOf(chosen));
  const offer = (names: readonly string[]) => {
    const ticked = new Set(boxes.childElementCount === 0 ? chosen : tickedIn(boxes));
    const all = [...new Set([...names, ...chosen])].sort(byName);
    replace(boxes, ...all.map((name) => modelBox(name, { isChosen: ticked.has(name) })));
  };
  const close = () => (element.open = false);
  const untick = () => boxesIn(boxes).forEach((box) => (box.checked = false));
  const actions = h(
    'div.actions',
    button('Untick all', untick, { class: 'ghost' }),
    button('Show these', close),
  );
  const panel = h(
    'div.panel',
    { tabindex: -1 },
    h('p.quiet', 'Tick none to show all models'),
    boxes,
    actions,
  );
  const element = h('details.choose', summary, panel);
  offer([]);
  on(element, 'toggle', () => {
    const ticked = tickedIn(boxes);
    if (!element.open && element.isConnected && !isSame(ticked, chosen)) apply(ticked);
  });
  on(element, 'keydown', (event) => {
    if (event.key !== 'Escape' || !element.open) return;
    boxesIn(boxes).forEach((box) => (box.checked = chosen.includes(box.value)));
    close();
    summary.focus();
  });
  on(element, 'focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) close();
  });
  return { element, offer };
}

function boxesIn(place: HTMLElement): HTMLInputElement[] {
  return [...place.querySelectorAll('input')];
}

function tickedIn(place: HTMLElement): string[] {
  return boxesIn(place).flatMap(({ checked, value }) => (checked ? value : []));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}

function summaryOf(chosen: readonly string[]): string {
  if (chosen.length === 0) return 'All models';
  return chosen.length === 1 ? (chosen[0] ?? '') : counted(chosen.length, 'model');
}
