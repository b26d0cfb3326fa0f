/** Rows as lines of aligned columns: the first `textColumns` to the left, figures to the right. */
export function alignColumns(rows: readonly (readonly string[])[], textColumns = 1): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column < textColumns
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
