import { on } from './element.ts';

const moves: Record<string, readonly [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/**
 * The tab key reaches one cell of a grid; the arrow keys move between cells, and Enter opens one.
 */
export function enableArrows(
  grid: HTMLElement,
  { rows, open }: { rows: readonly (readonly HTMLElement[])[]; open: (cell: HTMLElement) => void },
): void {
  let [row, column] = [0, 0];
  const cellAt = () => rows[row]?.[column];
  cellAt()?.setAttribute('tabindex', '0');
  on(grid, 'keydown', (event) => {
    const cell = cellAt();
    if (event.key === 'Enter' && cell !== undefined) open(cell);
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    cell?.removeAttribute('tabindex');
    row = Math.max(0, Math.min(rows.length - 1, row + move[0]));
    column = Math.max(0, Math.min((rows[row]?.length ?? 1) - 1, column + move[1]));
    cellAt()?.setAttribute('tabindex', '0');
    cellAt()?.focus();
  });
}
