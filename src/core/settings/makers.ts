import type { ModelConfiguration } from './configuration-schema.ts';
import { type ApiDialect, type Effort, efforts, type EntryApi } from '#domain/vocabulary.ts';
import type { Json } from '#json/json.ts';
import { list } from '#text/sentences.ts';

/**
 * Who makes models, and how an entry that names no URL is asked there. A row more is a maker more.
 */
interface Maker {
  /**
   * What stands before the first `/` of a `basemodel`; it is cut off. The first maker is also asked
   * without a prefix.
   */
  prefixes: readonly string[];
  url: string;
  api: ApiDialect;
  /** The environment variable that holds the key, which is sent to this maker only. */
  keyVariable: string;
  /**
   * How much it thinks, where the dialect's own field is not enough; null for an effort that the
   * maker does not have.
   */
  effort?: (effort: Effort) => Json | null;
}

const disableThinking = (effort: Effort): Json =>
  effort === 'none' ? { thinking: { type: 'disabled' } } : { reasoning_effort: effort };

export const makers: readonly [Maker, ...Maker[]] = [
  {
    prefixes: ['openai'],
    url: 'https://api.openai.com/v1',
    api: 'responses',
    keyVariable: 'OPENAI_API_KEY',
  },
  {
    prefixes: ['anthropic'],
    url: 'https://api.anthropic.com',
    api: 'messages',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  {
    prefixes: ['x-ai', 'xai'],
    url: 'https://api.x.ai/v1',
    api: 'responses',
    keyVariable: 'XAI_API_KEY',
  },
  {
    prefixes: ['google', 'gemini'],
    url: 'https://generativelanguage.googleapis.com/v1beta/openai',
    api: 'chat',
    keyVariable: 'GEMINI_API_KEY',
  },
  {
    prefixes: ['deepseek'],
    url: 'https://api.deepseek.com',
    api: 'chat',
    keyVariable: 'DEEPSEEK_API_KEY',
    effort: disableThinking,
  },
  {
    prefixes: ['mistral', 'mistralai'],
    url: 'https://api.mistral.ai/v1',
    api: 'chat',
    keyVariable: 'MISTRAL_API_KEY',
  },
  {
    prefixes: ['moonshotai'],
    url: 'https://api.moonshot.ai/v1',
    api: 'chat',
    keyVariable: 'MOONSHOT_API_KEY',
    effort: disableThinking,
  },
  {
    prefixes: ['qwen'],
    url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    api: 'chat',
    keyVariable: 'DASHSCOPE_API_KEY',
    effort: (effort) => (effort === 'none' ? { enable_thinking: false } : null),
  },
  {
    prefixes: ['openrouter'],
    url: 'https://openrouter.ai/api/v1',
    api: 'chat',
    keyVariable: 'OPENROUTER_API_KEY',
    effort: (effort) => ({ reasoning: { effort } }),
  },
];

/** Fields of an entry that choose its endpoint. */
interface EndpointEntry extends Partial<Omit<ModelConfiguration, 'basemodel'>> {
  /** The `model` of the request, with the prefix of its maker. */
  basemodel: string;
}

/** Endpoint of an entry, with its dialect. */
interface Endpoint {
  /** Null where a URL is given. */
  maker: Maker | null;
  url: string;
  api: EntryApi;
  /** The `model` of the request. */
  model: string;
  stream: boolean;
  /**
   * Whether the entry says so; otherwise the service leaves the stream out where a provider refuses
   * it.
   */
  streamIsSet: boolean;
}

/**
 * Whom an entry asks; `{ unknown }` is the prefix of no known maker. `openaiApiBase` is the URL for
 * entries without one.
 */
export function resolveEndpoint(
  entry: EndpointEntry,
  openaiApiBase: string | null,
): Endpoint | { unknown: string } {
  const { basemodel, openai_base_url, agent_url, api, extra_body } = entry;
  if (api === 'agent') {
    const url = agent_url || openai_base_url || '';
    return { maker: null, url, api, model: basemodel, stream: false, streamIsSet: true };
  }
  const given = openai_base_url || openaiApiBase;
  const [first] = makers;
  const [, prefix = null, rest = basemodel] = (!given && /^([^/]*)\/(.*)$/s.exec(basemodel)) || [];
  const named = makers.find(({ prefixes }) => prefix !== null && prefixes.includes(prefix));
  const maker = given ? null : prefix === null ? first : named;
  if (maker === undefined) return { unknown: prefix ?? '' };
  const dialect = api ?? maker?.api ?? 'chat';
  const set = entry.stream ?? extra_body?.['stream'];
  const streamIsSet = typeof set === 'boolean';
  const stream = streamIsSet ? set : maker !== null || dialect !== 'chat';
  const url = given || (maker ?? first).url;
  return { maker, url, api: dialect, model: rest, stream, streamIsSet };
}

/** In words, what to do about a prefix that no maker has. */
export function describeUnknownMaker(prefix: string): string {
  const known = list(makers.flatMap(({ prefixes }) => prefixes.map((one) => `${one}/`)));
  return (
    `no known provider has the prefix '${prefix}/' (known: ${known}); ` +
    'for another endpoint set openai_base_url in its entry, or OPENAI_API_BASE'
  );
}

/**
 * Fields of a request's body in a dialect's own names, except the conversation and tools; what else
 * a provider takes comes last.
 */
export function bodyFields(
  { temperature, top_p, seed, max_tokens, reasoning_effort }: Partial<ModelConfiguration>,
  { api, maker, model }: Endpoint,
): Json {
  const tokens = api === 'responses' ? { max_output_tokens: max_tokens } : { max_tokens };
  const effort = reasoning_effort ? (effortFields(reasoning_effort, { api, maker }) ?? {}) : {};
  const chosen = Object.entries({ temperature, top_p, seed, ...tokens, ...effort }).filter(
    ([, value]) => value != null,
  );
  return { model, ...Object.fromEntries(chosen) };
}

/** Null for an effort that cannot be asked for. */
function effortFields(
  effort: Effort,
  { api, maker }: Pick<Endpoint, 'api' | 'maker'>,
): Json | null {
  if (api === 'responses') return { reasoning: { effort } };
  if (api === 'chat')
    return maker?.effort && maker.api === api ? maker.effort(effort) : { reasoning_effort: effort };
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  return effort === 'minimal' ? null : { output_config: { effort } };
}

/** What an entry sets that its dialect does not have, each with its key and what to do about it. */
export function* dialectProblems(
  entry: EndpointEntry,
  openaiApiBase: string | null,
): Generator<string> {
  const endpoint = resolveEndpoint(entry, openaiApiBase);
  if ('unknown' in endpoint) return; // its model-days fail, and say why
  if (endpoint.api === 'agent') {
    if (endpoint.url === '') yield 'agent_url: "api": "agent" needs the URL of the agent';
    return;
  }
  const { seed, reasoning_effort: effort } = entry;
  if (seed != null && endpoint.api !== 'chat') {
    const remedy = 'remove it, set "api": "chat", name a URL, or put it into extra_body';
    yield `seed: is not a field of ${dialectNames[endpoint.api]}: ${remedy}`;
  }
  if (effort != null && effortFields(effort, endpoint) === null) {
    const possible = efforts.filter((one) => effortFields(one, endpoint) !== null).join(', ');
    yield `reasoning_effort: cannot be ${effort} here, only ${possible}; extra_body takes anything`;
  }
}

const dialectNames: Record<ApiDialect, string> = {
  chat: 'Chat Completions',
  responses: 'Responses',
  messages: 'Messages',
};
