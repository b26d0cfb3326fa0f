import { button } from './blocks.ts';
import { pictureOf } from './picture.ts';
import { type Sheet, csvOf, fileName } from './sheet.ts';

/** Files that the browser makes of what a page shows, without a request. */

/** A button that saves a table as CSV; the table is made when the button is pressed. */
export function csvButton(caption: string, sheet: () => Sheet): HTMLButtonElement {
  const save = () =>
    saveFile(`${fileName(caption)}.csv`, new Blob([csvOf(sheet())], { type: 'text/csv' }));
  return button('CSV', save, { class: 'export', 'aria-label': `${caption} as CSV` });
}

/** A button that saves a plot as it looks now, below its heading and its legend, as PNG. */
export function pngButton(caption: string, plot: () => Element): HTMLButtonElement {
  const save = async () => {
    const parts = withWords(plot());
    for (const part of parts) part.classList.add('whole'); // a long legend scrolls on the screen
    const picture = await pictureOf(parts).finally(() =>
      parts.forEach((part) => part.classList.remove('whole')),
    );
    saveFile(`${fileName(caption)}.png`, picture);
  };
  return button('PNG', () => void save(), { class: 'export', 'aria-label': `${caption} as PNG` });
}

function withWords(plot: Element): Element[] {
  const home = plot.closest('.two > *, section') ?? plot;
  const words = [home.querySelector('h2, h3'), home.querySelector('.legends, .key-line, .key')];
  return [...words, plot].filter((part) => part !== null);
}

/**
 * Safari reads what it saves only some time after the click, so that a file stays in memory until
 * then.
 */
const KEPT_MS = 60_000;

/** Saves a file to the reader's disk. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
