import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { learnOrder, lineLook } from '../../src/features/pages/browser/look.ts';
import type { KnownModels } from '../../src/features/pages/responses.ts';
import {
  contrast,
  difference,
  labOf,
  linearOf,
  type Rgb,
  seen,
  visions,
} from '../support/colour-vision.ts';
import { tableOf } from '../support/text-table.ts';

/** By what readers recognise a model: the colours, and who gets which. */

const css = readFileSync(
  new URL('../../src/features/pages/browser/app.css', import.meta.url),
  'utf8',
);
const modes = ['light', 'dark'] as const;

/** A colour of the style sheet by the text before it. */
function colourIn(mode: (typeof modes)[number], rule: string): Rgb {
  const [, light, dark] = new RegExp(`${rule}:? light-dark\\((#\\w+), (#\\w+)\\)`).exec(css) ?? [];
  const colour = mode === 'light' ? light : dark;
  assert.ok(colour, rule);
  return linearOf(colour);
}

const seriesIn = (mode: (typeof modes)[number]) =>
  Array.from({ length: 10 }, (_, place) =>
    colourIn(mode, `\\.series-${place}\\b[^{]*\\{\\s*color`),
  );

test('the difference of colours is that of the published pairs', () => {
  const pairs = tableOf<[one: string, other: string, difference: string]>(`
    50 2.6772 -79.7751       | 50 0 -82.7485            | 2.0425
    50 2.5 0                 | 50 3.1736 0.5854         | 1.0000
    60.2574 -34.0099 36.2677 | 60.4626 -34.1751 39.4387 | 1.2644
    22.7233 20.0904 -46.694  | 23.0331 14.973 -42.5619  | 2.0373
    2.0776 0.0795 -1.135     | 0.9033 -0.0636 -0.5514   | 0.9082`);
  const lab = (text: string) => text.split(' ').map(Number) as [number, number, number];
  for (const [one, other, expected] of pairs)
    assert.equal(difference(lab(one), lab(other)).toFixed(4), expected);
});

/**
 * The least differences (CIEDE2000) of two of the first so many colours. Half of readers notice
 * about 7 in lightness, and 10 to 14 in hue, between marks a third of a degree wide (Stone, Szafir
 * and Setlur, "An Engineering Model for Color Difference as a Function of Size", 2014); lines are
 * narrower but longer. So the first five, of which most pages have no more, differ by more than
 * twice that least, and any two still by more than once. Without colour blindness, any two by 14.
 */
const LEAST: readonly [colours: number, least: number][] = [
  [5, 16],
  [7, 10],
  [10, 7.5],
];
const LEAST_USUAL = 14;

test('ten colours differ with every kind of colour blindness, the first most, and each stands out from its ground by 3 to 1', () => {
  const faults: string[] = [];
  for (const mode of modes) {
    const colours = seriesIn(mode);
    for (const vision of Object.keys(visions)) {
      const shown = colours.map((colour) => labOf(seen(colour, vision)));
      for (const [place, colour] of shown.entries()) {
        const [, least = 0] = LEAST.find(([first]) => place < first) ?? [];
        const own = vision === 'usual' ? Math.max(least, LEAST_USUAL) : least;
        for (const [earlier, other] of shown.slice(0, place).entries())
          if (difference(colour, other) < own)
            faults.push(`${mode} ${vision}: ${earlier}, ${place}`);
      }
    }
    for (const ground of ['surface', 'ground', 'sunken'])
      for (const [place, colour] of colours.entries())
        if (contrast(colour, colourIn(mode, `--${ground}`)) < 3)
          faults.push(`${mode}: ${place} on ${ground}`);
  }
  assert.deepEqual(faults, []);
});

const known = (signature: string, order: number | null, family = signature) =>
  ({ signature, family, order }) as KnownModels['models'][number];

test('ten entries have ten colours, then come dashes; runs have the colour of their entry', () => {
  const names = Array.from({ length: 50 }, (_, order) => `entry-${order}`);
  learnOrder(names.map((name, order) => known(name, order)).toReversed());
  const looks = names.map(lineLook);
  for (const [place, { colour, dash }] of looks.entries()) {
    assert.equal(colour, `series-${place % 10}`);
    assert.equal(dash === undefined, place < 10, `dash of ${place}`);
  }
  assert.equal(new Set(looks.map((look) => JSON.stringify(look))).size, looks.length);
  learnOrder([known('entry-3#2', 3, 'entry-3'), known('entry-3#5', 3, 'entry-3')]);
  const runs = ['entry-3', 'entry-3#2', 'entry-3#4', 'entry-3#5'].map(lineLook);
  assert.deepEqual(new Set(runs.map(({ colour }) => colour)), new Set(['series-3']));
  assert.equal(new Set(runs.map(({ dash }) => dash)).size, runs.length);
});

test('names that are not known have looks after all that are, and keep them', () => {
  learnOrder([known('later', 200), known('never ran', null), known('own#7', 201)]);
  const first = ['new', 'newer', 'new#2', 'never ran'].map(lineLook);
  assert.deepEqual(
    first.map(({ colour }) => colour),
    ['series-2', 'series-3', 'series-2', 'series-4'],
  );
  assert.deepEqual(['new', 'newer', 'new#2', 'never ran'].map(lineLook), first);
  assert.equal(
    lineLook('own#7').dash,
    lineLook('later').dash,
    'an entry of that name, not its run 7',
  );
});
