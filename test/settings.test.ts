import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makers } from '../src/core/settings/makers.ts';
import {
  listensOnAll,
  localUrl,
  readSettings,
  environmentWarnings,
} from '../src/core/settings/settings.ts';
import { temporaryFolder } from './support/folder.ts';
import { tableOf } from './support/text-table.ts';

const nowhere = { RUNTIME_CONFIG_PATH: '/nonexistent/runtime_config.json' };

test('without a variable everything has its default', () => {
  assert.deepEqual(readSettings(nowhere), {
    ...{
      deploymentMode: 'PROD',
      preserveDevData: null,
      apiHost: null,
      apiPort: 8080,
      publicUrl: null,
      jobWebhookUrl: null,
      jobWebhookKey: null,
      logLevel: 'INFO',
    },
    ...{ maxSimulationDays: 30, maxParallelModels: null, modelDayTimeoutMs: 3_600_000 },
    ...{ modelDayMemoryMb: 512, modelDayCommand: null, modelDayCommandVariables: [] },
    ...{ modelRequestTimeoutMs: 900_000, maxRateLimitWaitMs: 300_000 },
    ...{ autoDownloadPriceData: true, priceHistoryDays: 10, riskFreeRate: 0 },
    configurationPath: 'configs/default_config.json',
    defaultConfigurationPath: 'configs/default_config.json',
    runtimeConfigurationPath: nowhere.RUNTIME_CONFIG_PATH,
    runtimePathNote: '',
    ...{ databasePath: 'data/jobs.db', agentDataPath: 'data/agent_data' },
    ...{ openaiApiBase: null, openaiApiKey: null, apiUrl: null, apiToken: null },
    ...{ apiTokensFile: null, allowedHosts: [] },
    ...{ massiveApiKey: null, massiveBaseUrl: 'https://api.massive.com' },
    ...{ alphaVantageApiKey: null, alphaVantageBaseUrl: 'https://www.alphavantage.co' },
    ...{ jinaApiKey: null, jinaBaseUrl: 'https://s.jina.ai' },
  });
});

test('DEV has paths of its own', () => {
  const settings = readSettings({ DEPLOYMENT_MODE: 'DEV', ...nowhere });
  assert.deepEqual(
    [settings.databasePath, settings.agentDataPath, settings.preserveDevData],
    ['data/jobs_dev.db', 'data/dev_agent_data', false],
  );
});

test('values are read as people write them, and an empty one counts as absent', () => {
  const settings = readSettings({
    ...{ AUTO_DOWNLOAD_PRICE_DATA: 'False', LOG_LEVEL: 'warn', API_PORT: ' 9000 ' },
    ...{ MAX_SIMULATION_DAYS: '', ALPHAVANTAGE_API_KEY: 'key', POLYGON_API_KEY: 'other-key' },
    ...{ DEPLOYMENT_MODE: 'DEV', PRESERVE_DEV_DATA: 'yes', RISK_FREE_RATE: '0.045' },
    ...{ MAX_PARALLEL_MODELS: '2000', MODEL_DAY_COMMAND: ' ["srun", "-n1", "/usr/bin/node"] ' },
    ...{ MODEL_DAY_COMMAND_ENV: 'SLURM_CONF, SLURM_JOB_ID,', ...nowhere },
  });
  const expected = {
    ...{ autoDownloadPriceData: false, logLevel: 'WARNING', apiPort: 9_000 },
    ...{ maxSimulationDays: 30, alphaVantageApiKey: 'key', massiveApiKey: 'other-key' },
    ...{ preserveDevData: true, riskFreeRate: 0.045, maxParallelModels: 2_000 },
    modelDayCommand: ['srun', '-n1', '/usr/bin/node'],
    modelDayCommandVariables: ['SLURM_CONF', 'SLURM_JOB_ID'],
  } as const;
  assert.deepEqual({ ...settings, ...expected }, settings);
});

/** Names in `.env`, and the setting that each is taken for; none for what is not warned of. */
const namesInFile = tableOf<[name: string, meant: string]>(`
  DEPLOYMENT_MOD    | DEPLOYMENT_MODE
  PRESERVE_DEV_DATE | PRESERVE_DEV_DATA
  RISK_FREE         | RISK_FREE_RATE
  API_PROT          | API_PORT
  deployment_mode   | DEPLOYMENT_MODE
  Api_Prot          | API_PORT
  OPENAI_API_KEY_3  | OPENAI_API_KEY
  OPENAI_API_KEY_2  |
  API_PORT          |
  RUNTIME_ENV_PATH  |
  MATH_HTTP_PORT    |
  AGENT_MAX_STEP    |
  VOLUME_PATH       |
  TUSHARE_TOKEN     |
  HTTPS_PROXY       |
  TZ                |`);
