import { mean } from '../statistics/moments.ts';
import { type Figure, reportFigures } from './figure.ts';
import { sampleDeviation } from './risk.ts';

/** What the figures of a family need of each of its runs. */
export interface RunOfFamily {
  model: string;
  family: string;
  model_days: number;
  total_return: number | null;
}

/**
 * The runs of each family that has several, side by side, with the mean and the spread of their
 * returns.
 */
export function reportFamilies(runs: readonly RunOfFamily[]) {
  return [...Map.groupBy(runs, ({ family }) => family)].flatMap(([family, own]) => {
    if (own.length < 2) return [];
    const returns = own.map((run) => run.total_return).filter((fraction) => fraction !== null);
    const missing = { reason: `Needs 2 runs with a return, has ${returns.length}` };
    const figure = (compute: () => number): Figure => (returns.length < 2 ? missing : compute());
    return [
      {
        family,
        runs: own.map(({ model, model_days, total_return }) => ({
          model,
          model_days,
          total_return,
        })),
        ...reportFigures({
          mean_total_return: figure(() => mean(returns)),
          total_return_deviation: figure(() => sampleDeviation(returns, 0)),
          lowest_total_return: figure(() => Math.min(...returns)),
          highest_total_return: figure(() => Math.max(...returns)),
        }),
      },
    ];
  });
}
