import { showLines } from '#text/text.ts';
import { pageHref } from './address.ts';

/** Attributes by name; false, null and undefined leave one out, true sets it empty. */
export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;
/** What an element may contain; null, undefined and false are left out. */
export type Child = Node | string | number | null | undefined | false;
type Tag = keyof HTMLElementTagNameMap;
type TagOf<Selector> = Selector extends `${infer Name}.${string}` ? Name & Tag : Selector & Tag;

/** Attributes that a browser would run or parse: they must never contain text from a model. */
const FORBIDDEN = /^(on|style$|srcdoc$|src$|action$|formaction$)/i;
const SVG = 'http://www.w3.org/2000/svg';

/**
 * Builds an element: its tag and classes (`p.notice.bad`), optional attributes, and children. Text
 * children become printable text, never markup. A link to a page that is not there is text.
 */
export function h<Selector extends Tag | `${Tag}.${string}`>(
  selector: Selector,
  first: Attributes | Child = null,
  ...others: readonly Child[]
): HTMLElementTagNameMap[TagOf<Selector>] {
  const [tag, ...classes] = selector.split('.');
  const isChild = typeof first !== 'object' || first === null || first instanceof Node;
  const attributes = isChild ? {} : first;
  const isDead = tag === 'a' && pageHref(String(attributes['href'])) === null;
  const element = document.createElement((isDead ? 'span' : tag) as TagOf<Selector>);
  if (classes.length > 0) element.className = classes.join(' ');
  return fill(element, attributes, isChild ? [first, ...others] : others);
}

/** Builds an element of a drawing. */
export function svg(
  tag: string,
  attributes: Attributes,
  ...children: readonly Child[]
): SVGElement {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill<Kind extends Element>(
  element: Kind,
  attributes: Attributes,
  children: readonly Child[],
): Kind {
  setAttributes(element, attributes);
  element.append(...toNodes(children));
  return element;
}

/**
 * Sets and removes attributes. Throws for one that could run something, and for a link to another
 * site.
 */
export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (FORBIDDEN.test(name))
      throw new Error(`Cannot set the attribute ${name}: it can run or load something`);
    if (name === 'href' && !/^\/(?!\/)/.test(String(value)))
      throw new Error('Cannot link to another site');
    const own = name === 'href' ? pageHref(String(value)) : value;
    if (own == null || own === false) element.removeAttribute(name);
    else element.setAttribute(name, own === true ? '' : String(own));
  }
}

/** Replaces an element's children. */
export function replace(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...toNodes(children));
}

/**
 * Gives an element these children in place: those that it has already, or that look the same, stay,
 * and what the reader has selected in them, and the focus.
 */
export function morph(element: Element, ...children: readonly Child[]): void {
  keepFocus(element, () => exchangeChildren(element, children));
}

/** Changes what an element contains; the focus moves to the new descendant with the same text. */
export function keepFocus(element: Element, change: () => void): void {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  change();
  if (focused === null || focused === document.activeElement) return;
  const counterpart = [focused, ...element.querySelectorAll(focused.localName)].find(
    (one) =>
      one instanceof HTMLElement &&
      element.contains(one) &&
      one.textContent === focused.textContent,
  );
  (counterpart as HTMLElement | undefined)?.focus({ preventScroll: true });
}

function exchangeChildren(element: Element, children: readonly Child[]): void {
  const nodes = toNodes(children).map((node) => (typeof node === 'string' ? new Text(node) : node));
  const staying = new Set(nodes);
  let old: ChildNode | null = element.firstChild;
  for (const node of nodes) {
    const isKept =
      old === node ||
      (old !== null && !staying.has(old) && node.parentNode !== element && old.isEqualNode(node));
    if (isKept) old = old?.nextSibling ?? null;
    else if (old === null || staying.has(old)) element.insertBefore(node, old);
    else {
      element.replaceChild(node, old);
      old = node.nextSibling;
    }
  }
  while (old !== null) {
    const next: ChildNode | null = old.nextSibling;
    old.remove();
    old = next;
  }
}

function toNodes(children: readonly Child[]): (Node | string)[] {
  return children
    .filter((child) => child != null && child !== false)
    .map((child) => (typeof child === 'object' ? child : showLines(String(child))));
}

/** Listens for an event and returns the element, so that it can be a child of another. */
export function on<Kind extends HTMLElement, Name extends keyof HTMLElementEventMap>(
  element: Kind,
  name: Name,
  listen: (event: HTMLElementEventMap[Name]) => void,
): Kind {
  element.addEventListener(name, listen);
  return element;
}

/** A part of a page that shows later data in place. */
export interface LiveView<Data> {
  element: HTMLElement;
  update(data: Data): void;
}

let lastId = 0;

/** An id for one element, so that a label or a description can refer to it. */
export function newId(): string {
  return `e${(lastId += 1)}`;
}
