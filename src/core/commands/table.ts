import type { Options, Positionals, Values } from './arguments.ts';

/**
 * THE COMMAND LINE ON ONE SCREEN: each command's options, its help and the function that runs it.
 */

export interface Command {
  /** What it does, as a sentence. */
  summary: string;
  /** The rest of its help page, in lines. */
  details: readonly string[];
  options: Options;
  positionals?: Positionals;
  /** A complete command line, without the program. */
  example: string;
  /**
   * Resolves to the exit code, or to nothing if the process keeps running. Throws a `WrongUsage`
   * for an invalid value. `names` are those in `.env`.
   */
  run(given: {
    values: Record<string, string | boolean | undefined>;
    rest: string[];
    names: string[];
  }): Promise<number | void>;
}

const url = {
  value: 'URL',
  text: 'The service. Default: API_URL, or this machine at API_HOST and API_PORT.',
};
const jobOption = { value: 'JOB-ID', text: 'Only this job.' };
const as = {
  value: 'MEANING',
  text: 'What the prices are: raw, split-adjusted or total-return. Default: detected.',
};

const to = { value: 'DATE', text: 'Last date.', isRequired: true } as const;

const files = { name: 'FILE', least: 1, most: Infinity };
const oneFile = { ...files, most: 1 };
const perhapsFile = { ...oneFile, least: 0 };

