import { existsSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import * as v from 'valibot';
import { isPlaceholder } from './configuration-schema.ts';
import { type DeploymentMode, deploymentModes } from '#domain/vocabulary.ts';
import { ServiceError } from '#domain/service-error.ts';
import { booleanSchema, HTTP_URL, isHeaderKey, isHttpUrl } from '#network/http-values.ts';
import { tryParse } from '#json/json.ts';
import { logLevels } from '#process/log.ts';
import { configurationFile } from '#process/program.ts';
import { makers } from './makers.ts';
import { MAX_RUNS } from '#domain/runs.ts';
import { hint, compact } from '#text/sentences.ts';

/**
 * The settings in environment variables, checked once at start. setting-texts.ts describes each
 * of them.
 */
export type Settings = ReturnType<typeof readSettings>;

/**
 * The settings that requests are answered with, and that go to reader threads: no key and no token.
 * A view has the mode of the file that it shows, if that is known.
 */
export interface ServedSettings
  extends Pick<
    Settings,
    'preserveDevData' | 'riskFreeRate' | 'configurationPath' | 'openaiApiBase'
  > {
  deploymentMode: DeploymentMode | 'UNKNOWN';
}

/** The fields that most responses have. */
export function deploymentFields({ deploymentMode, preserveDevData }: ServedSettings) {
  return {
    deployment_mode: deploymentMode,
    is_dev_mode: deploymentMode === 'DEV',
    preserve_dev_data: preserveDevData,
  };
}

const MAX_TOKEN_LENGTH = 1_000;

export function isAccessToken(text: string): boolean {
  return isHeaderKey(text) && text.length <= MAX_TOKEN_LENGTH;
}

const RUNTIME_CONFIGURATION_PATH = '/tmp/runtime_config.json';
/** Note on the default path of the runtime configuration. */
const SHARED =
  '. The service reads this file whichever folder it starts in;' +
  ' to prevent that, delete the file or set RUNTIME_CONFIG_PATH to another path';

/** Each mode has its own, so that simulated and real results never mix. */
export function modeDatabasePath(mode: DeploymentMode): string {
  return mode === 'DEV' ? 'data/jobs_dev.db' : 'data/jobs.db';
}

/**
 * Reads the settings from environment variables. Throws a `ServiceError` (`cannot_start`) that
 * names every variable with an invalid value, so that one start shows all mistakes.
 */
export function readSettings(environment: NodeJS.ProcessEnv) {
  const env = parseEnvironment(environment);
  const isDev = env.DEPLOYMENT_MODE === 'DEV';
  return {
    deploymentMode: env.DEPLOYMENT_MODE,
    /** Whether the DEV database is kept at the next start; null in PROD. */
    preserveDevData: isDev ? env.PRESERVE_DEV_DATA : null,
    /** The one address to listen on; null means all interfaces. */
    apiHost: env.API_HOST,
    apiPort: env.API_PORT,
    logLevel: env.LOG_LEVEL,
    /** Calendar days in a job's range, both ends included. */
    maxSimulationDays: env.MAX_SIMULATION_DAYS,
    /** How many child processes run side by side; null for as many as memory allows. */
    maxParallelModels: env.MAX_PARALLEL_MODELS,
    modelDayTimeoutMs: env.MODEL_DAY_TIMEOUT_SECONDS * 1000,
    /** What a child process may use in all; half of it is for its JavaScript heap. */
    modelDayMemoryMb: env.MODEL_DAY_MEMORY_MB,
    /** What runs model-days in place of this process's own Node; null means that Node. */
    modelDayCommand: env.MODEL_DAY_COMMAND,
    /** The environment variables that this command gets besides PATH and HOME. */
    modelDayCommandVariables: env.MODEL_DAY_COMMAND_ENV,
    /** The time limit of one request to a model, or in a stream of a silence. */
    modelRequestTimeoutMs: env.MODEL_REQUEST_TIMEOUT_SECONDS * 1000,
    /** The longest total wait of a job for the price provider's rate limits. */
    maxRateLimitWaitMs: env.MAX_RATE_LIMIT_WAIT_SECONDS * 1000,
    autoDownloadPriceData: env.AUTO_DOWNLOAD_PRICE_DATA,
    ...configurationPaths(env.RUNTIME_CONFIG_PATH),
    databasePath: modeDatabasePath(env.DEPLOYMENT_MODE),
    /** The folder of files beside the database: the owner lock, backups. */
    agentDataPath: isDev ? 'data/dev_agent_data' : 'data/agent_data',
    openaiApiBase: env.OPENAI_API_BASE,
    openaiApiKey: env.OPENAI_API_KEY,
    massiveApiKey: env.MASSIVE_API_KEY ?? env.POLYGON_API_KEY,
    massiveBaseUrl: env.MASSIVE_BASE_URL,
    /** Trading days before a job's first date that a provider of whole days downloads with it. */
    priceHistoryDays: env.PRICE_HISTORY_DAYS,
    alphaVantageApiKey: env.ALPHAADVANTAGE_API_KEY ?? env.ALPHAVANTAGE_API_KEY,
    alphaVantageBaseUrl: env.ALPHAVANTAGE_BASE_URL,
    jinaApiKey: env.JINA_API_KEY,
    jinaBaseUrl: env.JINA_BASE_URL,
    /** The yearly rate, as a fraction, that returns are compared with. */
    riskFreeRate: env.RISK_FREE_RATE,
    /** The URL of the service for client commands; null means `localUrl`. */
    apiUrl: env.API_URL,
    /** The same for agents, which call the tools of their days there, and for links to pages. */
    publicUrl: env.PUBLIC_URL,
    /** Where ends of jobs are announced, and what signs that. Neither is shown. */
    jobWebhookUrl: env.JOB_WEBHOOK_URL,
    jobWebhookKey: env.JOB_WEBHOOK_SECRET,
    /**
     * An access token with all rights, which client commands send. Without it and without the file,
     * no request needs one.
     */
    apiToken: env.API_TOKEN,
    /** A file of access tokens; read at start (http/access.ts). */
    apiTokensFile: env.API_TOKENS_FILE,
    /**
     * Host names under which web pages may use the service, besides IP addresses, `localhost` and
     * the machine's own name.
     */
    allowedHosts: env.ALLOWED_HOSTS,
  };
}

function configurationPaths(chosen: string | null) {
  const runtimePath = chosen ?? RUNTIME_CONFIGURATION_PATH;
  const defaultPath = configurationFile('default_config.json');
  return {
    /** The configuration file, chosen once; its content is read at every trigger. */
    configurationPath: existsSync(runtimePath) ? runtimePath : defaultPath,
    /** The configuration that a user's is merged over, and that is used without one. */
    defaultConfigurationPath: defaultPath,
    /** Where a merged configuration is written, and read from if it exists at the start. */
    runtimeConfigurationPath: runtimePath,
    /** What to say of that path; empty for one that a person chose. */
    runtimePathNote: chosen === null ? SHARED : '',
  };
}

/** The addresses that mean all interfaces. */
const ALL_INTERFACES = [null, '0.0.0.0', '::', '::ffff:0:0'];

/** Whether other machines may reach the service, as far as it is concerned. */
export function listensOnAll({ apiHost }: Pick<Settings, 'apiHost'>): boolean {
  return ALL_INTERFACES.includes(apiHost);
}

/** The URL of the service on its own machine. */
export function localUrl(settings: Pick<Settings, 'apiHost' | 'apiPort'>): string {
  const host = listensOnAll(settings) ? null : settings.apiHost;
  return `${hostUrl(host ?? '127.0.0.1')}:${settings.apiPort}`;
}

function parseEnvironment(environment: NodeJS.ProcessEnv) {
  const result = v.safeParse(environmentSchema, withoutEmptyValues(environment));
  if (result.success) return result.output;
  const lines = result.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
  throw new ServiceError('cannot_start', `Cannot read the settings:\n  ${lines.join('\n  ')}`);
}

/** `VARIABLE=` in a compose file or a shell means "not set"; so does a placeholder for a key. */
function withoutEmptyValues(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value?.trim() && !isKeyPlaceholder(name, value) ? [[name, value.trim()]] : [],
    ),
  );
}

