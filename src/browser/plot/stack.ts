type Values = readonly (number | null)[];

/**
 * The upper edges of lines that are stacked: each on all those after it, so that the last one is at the bottom. A missing
 * value has no height; where all are missing there is no edge.
 */
export function stacked(lines: readonly Values[]): (number | null)[][] {
  const edges: (number | null)[][] = [];
  let below: Values = [];
  for (const values of lines.toReversed()) {
    const edge = values.map((value, place) => {
      const base = below[place] ?? null;
      return value === null && base === null ? null : (value ?? 0) + (base ?? 0);
    });
    edges.unshift(edge);
    below = edge;
  }
  return edges;
}
