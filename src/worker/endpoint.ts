import {
  type AgentConfiguration,
  type Configuration,
  type ModelConfiguration,
  baselineOf,
  basemodelOf,
} from '../configuration.ts';
import { isHeaderKey } from '../http-values.ts';
import type { Endpoint, Start } from '../protocol.ts';
import type { Settings } from '../settings.ts';
import type { TokenPrices } from '../trading/cost.ts';

/** The endpoint of a model when neither its entry nor OPENAI_API_BASE names one. */
const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

export interface EndpointSources {
  settings: Settings;
  /** The server's configuration as it is now; null when its file is missing or broken. */
  configuration: Configuration | null;
  agentConfig: AgentConfiguration;
  /** Environment variables, for keys that the configuration refers to but does not contain. */
  environment: NodeJS.ProcessEnv;
}

/**
 * The source of a model's answers: a baseline in any mode; otherwise the simulated model in DEV, the provider in PROD. An
 * error names what is missing.
 */
export function resolveModel(signature: string, sources: EndpointSources): Start['model'] | { error: string } {
  if (sources.configuration === null)
    return { error: `The server configuration, which defines '${signature}', is missing or broken` };
  const entry = entryOf(signature, sources.configuration);
  const strategy = entry === undefined ? null : baselineOf(entry);
  if (strategy !== null) return { kind: 'baseline', strategy };
  if (sources.settings.deploymentMode === 'DEV') return { kind: 'simulated' };
  if (entry === undefined) return { error: `Model '${signature}' is not in the server configuration` };
  const baseUrl = entry.openai_base_url || sources.settings.openaiApiBase || DEFAULT_BASE_URL;
  const apiKey = keyOf(entry, sources);
  if (apiKey === null && entry.openai_api_key_env) {
    const name = entry.openai_api_key_env;
    return { error: `Model '${signature}' has no key: the variable ${name}, which its entry names, is not set` };
  }
  if (apiKey === null && baseUrl === DEFAULT_BASE_URL) {
    return {
      error: `Model '${signature}' has no key: set openai_api_key or openai_api_key_env in its entry, or OPENAI_API_KEY`,
    };
  }
  if (apiKey !== null && !isHeaderKey(apiKey)) {
    return { error: `Model '${signature}' has a key that cannot be sent: it contains blanks or characters beyond ASCII` };
  }
  return describeEndpoint(entry, { baseUrl, apiKey, ...sources });
}

/** The model's own key, from its entry or the variable that this names; the service's key only when the entry has neither. */
function keyOf(entry: ModelConfiguration, { settings, environment }: EndpointSources): string | null {
  const { openai_api_key: held, openai_api_key_env: name } = entry;
  return held?.trim() || (name ? environment[name]?.trim() : settings.openaiApiKey) || null;
}

/** The configuration's entry of a model. */
export function entryOf(signature: string, configuration: Configuration | null): ModelConfiguration | undefined {
  return configuration?.models.find((model) => model.signature === signature);
}

/** The price of a model's tokens: zero for a baseline, null when unknown. */
export function tokenPricesOf(signature: string, configuration: Configuration | null): TokenPrices | null {
  const entry = entryOf(signature, configuration);
  if (entry !== undefined && baselineOf(entry) !== null) return { input: 0, output: 0 };
  return entry?.price_per_million_tokens ?? null;
}

function describeEndpoint(
  entry: ModelConfiguration,
  { baseUrl, apiKey, settings, agentConfig }: EndpointSources & { baseUrl: string; apiKey: string | null },
): Endpoint {
  const { temperature, top_p, seed, max_tokens, reasoning_effort } = entry;
  const chosen = Object.entries({ temperature, top_p, seed, max_tokens, reasoning_effort }).filter(
    ([, value]) => value != null,
  );
  return {
    kind: 'chat_completions',
    baseUrl,
    apiKey,
    parameters: { model: basemodelOf(entry), ...Object.fromEntries(chosen), ...entry.extra_body },
    requestTimeoutMs: settings.modelRequestTimeoutMs,
    maxRetries: agentConfig.max_retries,
    baseDelayMs: agentConfig.base_delay * 1000,
  };
}
