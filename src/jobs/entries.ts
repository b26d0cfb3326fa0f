import {
  baselineOf,
  basemodelOf,
  type Configuration,
  type ModelConfiguration,
} from '../basics/configuration-schema.ts';
import { blankSecrets, type Entry, type IsKey, isSecretName, keyFinder } from '../basics/entry.ts';
import { cutUrl } from '../basics/http-values.ts';
import type { Json } from '../basics/json.ts';
import { bodyFields, makers, wayOf } from '../basics/makers.ts';
import { MIN_SECRET_LENGTH } from '../basics/secrets.ts';
import type { Settings } from '../basics/settings.ts';
import { toolNamesOf } from '../trading/tools.ts';

const NOWHERE = {
  url: null,
  url_is_cut: false,
  api: null,
  stream: null,
  stream_is_set: false,
  key_source: null,
  key_variable: null,
} as const;

/** An entry, of which only the signature is known when the configuration does not list it. */
type NamedEntry = Partial<ModelConfiguration> & { signature: string };

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
  const ofEntries = models.flatMap(({ openai_api_key, openai_api_key_env: variable }) => [
    openai_api_key,
    variable ? environment[variable] : null,
  ]);
  const ofEnvironment = Object.entries(environment).flatMap(([name, value = '']) =>
    isSecretName(name) && value.trim().length >= MIN_SECRET_LENGTH ? [value] : [],
  );
  const keys = [
    settings.openaiApiKey,
    settings.massiveApiKey,
    settings.alphaVantageApiKey,
    settings.jinaApiKey,
    settings.apiToken,
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
  const entry: NamedEntry = found ?? { signature: family };
  const extra_body = blankSecrets(entry.extra_body ?? {}, isKey);
  const kind = kindOf(found, settings);
  const { notes = false } = entry;
  return {
    signature: family,
    run,
    repeats: entry.repeats ?? 1,
    kind,
    basemodel: basemodelOf(entry),
    ...(kind === 'provider' ? addressOf(entry, settings) : NOWHERE),
    parameters:
      kind === 'baseline' ? {} : withSeed(parametersOf({ ...entry, extra_body }, settings), run),
    prompt: entry.prompt || null,
    notes,
    knowledge_cutoff: entry.knowledge_cutoff ?? null,
    price_per_million_tokens:
      kind === 'baseline' ? { input: 0, output: 0 } : (entry.price_per_million_tokens ?? null),
    max_cost_usd: entry.max_cost_usd ?? configuration.agent_config.max_cost_usd,
    tools: toolNamesOf({ hasNews: settings.jinaApiKey !== null, hasNotes: notes }, entry.tools),
  };
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
export function wayOfEntry(entry: NamedEntry, { openaiApiBase }: Settings) {
  return wayOf({ ...entry, basemodel: basemodelOf(entry) }, openaiApiBase);
}

function addressOf(entry: NamedEntry, settings: Settings): Address {
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
export function parametersOf(entry: NamedEntry, settings: Settings): Json {
  const way = wayOfEntry(entry, settings);
  const fields = 'unknown' in way ? { model: basemodelOf(entry) } : bodyFields(entry, way);
  const { stream: _stream, ...more } = entry.extra_body ?? {}; // it is the entry's `stream`
  return { ...fields, ...more };
}
