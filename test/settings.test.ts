import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makers } from '../src/basics/makers.ts';
import { readSettings } from '../src/basics/settings.ts';
import { temporaryFolder } from './support/service.ts';

const nowhere = { RUNTIME_CONFIG_PATH: '/nonexistent/runtime_config.json' };

test('without a variable everything has its default', () => {
  assert.deepEqual(readSettings(nowhere), {
    deploymentMode: 'PROD',
    preserveDevData: null,
    apiPort: 8080,
    logLevel: 'INFO',
    maxSimulationDays: 30,
    maxParallelModels: null,
    modelDayTimeoutMs: 3_600_000,
    modelDayMemoryMb: 512,
    modelDayCommand: null,
    modelDayCommandVariables: [],
    modelRequestTimeoutMs: 900_000,
    maxRateLimitWaitMs: 300_000,
    autoDownloadPriceData: true,
    configurationPath: 'configs/default_config.json',
    runtimeConfigurationPath: nowhere.RUNTIME_CONFIG_PATH,
    databasePath: 'data/jobs.db',
    agentDataPath: 'data/agent_data',
    openaiApiBase: null,
    openaiApiKey: null,
    massiveApiKey: null,
    massiveBaseUrl: 'https://api.massive.com',
    priceHistoryDays: 10,
    alphaVantageApiKey: null,
    alphaVantageBaseUrl: 'https://www.alphavantage.co',
    jinaApiKey: null,
    jinaBaseUrl: 'https://s.jina.ai',
    riskFreeRate: 0,
    apiUrl: null,
    apiToken: null,
    apiTokensFile: null,
    allowedHosts: [],
  });
});

test('DEV has paths of its own', () => {
  const { databasePath, agentDataPath, preserveDevData } = readSettings({
    DEPLOYMENT_MODE: 'DEV',
    ...nowhere,
  });
  assert.deepEqual(
    { databasePath, agentDataPath, preserveDevData },
    {
      databasePath: 'data/jobs_dev.db',
      agentDataPath: 'data/dev_agent_data',
      preserveDevData: false,
    },
  );
});

test('values are read as people write them, and an empty one counts as absent', () => {
  const settings = readSettings({
    AUTO_DOWNLOAD_PRICE_DATA: 'False',
    LOG_LEVEL: 'warn',
    API_PORT: ' 9000 ',
    MAX_SIMULATION_DAYS: '',
    ALPHAVANTAGE_API_KEY: 'key',
    POLYGON_API_KEY: 'other-key',
    DEPLOYMENT_MODE: 'DEV',
    PRESERVE_DEV_DATA: 'yes',
    RISK_FREE_RATE: '0.045',
    MAX_PARALLEL_MODELS: '2000',
    MODEL_DAY_COMMAND: ' ["srun", "-n1", "/usr/bin/node"] ',
    MODEL_DAY_COMMAND_ENV: 'SLURM_CONF, SLURM_JOB_ID,',
    ...nowhere,
  });
  assert.equal(settings.autoDownloadPriceData, false);
  assert.equal(settings.logLevel, 'WARNING');
  assert.equal(settings.apiPort, 9000);
  assert.equal(settings.maxSimulationDays, 30);
  assert.equal(settings.alphaVantageApiKey, 'key');
  assert.equal(settings.massiveApiKey, 'other-key');
  assert.equal(settings.preserveDevData, true);
  assert.equal(settings.riskFreeRate, 0.045);
  assert.equal(settings.maxParallelModels, 2_000);
  assert.deepEqual(settings.modelDayCommand, ['srun', '-n1', '/usr/bin/node']);
  assert.deepEqual(settings.modelDayCommandVariables, ['SLURM_CONF', 'SLURM_JOB_ID']);
});

