type Values = readonly (number | null)[];

/**
 * The upper edges of lines that are stacked: each on all those after it, so that the last one is at
 * the bottom. A missing value has no height; where all are missing there is no edge.
 */
export function stacked(lines: readonly Values[]): (number | null)[][] {
  const edges: (number | null)[][] = [];
  let below: Values = (lines[0] ?? []).map((_value, place) =>
    lines.every((values) => values[place] == null) ? null : 0,
  );
  for (const values of lines.toReversed()) {
    const edge = below.map((base, place) => (base === null ? null : base + (values[place] ?? 0)));
    edges.unshift(edge);
    below = edge;
  }
  return edges;
}
