import { command, lastDateOption, WRITTEN } from '#commands/command.ts';

/** Feature: control markets, prices in disguise that show what a model remembers. */

export const disguiseCommand = command({
  summary: 'Creates a control market, to measure what a model remembers.',
  details: [
    'A control market has the same prices under new symbols and dates. The command writes a new folder with ' +
      'the prices, dividends, exchanges, a universe and the key, and prints what to do next.',
  ],
  exitCodes: WRITTEN,
  options: {
    seed: {
      value: 'S',
      text: 'Any text; it makes the key. Keep both away from models.',
      isRequired: true,
    },
    from: { value: 'DATE', text: 'First date of the prices, YYYY-MM-DD.', isRequired: true },
    to: lastDateOption,
    out: { value: 'FOLDER', text: 'The folder to write, new or empty.', isRequired: true },
    mask: { value: 'WHAT', text: 'What to hide: `symbols`, `dates` or `both`. Default: `both`.' },
    weeks: { value: 'N', text: 'How many weeks to shift dates back. Default: from the seed.' },
    universe: {
      value: 'NAME',
      text: 'A universe of the configuration. Default: that of `agent_config`.',
    },
    name: { value: 'CONTROL', text: 'The name of the new universe. Default: `control`.' },
  },
  example: 'disguise --seed river --from 2025-06-02 --to 2025-10-23 --out river',
  run: async ({ values }) => (await import('./disguise.ts')).disguise(values),
});
