import { pValue, profit, ratio } from '../format.ts';
import type { ComparedModel, ComparedPair } from '../responses.ts';
import { nameColumn, numberColumn, table, textColumn } from '../table.ts';
import { lateFold } from '../ui.ts';

/** A table of all pairs in a fold. */
export function pairTable(
  models: readonly ComparedModel[],
  pairs: readonly ComparedPair[],
): HTMLElement {
  // In percent, as they are shown.
  const returns = new Map(
    models.map((own) => [own.model, Number(((own.total_return ?? NaN) * 100).toFixed(2))]),
  );
  const returnOf = (model: string) => returns.get(model) ?? NaN;
  const reason = ({ unavailable }: ComparedPair) => unavailable['p_value_holm'];
  const content = () => [
    table<ComparedPair>({
      caption: 'All pairs',
      rows: pairs,
      columns: [
        nameColumn('Pair', pairName),
        numberColumn(
          'Lead in points',
          ({ model, against }) => returnOf(model) - returnOf(against),
          profit,
          { isToned: true, meaning: 'The return of the first model minus that of the second' },
        ),
        textColumn('Verdict', ({ shown }) => (shown ? 'more than chance' : 'could be chance')),
        numberColumn('p after Holm', 'p_value_holm', pValue, { reason }),
        numberColumn('Correlation', 'correlation', ratio, {
          meaning: 'Of the daily log returns',
          reason: ({ unavailable }) => unavailable['correlation'],
        }),
      ],
    }),
  ];
  return Object.assign(lateFold('All pairs as a table', content), { className: 'fold' });
}

/** A pair as it is named in plots and tables. */
export function pairName({ model, against }: Pick<ComparedPair, 'model' | 'against'>): string {
  return `${model} over ${against}`;
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
  const names = measured(models).map(({ model }) => model);
  const next = names
    .slice(1)
    .map((model, index) =>
      pairs.find((pair) =>
        [names[index], model].every((name) => name === pair.model || name === pair.against),
      ),
    );
  const found = next.filter((pair) => pair !== undefined);
  if (found.length === next.length) return found;
  return pairs.filter(({ model, against }) => names.includes(model) && names.includes(against));
}