test('a name in .env that only resembles a setting is a warning with the right name', () => {
  for (const [name, meant] of namesInFile)
    assert.deepEqual(
      environmentWarnings({ [name]: 'x' }, { names: [name], others: ['OPENAI_API_KEY_2'] }),
      meant ? [`Unknown names in .env are ignored: ${name} (did you mean "${meant}"?)`] : [],
    );
});

test('a name that a launcher gets is read, not ignored', () => {
  const environment = { MODEL_DAY_COMMAND_ENV: 'SLURM_CONF, GROQ_API_KEY' };
  assert.deepEqual(environmentWarnings(environment, { names: ['GROQ_API_KEY'], others: [] }), []);
  assert.equal(environmentWarnings({}, { names: ['GROQ_API_KEY'], others: [] }).length, 1);
});

test('a placeholder for a key counts as absent, with a warning; an access token is taken as it is', () => {
  for (const placeholder of ['your_openai_key_here', 'your-key-here # where', 'YOUR_KEY']) {
    const environment = {
      ...{ OPENAI_API_KEY: placeholder, JINA_API_KEY: ` ${placeholder}`, MY_KEY: placeholder },
      ...{ API_TOKEN: 'your_token', MASSIVE_API_KEY: 'yours', ...nowhere },
      ...{ MODEL_DAY_COMMAND_ENV: 'TOLD_KEY,MY_KEY', TOLD_KEY: placeholder },
    };
    const settings = readSettings(environment);
    assert.deepEqual(
      [settings.openaiApiKey, settings.jinaApiKey, settings.massiveApiKey, settings.apiToken],
      [null, null, 'yours', 'your_token'],
    );
    assert.deepEqual(
      environmentWarnings(environment, { names: [], others: ['JINA_API_KEY', 'MY_KEY'] }),
      [
        'Placeholders are not used as keys; enter the key, or leave the value empty: OPENAI_API_KEY, JINA_API_KEY, MY_KEY',
      ],
    );
  }
});

const keys = [
  ...makers.map(({ keyVariable }) => keyVariable),
  ...['ALPHAADVANTAGE_API_KEY', 'ALPHAVANTAGE_API_KEY', 'MASSIVE_API_KEY', 'POLYGON_API_KEY'],
  ...['JINA_API_KEY', 'API_TOKEN'],
];
const base64 = (bytes: number) => Buffer.alloc(bytes, 'secret').toString('base64');
const unreadable: [variable: string, ...values: string[]][] = [
  ['DEPLOYMENT_MODE', 'dev', 'TEST'],
  [
    'API_HOST',
    'http://localhost',
    '127.0.0.1:8080',
    '[::1]',
    'a b',
    '*',
    'fe80::1%lo',
    '256.1.1.1',
  ],
  ['API_PORT', '80a', '70000', '-1'],
  ['MAX_SIMULATION_DAYS', '0', '1.5'],
  ['MAX_PARALLEL_MODELS', '0', '2001'],
  ['MODEL_DAY_COMMAND', 'srun -n1 node', '"srun"', '{}', '[]', '[" "]'],
  ['MODEL_DAY_COMMAND', '["srun", 1]', '["srun", "a\\u0000b"]'],
  ['MODEL_DAY_COMMAND_ENV', 'SLURM_CONF,MY-VAR', 'A B,='],
  ['PRESERVE_DEV_DATA', 'maybe'],
  ['AUTO_DOWNLOAD_PRICE_DATA', '2'],
  ['LOG_LEVEL', 'LOUD'],
  ['RISK_FREE_RATE', '4', '4%', '-0.2', '.', 'NaN'],
  ['OPENAI_API_BASE', 'api.example.com'],
  ['ALPHAVANTAGE_BASE_URL', 'ftp://mirror'],
  ['MASSIVE_BASE_URL', 'api.massive.com'],
  ['MASSIVE_API_KEY', 'two words'],
  ['PRICE_HISTORY_DAYS', '-1', '251'],
  ['JINA_API_KEY', 'jina_\u201ckey\u201d', 'jina key'],
  ['API_TOKEN', 'two words', 'schlüssel'],
  ...keys.map((name): [string, ...string[]] => [
    ...([name, 'h\u00e9llo', 'sk-\u200bsecret', 'sk secret', 'sk-\nsecret'] as const),
  ]),
  ['RUNTIME_CONFIG_PATH', import.meta.dirname],
  ['API_TOKENS_FILE', import.meta.dirname],
  ['JOB_WEBHOOK_URL', 'hooks.example.com/secret', 'ftp://hooks.example.com/secret'],
  ['JOB_WEBHOOK_SECRET', 'secret', 'whsec_', 'whsec_secret', `whsec_${base64(23)}`],
  ['JOB_WEBHOOK_SECRET', `whsec_${base64(65)}`, base64(24), `Whsec_${base64(24)}`],
  ['JOB_WEBHOOK_SECRET', `whsec_${base64(32).replace('=', '')}`, `whsec_${'-_'.repeat(16)}`],
  ['ALLOWED_HOSTS', 'https://sim.example.com', 'sim.example.com:8080'],
];
test('a value that cannot be read stops the start with its name, and a key is never printed', () => {
  for (const [variable, ...values] of unreadable)
    for (const value of values)
      assert.throws(
        () => readSettings({ ...nowhere, [variable]: value }),
        ({ code, message }: Error & { code: string }) =>
          code === 'cannot_start' &&
          message.includes(`${variable}: expected`) &&
          !message.includes('secret') &&
          !message.includes(base64(21)),
        `${variable}=${value}`,
      );
});