function isKeyPlaceholder(name: string, value: unknown): boolean {
  return name.includes('_KEY') && isPlaceholder(value);
}

/** A name in the `.env` of other AI-Trader programs that resembles one of ours. */
const FOREIGN_VARIABLE = 'RUNTIME_ENV_PATH';

/**
 * Warnings about the variables: those of `.env` (`names`) that only resemble a setting, and
 * placeholders. `others` are read too, because an entry names them.
 */
export function environmentWarnings(
  environment: NodeJS.ProcessEnv,
  { names, others }: Record<'names' | 'others', readonly string[]>,
): string[] {
  const settings = Object.keys(environmentSchema.entries);
  // A launcher reads these.
  const passed = environment['MODEL_DAY_COMMAND_ENV']?.split(/[\s,]+/) ?? [];
  const read = [...new Set([...settings, ...others])];
  const misspelt = names.flatMap((name) => {
    const isKnown = [...read, ...passed, FOREIGN_VARIABLE].includes(name);
    const meant = isKnown ? '' : hint(name, settings);
    return meant === '' ? [] : name + meant;
  });
  const placeholders = read.filter((name) => isKeyPlaceholder(name, environment[name]));
  return compact([
    misspelt.length > 0 && `Unknown names in .env are ignored: ${misspelt.join(', ')}`,
    placeholders.length > 0 &&
      `Placeholders are not used as keys; enter the key, or leave the value empty: ${placeholders.join(', ')}`,
  ]);
}

