import { h, replace } from './element.ts';

/**
 * How a form lets readers choose: models by a box for each known one and a field for others, and
 * one option of a list.
 */

/** A box with the model's name and, if there is more to say, a few words. */
export function modelBox(
  signature: string,
  { isChosen, about = '' }: { isChosen: boolean; about?: string },
): HTMLElement {
  const box = h('input', { type: 'checkbox', name: 'models', value: signature });
  box.checked = isChosen;
  return h('label.check', box, h('span', signature), about !== '' && h('span.quiet', about));
}

/** The field for the names of others. */
export function othersInput(placeholder: string): HTMLInputElement {
  return h('input', { name: 'others', autocomplete: 'off', spellcheck: 'false', placeholder });
}

/** The options of a list, each as its value and what the reader sees. */
export type Entries = readonly (readonly [value: string, label: string])[];

/**
 * Fills a list; a chosen value that is not among the options, such as one from the address, is
 * added with a label of its own.
 */
export function fillOptions(
  element: HTMLSelectElement,
  entries: Entries,
  chosen: string,
  labelOf: (value: string) => string = (value) => value,
): void {
  const all = entries.some(([value]) => value === chosen)
    ? entries
    : [...entries, [chosen, labelOf(chosen)] as const];
  replace(
    element,
    ...all.map(([value, label]) => h('option', { value, selected: value === chosen }, label)),
  );
}
