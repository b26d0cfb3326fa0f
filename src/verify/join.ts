/** A row of each of two sides with the same key; undefined where one side lacks it. */
type Pair<Row> = [one: Row, other: Row | undefined] | [one: undefined, other: Row];

/** Joins the rows of two sides by a key, in the order of the first side, then of the other. */
export function joined<Row>(
  ones: readonly Row[],
  others: readonly Row[],
  keyOf: (row: Row) => string,
): Pair<Row>[] {
  const byKey = new Map(others.map((row) => [keyOf(row), row]));
  const pairs = ones.map((row): Pair<Row> => [row, byKey.get(keyOf(row))]);
  const found = new Set(pairs.map(([, other]) => other)); // not their keys, which could be forged to be the same
  const left = others.filter((row) => !found.has(row));
  return [...pairs, ...left.map((row): Pair<Row> => [undefined, row])];
}
