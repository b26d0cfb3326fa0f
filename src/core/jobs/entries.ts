import {
  findBaseline,
  findBasemodel,
  type Configuration,
  type ModelConfiguration,
  type AgentConfiguration,
  isPlaceholder,
} from '#settings/configuration-schema.ts';
import {
  blankSecrets,
  type Entry,
  type IsKey,
  isSecretName,
  keyFinder,
  fillSecrets,
} from '#settings/entry.ts';
import { cutUrl, fillUrl, isHeaderKey, isSameServer } from '#network/http-values.ts';
import type { Json } from '#json/json.ts';
import { bodyFields, makers, resolveEndpoint, describeUnknownMaker } from '#settings/makers.ts';
import { MIN_SECRET_LENGTH } from '#text/secrets.ts';
import type { Settings } from '#settings/settings.ts';
import { LIST_DOCUMENTS, readsDocuments } from '#trading/morning-documents.ts';
import { orderTools } from '#domain/vocabulary.ts';
import { offeredToolNames } from '#trading/tools.ts';
import { unescape } from 'node:querystring';
import type { ProviderEndpoint, StartMessage } from '#wire/protocol.ts';

const NO_ENDPOINT = {
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
  /** Whether the job has any that models may read. */
  hasDocuments?: boolean;
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
  const entryKeys = models.flatMap(({ openai_api_key, openai_api_key_env: variable }) => [
    openai_api_key,
    variable ? environment[variable] : null,
  ]);
  const environmentKeys = Object.entries(environment).flatMap(([name, value = '']) =>
    isSecretName(name) && value.trim().length >= MIN_SECRET_LENGTH ? [value] : [],
  );
  const keys = [
    settings.openaiApiKey,
    settings.massiveApiKey,
    settings.alphaVantageApiKey,
    settings.jinaApiKey,
    settings.apiToken,
    ...entryKeys,
    ...environmentKeys,
  ];
  return keyFinder(new Set(keys.flatMap((key) => key?.trim() || [])));
}

/**
 * What a run asks, and of whom, as the configuration and the settings have it now: stored with the
 * run, without any secret.
 */
export function resolveEntry(
  { signature, run }: { signature: string; run: number },
  { configuration, settings, isKey, hasDocuments = false }: EntrySources,
): Entry {
  const found = configuredEntry(signature, configuration);
  const entry: NamedEntry = found ?? { signature };
  const extra_body = blankSecrets(entry.extra_body ?? {}, isKey);
  const kind = entryKind(found, settings);
  const { notes = false, documents = true, decision } = entry;
  const isOneAnswer = kind === 'provider' && decision === 'one_answer';
  const tools = offeredToolNames(
    {
      hasNews: settings.jinaApiKey !== null,
      hasNotes: notes,
      hasDocuments: documents === true,
    },
    isOneAnswer ? [...orderTools, LIST_DOCUMENTS] : entry.tools,
  );
  return {
    signature,
    run,
    repeats: entry.repeats ?? 1,
    kind,
    basemodel: findBasemodel(entry),
    ...(kind === 'provider' || kind === 'agent' ? endpointFields(entry, settings) : NO_ENDPOINT),
    parameters:
      kind === 'baseline'
        ? {}
        : withSeed(requestParameters({ ...entry, extra_body }, settings), run),
    prompt: entry.prompt || null,
    notes,
    knowledge_cutoff: entry.knowledge_cutoff ?? null,
    price_per_million_tokens:
      kind === 'baseline' ? { input: 0, output: 0 } : (entry.price_per_million_tokens ?? null),
    max_cost_usd: entry.max_cost_usd ?? configuration.agent_config.max_cost_usd,
    tools: tools.filter((tool) => hasDocuments || !readsDocuments([tool])),
    ...(!readsDocuments(tools) && { documents: false }),
    decision: isOneAnswer ? 'one_answer' : 'tools',
    agent:
      found !== undefined && kind === 'agent'
        ? { max_tool_calls: found.max_tool_calls, seconds: settings.modelDayTimeoutMs / 1_000 }
        : null,
  };
}

function configuredEntry(
  signature: string,
  configuration: Configuration | null,
): ModelConfiguration | undefined {
  return configuration?.models.find((entry) => entry.signature === signature);
}

