import type { Options, Positionals, Values } from './arguments.ts';

/**
 * THE COMMAND LINE ON ONE SCREEN: each command's options, its help and the function that runs it.
 */

export interface Command {
  /** What it does, as a sentence. */
  summary: string;
  /** The rest of its help page. */
  details: string;
  options: Options;
  positionals?: Positionals;
  /** A complete command line, without the program. */
  example: string;
  /**
   * Resolves to the exit code, or to nothing if the process keeps running. Throws a `WrongUsage`
   * for an invalid value.
   */
  run(given: {
    values: Record<string, string | boolean | undefined>;
    rest: string[];
  }): Promise<number | void>;
}

const url = {
  value: 'URL',
  text: 'URL of the service. Default: API_URL, or else this machine on API_PORT.',
} as const;
const CLIENT = 'Sends API_TOKEN as the access token when it is set.';

/** Each command loads its own modules, so help and healthcheck never open a database. */
export const commands: Record<string, Command> = {
  serve: command({
    summary:
      'Serves the HTTP interface and the pages until SIGTERM or Ctrl-C; the default command.',
    details: 'Listens on API_PORT. A second signal ends it immediately.',
    options: { 'merge-config': { text: 'Run merge-config first, as the container does.' } },
    example: 'serve',
    run: async ({ values }) => {
      // First, because the start decides which configuration file is used.
      if (values['merge-config']) await mergeInto(undefined);
      await (await import('./serve.ts')).serve();
    },
  }),
  demo: command({
    summary:
      'Serves in DEV mode, simulates the last 60 weekdays, prints a table, and keeps serving until Ctrl-C.',
    details:
      'Needs no key and costs nothing. The models are those of configs/demo_config.json, if it is there. Uses any free ' +
      'port if API_PORT is taken.',
    options: {},
    example: 'demo',
    run: async () => (await import('./demo.ts')).demo(),
  }),
  'import-prices': command({
    summary: 'Imports daily prices and dividends from files.',
    details: lines(
      'Prices: Alpha Vantage JSON, merged JSON lines, and CSV with a header (as of Yahoo, Stooq and Tushare). The',
      'summary says whether they were taken as raw, or as adjusted for splits, or for splits and dividends, and why.',
      'Dividends: CSV with symbol,ex_date,amount, and Alpha Vantage JSON. A file may be compressed by gzip or zstd. Bad rows',
      'are reported and skipped. Exit code 0 if every file had something to import, otherwise 1.',
    ),
    options: {
      as: {
        value: 'MEANING',
        text: 'What the prices are: raw, split-adjusted or total-return. Default: detected from the files.',
      },
    },
    positionals: { name: 'FILE', least: 1, most: Infinity },
    example: 'import-prices --as raw prices.jsonl more.csv.gz dividends.csv',
    run: async ({ rest, values }) =>
      (await import('./import-prices.ts')).importPrices(rest, values),
  }),
  'download-prices': command({
    summary: 'Downloads missing daily prices, as a job does.',
    details: lines(
      'Needs MASSIVE_API_KEY or ALPHAADVANTAGE_API_KEY. Also downloads the trading days before the first date, splits and',
      'dividends, as far as the provider has them. Exit code 0 if every price of the range is known at the end, otherwise 1;',
      'also 1 for a symbol of --symbols that has no price on any date.',
    ),
    options: {
      from: { value: 'DATE', text: 'First date, YYYY-MM-DD.', isRequired: true },
      to: { value: 'DATE', text: 'Last date.', isRequired: true },
      symbols: {
        value: 'A,B,...',
        text: 'Symbols to download. Default: the universe of the configuration.',
      },
      limit: {
        value: 'N',
        text: 'At most N downloads (days or symbols, by provider), chosen to complete the most dates.',
      },
      dividends: { text: 'Download dividends instead, a request per symbol, from Alpha Vantage.' },
    },
    example: 'download-prices --from 2025-09-15 --to 2025-10-10 --limit 25',
    run: async ({ values }) => (await import('./download-prices.ts')).downloadPrices(values),
  }),
  disguise: command({
    summary:
      'Writes stored prices in disguise: a control market, which shows what a model remembers.',
    details: lines(
      'FOLDER must be new or empty. It gets prices.csv, dividends.csv, universe.json and key.csv: see docs/control-markets.md.',
      'Exit code 0, or 1 on failure, which leaves no files behind.',
    ),
    options: {
      seed: {
        value: 'S',
        text: 'Any text. It makes the key, so keep both away from models.',
        isRequired: true,
      },
      from: { value: 'DATE', text: 'First date of the prices, YYYY-MM-DD.', isRequired: true },
      to: { value: 'DATE', text: 'Last date.', isRequired: true },
      out: { value: 'FOLDER', text: 'Where to write.', isRequired: true },
      mask: {
        value: 'WHAT',
        text: 'What to hide: symbols, dates or both. Default: both.',
      },
      weeks: { value: 'N', text: 'How far to shift dates back. Default: drawn from the seed.' },
      universe: {
        value: 'NAME',
        text: 'A universe of the configuration. Default: the default one.',
      },
      name: { value: 'CONTROL', text: 'The name of the new universe. Default: control.' },
    },
    example: 'disguise --seed river --from 2025-06-02 --to 2025-10-23 --out control-market',
    run: async ({ values }) => (await import('./disguise.ts')).disguise(values),
  }),
  trigger: command({
    summary: 'Creates a job on a running service and prints its id.',
    details: lines(
      CLIENT,
      'Exit code 0 if the job was created (with --watch: completed), otherwise 1.',
      'With --end last-session, for schedulers: the last weekday that is over in New York and had trading, as far as the',
      'service knows. Then 0 also if nothing is left to do, or (with --watch) if the prices are not out yet: see docs/live.md.',
    ),
    options: {
      start: {
        value: 'DATE',
        text: 'First date, YYYY-MM-DD. Default: each model continues after its last completed day.',
      },
      end: { value: 'DATE', text: 'Last date, or last-session.', isRequired: true },
      models: {
        value: 'A,B,...',
        text: 'Models to run with all repeats, or single runs such as gpt-5#2. Default: those enabled.',
      },
      universe: {
        value: 'NAME',
        text: 'What they may buy: a universe of the configuration. Default: the default one.',
      },
      replace: { text: 'Run completed model-days again.' },
      watch: { text: 'Follow the job to its end, as watch does.' },
      url,
    },
    example: 'trigger --start 2025-09-15 --end 2025-10-10 --models gpt-5,buy-and-hold --watch',
    run: async ({ values }) => (await import('./trigger.ts')).trigger(values),
  }),
  watch: command({
    summary: 'Follows a job of a running service to its end; by default the newest job.',
    details: lines(
      CLIENT,
      'Exit code 0 if the job completed, 1 if some or all of it failed, or it was cancelled or discarded.',
    ),
    options: { url },
    positionals: { name: 'JOB-ID', least: 0, most: 1 },
    example: 'watch 3f0c9a52-7c1e-4b6f-9d43-0a1b2c3d4e5f',
    run: async ({ values, rest }) => (await import('./trigger.ts')).watch(rest[0], values),
  }),
  backup: command({
    summary:
      'Makes a consistent copy of the database, or of one job, whether or not the service runs.',
    details: lines(
      'Without FILE the copy is written to data/agent_data/ and named after the time. No file is overwritten.',
      'Exit code 0, or 1 on failure, which leaves no files behind.',
    ),
    options: {
      job: {
        value: 'JOB-ID',
        text: 'Only this job, with everything needed to verify its results: see docs/verify.md.',
      },
    },
    positionals: { name: 'FILE', least: 0, most: 1 },
    example: 'backup before-upgrade.db',
    run: async ({ values, rest }) => (await import('./backup.ts')).backup(rest[0], values),
  }),
  restore: command({
    summary: 'Replaces the database with a backup, while no service is running.',
    details: lines(
      'Copies and verifies FILE, keeps the database under another name, and puts the copy in its place. DEPLOYMENT_MODE says',
      'which database. Killed at any moment, it leaves the old database or the new one in its place, whole.',
      'Exit code 0, or 1 with nothing changed.',
    ),
    options: {},
    positionals: { name: 'FILE', least: 1, most: 1 },
    example: 'restore before-upgrade.db',
    run: async ({ rest: [file = ''] }) => (await import('./backup.ts')).restore(file),
  }),
  check: command({
    summary: 'Verifies a database and plays its model-days again; changes nothing.',
    details: lines(
      "Without FILE it checks the service's own database, whether or not the service runs.",
      'Exit code 0 if everything adds up and, with --replay or --prices, nothing differs; otherwise 1.',
    ),
    options: {
      replay: {
        text: 'Also say how many model-days came out the same, and what was taken from the record.',
      },
      prices: {
        value: 'OWN-FILE',
        text: 'Also compare what model-days used with prices, splits or dividends of your own. May be given several times.',
        isList: true,
      },
      as: {
        value: 'MEANING',
        text: 'What the prices of your files are: raw, split-adjusted or total-return. Default: detected from the files.',
      },
    },
    positionals: { name: 'FILE', least: 0, most: 1 },
    example: 'check --replay before-upgrade.db',
    run: async ({ values, rest }) =>
      (await import('./check.ts')).check(rest[0], {
        isReplay: values.replay === true,
        prices: values.prices,
        as: values.as,
      }),
  }),
  view: command({
    summary:
      'Serves the pages and GET endpoints of a database file; runs no jobs, changes nothing.',
    details: lines(
      'Listens on API_PORT, with the access tokens of the settings. FILE is a package of backup --job, a backup, or the database',
      'of a service, which may be running: new results appear. FILE and the files beside it stay as they are; a request that',
      'would change something is refused (405). Ends with SIGTERM or Ctrl-C.',
    ),
    options: {},
    positionals: { name: 'FILE', least: 1, most: 1 },
    example: 'view paper.db',
    run: async ({ rest: [file = ''] }) => (await import('./serve.ts')).view(file),
  }),
  publish: command({
    summary:
      'Writes the pages into a folder for any file server: a leaderboard without a running service.',
    details: lines(
      'A snapshot, whether or not the service is running; see docs/publish.md. A second run into the same folder changes only',
      'what changed. A folder with files of others is refused. Exit code 0 if the folder is complete, otherwise 1.',
    ),
    options: {
      job: { value: 'JOB-ID', text: 'Only this job.' },
      models: {
        value: 'A,B,...',
        text: 'Only these models, with all repeats; without pages of jobs.',
      },
      start: { value: 'DATE', text: 'From this date on, YYYY-MM-DD; without pages of jobs.' },
      end: { value: 'DATE', text: 'Up to this date; without pages of jobs.' },
      title: { value: 'TEXT', text: 'The title of the site. Default: Trading Simulation.' },
      'without-conversations': { text: 'Leave out what the models read and said.' },
      url: { value: 'URL', text: 'The URL where the folder will be: link previews need it.' },
      chromium: {
        value: 'PROGRAM',
        text: 'A Chromium to make the preview as PNG too, because most sites do not show SVG.',
      },
    },
    positionals: { name: 'DIR', least: 1, most: 1 },
    example: 'publish --job JOB-ID site',
    run: async ({ values, rest: [folder = ''] }) =>
      (await import('./publish.ts')).publish(folder, values),
  }),
  export: command({
    summary: 'Writes conversations as Chat Completions messages, one line per completed model-day.',
    details: lines(
      'For fine-tuning, for judges, and for programs that read JSON lines; the form is in docs/publish.md. Works whether or not the',
      'service runs. No file is overwritten. Exit code 0 if the file is complete, otherwise 1, with no file left behind.',
    ),
    options: {
      job: { value: 'JOB-ID', text: 'Only this job.' },
      models: { value: 'A,B,...', text: 'Only these models, with all repeats, or single runs.' },
      start: { value: 'DATE', text: 'From this date on, YYYY-MM-DD.' },
      end: { value: 'DATE', text: 'Up to this date.' },
      'with-reasoning': { text: "Add the models' reasoning, where their providers returned it." },
    },
    positionals: { name: 'conversations FILE', least: 2, most: 2 },
    example: 'export conversations days.jsonl --models gpt-5',
    run: async ({ values, rest: [what = '', file = ''] }) =>
      (await import('./export.ts')).exportData(what, file, values),
  }),
  'merge-config': command({
    summary: 'Merges your configuration over the default one and writes the result.',
    details: lines(
      'Merges user-configs/config.json, or USER-FILE, over configs/default_config.json (RFC 7396) and writes',
      'RUNTIME_CONFIG_PATH (default: /tmp/runtime_config.json), which serve then uses.',
    ),
    options: {},
    positionals: { name: 'USER-FILE', least: 0, most: 1 },
    example: 'merge-config my-config.json',
    run: async ({ rest }) => mergeInto(rest[0]),
  }),
  healthcheck: command({
    summary: 'Exits with 0 if the service on API_PORT is healthy, otherwise with 1.',
    details: 'For containers without a shell.',
    options: {},
    example: 'healthcheck',
    run: async () => (await import('./healthcheck.ts')).healthcheck(),
  }),
};

async function mergeInto(userFile: string | undefined): Promise<number> {
  const { readSettings } = await import('../basics/settings.ts');
  const { mergeConfig } = await import('./merge-config.ts');
  const { runtimeConfigurationPath: target, databasePath } = readSettings(process.env);
  return mergeConfig({ userFile: userFile ?? null, target, databasePath });
}

function lines(...texts: string[]): string {
  return texts.join('\n');
}

/** A row of the table; `run` receives values typed by the declared options. */
function command<const Declared extends Options>(
  row: Omit<Command, 'options' | 'run'> & {
    options: Declared;
    run(given: { values: Values<Declared>; rest: string[] }): Promise<number | void>;
  },
): Command {
  return row as Command;
}
