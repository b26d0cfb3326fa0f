import { showLines } from '../../text.ts';

/** Attributes by name; false, null and undefined leave one out, true sets it empty. */
export type Attributes = Record<string, string | number | boolean | null | undefined>;
export type Child = Node | string | number | null | undefined | false;

/** Attributes that a browser would run or parse: whatever a model wrote must never reach one. */
const FORBIDDEN = /^(on|style$|srcdoc$|src$|action$|formaction$)/i;
const SVG = 'http://www.w3.org/2000/svg';

/** Builds an element from attributes and children. A child that is text becomes printable text, never markup. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function svg(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): SVGElement {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill<Kind extends Element>(element: Kind, attributes: Attributes, children: readonly Child[]): Kind {
  setAttributes(element, attributes);
  element.append(...nodesOf(children));
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (FORBIDDEN.test(name)) throw new Error(`Cannot set the attribute ${name}: it could run or load something`);
    if (name === 'href' && !/^\/(?!\/)/.test(String(value))) throw new Error('Cannot link to another site');
    if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Puts new children in the place of the old ones. */
export function replace(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

/** The same while the reader may be in there: the focus goes to the new element that says what the old one said. */
export function replaceKeepingFocus(element: Element, ...children: readonly Child[]): void {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  replace(element, ...children);
  if (focused === null || focused.isConnected) return;
  const alike = [...element.querySelectorAll<HTMLElement>(focused.localName)];
  alike.find(({ textContent }) => textContent === focused.textContent)?.focus({ preventScroll: true });
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === 'object' ? child : showLines(String(child))));
}

/** Listens and returns the element, so that it can stand inside a tree. */
export function on<Kind extends HTMLElement, Name extends keyof HTMLElementEventMap>(
  element: Kind,
  name: Name,
  listen: (event: HTMLElementEventMap[Name]) => void,
): Kind {
  element.addEventListener(name, listen);
  return element;
}

let lastId = 0;

/** An id for one element, so that a label or a description can name it. */
export function newId(): string {
  return `e${(lastId += 1)}`;
}