/** A baseline in any mode; otherwise the simulated model in DEV, the provider in PROD. */
function entryKind(
  entry: ModelConfiguration | undefined,
  { deploymentMode }: Settings,
): Entry['kind'] {
  if (entry !== undefined && findBaseline(entry) !== null) return 'baseline';
  if (deploymentMode === 'DEV') return 'simulated';
  if (entry === undefined) return 'unlisted';
  return entry.api === 'agent' ? 'agent' : 'provider';
}

/** Whom an entry asks, and in which way; `{ unknown }` is the prefix of no known maker. */
function resolveEntryEndpoint(entry: NamedEntry, { openaiApiBase }: Settings) {
  return resolveEndpoint({ ...entry, basemodel: findBasemodel(entry) }, openaiApiBase);
}

function endpointFields(
  entry: NamedEntry,
  settings: Settings,
): Pick<Entry, keyof typeof NO_ENDPOINT> {
  const { openai_api_key: held, openai_api_key_env: variable } = entry;
  const endpoint = resolveEntryEndpoint(entry, settings);
  if ('unknown' in endpoint) return NO_ENDPOINT;
  const { api, stream, streamIsSet: stream_is_set } = endpoint;
  const { url, isCut: url_is_cut } = cutUrl(endpoint.url);
  const address = { ...NO_ENDPOINT, url, url_is_cut, api, stream, stream_is_set };
  if (held?.trim()) return { ...address, key_source: 'entry', key_variable: variable || null };
  if (variable) return { ...address, key_source: 'variable', key_variable: variable };
  if (endpoint.api === 'agent') return address;
  const { keyVariable } = endpoint.maker ?? makers[0];
  if (keyVariable !== makers[0].keyVariable)
    return { ...address, key_source: 'maker', key_variable: keyVariable };
  const key_variable = settings.openaiApiKey === null ? null : keyVariable;
  return { ...address, key_source: 'service', key_variable };
}

/** Each run has a seed of its own: that of the entry plus the number of runs before it. */
function withSeed(parameters: Json, run: number): Json {
  const { seed } = parameters;
  return typeof seed === 'number' ? { ...parameters, seed: seed + run - 1 } : parameters;
}

/** The fields of a request's body, in its dialect's names, except the conversation and tools. */
function requestParameters(entry: NamedEntry, settings: Settings): Json {
  const endpoint = resolveEntryEndpoint(entry, settings);
  if (!('unknown' in endpoint) && endpoint.api === 'agent') return {};
  const fields =
    'unknown' in endpoint ? { model: findBasemodel(entry) } : bodyFields(entry, endpoint);
  const { stream: _stream, ...more } = entry.extra_body ?? {}; // it is the entry's `stream`
  return { ...fields, ...more };
}

interface EndpointSources {
  settings: Settings;
  /**
   * The server's configuration as it is now, for keys and for what was cut; null when its file is
   * missing or broken.
   */
  configuration: Configuration | null;
  agentConfig: AgentConfiguration;
  /** Environment variables, for keys that the configuration refers to but does not contain. */
  environment: NodeJS.ProcessEnv;
}

type Missing = { error: string };

/**
 * The source of a run's answers, according to what was stored with it; its model-days have cache
 * keys of their own. An error names what is missing.
 */
export function resolveModel(
  entry: Entry,
  sources: EndpointSources,
): StartMessage['model'] | Missing {
  const { kind, signature } = entry;
  if (kind === 'baseline') {
    const strategy = findBaseline(entry);
    return strategy === null
      ? { error: `Cannot run '${signature}': this version has no such baseline` }
      : { kind, strategy };
  }
  if (kind === 'simulated') return { kind };
  if (kind === 'unlisted')
    return { error: `Model '${signature}' is not in the server configuration` };
  const live = liveEntry(entry, sources);
  const url = resolveUrl(entry, live, sources);
  if (typeof url === 'object') return url;
  const key = resolveKey(entry, live, sources);
  if ('error' in key) return key;
  const body = fillSecrets(
    entry.parameters,
    live === undefined ? {} : requestParameters(live, sources.settings),
  );
  if (body.missing.length > 0)
    return {
      error: `Cannot call '${signature}': its entry no longer has ${body.missing.join(', ')} in extra_body`,
    };
  const { settings, agentConfig } = sources;
  return {
    kind: 'provider',
    api: entry.api ?? 'chat',
    baseUrl: url,
    ...key,
    parameters: body.fields,
    secrets: [...body.secrets, ...urlSecrets(url)],
    stream: entry.stream !== true ? 'off' : entry.stream_is_set ? 'set' : 'added',
    cacheKey: makers.some((maker) => maker.url === url) ? signature : null,
    leftOut: [],
    requestTimeoutMs: settings.modelRequestTimeoutMs,
    maxRetries: agentConfig.max_retries,
    baseDelayMs: agentConfig.base_delay * 1000,
  };
}

