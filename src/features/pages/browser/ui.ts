import { type Attributes, type Child, h, newId, on, replace } from './element.ts';
import { MAX_NAMED, MISSING, groupByReason, wholeNumber } from './format.ts';

/** The building blocks of pages: sections, buttons, links, lists, forms, dialogs. */

/** A section with a heading that names it. */
export function section(title: Child, ...children: readonly Child[]): HTMLElement {
  const id = newId();
  return h('section', { 'aria-labelledby': id }, h('h2', { id }, title), ...children);
}

/** A link to one of our pages or files; `href` is a path. */
export function link(href: string, ...children: readonly Child[]): HTMLAnchorElement {
  return h('a', { href }, ...children);
}

/**
 * The end of a sentence that says what is missing: where to start a job, such as `Start one`.
 * Nothing in a view.
 */
export function startJobHint(words: string): (Node | string)[] {
  return viewedFile() === null ? [` ${words} on the `, link('/', 'overview'), '.'] : [];
}

type Label = Child | readonly Child[];

/** A button that acts when pressed, and never submits a form. */
export function button(
  label: Label,
  act: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  return on(h('button', { type: 'button', ...attributes }, ...[label].flat()), 'click', act);
}

/** A button that is on or off, as `aria-pressed` says. */
export function toggle(
  label: Label,
  act: (isOn: boolean) => void,
  attributes: Attributes,
): HTMLButtonElement {
  const flip = () => {
    const isOn = element.getAttribute('aria-pressed') !== 'true';
    element.setAttribute('aria-pressed', String(isOn));
    act(isOn);
  };
  const element = button(label, flip, attributes);
  return element;
}

/** What a reader may unfold, below a line that says what it is. */
export function fold(summary: string, ...children: readonly Child[]): HTMLDetailsElement {
  return h('details.fold', h('summary', summary), ...children);
}

/** The first of many elements, and a fold with the others; `summary` names them by their number. */
export function foldAfter(
  most: number,
  elements: readonly HTMLElement[],
  summary: (others: number) => string,
): HTMLElement[] {
  const others = elements.slice(most);
  if (others.length === 0) return [...elements];
  return [...elements.slice(0, most), fold(summary(others.length), ...others)];
}

/** A fold whose content is made when it is first opened. */
export function lazyFold(summary: string, make: () => readonly Child[]): HTMLElement {
  const content = h('div');
  const fold: HTMLDetailsElement = h('details', h('summary', summary), content);
  const fill = () => fold.open && content.childNodes.length === 0 && replace(content, ...make());
  return on(fold, 'toggle', fill);
}

/** Content that may be wider than the page; it scrolls by itself, with the keyboard as well. */
export function scroller(label: string, ...children: readonly Child[]): HTMLElement {
  return h('div.scroll', { tabindex: 0, role: 'group', 'aria-label': label }, ...children);
}

/** A list of names and their meanings. */
export function definitionList(
  look: string,
  entries: readonly (readonly [string, Child])[],
): HTMLElement {
  return h(
    `dl.${look}`,
    ...entries.map(([term, value]) => h('div', h('dt', term), h('dd', value))),
  );
}

/**
 * What is left out and why: a line for each reason, with a fold that has all names where they are
 * many.
 */
export function reasonList(
  entries: readonly { name: string; reason: string }[],
  attributes: Attributes = {},
): HTMLElement | null {
  if (entries.length === 0) return null;
  const all = (names: readonly string[]) =>
    fold(`All ${wholeNumber(names.length)}`, names.join(', '));
  const lines = groupByReason(entries).map(({ names, words, reason }) =>
    h('li', h('strong', words), `: ${reason}`, names.length > MAX_NAMED && all(names)),
  );
  return h('ul.reasons', attributes, ...lines);
}

/** An input with its label and an optional hint. */
export function field(label: string, input: HTMLElement, hint?: string): HTMLElement {
  const id = newId();
  if (hint !== undefined) input.setAttribute('aria-describedby', id);
  return h(
    'label.field',
    h('span', label),
    input,
    hint !== undefined && h('small.quiet', { id }, hint),
  );
}

/**
 * Does the work when the form is submitted; the form cannot be submitted again until it is done.
 */
export function onSubmit(form: HTMLFormElement, work: (data: FormData) => Promise<unknown>): void {
  on(form, 'submit', (event) => {
    event.preventDefault();
    const submit = form.querySelector<HTMLButtonElement>('[type=submit]');
    submit?.toggleAttribute('disabled', true);
    void work(new FormData(form)).finally(() => submit?.toggleAttribute('disabled', false));
  });
}

