import type { HeldDay, HeldSymbol } from '../responses.ts';

/** How many symbols have a layer of their own. */
const MOST_NAMED = 10;

/**
 * A layer of the weights over time, from the bottom: the heaviest symbol first, then the others
 * together, then cash.
 */
export interface Layer {
  name: string;
  /** The class of the style sheet that gives its colour. */
  look: string;
  /** Null where it was not held. */
  weights: (number | null)[];
}

/**
 * The share of the portfolio in each of the symbols that were heaviest on average, in all others,
 * and in cash.
 */
export function weightLayers(days: readonly HeldDay[], symbols: readonly HeldSymbol[]): Layer[] {
  const named = symbols.slice(0, MOST_NAMED).map(({ symbol }) => symbol);
  const others = symbols.length - named.length;
  const places = new Map(named.map((symbol, place) => [symbol, place]));
  const layers = named.map(
    (name, place): Layer => ({ name, look: `series-${place}`, weights: [] }),
  );
  const rest: Layer = {
    name: others === 1 ? '1 other' : `${others} others`,
    look: 'layer-others',
    weights: [],
  };
  const cash: Layer = { name: 'Cash', look: 'layer-cash', weights: [] };
  const all = [...layers, ...(others > 0 ? [rest] : []), cash];
  days.forEach((day, index) => {
    for (const { weights } of all) weights.push(null);
    cash.weights[index] = day.cash_weight;
    for (const { symbol, weight } of day.holdings) {
      const { weights } = layers[places.get(symbol) ?? -1] ?? rest;
      if (weight !== null) weights[index] = (weights[index] ?? 0) + weight;
    }
  });
  return all;
}
