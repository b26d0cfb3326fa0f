import { command, files, meaningOption } from '#commands/command.ts';

/** Feature: prices, dividends, splits and exchanges from files of many programs; and files to check what models were charged. */

export const importPricesCommand = command({
  summary: 'Imports daily prices, dividends, splits and exchanges from files.',
  details: [
    'The summary says what the prices were taken for, and why. Bad rows are reported and skipped.',
    'Exit code 0 if every file had something to import, otherwise 1. Formats: docs/reference/price-files.md.',
  ],
  options: { as: meaningOption },
  positionals: files,
  example: 'import-prices --as raw prices.jsonl more.csv.gz dividends.csv exchanges.csv',
  run: async ({ rest, values }) => (await import('./import-prices.ts')).importPrices(rest, values),
});