/** Opens a dialog, which is removed when closed. */
export function openDialog(title: string, ...children: readonly Child[]): HTMLDialogElement {
  const id = newId();
  const dialog = h('dialog', { 'aria-labelledby': id }, h('h2', { id }, title), ...children);
  on(dialog, 'close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * What a page says of something that does not exist, with ways on: those given, and the overview.
 */
export function notFound(words: string, ...ways: readonly Child[]): HTMLElement[] {
  const or = ways.length > 0 && 'or to ';
  return [
    h('p.notice', words),
    h('p', 'Go to ', ...ways, or, 'the ', link('/', 'overview'), ' of models and jobs.'),
  ];
}

/** What follows the words of a failure that may pass. */
export const RETRY_NOTE = 'The page will try again in a moment.';

/** What a page shows in place of what it could not load. */
export function failure(error: unknown, more = ''): HTMLElement[] {
  return [
    h('p.notice.bad', { role: 'alert' }, errorText(error), more),
    h(
      'div',
      button('Try again', () => location.reload()),
    ),
  ];
}

/** The message of an error. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A box with the model's name and, if there is more to say, a few words. */
export function modelCheckbox(signature: string, isChosen: boolean, about = ''): HTMLElement {
  const box = h('input', { type: 'checkbox', name: 'models', value: signature });
  box.checked = isChosen;
  return h('label.check', box, h('span', signature), about !== '' && h('span.quiet', about));
}

/** The options of a list, each as its value and what the reader sees. */
export type OptionList = readonly (readonly [value: string, label: string])[];

/** Names to choose from, after the choice of none. */
export function namedOptions(none: string, names: readonly string[]): OptionList {
  return ['', ...names].map((name) => [name, name || none]);
}

/**
 * Fills a list and returns it; a chosen value that is not among the options, such as one from the
 * address, is added with a label of its own.
 */
export function fillOptions(
  element: HTMLSelectElement,
  entries: OptionList,
  chosen: string,
  labelOf = (value: string) => value,
): HTMLSelectElement {
  const labels = new Map(entries);
  if (!labels.has(chosen)) labels.set(chosen, labelOf(chosen));
  const options = [...labels].map(([value, label]) =>
    h('option', { value, selected: value === chosen }, label),
  );
  replace(element, ...options);
  return element;
}

/**
 * A dash in place of a figure. With a reason it is a button that shows why the figure is missing: a
 * hover title would never be seen on a phone or with a keyboard.
 */
export function noFigure(reason: string | undefined): Child {
  if (reason === undefined) return MISSING;
  const id = newId();
  const own = { popovertarget: id, 'aria-label': 'No figure', 'aria-describedby': id };
  return h(
    'span',
    h('button.why', { type: 'button', ...own }, MISSING),
    h('span.why-note', { id, popover: true }, reason),
  );
}

const localFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** An instant in the reader's own time zone; in UTC on hover. */
export function localTime(timestamp: string | null): HTMLElement | string {
  if (timestamp === null) return MISSING;
  const instant = new Date(timestamp);
  if (Number.isNaN(instant.getTime())) return timestamp;
  const utc = `${timestamp.slice(0, 19).replace('T', ' ')} UTC`;
  const words = localFormat.format(instant).replace('Sept', 'Sep'); // as in every other date
  return h('time', { datetime: timestamp, title: utc }, words);
}

const moves: Record<string, readonly [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/**
 * The tab key reaches one cell of a grid; the arrow keys move between cells, and Enter opens one.
 */
export function enableArrowKeys(
  grid: HTMLElement,
  { rows, open }: { rows: readonly (readonly HTMLElement[])[]; open: (cell: HTMLElement) => void },
): void {
  let [row, column] = [0, 0];
  const cellAt = () => rows[row]?.[column];
  cellAt()?.setAttribute('tabindex', '0');
  on(grid, 'keydown', (event) => {
    const cell = cellAt();
    if (event.key === 'Enter' && cell !== undefined) open(cell);
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    cell?.removeAttribute('tabindex');
    row = Math.max(0, Math.min(rows.length - 1, row + move[0]));
    column = Math.max(0, Math.min((rows[row]?.length ?? 1) - 1, column + move[1]));
    cellAt()?.setAttribute('tabindex', '0');
    cellAt()?.focus();
  });
}

/** The name of the file that this server only shows; null for a service. */
export function viewedFile(): string | null {
  return document.body.dataset['view'] ?? null;
}

/** Whether that file cannot change while it is shown, as a package cannot. */
export function isViewFixed(): boolean {
  return document.body.dataset['fixed'] !== undefined;
}
