/** Which line the reader chooses, by mouse or by keyboard. */

/**
 * A line as it is drawn, in pixels: its points from left to right, without those that have no
 * value.
 */
export interface DrawnLine {
  line: number;
  points: readonly { index: number; x: number; y: number }[];
}

/** In pixels: how far from a line the pointer may be. */
const REACH = 9;

/** The nearest line within reach of the pointer, and its point nearest to it; null for none. */
export function lineAt(
  lines: readonly DrawnLine[],
  pointer: { x: number; y: number },
): { line: number; index: number } | null {
  const near = lines.flatMap(({ line, points }) => {
    const right = points.findIndex(({ x }) => x >= pointer.x);
    const [before, after] = [
      points[right === -1 ? points.length - 1 : right - 1],
      points[right === -1 ? points.length : right],
    ];
    const ends = [before, after].filter((point) => point !== undefined);
    const [from, to = from] = ends;
    if (from === undefined || to === undefined) return [];
    const share =
      to.x === from.x ? 0 : Math.min(1, Math.max(0, (pointer.x - from.x) / (to.x - from.x)));
    const y = from.y + (to.y - from.y) * share;
    const beyond = ends.length === 1 ? Math.abs(pointer.x - from.x) : 0;
    return [
      { line, index: (share < 0.5 ? from : to).index, distance: Math.hypot(beyond, pointer.y - y) },
    ];
  });
  const [first] = near.toSorted((one, other) => one.distance - other.distance);
  return first === undefined || first.distance > REACH
    ? null
    : { line: first.line, index: first.index };
}

/**
 * The line that up or down choose, of those that have a value (highest first); any other key leaves
 * the choice.
 */
export function nextChoice(
  places: readonly number[],
  chosen: number | null,
  key: string,
): number | null {
  if (key === 'Escape') return null;
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return chosen;
  const at = chosen === null ? -1 : places.indexOf(chosen);
  const next = key === 'ArrowDown' ? at + 1 : at === -1 ? places.length - 1 : at - 1;
  return places[Math.max(0, Math.min(places.length - 1, next))] ?? null;
}
