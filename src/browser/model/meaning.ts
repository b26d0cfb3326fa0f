import { h } from '../element.ts';
import type { Performance } from '../responses.ts';

/** What the figures of the response mean, by name. */
export type Definitions = Performance['conventions']['definitions'];

/** What a view shows, as the service defines it, in a line below. */
export function meaningOf(definitions: Definitions, name: string): HTMLElement | null {
  const words = definitions[name];
  return words === undefined ? null : h('p.quiet.about', `${words}.`);
}