/** Each command loads its own modules, so help and healthcheck never open a database. */
export const commands: Record<string, Command> = {
  serve: command({
    summary: 'Serves the interface and the pages until SIGTERM or Ctrl-C (default).',
    details: ['Listens on API_HOST and API_PORT. A second signal ends it immediately.'],
    options: { 'merge-config': { text: 'Run merge-config first, as the container does.' } },
    example: 'serve',
    run: async ({ values, names }) => {
      // First, because the start decides which configuration file is used.
      if (values['merge-config']) await mergeInto(undefined);
      await (await import('./serve.ts')).serve(names);
    },
  }),
  demo: command({
    summary: 'Serves in DEV mode and simulates sixty weekdays; needs no key, costs nothing.',
    details: [
      'Prints a table, and keeps serving until Ctrl-C. The models are those of',
      'configs/demo_config.json, if it is there. Uses any free port if API_PORT is taken.',
    ],
    options: {},
    example: 'demo',
    run: async ({ names }) => (await import('../../features/demo/demo.ts')).demo(names),
  }),
  'import-prices': command({
    summary: 'Imports daily prices, dividends and splits from files.',
    details: [
      'The summary says what the prices were taken for, and why. Bad rows are reported and skipped.',
      'Exit code 0 if every file had something to import, otherwise 1. Formats: docs/prices.md.',
    ],
    options: { as },
    positionals: files,
    example: 'import-prices --as raw prices.jsonl more.csv.gz dividends.csv',
    run: async ({ rest, values }) =>
      (await import('../../features/price-files/command.ts')).importPrices(rest, values),
  }),
  'import-documents': command({
    summary: 'Imports filings, news and other texts, as of their dates.',
    details: [
      '- is standard input. Bad rows are skipped. Exit codes as import-prices. See docs/documents.md.',
    ],
    options: {},
    positionals: files,
    example: 'import-documents filings.jsonl news.json.gz',
    run: async ({ rest }) =>
      (await import('../../features/document-files/command.ts')).importDocuments(rest),
  }),
  'import-factors': command({
    summary: 'Imports daily returns of factors, to tell returns apart.',
    details: [
      "Files of Kenneth French's data library, or CSV with date and a column for each factor.",
      'Exit code 0 if every file had something to import, otherwise 1. See docs/figures.md.',
    ],
    options: {
      unit: { value: 'UNIT', text: 'percent or fraction. Default: percent.' },
      remove: { value: 'NAME', text: 'Removes a factor first; then no FILE is needed.' },
    },
    positionals: { ...files, least: 0 },
    example: 'import-factors F-F_Research_Data_5_Factors_2x3_daily.CSV',
    run: async ({ rest, values }) =>
      (await import('../../features/style/command.ts')).importFactors(rest, values),
  }),
  'download-prices': command({
    summary: 'Downloads missing daily prices, as a job does.',
    details: [
      'Needs MASSIVE_API_KEY or ALPHAADVANTAGE_API_KEY. Exit code 0 if every price of the range is',
      'known at the end, otherwise 1; also 1 for a named symbol without a price on any date.',
    ],
    options: {
      from: { value: 'DATE', text: 'First date, YYYY-MM-DD.', isRequired: true },
      to,
      symbols: { value: 'A,B,...', text: 'Default: the universe of the configuration.' },
      limit: { value: 'N', text: 'At most N downloads, those that complete the most dates.' },
      dividends: { text: 'Download dividends instead, a request per symbol.' },
    },
    example: 'download-prices --from 2025-09-15 --to 2025-10-10 --limit 25',
    run: async ({ values }) => (await import('./download-prices.ts')).downloadPrices(values),
  }),
  disguise: command({
    summary: 'Writes stored prices in disguise, which shows what a model remembers.',
    details: [
      'Such a control market is a new folder with prices, dividends, a universe and the key to it:',
      'see docs/control-markets.md. Exit code 0, or 1 on failure, which leaves no files behind.',
    ],
    options: {
      seed: { value: 'S', text: 'Makes the key: keep both away from models.', isRequired: true },
      from: { value: 'DATE', text: 'First date of the prices, YYYY-MM-DD.', isRequired: true },
      to,
      out: { value: 'FOLDER', text: 'Where to write; new or empty.', isRequired: true },
      mask: { value: 'WHAT', text: 'What to hide: symbols, dates or both. Default: both.' },
      weeks: { value: 'N', text: 'How far to shift dates back. Default: drawn from the seed.' },
      universe: { value: 'NAME', text: 'A universe of the configuration. Default: the usual one.' },
      name: { value: 'CONTROL', text: 'The name of the new universe. Default: control.' },
    },
    example: 'disguise --seed river --from 2025-06-02 --to 2025-10-23 --out control-market',
    run: async ({ values }) =>
      (await import('../../features/control-markets/command.ts')).disguise(values),
  }),
  trigger: command({
    summary: 'Creates a job on a running service and prints its id.',
    details: [
      'Sends API_TOKEN if it is set. Exit code 0 if the job was created (with --watch: completed with',
      'all prices), otherwise 1. With --end last-session, for schedulers (docs/live.md), also 0 if',
      'nothing is left to do, or (with --watch) if the prices are not out yet.',
    ],
    options: {
      start: { value: 'DATE', text: 'YYYY-MM-DD. Default: after the last completed day of each.' },
      end: { value: 'DATE', text: 'Last date, or last-session.', isRequired: true },
      models: {
        value: 'A,B,...',
        text: 'Models, or runs such as gpt-5#2. Default: those enabled.',
      },
      universe: { value: 'NAME', text: 'What they may buy. Default: the usual universe.' },
      replace: { text: 'Run completed model-days again.' },
      watch: { text: 'Follow the job to its end, as watch does.' },
      url,
    },
    example: 'trigger --start 2025-09-15 --end 2025-10-10 --models gpt-5,buy-and-hold --watch',
    run: async ({ values }) => (await import('./trigger-job.ts')).trigger(values),
  }),
  watch: command({
    summary: 'Follows a job of a running service to its end; by default the newest.',
    details: ['Sends API_TOKEN if it is set. Exit code 0 if the job completed, otherwise 1.'],
    options: { url },
    positionals: { name: 'JOB-ID', least: 0, most: 1 },
    example: 'watch 3f0c9a52-7c1e-4b6f-9d43-0a1b2c3d4e5f',
    run: async ({ values, rest }) => (await import('./trigger-job.ts')).watch(rest[0], values),
  }),
  backup: command({
    summary: 'Copies the database, or one job of it, whether or not the service runs.',
    details: [
      'Without FILE the copy is written to data/agent_data/ and named after the time. No file is',
      'overwritten. Exit code 0, or 1 on failure, which leaves no files behind.',
    ],
    options: { job: { value: 'JOB-ID', text: 'Only this job, verifiable: see docs/verify.md.' } },
    positionals: perhapsFile,
    example: 'backup before-upgrade.db',
    run: async ({ values, rest }) =>
      (await import('../../features/backup/command.ts')).backup(rest[0], values),
  }),
  restore: command({
    summary: 'Replaces the database with a backup, while no service is running.',
    details: [
      'Verifies FILE, keeps the database under another name, and puts a copy in its place.',
      'DEPLOYMENT_MODE says which database. Exit code 0, or 1 with nothing changed.',
    ],
    options: {},
    positionals: oneFile,
    example: 'restore before-upgrade.db',
    run: async ({ rest: [file = ''] }) =>
      (await import('../../features/backup/command.ts')).restore(file),
  }),
  check: command({
    summary: 'Verifies a database and plays its model-days again; changes nothing.',
    details: [
      "Without FILE it checks the service's own database, whether or not the service runs.",
      'Exit code 0 if everything adds up and, with --prices, nothing differs; otherwise 1.',
    ],
    options: {
      replay: { text: 'Also say how many model-days came out the same.' },
      prices: {
        value: 'OWN-FILE',
        text: 'Also compare with prices, splits or dividends of your own; may be given again.',
        isList: true,
      },
      as,
    },
    positionals: perhapsFile,
    example: 'check --replay before-upgrade.db',
    run: async ({ values, rest }) => (await import('./check.ts')).check(rest[0], values),
  }),
  view: command({
    summary: 'Serves the pages of a database file; runs no jobs, changes nothing.',
    details: [
      'Listens on API_HOST and API_PORT. FILE is a package of backup --job, a backup, or the database',
      'of a service, which may be running: new results appear. Ends with SIGTERM or Ctrl-C.',
    ],
    options: {},
    positionals: oneFile,
    example: 'view paper.db',
    run: async ({ rest: [file = ''] }) => (await import('./serve.ts')).view(file),
  }),
  publish: command({
    summary: 'Writes the pages into a folder for any file server.',
    details: [
      'A snapshot, whether or not the service is running: see docs/publish.md. A second run changes',
      'only what changed. A folder with files of others is refused. Exit code 0, or 1 on failure.',
    ],
    options: {
      job: jobOption,
      models: { value: 'A,B,...', text: 'Only these models; without pages of jobs.' },
      start: { value: 'DATE', text: 'From this date on; without pages of jobs.' },
      end: { value: 'DATE', text: 'Up to this date; without pages of jobs.' },
      title: { value: 'TEXT', text: 'The title of the site. Default: Trading Simulation.' },
      'without-conversations': { text: 'Leave out what the models read and said.' },
      url: { value: 'URL', text: 'Where the folder will be: link previews need it.' },
      chromium: { value: 'PROGRAM', text: 'A Chromium, to make the preview as PNG too.' },
    },
    positionals: { name: 'DIR', least: 1, most: 1 },
    example: 'publish --job JOB-ID site',
    run: async ({ values, rest: [folder = ''] }) =>
      (await import('../../features/publish/command.ts')).publish(folder, values),
  }),
  export: command({
    summary: 'Writes conversations as messages, one line of JSON per completed model-day.',
    details: [
      'For fine-tuning, for judges: the form is in docs/publish.md. Works whether or not the service',
      'runs. No file is overwritten. Exit code 0, or 1 on failure, which leaves no file behind.',
    ],
    options: {
      job: jobOption,
      models: { value: 'A,B,...', text: 'Only these models, with all repeats, or single runs.' },
      start: { value: 'DATE', text: 'From this date on, YYYY-MM-DD.' },
      end: { value: 'DATE', text: 'Up to this date.' },
      'with-reasoning': { text: "Add the models' reasoning, where their providers returned it." },
    },
    positionals: { name: 'conversations FILE', least: 2, most: 2 },
    example: 'export conversations days.jsonl --models gpt-5',
    run: async ({ values, rest: [what = '', file = ''] }) =>
      (await import('../../features/export/command.ts')).exportData(what, file, values),
  }),
  'merge-config': command({
    summary: 'Merges your configuration over the default one and writes the result.',
    details: [
      'Merges user-configs/config.json, or USER-FILE, over configs/default_config.json (RFC 7396) and',
      'writes RUNTIME_CONFIG_PATH (default: /tmp/runtime_config.json), which serve then uses.',
    ],
    options: {},
    positionals: { name: 'USER-FILE', least: 0, most: 1 },
    example: 'merge-config my-config.json',
    run: async ({ rest }) => mergeInto(rest[0]),
  }),
  healthcheck: command({
    summary: 'Exits with 0 if the service at API_HOST and API_PORT is healthy, else with 1.',
    details: ['For containers without a shell.'],
    options: {},
    example: 'healthcheck',
    run: async () => (await import('./healthcheck.ts')).healthcheck(),
  }),
};

async function mergeInto(userFile: string | undefined): Promise<number> {
  const { readSettings } = await import('../settings/settings.ts');
  const { mergeConfig } = await import('./merge-config.ts');
  const { runtimeConfigurationPath: target, ...settings } = readSettings(process.env);
  return mergeConfig({ ...settings, userFile: userFile ?? null, target });
}

/** A row of the table; `run` receives values typed by the declared options. */
function command<const Declared extends Options>(
  row: Omit<Command, 'options' | 'run'> & {
    options: Declared;
    run(given: {
      values: Values<Declared>;
      rest: string[];
      names: string[];
    }): Promise<number | void>;
  },
): Command {
  return row as Command;
}
