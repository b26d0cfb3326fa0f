import { command, lastDateOption, meaningOption, optionalFile } from './command.ts';
import type { Application } from '#http/application.ts';
import type { CompareWithFiles } from './check.ts';

/** The commands of the service itself. Each loads its own modules, so that help and healthcheck never open a database. */

export const serveCommand = (load: () => Promise<Application>) =>
  command({
    summary: 'Runs the service: the API, the pages and the jobs. This is the default command.',
    details: [
      'It listens on `API_HOST` and `API_PORT` until SIGTERM or Ctrl-C; a second signal ends it at once.',
    ],
    exitCodes: '0 after SIGTERM or Ctrl-C, 1 if it cannot start.',
    options: { 'merge-config': { text: 'Run `merge-config` first, as the container does.' } },
    example: 'serve',
    run: async ({ values, names }) => {
      // First, because the start decides which configuration file is used.
      if (values['merge-config']) await mergeInto(undefined);
      await (await import('./serve.ts')).serve(names, await load());
    },
  });

export const downloadPricesCommand = command({
  summary: 'Downloads missing daily prices before a job needs them.',
  details: [
    'It needs `MASSIVE_API_KEY` or `ALPHAADVANTAGE_API_KEY`, and downloads what a job would download. ' +
      'It stores each download at once, so you can stop it and run it again.',
  ],
  exitCodes:
    '0 if all prices of the range are known at the end. 1 if not, or if a symbol has no price on any date.',
  options: {
    from: { value: 'DATE', text: 'First date, YYYY-MM-DD.', isRequired: true },
    to: lastDateOption,
    symbols: { value: 'A,B,...', text: 'Symbols. Default: the universe of the configuration.' },
    limit: { value: 'N', text: 'At most N downloads, those that complete the most dates.' },
    dividends: { text: 'Download dividends from Alpha Vantage instead, one request per symbol.' },
  },
  example: 'download-prices --from 2025-09-15 --to 2025-10-10 --limit 25',
  run: async ({ values }) => (await import('./download-prices.ts')).runDownloadPrices(values),
});

const url = {
  value: 'URL',
  text: 'The service. Default: `API_URL`, or this machine at `API_HOST` and `API_PORT`.',
};

export const triggerCommand = command({
  summary: 'Starts a job on a running service and prints its id.',
  details: [
    'Without `--start`, each model continues after its last completed day. `--end last-session` is for ' +
      'schedulers: the last trading day that is over in New York. It sends `API_TOKEN` if it is set.',
  ],
  exitCodes:
    '0 if the job was created; with `--watch`, if it completed and no date lacks prices. Otherwise 1. ' +
    'With `--end last-session` also 0 if nothing is left to do or the prices are not published yet.',
  options: {
    start: { value: 'DATE', text: "First date, YYYY-MM-DD. Default: after each model's last day." },
    end: { value: 'DATE', text: 'Last date, or `last-session`.', isRequired: true },
    models: {
      value: 'A,B,...',
      text: 'Models, or runs such as `gpt-5#2`. Default: the enabled models.',
    },
    universe: {
      value: 'NAME',
      text: 'A universe of the configuration. Default: that of the study.',
    },
    study: {
      value: 'NAME',
      text: 'A study of the configuration: its terms, with separate results.',
      mayBeEmpty: true,
    },
    replace: { text: 'Run completed model-days again.' },
    'change-terms': { text: 'With `--replace`: also model-days that ran on other terms.' },
    'terms-of': {
      value: 'JOB-ID',
      text: 'Use the terms and the study of this job, and its models without `--models`.',
    },
    watch: { text: 'Follow the job to its end, as `watch` does.' },
    url,
  },
  example: 'trigger --start 2025-09-15 --end 2025-10-10 --models gpt-5 --watch',
  run: async ({ values }) => (await import('./trigger-job.ts')).triggerJob(values),
});

export const watchCommand = command({
  summary: 'Follows a job of a running service to its end.',
  details: [
    'Without JOB-ID it follows the newest job. It prints a line per finished date, and waits up to a minute ' +
      'for a service that restarts. It sends `API_TOKEN` if it is set.',
  ],
  exitCodes:
    '0 if the job completed. 1 if model-days failed, or the job was cancelled or discarded.',
  options: { url },
  positionals: { name: 'JOB-ID', least: 0, most: 1 },
  example: 'watch 3f0c9a52-7c1e-4b6f-9d43-0a1b2c3d4e5f',
  run: async ({ values, rest }) => (await import('./trigger-job.ts')).watch(rest[0], values),
});

export const checkCommand = (compareWithFiles: CompareWithFiles) =>
  command({
    summary: 'Verifies a database by replaying every model-day. Read-only.',
    details: [
      'It checks the file, its tables and the books, and replays each completed model-day from its recorded ' +
        'answers and the prices of that time. Without FILE it checks the database of the service, which may run.',
    ],
    exitCodes: '0 if everything adds up and, with `--prices`, no price differs. Otherwise 1.',
    options: {
      replay: { text: 'Also print how many model-days came out the same.' },
      prices: {
        value: 'OWN-FILE',
        text: 'Also compare with your own prices, splits or dividends; can be repeated.',
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
  summary: 'Merges your configuration over the default configuration.',
  details: [
    'It reads USER-FILE, or `user-configs/config.json`, merges it over `configs/default_config.json` by RFC 7396 ' +
      '(objects key by key, lists replaced), and writes the file that `RUNTIME_CONFIG_PATH` names.',
    'Without `RUNTIME_CONFIG_PATH` that is `/tmp/runtime_config.json`: every service on this machine then ' +
      'uses it, whichever folder it starts in, until you delete the file.',
  ],
  exitCodes: '0 if the file was written, otherwise 1.',
  options: {},
  positionals: { name: 'USER-FILE', least: 0, most: 1 },
  example: 'merge-config my-config.json',
  run: async ({ rest }) => mergeInto(rest[0]),
});

export const healthcheckCommand = command({
  summary: 'Tells by its exit code whether the service is healthy.',
  details: ['It asks the service at `API_HOST` and `API_PORT`. For containers without a shell.'],
  exitCodes: '0 if the service is healthy, otherwise 1.',
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
