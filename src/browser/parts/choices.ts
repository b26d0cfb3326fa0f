import { h } from './element.ts';

/** How a form lets readers choose models: a box for each known one, and a field for the names of others. */

/** A box with the model's name and, if there is more to say, a few words. */
export function modelBox(signature: string, { isChosen, about = '' }: { isChosen: boolean; about?: string }): HTMLElement {
  const box = h('input', { type: 'checkbox', name: 'models', value: signature });
  box.checked = isChosen;
  return h('label.check', box, h('span', signature), about !== '' && h('span.quiet', about));
}

/** The field for the names of others. */
export function othersInput(placeholder: string): HTMLInputElement {
  return h('input', { name: 'others', autocomplete: 'off', spellcheck: 'false', placeholder });
}
