import { command, files, IMPORTED, meaningOption } from '#commands/command.ts';

/** Feature: prices, dividends, splits and exchanges from files of many programs; and files to check what models were charged. */

export const importPricesCommand = command({
  summary: 'Imports daily prices, dividends, splits and exchanges from files.',
  details: [
    'It recognises CSV and JSON of many sources by their content, also compressed with gzip. It prints how it ' +
      'read the prices of each file, and reports and skips bad rows.',
  ],
  exitCodes: IMPORTED,
  options: { as: meaningOption },
  positionals: files,
  example: 'import-prices --as raw prices.csv.gz splits.csv dividends.csv',
  run: async ({ rest, values }) => (await import('./import-prices.ts')).importPrices(rest, values),
});
