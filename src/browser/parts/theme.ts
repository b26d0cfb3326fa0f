import { h, on, replace, setAttributes } from './element.ts';

const STORED_AS = 'theme';
const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

/** Fired on the document when colours have changed; drawings take theirs from the style sheet and must be made anew. */
export const THEME_CHANGE = 'themechange';

function stored(): Theme {
  const name = localStorage.getItem(STORED_AS);
  return themes.find((theme) => theme === name) ?? 'auto';
}

function apply(theme: Theme): void {
  setAttributes(document.documentElement, { 'data-theme': theme === 'auto' ? null : theme });
  document.dispatchEvent(new Event(THEME_CHANGE));
}

/** A button that goes round: as the system has it, light, dark. */
export function themeSwitch(): HTMLElement {
  apply(stored());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => apply(stored()));
  const button = h('button', { type: 'button', class: 'ghost', 'data-action': 'theme' });
  const label = () => replace(button, h('span', { class: 'wide-only' }, 'Theme: '), stored());
  on(button, 'click', () => {
    const next = themes[(themes.indexOf(stored()) + 1) % themes.length] ?? 'auto';
    localStorage.setItem(STORED_AS, next);
    apply(next);
    label();
  });
  label();
  return button;
}

/** The colours that the style sheet gives to some classes, as a canvas takes them. */
export function coloursOf<Name extends string>(classes: readonly Name[]): Record<Name, string> {
  const probe = h('span', { hidden: true });
  document.body.append(probe);
  const entries = classes.map((name) => {
    probe.className = name;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(entries) as Record<Name, string>;
}
