import { command, lastDateOption, meaningOption, optionalFile } from './command.ts';
import type { Application } from '#http/application.ts';
import type { CompareWithFiles } from './check.ts';

/** The commands of the service itself. Each loads its own modules, so that help and healthcheck never open a database. */

export const serveCommand = (load: () => Promise<Application>) =>
  command({
    summary: 'Serves the interface and the pages until SIGTERM or Ctrl-C (default).',
    details: ['Listens on API_HOST and API_PORT. A second signal ends it immediately.'],
    options: { 'merge-config': { text: 'Run merge-config first, as the container does.' } },
    example: 'serve',
    run: async ({ values, names }) => {
      // First, because the start decides which configuration file is used.
      if (values['merge-config']) await mergeInto(undefined);
      await (await import('./serve.ts')).serve(names, await load());
    },
  });

export const downloadPricesCommand = command({
  summary: 'Downloads missing daily prices, as a job does.',
  details: [
    'Needs MASSIVE_API_KEY or ALPHAADVANTAGE_API_KEY. Exit code 0 if every price of the range is',
    'known at the end, otherwise 1; also 1 for a named symbol without a price on any date.',
  ],
  options: {
    from: { value: 'DATE', text: 'First date, YYYY-MM-DD.', isRequired: true },
    to: lastDateOption,
    symbols: { value: 'A,B,...', text: 'Default: the universe of the configuration.' },
    limit: { value: 'N', text: 'At most N downloads, those that complete the most dates.' },
    dividends: { text: 'Download dividends instead, a request per symbol.' },
  },
  example: 'download-prices --from 2025-09-15 --to 2025-10-10 --limit 25',
  run: async ({ values }) => (await import('./download-prices.ts')).runDownloadPrices(values),
});

const url = {
  value: 'URL',
  text: 'The service. Default: API_URL, or this machine at API_HOST and API_PORT.',
};

export const triggerCommand = command({
  summary: 'Creates a job on a running service and prints its id.',
  details: [
    'Sends API_TOKEN if it is set. Exit code 0 if the job was created (with --watch: completed with',
    'all prices), otherwise 1. With --end last-session, for schedulers (docs/guides/run-every-night.md), also 0 if',
    'nothing is left to do, or (with --watch) if the prices are not out yet.',
  ],
  options: {
    start: { value: 'DATE', text: 'YYYY-MM-DD. Default: after the last completed day of each.' },
    end: { value: 'DATE', text: 'Last date, or last-session.', isRequired: true },
    models: {
      value: 'A,B,...',
      text: 'Models, or runs such as gpt-5#2. Default: those enabled.',
    },
    universe: { value: 'NAME', text: 'What they may buy. Default: that of the study.' },
    study: {
      value: 'NAME',
      text: 'Whose terms, in ledgers of its own. Default: none.',
      mayBeEmpty: true,
    },
    replace: { text: 'Run completed model-days again.' },
    'change-terms': { text: 'With --replace: also those that ran on other terms.' },
    'terms-of': {
      value: 'JOB-ID',
      text: 'Run on the terms, and in the study, of this job; without --models, its models.',
    },
    watch: { text: 'Follow the job to its end, as watch does.' },
    url,
  },
  example: 'trigger --start 2025-09-15 --end 2025-10-10 --models gpt-5,buy-and-hold --watch',
  run: async ({ values }) => (await import('./trigger-job.ts')).triggerJob(values),
});

export const watchCommand = command({
  summary: 'Follows a job of a running service to its end; by default the newest.',
  details: ['Sends API_TOKEN if it is set. Exit code 0 if the job completed, otherwise 1.'],
  options: { url },
  positionals: { name: 'JOB-ID', least: 0, most: 1 },
  example: 'watch 3f0c9a52-7c1e-4b6f-9d43-0a1b2c3d4e5f',
  run: async ({ values, rest }) => (await import('./trigger-job.ts')).watch(rest[0], values),
});

export const checkCommand = (compareWithFiles: CompareWithFiles) =>
  command({
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
      as: meaningOption,
    },
    positionals: optionalFile,
    example: 'check --replay before-upgrade.db',
    run: async ({ values, rest }) =>
      (await import('./check.ts')).check(rest[0], values, compareWithFiles),
  });

export const mergeConfigCommand = command({
  summary: 'Merges your configuration over the default one and writes the result.',
  details: [
    'Merges user-configs/config.json, or USER-FILE, over configs/default_config.json (RFC 7396) and',
    'writes RUNTIME_CONFIG_PATH (default: /tmp/runtime_config.json), which serve then uses.',
  ],
  options: {},
  positionals: { name: 'USER-FILE', least: 0, most: 1 },
  example: 'merge-config my-config.json',
  run: async ({ rest }) => mergeInto(rest[0]),
});

export const healthcheckCommand = command({
  summary: 'Exits with 0 if the service at API_HOST and API_PORT is healthy, else with 1.',
  details: ['For containers without a shell.'],
  options: {},
  example: 'healthcheck',
  run: async () => (await import('./healthcheck.ts')).healthcheck(),
});

async function mergeInto(userFile: string | undefined): Promise<number> {
  const { readSettings } = await import('#settings/settings.ts');
  const { mergeConfig } = await import('./merge-config.ts');
  const { runtimeConfigurationPath: target, ...settings } = readSettings(process.env);
  return mergeConfig({ ...settings, userFile: userFile ?? null, target });
}
