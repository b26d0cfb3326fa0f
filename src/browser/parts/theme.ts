import { button } from './blocks.ts';
import { h, replace, setAttributes } from './element.ts';

const STORED_AS = 'theme';
const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

/**
 * Fired on the document when the colours have changed, so that drawings, which copy them from the
 * style sheet, are redrawn.
 */
export const THEME_CHANGE = 'themechange';

function storedTheme(): Theme {
  const name = localStorage.getItem(STORED_AS);
  return themes.find((theme) => theme === name) ?? 'auto';
}

function apply(theme: Theme): void {
  setAttributes(document.documentElement, { 'data-theme': theme === 'auto' ? null : theme });
  document.dispatchEvent(new Event(THEME_CHANGE));
}

/** A button that cycles through the themes: the system's, light, dark. */
export function themeSwitch(): HTMLElement {
  apply(storedTheme());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => apply(storedTheme()));
  const showName = () => replace(element, h('span.wide-only', 'Theme: '), storedTheme());
  const next = () => {
    const theme = themes[(themes.indexOf(storedTheme()) + 1) % themes.length] ?? 'auto';
    localStorage.setItem(STORED_AS, theme);
    apply(theme);
    showName();
  };
  const element = button(null, next, { class: 'ghost', 'data-action': 'theme' });
  showName();
  return element;
}

/** The colours that the style sheet gives to the classes, in the form that a canvas takes. */
export function coloursOf<Name extends string>(classes: readonly Name[]): Record<Name, string> {
  // All at once, because the browser computes styles again after each change of the page.
  const probes = classes.map((name) => h('i', { class: name }));
  const place = h('span', { hidden: true }, ...probes);
  document.body.append(place);
  const entries = probes.map((probe) => [probe.className, getComputedStyle(probe).color]);
  place.remove();
  return Object.fromEntries(entries) as Record<Name, string>;
}
