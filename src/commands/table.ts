import type { Options, Positionals, Values } from './arguments.ts';

/** THE COMMAND LINE ON ONE SCREEN: what each command takes, what its help says, and how it is run. */

export interface Command {
  /** What it does, as a sentence. */
  summary: string;
  /** What else its own help page says. */
  details: string;
  options: Options;
  positionals?: Positionals;
  /** A complete command line, without the program. */
  example: string;
  /** Resolves to the exit code, or to nothing when the process lives on. Throws a `WrongUsage` for a value that is wrong. */
  run(given: { values: Record<string, string | boolean | undefined>; rest: string[] }): Promise<number | void>;
}

const url = {
  value: 'URL',
  text: 'Address of the service. Without it API_URL, else this machine on API_PORT.',
} as const;
const CLIENT = 'API_TOKEN is sent as the access token when it is set.';

/** Each command loads its own modules: help and health check never open a database. */
export const commands: Record<string, Command> = {
  serve: command({
    summary: 'Serves the HTTP interface and the pages until SIGTERM or Ctrl-C; the default command.',
    details: 'Listens on API_PORT. A second signal ends it at once.',
    options: { 'merge-config': { text: 'Run merge-config first, as the container image does.' } },
    example: 'serve',
    run: async ({ values }) => {
      // Merged first: which configuration file is used is decided when the serving module is loaded.
      if (values['merge-config']) await (await import('./merge-config.ts')).mergeConfig();
      await (await import('./serve.ts')).serve();
    },
  }),
  demo: command({
    summary: 'Serves in DEV mode, simulates the last ten weekdays, prints a table, and serves on until Ctrl-C.',
    details: 'Needs no key and costs nothing. Takes any free port when API_PORT is taken.',
    options: {},
    example: 'demo',
    run: async () => (await import('./demo.ts')).demo(),
  }),
  'import-prices': command({
    summary: 'Stores daily prices from files.',
    details: lines(
      "Reads Alpha Vantage JSON, merged JSON lines, and CSV with a header (Yahoo's and Stooq's too). Bad rows are",
      'reported and skipped. Exit code 0 when every file had prices to import, else 1.',
    ),
    options: {},
    positionals: { name: 'FILE', least: 1, most: Infinity },
    example: 'import-prices prices.jsonl more.csv',
    run: async ({ rest }) => (await import('./import-prices.ts')).importPrices(rest),
  }),
  'download-prices': command({
    summary: 'Downloads the daily prices that are missing, as a job does.',
    details: 'Needs ALPHAADVANTAGE_API_KEY. Exit code 0 when every price of the range is known at the end, else 1.',
    options: {
      from: { value: 'DATE', text: 'First date, YYYY-MM-DD.', isRequired: true },
      to: { value: 'DATE', text: 'Last date.', isRequired: true },
      symbols: { value: 'A,B,...', text: 'Symbols to download. Without it the universe of the configuration.' },
      limit: { value: 'N', text: 'Download at most N symbols, those first that complete the most dates.' },
    },
    example: 'download-prices --from 2025-09-15 --to 2025-10-10 --limit 25',
    run: async ({ values }) => (await import('./download-prices.ts')).downloadPrices(values),
  }),
  trigger: command({
    summary: 'Creates a job on a running service and prints its id.',
    details: lines(CLIENT, 'Exit code 0 when the job was created (with --watch: completed), else 1.'),
    options: {
      start: { value: 'DATE', text: 'First date, YYYY-MM-DD; without it each model continues where it ended.' },
      end: { value: 'DATE', text: 'Last date.', isRequired: true },
      models: { value: 'A,B,...', text: 'Models to run. Without it those that the configuration enables.' },
      replace: { text: 'Run completed model-days again.' },
      watch: { text: 'Follow the job to its end, as the command watch does.' },
      url,
    },
    example: 'trigger --start 2025-09-15 --end 2025-10-10 --models gpt-5,buy-and-hold --watch',
    run: async ({ values }) => (await import('./trigger.ts')).trigger(values),
  }),
  watch: command({
    summary: 'Follows a job of a running service to its end; the newest job when none is named.',
    details: lines(CLIENT, 'Exit code 0 when the job completed; 1 when it failed, in part or whole, or was cancelled.'),
    options: { url },
    positionals: { name: 'JOB-ID', least: 0, most: 1 },
    example: 'watch 3f0c9a52-7c1e-4b6f-9d43-0a1b2c3d4e5f',
    run: async ({ values, rest }) => (await import('./watch.ts')).watch(rest[0], values),
  }),
  results: command({
    summary: 'Prints the results of a running service as a table.',
    details: CLIENT,
    options: {
      job: { value: 'JOB-ID', text: 'Only the results of this job.' },
      model: { value: 'SIGNATURE', text: 'Only those of this model.' },
      date: { value: 'DATE', text: 'Only those of this date, YYYY-MM-DD.' },
      csv: { text: 'Print CSV instead of a table.' },
      url,
    },
    example: 'results --model gpt-5 --csv',
    run: async ({ values }) => (await import('./results.ts')).results(values),
  }),
  backup: command({
    summary: 'Copies the database as it stands at one moment, while the service runs or not.',
    details: lines(
      'Without a name the copy is written beside the database and named by the time. No file is overwritten.',
      'Exit code 0, or 1 with nothing left behind.',
    ),
    options: {},
    positionals: { name: 'FILE', least: 0, most: 1 },
    example: 'backup before-upgrade.db',
    run: async ({ rest }) => (await import('./backup.ts')).backup(rest[0]),
  }),
  check: command({
    summary: 'Verifies a database and recomputes its books; changes nothing.',
    details: lines(
      "Without a name it checks the service's own database, while the service runs or not.",
      'Exit code 0 when everything adds up, else 1.',
    ),
    options: {},
    positionals: { name: 'FILE', least: 0, most: 1 },
    example: 'check before-upgrade.db',
    run: async ({ rest }) => (await import('./check.ts')).check(rest[0]),
  }),
  'merge-config': command({
    summary: 'Writes the default configuration with a configuration of your own merged over it.',
    details: lines(
      'Merges user-configs/config.json, or the file that is named, over configs/default_config.json (RFC 7396) and',
      'writes RUNTIME_CONFIG_PATH, /tmp/runtime_config.json by default, which serve then uses.',
    ),
    options: {},
    positionals: { name: 'USER-FILE', least: 0, most: 1 },
    example: 'merge-config my-config.json',
    run: async ({ rest }) => (await import('./merge-config.ts')).mergeConfig(rest[0]),
  }),
  healthcheck: command({
    summary: 'Exits with 0 when the service on API_PORT is healthy, else with 1.',
    details: 'For containers without a shell.',
    options: {},
    example: 'healthcheck',
    run: async () => (await import('./healthcheck.ts')).healthcheck(),
  }),
};

function lines(...texts: string[]): string {
  return texts.join('\n');
}

/** A row of the table, in which the options given have the types of those declared. */
function command<const Declared extends Options>(
  row: Omit<Command, 'options' | 'run'> & {
    options: Declared;
    run(given: { values: Values<Declared>; rest: string[] }): Promise<number | void>;
  },
): Command {
  return row as Command;
}