/**
 * The entry as it is now; undefined when it names another server, whose secrets the run's server
 * must not get.
 */
function liveEntry(
  { signature, url }: Entry,
  { configuration, settings }: EndpointSources,
): ModelConfiguration | undefined {
  const live = configuredEntry(signature, configuration);
  const endpoint = live && resolveEntryEndpoint(live, settings);
  return endpoint === undefined ||
    'unknown' in endpoint ||
    url === null ||
    !isSameServer(endpoint.url, url)
    ? undefined
    : live;
}

/** The URL with what was cut from it, which its entry or OPENAI_API_BASE still has. */
function resolveUrl(
  { url: stored, url_is_cut: isCut, basemodel, signature }: Entry,
  live: ModelConfiguration | undefined,
  { settings }: EndpointSources,
): string | Missing {
  if (stored === null) {
    const [prefix = ''] = basemodel.split('/');
    return { error: `Cannot call '${signature}': ${describeUnknownMaker(prefix)}` };
  }
  if (!isCut) return stored;
  for (const url of [live?.agent_url, live?.openai_base_url, settings.openaiApiBase]) {
    const filled = url ? fillUrl(stored, url) : null;
    if (filled !== null) return filled;
  }
  const lost = `the user, password or query values that were cut from its URL ${stored}`;
  return {
    error: `Cannot call '${signature}': neither its entry nor OPENAI_API_BASE has ${lost}`,
  };
}

/** Names of a query's values that are secrets at some provider, besides those of fields. */
const SECRET_QUERIES = ['key', 'sig', 'signature', 'code'];

/**
 * The password of a URL, also as the header that Node makes of it, and the secrets of its query, as
 * written and as meant; an `api-version` is none, and occurs in answers.
 */
function urlSecrets(url: string): string[] {
  const { username, password, search } = new URL(url);
  const values = search
    .slice(1)
    .split('&')
    .flatMap((pair) => {
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      return isSecretName(name) || SECRET_QUERIES.includes(name.toLowerCase()) ? value : [];
    });
  const written = [password, ...values];
  const meant = written.map((value) => new URLSearchParams(`value=${value}`).get('value') ?? '');
  const user = `${unescape(username)}:${unescape(password)}`;
  return [...new Set([Buffer.from(user).toString('base64'), ...written, ...meant])];
}

/** Where a key that is missing has to be, by where the trigger found it. */
const KEY_PLACES = {
  entry: () => 'openai_api_key, which its entry held, is no longer in the server configuration',
  variable: (variable) => `its entry names the variable ${variable}, which is not set`,
  maker: (variable) => `set ${variable}, or openai_api_key_env in its entry`,
  service: () => 'set openai_api_key or openai_api_key_env in its entry, or OPENAI_API_KEY',
} satisfies Record<string, (variable: string | null) => string>;

/**
 * The run's key; null for a server that needs none. It is where the trigger found it, or else where
 * the entry has it now.
 */
function resolveKey(
  { signature, url, key_source: source, key_variable: variable }: Entry,
  live: ModelConfiguration | undefined,
  { settings, environment }: EndpointSources,
): Pick<ProviderEndpoint, 'apiKey' | 'keyOrigin'> | Missing {
  const inVariable = (name: string) => ({ name, held: environment[name] });
  const inEntry = { name: 'openai_api_key', held: live?.openai_api_key };
  const places =
    source === 'service'
      ? [{ name: makers[0].keyVariable, held: settings.openaiApiKey }]
      : [inVariable(variable ?? ''), inEntry, inVariable(live?.openai_api_key_env ?? '')];
  if (source === 'entry') places.unshift(inEntry);
  const found = places.find(({ held }) => held?.trim() && !isPlaceholder(held));
  if (found?.held != null) {
    const apiKey = found.held.trim();
    return isHeaderKey(apiKey)
      ? { apiKey, keyOrigin: `key from ${found.name}` }
      : { error: `Cannot call '${signature}': its key contains blanks or characters beyond ASCII` };
  }
  if (source === null || (source === 'service' && url !== makers[0].url))
    return { apiKey: null, keyOrigin: 'no key' };
  return { error: `Model '${signature}' has no key: ${KEY_PLACES[source](variable)}` };
}
