import { looksOf } from '../look.ts';
import type { Line } from '../plot/lines.ts';
import { datesFromStart, valuesFromStart } from '../plot/values.ts';
import type { ComparedPair } from '../responses.ts';

interface DifferenceLines {
  /** The first one is where the curves start, before the first day. */
  dates: string[];
  lines: Line[];
}

/** A pair as it is named in plots and tables. */
export function pairName({ model, against }: Pick<ComparedPair, 'model' | 'against'>): string {
  return `${model} over ${against}`;
}

/**
 * A line per pair with the curve of its difference, all from zero; null where the days have no
 * dates, or no pair has a curve.
 */
export function differenceLines(pairs: readonly ComparedPair[]): DifferenceLines | null {
  const drawn = pairs
    .map((pair) => ({ name: pairName(pair), points: pointsOf(pair) }))
    .filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return null;
  const dates = datesFromStart(
    [...new Set(drawn.flatMap(({ points }) => points.map(({ date }) => date)))].sort(),
  );
  const looks = looksOf(drawn.map(({ name }) => name));
  const lines = drawn.map(({ name, points }): Line => {
    const { colour: look = '', dash, marker } = looks.get(name) ?? {};
    return { label: name, values: valuesFromStart(dates, points, 0), look, dash, marker };
  });
  return { dates, lines };
}

function pointsOf({ curve = [] }: ComparedPair): { date: string; value: number }[] {
  return curve.flatMap(({ date, difference }) =>
    date === undefined || difference === null ? [] : [{ date, value: difference }],
  );
}