const unreadable: [variable: string, value: string][] = [
  ['DEPLOYMENT_MODE', 'dev'],
  ['DEPLOYMENT_MODE', 'TEST'],
  ['API_PORT', '80a'],
  ['API_PORT', '70000'],
  ['API_PORT', '-1'],
  ['MAX_SIMULATION_DAYS', '0'],
  ['MAX_SIMULATION_DAYS', '1.5'],
  ['MAX_PARALLEL_MODELS', '0'],
  ['MAX_PARALLEL_MODELS', '2001'],
  ['MODEL_DAY_COMMAND', 'srun -n1 node'],
  ['MODEL_DAY_COMMAND', '"srun"'],
  ['MODEL_DAY_COMMAND', '{}'],
  ['MODEL_DAY_COMMAND', '[]'],
  ['MODEL_DAY_COMMAND', '[" "]'],
  ['MODEL_DAY_COMMAND', '["srun", 1]'],
  ['MODEL_DAY_COMMAND', '["srun", "a\\u0000b"]'],
  ['MODEL_DAY_COMMAND_ENV', 'SLURM_CONF,MY-VAR'],
  ['MODEL_DAY_COMMAND_ENV', 'A B,='],
  ['PRESERVE_DEV_DATA', 'maybe'],
  ['AUTO_DOWNLOAD_PRICE_DATA', '2'],
  ['LOG_LEVEL', 'LOUD'],
  ['RISK_FREE_RATE', '4'],
  ['RISK_FREE_RATE', '4%'],
  ['RISK_FREE_RATE', '-0.2'],
  ['RISK_FREE_RATE', '.'],
  ['RISK_FREE_RATE', 'NaN'],
  ['OPENAI_API_BASE', 'api.example.com'],
  ['ALPHAVANTAGE_BASE_URL', 'ftp://mirror'],
  ['MASSIVE_BASE_URL', 'api.massive.com'],
  ['MASSIVE_API_KEY', 'two words'],
  ['PRICE_HISTORY_DAYS', '-1'],
  ['PRICE_HISTORY_DAYS', '251'],
  ['JINA_API_KEY', 'jina_\u201ckey\u201d'],
  ['JINA_API_KEY', 'jina key'],
  ['API_TOKEN', 'two words'],
  ['API_TOKEN', 'schlüssel'],
  ...[
    ...makers.map(({ keyVariable }) => keyVariable),
    'ALPHAADVANTAGE_API_KEY',
    'ALPHAVANTAGE_API_KEY',
    'MASSIVE_API_KEY',
    'POLYGON_API_KEY',
    'JINA_API_KEY',
    'API_TOKEN',
  ].flatMap((name): [string, string][] =>
    ['h\u00e9llo', 'sk-\u200bsecret', 'sk secret', 'sk-\nsecret'].map((value) => [name, value]),
  ),
  ['RUNTIME_CONFIG_PATH', import.meta.dirname],
  ['API_TOKENS_FILE', import.meta.dirname],
  ['ALLOWED_HOSTS', 'https://sim.example.com'],
  ['ALLOWED_HOSTS', 'sim.example.com:8080'],
];
for (const [variable, value] of unreadable) {
  test(`${variable}=${JSON.stringify(value)} stops the start with its name`, () => {
    assert.throws(() => readSettings({ ...nowhere, [variable]: value }), {
      code: 'cannot_start',
      message: new RegExp(`${variable}: expected`),
    });
  });
}

test('of a list that cannot be read the items are named', () => {
  assert.throws(
    () => readSettings({ ...nowhere, MODEL_DAY_COMMAND_ENV: 'PATH,A B,=' }),
    /^.*\n {2}MODEL_DAY_COMMAND_ENV: expected names of .*, got PATH, A B, =$/s,
  );
});

test('a key that cannot be sent is named, and never printed', () => {
  for (const name of [
    'OPENAI_API_KEY',
    'MASSIVE_API_KEY',
    'ALPHAVANTAGE_API_KEY',
    'JINA_API_KEY',
    'API_TOKEN',
  ])
    assert.throws(
      () => readSettings({ ...nowhere, [name]: 'sk-\u200bsecret' }),
      ({ message }: Error) => message.includes(`${name}: expected`) && !message.includes('secret'),
    );
});

test('all invalid settings are reported together', () => {
  assert.throws(
    () => readSettings({ API_PORT: 'x', LOG_LEVEL: 'y', ...nowhere }),
    /API_PORT[\s\S]*LOG_LEVEL|LOG_LEVEL[\s\S]*API_PORT/,
  );
});

test('the merged configuration takes precedence if it exists at the start', (t) => {
  const merged = join(temporaryFolder(t), 'runtime_config.json');
  const path = () => readSettings({ RUNTIME_CONFIG_PATH: merged }).configurationPath;
  assert.equal(path(), 'configs/default_config.json');
  writeFileSync(merged, '{}');
  assert.equal(path(), merged);
  assert.equal(readSettings({}).runtimeConfigurationPath, '/tmp/runtime_config.json');
});