const expected = (what: string) => (issue: v.BaseIssue<unknown>) =>
  `expected ${what}, got ${JSON.stringify(issue.input)}`;

function numberWithin(form: RegExp, [least, most]: readonly [number, number], what: string) {
  const isWithin = (text: string) =>
    form.test(text) && Number(text) >= least && Number(text) <= most;
  return v.pipe(v.string(), v.check(isWithin, expected(what)), v.transform(Number));
}

function wholeNumber(least: number, most: number) {
  return numberWithin(/^\d{1,10}$/, [least, most], `a whole number from ${least} to ${most}`);
}

function picklist<const Words extends readonly string[]>(words: Words) {
  return v.picklist(words, expected(`one of ${words.join(', ')}`));
}

const trueOrFalse = booleanSchema(expected('true or false'));

const httpUrl = v.pipe(v.string(), v.check(isHttpUrl, `expected ${HTTP_URL}`));

/** A fraction; the allowed range excludes most percentages given by mistake. */
const YEARLY_RATES = [-0.1, 0.5] as const;
const yearlyRate = numberWithin(
  /^-?\d{0,9}\.?\d{1,9}$/,
  YEARLY_RATES,
  `a yearly rate as a fraction from ${YEARLY_RATES.join(' to ')}, such as 0.04`,
);

/**
 * Only characters that a header can carry, so that a badly pasted key is found at the start and not
 * during a model-day.
 */
const headerKey = v.pipe(
  v.string(),
  v.check(isHeaderKey, 'expected a key of ASCII characters without spaces'),
);

const SECRET = 'expected whsec_ and the base64 of 24 to 64 bytes';
/** The bytes of a secret as Standard Webhooks writes it. */
const webhookSecret = v.pipe(
  v.string(),
  v.startsWith('whsec_', SECRET),
  v.transform((secret) => secret.slice('whsec_'.length)),
  v.base64(SECRET),
  v.transform((text) => Buffer.from(text, 'base64')),
  v.check(({ length }) => length >= 24 && length <= 64, SECRET),
);

/** The path of a file, which may be missing. */
const filePath = v.pipe(
  v.string(),
  v.check(
    (path) => !existsSync(path) || !statSync(path).isDirectory(),
    'expected a file, and it is a folder',
  ),
);

const logLevelName = v.pipe(
  v.string(),
  v.toUpperCase(),
  v.transform((text) => (text === 'WARN' ? 'WARNING' : text)),
  picklist(logLevels),
);

/** Whether a value is a program and its arguments, as a command line can hold them. */
function isCommand(value: unknown): boolean {
  const words: unknown[] = Array.isArray(value) ? value : [];
  return (
    words.every((word) => typeof word === 'string' && !word.includes('\0')) &&
    String(words[0] ?? '').trim() !== ''
  );
}

const command = v.pipe(
  v.string(),
  v.transform(tryParse),
  v.custom<string[]>(
    isCommand,
    'expected a JSON array of strings, the first of them a program, such as ["srun", "-n1", "/usr/bin/node"]',
  ),
);

