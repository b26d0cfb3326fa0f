/** How many strengths of colour a gain has, and a loss. */
export const LEVELS = 5;

/**
 * The return that has the strongest colour when none is greater: in calm times a small return looks
 * small.
 */
const LEAST_GREATEST = 0.01;

/** The return with the strongest colour: the greatest of them, whether gain or loss. */
export function strongest(returns: readonly (number | null)[]): number {
  return returns.reduce<number>(
    (most, value) => Math.max(most, Math.abs(value ?? 0)),
    LEAST_GREATEST,
  );
}

/**
 * The class that colours a return: `gain-1` to `gain-5`, `loss-1` to `loss-5`; none for zero or no
 * return.
 */
export function heatOf(value: number | null, greatest: number): string {
  if (value === null || value === 0) return '';
  const level = Math.min(LEVELS, Math.ceil((Math.abs(value) / greatest) * LEVELS));
  return `heat ${value > 0 ? 'gain' : 'loss'}-${level}`;
}
