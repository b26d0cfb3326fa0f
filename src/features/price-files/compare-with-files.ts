import type { Meaning } from '#database/schema/price-conditions.ts';
import { plural } from '#text/sentences.ts';
import { forTerminal } from '#text/text.ts';
import { importFile } from './import.ts';
import { describeRefused, withProgress } from './import-prices.ts';
import { comparePrices } from './own-prices.ts';
import type { ImportOptions } from './store-staged.ts';

/**
 * Compares the prices that model-days used with files of the reader's own, and prints every
 * difference. Returns whether there is none.
 */
export async function compareWithFiles(
  path: string,
  names: readonly string[],
  as: Meaning | undefined,
): Promise<boolean> {
  const { counts, differences } = await comparePrices(path, async (yours) => {
    const untold = new Set<string>();
    for (const name of names) {
      const compare = (watched: ImportOptions) => importFile(yours, name, { ...watched, as });
      const summary = await withProgress(name, compare, 'compare');
      const lines = [`${forTerminal(name)}: ${summary.format}`, ...describeRefused(summary)];
      process.stdout.write(`${lines.join('\n')}\n`);
      if (summary.taken?.by === 'default') for (const symbol of summary.symbols) untold.add(symbol);
    }
    return untold;
  });
  const { open: bars, split, dividend, exchange } = counts;
  const others = exchange > 0 ? ` and ${plural(exchange, 'exchange')}` : '';
  const what = `${plural(bars, 'bar')}, ${plural(split, 'split')} and ${plural(dividend, 'dividend')}${others}`;
  const result =
    differences.length === 0 ? 'all as in' : `${plural(differences.length, 'difference')} from`;
  const own = `${result} ${plural(names.length, 'file')} of your own`;
  process.stdout.write(`prices: ${what} that model-days used, ${own}\n`);
  for (const words of differences) process.stdout.write(`  ${forTerminal(words)}\n`);
  return differences.length === 0;
}