/** Items separated by commas. */
const commaList = v.pipe(
  v.string(),
  v.transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
);

const variableNames = v.pipe(
  commaList,
  v.everyItem(
    (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
    ({ input }) =>
      `expected names of environment variables, separated by commas, got ${input.join(', ')}`,
  ),
);

const isHostName = (text: string) => /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(text);

/** The host of a URL: `0` is `0.0.0.0`, and `::0` is `::`. */
const hostUrl = (host: string) => `http://${isIP(host) === 6 ? `[${host}]` : host}`;

const address = v.pipe(
  v.string(),
  v.check(
    (text) => (isIP(text) !== 0 || isHostName(text)) && URL.canParse(hostUrl(text)),
    expected('an IP address or a host name, without a scheme or a port'),
  ),
  v.transform((text) => new URL(hostUrl(text)).hostname.replace(/^\[|\]$/g, '')),
);

const hostNames = v.pipe(
  v.string(),
  v.toLowerCase(),
  commaList,
  v.everyItem(isHostName, 'expected host names separated by commas, without a scheme or a port'),
);

const accessToken = v.pipe(
  v.string(),
  v.check(isAccessToken, `expected 1 to ${MAX_TOKEN_LENGTH} visible ASCII characters`),
);

/** An optional variable; null without it. */
function optional<Schema extends v.GenericSchema>(schema: Schema) {
  return v.nullish(schema, null);
}

export const environmentSchema = v.object({
  DEPLOYMENT_MODE: v.optional(picklist(deploymentModes), 'PROD'),
  PRESERVE_DEV_DATA: v.optional(trueOrFalse, 'false'),
  API_HOST: optional(address),
  API_PORT: v.optional(wholeNumber(0, 65_535), '8080'),
  LOG_LEVEL: v.optional(logLevelName, 'INFO'),
  MAX_SIMULATION_DAYS: v.optional(wholeNumber(1, 3_660), '30'),
  MAX_PARALLEL_MODELS: optional(wholeNumber(1, MAX_RUNS)),
  MODEL_DAY_TIMEOUT_SECONDS: v.optional(wholeNumber(1, 86_400), '3600'),
  MODEL_DAY_MEMORY_MB: v.optional(wholeNumber(128, 65_536), '512'),
  MODEL_DAY_COMMAND: optional(command),
  MODEL_DAY_COMMAND_ENV: v.optional(variableNames, ''),
  MODEL_REQUEST_TIMEOUT_SECONDS: v.optional(wholeNumber(1, 86_400), '900'),
  MAX_RATE_LIMIT_WAIT_SECONDS: v.optional(wholeNumber(0, 86_400), '300'),
  AUTO_DOWNLOAD_PRICE_DATA: v.optional(trueOrFalse, 'true'),
  RUNTIME_CONFIG_PATH: optional(filePath),
  PUBLIC_URL: optional(httpUrl),
  JOB_WEBHOOK_URL: optional(httpUrl),
  JOB_WEBHOOK_SECRET: optional(webhookSecret),
  OPENAI_API_BASE: optional(httpUrl),
  ...Object.fromEntries(makers.map(({ keyVariable }) => [keyVariable, optional(headerKey)])),
  OPENAI_API_KEY: optional(headerKey),
  MASSIVE_API_KEY: optional(headerKey),
  POLYGON_API_KEY: optional(headerKey),
  MASSIVE_BASE_URL: v.optional(httpUrl, 'https://api.massive.com'),
  PRICE_HISTORY_DAYS: v.optional(wholeNumber(0, 250), '10'),
  ALPHAADVANTAGE_API_KEY: optional(headerKey),
  ALPHAVANTAGE_API_KEY: optional(headerKey),
  ALPHAVANTAGE_BASE_URL: v.optional(httpUrl, 'https://www.alphavantage.co'),
  JINA_API_KEY: optional(headerKey),
  JINA_BASE_URL: v.optional(httpUrl, 'https://s.jina.ai'),
  RISK_FREE_RATE: v.optional(yearlyRate, '0'),
  API_URL: optional(httpUrl),
  API_TOKEN: optional(accessToken),
  API_TOKENS_FILE: optional(filePath),
  ALLOWED_HOSTS: v.optional(hostNames, ''),
});
