/** A strip has at most this many steps, however many days: it is a few hundred pixels wide. */
const MOST_STEPS = 200;
/** In pixels, as all heights here. */
export const HEIGHT = 18;
/** The height of the least that was held, so that it can be seen. */
const LEAST = 1.5;

/** The highest weight in each step, of about as many days each; 0 where the symbol was not held. */
export function stepsOf(weights: readonly number[], most = MOST_STEPS): number[] {
  const steps = Math.min(most, weights.length);
  return Array.from({ length: steps }, (_, step) => {
    const [from, to] = [
      Math.floor((step * weights.length) / steps),
      Math.floor(((step + 1) * weights.length) / steps),
    ];
    return weights.slice(from, to).reduce((highest, weight) => Math.max(highest, weight), 0);
  });
}

/**
 * The outline of a strip: a block over each run of equal steps. `tallest` is the weight that fills
 * the height.
 */
export function outlineOf(steps: readonly number[], tallest: number): string {
  const parts: string[] = [];
  for (let from = 0, to = 0; from < steps.length; from = to) {
    const weight = steps[from] ?? 0;
    while (to < steps.length && steps[to] === weight) to += 1;
    if (weight === 0) continue;
    const height = Math.max(LEAST, (weight / tallest) * HEIGHT);
    parts.push(`M${from} ${HEIGHT}V${(HEIGHT - height).toFixed(1)}H${to}V${HEIGHT}Z`);
  }
  return parts.join('');
}
