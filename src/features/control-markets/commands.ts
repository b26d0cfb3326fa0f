import { command, lastDateOption } from '#commands/command.ts';

/** Feature: control markets, prices in disguise that show what a model remembers. */

export const disguiseCommand = command({
  summary: 'Writes stored prices in disguise, which shows what a model remembers.',
  details: [
    'Such a control market is a new folder: prices, dividends, exchanges, a universe and the key,',
    'see docs/guides/control-markets.md. Exit code 0, or 1 on failure, which leaves no files behind.',
  ],
  options: {
    seed: { value: 'S', text: 'Makes the key: keep both away from models.', isRequired: true },
    from: { value: 'DATE', text: 'First date of the prices, YYYY-MM-DD.', isRequired: true },
    to: lastDateOption,
    out: { value: 'FOLDER', text: 'Where to write; new or empty.', isRequired: true },
    mask: { value: 'WHAT', text: 'What to hide: symbols, dates or both. Default: both.' },
    weeks: { value: 'N', text: 'How far to shift dates back. Default: drawn from the seed.' },
    universe: { value: 'NAME', text: 'A universe of the configuration. Default: the usual one.' },
    name: { value: 'CONTROL', text: 'The name of the new universe. Default: control.' },
  },
  example: 'disguise --seed river --from 2025-06-02 --to 2025-10-23 --out control-market',
  run: async ({ values }) => (await import('./disguise.ts')).disguise(values),
});
