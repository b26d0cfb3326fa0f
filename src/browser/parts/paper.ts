import { setAttributes } from './element.ts';
import { THEME_CHANGE } from './theme.ts';

/**
 * Prints pages in light colours and as wide as paper: while the browser prints, the style sheet
 * gives the page the width of A4 and Letter, and the plots are drawn again to fit it.
 */
export function preparePaper(): void {
  const root = document.documentElement;
  let theme: string | null = null;
  addEventListener('beforeprint', () => {
    theme = root.getAttribute('data-theme');
    redraw({ 'data-theme': 'light', 'data-paper': true });
  });
  addEventListener('afterprint', () => redraw({ 'data-theme': theme, 'data-paper': null }));
}

function redraw(attributes: Parameters<typeof setAttributes>[1]): void {
  setAttributes(document.documentElement, attributes);
  document.dispatchEvent(new Event(THEME_CHANGE));
}
