import type { ComparedModel, ComparedPair } from '../responses.ts';

/** One model seen from another: the pair, and by how much more the first grew than the second. */
export interface View {
  pair: ComparedPair;
  difference: number | null;
}

/** Finds the view of a model from another; null for two that were not paired. */
export type Lookup = (model: string, against: string) => View | null;

/** Finds the pair of two models in either order; null for two that were not paired. */
export function lookupIn(pairs: readonly ComparedPair[]): Lookup {
  const byNames = new Map(pairs.map((pair) => [keyOf(pair.model, pair.against), pair]));
  return (model, against) => {
    const pair = byNames.get(keyOf(model, against));
    if (pair !== undefined) return { pair, difference: pair.difference };
    const turned = byNames.get(keyOf(against, model));
    return turned === undefined ? null : { pair: turned, difference: opposite(turned.difference) };
  };
}

function keyOf(model: string, against: string): string {
  return JSON.stringify([model, against]);
}

/** The second model's growth over the first one's, minus 1. */
function opposite(difference: number | null): number | null {
  return difference === null ? null : -difference / (1 + difference);
}

/** The models that have figures, in their order. */
export function measured<Model extends Pick<ComparedModel, 'total_return'>>(
  models: readonly Model[],
): Model[] {
  return models.filter(({ total_return }) => total_return !== null);
}

/**
 * The pair of each model with the next one in the order; where all pairs share one model, every
 * pair.
 */
export function neighbours(
  models: readonly ComparedModel[],
  pairs: readonly ComparedPair[],
): ComparedPair[] {
  const find = lookupIn(pairs);
  const names = measured(models).map(({ model }) => model);
  const next = names.slice(1).map((model, index) => find(names[index] ?? '', model)?.pair);
  const found = next.filter((pair) => pair !== undefined);
  if (found.length === next.length) return found;
  return pairs.filter(({ model, against }) => names.includes(model) && names.includes(against));
}