test('the secret of the webhook is base64 of 24 to 64 bytes, with its padding', () => {
  for (const bytes of [24, 25, 26, 32, 63, 64]) {
    const JOB_WEBHOOK_SECRET = `whsec_${base64(bytes)}`;
    const { jobWebhookKey } = readSettings({ JOB_WEBHOOK_SECRET, ...nowhere });
    assert.deepEqual(jobWebhookKey, Buffer.alloc(bytes, 'secret'));
  }
});

test('of a list that cannot be read the items are named', () => {
  assert.throws(
    () => readSettings({ ...nowhere, MODEL_DAY_COMMAND_ENV: 'PATH,A B,=' }),
    /^.*\n {2}MODEL_DAY_COMMAND_ENV: expected names of .*, got PATH, A B, =$/s,
  );
});

test('all invalid settings are reported together', () => {
  assert.throws(
    () => readSettings({ API_PORT: 'x', LOG_LEVEL: 'y', ...nowhere }),
    /API_PORT[\s\S]*LOG_LEVEL|LOG_LEVEL[\s\S]*API_PORT/,
  );
});

test('the merged configuration takes precedence if it exists at the start', () => {
  const merged = join(temporaryFolder(), 'runtime_config.json');
  const path = () => readSettings({ RUNTIME_CONFIG_PATH: merged }).configurationPath;
  assert.equal(path(), 'configs/default_config.json');
  writeFileSync(merged, '{}');
  assert.equal(path(), merged);
  const { runtimeConfigurationPath, runtimePathNote } = readSettings({});
  assert.equal(runtimeConfigurationPath, '/tmp/runtime_config.json');
  assert.match(runtimePathNote, /^\. The service reads this file whichever folder/);
});

test('a service is reached on its own machine at the address that it listens on', () => {
  const urls: [apiHost: string | null, isAll: boolean, url: string][] = [
    [null, true, 'http://127.0.0.1:80'],
    ['0.0.0.0', true, 'http://127.0.0.1:80'],
    ['::', true, 'http://127.0.0.1:80'],
    ['::ffff:0.0.0.0', true, 'http://127.0.0.1:80'],
    ['10.0.0.7', false, 'http://10.0.0.7:80'],
    ['::1', false, 'http://[::1]:80'],
    ['localhost', false, 'http://localhost:80'],
    ['0', true, 'http://127.0.0.1:80'],
    ['::0', true, 'http://127.0.0.1:80'],
    ['127.1', false, 'http://127.0.0.1:80'],
  ];
  const spelled: Record<string, string> = {
    ...{ '0': '0.0.0.0', '::0': '::', '127.1': '127.0.0.1' },
    '::ffff:0.0.0.0': '::ffff:0:0',
  };
  for (const [apiHost, isAll, url] of urls) {
    const settings = readSettings({ API_HOST: apiHost ?? '', API_PORT: '80', ...nowhere });
    assert.equal(settings.apiHost, spelled[apiHost ?? ''] ?? apiHost);
    assert.deepEqual([listensOnAll(settings), localUrl(settings)], [isAll, url]);
  }
});
