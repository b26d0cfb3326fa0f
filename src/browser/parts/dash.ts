import { type Child, h, newId } from './element.ts';
import { MISSING } from './format.ts';

/**
 * A dash in place of a figure. With a reason it is a button that shows why the figure is missing: a
 * hover title would never be seen on a phone or with a keyboard.
 */
export function dash(reason: string | undefined): Child {
  if (reason === undefined) return MISSING;
  const id = newId();
  const attributes = {
    type: 'button',
    popovertarget: id,
    'aria-label': 'No figure',
    'aria-describedby': id,
  };
  return h(
    'span',
    h('button.why', attributes, MISSING),
    h('span.why-note', { id, popover: true }, reason),
  );
}
