import { command, files, IMPORTED } from '#commands/command.ts';

/** Feature: style, that is what part of a return the returns of factors explain. */

export const importFactorsCommand = command({
  summary: 'Imports factor returns (Fama-French or CSV) for style analysis.',
  details: [
    "A FILE is a daily file of Kenneth French's data library, or CSV with a date and a column per factor.",
    'French writes 1 % as 1.00. If your file has 0.01 for 1 %, use `--unit fraction`: otherwise all returns are ' +
      'read 100 times too small.',
  ],
  exitCodes: IMPORTED,
  options: {
    unit: {
      value: 'UNIT',
      text: 'Unit of the returns: `percent` or `fraction`. Default: `percent`.',
    },
    remove: { value: 'NAME', text: 'Remove this factor first. FILE is then optional.' },
  },
  positionals: { ...files, least: 0 },
  example: 'import-factors F-F_Research_Data_5_Factors_2x3_daily.CSV',
  run: async ({ rest, values }) =>
    (await import('./import-factors.ts')).importFactors(rest, values),
});
