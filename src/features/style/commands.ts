import { command, files } from '#commands/command.ts';

/** Feature: style, that is what part of a return the returns of factors explain. */

export const importFactorsCommand = command({
  summary: 'Imports daily returns of factors, to tell returns apart.',
  details: [
    "Files of Kenneth French's data library, or CSV with date and a column for each factor.",
    'Exit code 0 if every file had something to import, otherwise 1. See docs/reference/metrics.md.',
  ],
  options: {
    unit: { value: 'UNIT', text: 'percent or fraction. Default: percent.' },
    remove: { value: 'NAME', text: 'Removes a factor first; then no FILE is needed.' },
  },
  positionals: { ...files, least: 0 },
  example: 'import-factors F-F_Research_Data_5_Factors_2x3_daily.CSV',
  run: async ({ rest, values }) =>
    (await import('./import-factors.ts')).importFactors(rest, values),
});
