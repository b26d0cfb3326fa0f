import {
  baselineOf,
  basemodelOf,
  type Configuration,
  type ModelConfiguration,
} from '../basics/configuration-schema.ts';
import {
  blankSecrets,
  decodeEntry,
  type Entry,
  type IsKey,
  isSecretName,
  keyFinder,
} from '../basics/entry.ts';
import { cutUrl } from '../basics/http-values.ts';
import type { Json } from '../basics/json.ts';
import { bodyFields, makers, wayOf } from '../basics/makers.ts';
import { MIN_SECRET_LENGTH } from '../basics/secrets.ts';
import type { Settings } from '../basics/settings.ts';
import { toolNames } from '../trading/tools.ts';
import type { Job } from './active-job.ts';

const NOWHERE = {
  url: null,
  url_is_cut: false,
  api: null,
  stream: null,
  stream_is_set: false,
  key_source: null,
  key_variable: null,
} as const;

/** Where an entry is resolved from. What `isKey` finds is not stored. */
interface EntrySources {
  configuration: Configuration;
  settings: Settings;
  isKey: IsKey;
}

/**
 * Finds every key that the service knows: of its settings, of all entries, of variables that these
 * name or that are named as secrets.
 */
export function knownKeys(
  { models }: Configuration,
  settings: Settings,
  environment: NodeJS.ProcessEnv,
): IsKey {
  const { openaiApiKey, massiveApiKey, alphaVantageApiKey, jinaApiKey, apiToken } = settings;
  const ofEntries = models.flatMap(({ openai_api_key, openai_api_key_env: variable }) => [
    openai_api_key,
    variable ? environment[variable] : null,
  ]);
  const ofEnvironment = Object.entries(environment).flatMap(([name, value = '']) =>
    isSecretName(name) && value.trim().length >= MIN_SECRET_LENGTH ? [value] : [],
  );
  const keys = [
    openaiApiKey,
    massiveApiKey,
    alphaVantageApiKey,
    jinaApiKey,
    apiToken,
    ...ofEntries,
    ...ofEnvironment,
  ];
  return keyFinder(new Set(keys.flatMap((key) => (key?.trim() ? [key.trim()] : []))));
}

/**
 * What a run asks, and of whom, as the configuration and the settings have it now: stored with the
 * run, without any secret.
 */
export function resolveEntry(
  { family, run }: { family: string; run: number },
  { configuration, settings, isKey }: EntrySources,
): Entry {
  const found = configuredEntry(family, configuration);
  const entry: Partial<ModelConfiguration> & { signature: string } = found ?? { signature: family };
  const extra_body = blankSecrets(entry.extra_body ?? {}, isKey);
  const kind = kindOf(found, settings);
  const notes = found?.notes ?? false;
  return {
    signature: family,
    run,
    repeats: found?.repeats ?? 1,
    kind,
    basemodel: basemodelOf(entry),
    ...(kind === 'provider' ? addressOf(entry, settings) : NOWHERE),
    parameters:
      kind === 'baseline' ? {} : withSeed(parametersOf({ ...entry, extra_body }, settings), run),
    prompt: found?.prompt || null,
    notes,
    knowledge_cutoff: found?.knowledge_cutoff ?? null,
    price_per_million_tokens:
      kind === 'baseline' ? { input: 0, output: 0 } : (found?.price_per_million_tokens ?? null),
    max_cost_usd: found?.max_cost_usd ?? configuration.agent_config.max_cost_usd,
    tools: toolNames({ hasNews: settings.jinaApiKey !== null, hasNotes: notes }),
  };
}

/** What each run of a job asks, by its model. */
export function entriesOf({ runs }: Pick<Job, 'runs'>): Map<string, Entry> {
  return new Map(runs.map(({ model, entry }) => [model, decodeEntry(entry)]));
}

/** The configuration's entry of that signature. */
export function configuredEntry(
  signature: string,
  configuration: Configuration | null,
): ModelConfiguration | undefined {
  return configuration?.models.find((entry) => entry.signature === signature);
}

/** A baseline in any mode; otherwise the simulated model in DEV, the provider in PROD. */
function kindOf(
  entry: ModelConfiguration | undefined,
  { deploymentMode }: Settings,
): Entry['kind'] {
  if (entry !== undefined && baselineOf(entry) !== null) return 'baseline';
  if (deploymentMode === 'DEV') return 'simulated';
  return entry === undefined ? 'unlisted' : 'provider';
}

type Address = Pick<
  Entry,
  'url' | 'url_is_cut' | 'api' | 'stream' | 'stream_is_set' | 'key_source' | 'key_variable'
>;

/** Whom an entry asks, and in which way; `{ unknown }` is the prefix of no known maker. */
export function wayOfEntry(
  entry: Partial<ModelConfiguration> & { signature: string },
  { openaiApiBase }: Pick<Settings, 'openaiApiBase'>,
) {
  return wayOf({ ...entry, basemodel: basemodelOf(entry) }, openaiApiBase);
}

function addressOf(
  entry: Partial<ModelConfiguration> & { signature: string },
  settings: Settings,
): Address {
  const { openai_api_key: held, openai_api_key_env: variable } = entry;
  const way = wayOfEntry(entry, settings);
  if ('unknown' in way) return NOWHERE;
  const { url, isCut } = cutUrl(way.url);
  const address = {
    url,
    url_is_cut: isCut,
    api: way.api,
    stream: way.stream,
    stream_is_set: way.streamIsSet,
  };
  if (held?.trim()) return { ...address, key_source: 'entry', key_variable: variable || null };
  if (variable) return { ...address, key_source: 'variable', key_variable: variable };
  if (way.maker === null || way.maker === makers[0])
    return { ...address, key_source: 'service', key_variable: null };
  return { ...address, key_source: 'maker', key_variable: way.maker.keyVariable };
}

/** Each run has a seed of its own: that of the entry plus the number of runs before it. */
function withSeed(parameters: Json, run: number): Json {
  const { seed } = parameters;
  return typeof seed === 'number' ? { ...parameters, seed: seed + run - 1 } : parameters;
}

/** The fields of a request's body, in its dialect's names, except the conversation and tools. */
export function parametersOf(
  entry: Partial<ModelConfiguration> & { signature: string },
  settings: Pick<Settings, 'openaiApiBase'>,
): Json {
  const way = wayOfEntry(entry, settings);
  const fields = 'unknown' in way ? { model: basemodelOf(entry) } : bodyFields(entry, way);
  const { stream: _stream, ...more } = entry.extra_body ?? {}; // it is the entry's `stream`
  return { ...fields, ...more };
}
