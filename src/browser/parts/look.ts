import { hashText } from '../../text-hash.ts';
import { byName } from './names.ts';

/**
 * How readers recognise a line, in the plot and wherever its model is named: by colour, dash and
 * marker. Colour and dash follow only from the name, so that they are the same on every page, every
 * day and on any machine.
 */
export interface Look {
  /** The class of the style sheet that gives the colour. */
  colour: string;
  /** Lengths of strokes and gaps in pixels; undefined for a solid line. */
  dash?: readonly number[] | undefined;
  /** The shape of the points on the line; undefined for none. */
  marker?: Marker | undefined;
}

const COLOURS = 10;
const DASHES: readonly (readonly number[] | undefined)[] = [
  undefined,
  [9, 4],
  [2, 3],
  [9, 3, 2, 3],
  [5, 2, 5, 8],
];

/**
 * The outline of each marker about its middle, as the path of a drawing, five pixels wide to each
 * side at most.
 */
const OUTLINES = {
  disc: 'M-3.5 0A3.5 3.5 0 1 0 3.5 0A3.5 3.5 0 1 0-3.5 0Z',
  square: 'M-3.2-3.2H3.2V3.2H-3.2Z',
  triangle: 'M0-4.4L4.2 3.2H-4.2Z',
  diamond: 'M0-4.8L4.2 0L0 4.8L-4.2 0Z',
  wedge: 'M0 4.4L4.2-3.2H-4.2Z',
  plus: 'M-1.2-4.4H1.2V-1.2H4.4V1.2H1.2V4.4H-1.2V1.2H-4.4V-1.2H-1.2Z',
} as const;
/** The name of a shape. */
type Marker = keyof typeof OUTLINES;
const MARKERS: readonly (Marker | undefined)[] = [
  undefined,
  ...(Object.keys(OUTLINES) as Marker[]),
];

/** The benchmark is not a model: it has a colour of its own. */
export const BENCHMARK_LOOK: Look = { colour: 'benchmark', dash: [4, 4] };

/** The colour and the dash of a name: one of fifty looks. */
export function lookOf(name: string): Look {
  const number = hashText(name) >>> 0;
  return {
    colour: `series-${number % COLOURS}`,
    dash: DASHES[Math.floor(number / COLOURS) % DASHES.length],
  };
}

/**
 * The looks of the names on one page. Of those that share colour and dash, the first in the order
 * of names has no marker and the others have one each, as far as there are shapes.
 */
export function looksOf(names: readonly string[]): Map<string, Look> {
  const sharing = new Map<string, number>();
  const looks = [...new Set(names)].sort(byName).map((name): [string, Look] => {
    const look = lookOf(name);
    const key = `${look.colour} ${look.dash}`;
    const before = sharing.get(key) ?? 0;
    sharing.set(key, before + 1);
    return [name, { ...look, marker: MARKERS[before % MARKERS.length] }];
  });
  return new Map(looks);
}

/** The outline of a marker as the path of a drawing, about the point 0 0. */
export function outlineOf(marker: Marker): string {
  return OUTLINES[marker];
}
