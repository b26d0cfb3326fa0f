import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfiguration } from '../../src/core/settings/configuration.ts';
import { requestHash, decodeEntry, encodeEntry } from '../../src/core/settings/entry.ts';
import type { ProviderEndpoint } from '../../src/core/wire/protocol.ts';
import { readSettings, type Settings } from '../../src/core/settings/settings.ts';
import { makers } from '../../src/core/settings/makers.ts';
import { nasdaq100 } from '../../src/core/settings/default-symbols.ts';
import { resolveModel, knownKeys, resolveEntry } from '../../src/core/jobs/entries.ts';
import { like, tableOf } from '../support/text-table.ts';

interface Sources {
  /** The model's entry beside its signature. */
  entry?: object;
  settings?: Partial<Settings>;
  environment?: Record<string, string>;
  agentConfig?: object;
  later?: object | null;
}

function configured(entry: object, agentConfig: object = {}) {
  const other = { signature: 'model-b', openai_api_key: 'key-of/b+', openai_api_key_env: 'OF_B' };
  const models = [{ signature: 'model-a', ...entry }, other];
  return parseConfiguration({ models, agent_config: agentConfig }, 'test');
}

/** What the trigger stores of an entry. */
function entryWith({ entry = {}, settings = {}, environment = {} }: Sources) {
  const [configuration, all] = [configured(entry), { ...readSettings({}), ...settings }];
  const isKey = knownKeys(configuration, all, environment);
  return resolveEntry({ signature: 'model-a', run: 1 }, { configuration, settings: all, isKey });
}

/**
 * Resolves what was stored with a run; `later` is what its entry has become since, null for a file
 * that is gone.
 */
function resolve(sources: Sources) {
  const { entry = {}, settings, environment = {}, agentConfig, later = entry } = sources;
  const stored = decodeEntry(encodeEntry(entryWith(sources)));
  assert.ok(stored !== null);
  return resolveModel(stored, {
    settings: { ...readSettings({}), ...settings },
    configuration: later && configured(later),
    agentConfig: configured(entry, agentConfig).agent_config,
    environment,
  });
}
const endpointOf = (sources: Sources) => resolve(sources) as ProviderEndpoint;
const errorOf = (sources: Sources) => (resolve(sources) as { error: string }).error;

const own = { openai_base_url: 'http://own/v1', openai_api_key: 'own-key' };
const service = { openaiApiBase: 'http://service/v1', openaiApiKey: 'service-key' };

/** The same as fields of an entry in JSON, and the URL without its key. */
const [OWN, OWN_URL] = [JSON.stringify(own).slice(1, -1), '"openai_base_url":"http://own/v1"'];
const SERVICE = `"settings":${JSON.stringify(service)}`;
// For a server that asks for no key; one whose key has moved to a variable since, or whose variable
// has another name now.
const addresses = tableOf<[entry: string, more: string, asked: string]>(`
  ${OWN}                      | ${SERVICE}                           | http://own/v1 own-key
                              | ${SERVICE}                           | http://service/v1 service-key
  "openai_base_url":"","openai_api_key":" " | ${SERVICE}             | http://service/v1 service-key
  "openai_api_key_env":"K"    | ${SERVICE},"environment":{"K":"named-key\\n"} | http://service/v1 named-key
  ${OWN},"openai_api_key_env":"K" |                                  | http://own/v1 own-key
  ${OWN},"openai_api_key_env":"K" | "environment":{"K":"named-key"}  | http://own/v1 own-key
  ${OWN},"basemodel":"anthropic/c" |                                | http://own/v1 own-key
                              | "settings":{"openaiApiKey":"k"}      | https://api.openai.com/v1 k
  ${OWN_URL}             |                                      | http://own/v1 null
  ${OWN}                      | "later":{${OWN},"openai_api_key":"","openai_api_key_env":"M"},"environment":{"M":"own-key"} | http://own/v1 own-key
  "openai_api_key_env":"K"    | ${SERVICE},"later":{"openai_api_key_env":"M"},"environment":{"K":"named-key","M":"other-key"} | http://service/v1 named-key
  "openai_api_key_env":"K"    | ${SERVICE},"later":{"openai_api_key":"other-key"},"environment":{"K":"named-key"} | http://service/v1 named-key
  "openai_api_key_env":"K"    | ${SERVICE},"later":{"openai_api_key":"other-key"} | http://service/v1 other-key
  "openai_base_url":"http://own/v1?a=1&a=2","openai_api_key":"k" |                     | http://own/v1?a=1&a=2 k
`);
for (const [entry, more, asked] of addresses) {
  test(`where a model is asked, and with which key: ${entry} ${more}`, () => {
    const sources = JSON.parse(`{"entry":{${entry}}${more && `,${more}`}}`);
    const { baseUrl, apiKey } = endpointOf({ environment: canaries, ...sources });
    assert.equal(`${baseUrl} ${apiKey}`, asked);
  });
}

const cut = {
  openai_base_url: 'http://me:pass@own/v1?api-version=1&sig=x%26y#z',
  openai_api_key: 'own-key',
};

test('what was cut from a URL and a body is found again in the entry, and otherwise in OPENAI_API_BASE', () => {
  const extra = {
    extra_body: { headers: [{ Authorization: 'secret-5' }], api_key: 'secret-6', stop: 'x' },
  };
  const whole = 'http://me:pass@own/v1?api-version=1&sig=x%26y';
  const found = endpointOf({
    entry: { ...cut, ...extra },
    later: { ...cut, ...extra, temperature: 1, basemodel: 'other' },
  });
  assert.deepEqual(
    [found.baseUrl, found.parameters],
    [whole, { model: 'model-a', ...extra.extra_body }],
  );
  const sources = {
    entry: { openai_base_url: cut.openai_base_url, openai_api_key_env: 'KEY' },
    later: { openai_base_url: 'http://elsewhere/v1', openai_api_key_env: 'KEY' },
    ...{ settings: { openaiApiBase: whole }, environment: { KEY: 'own-key' } },
  };
  assert.equal(endpointOf(sources).baseUrl, whole);
});

test('a request names its secrets, so that no error repeats them', () => {
  const openai_base_url =
    'http://me:pass%20word@own/v1?api-version=2024-10-21&sig=x%26y-signed&n=1';
  const [openai_api_key, text] = ['own-key-of-entry', 'not a secret'];
  const secrets = { api_key: 'secret-of-body', token: 'short' };
  const extra_body = { ...secrets, user: openai_api_key, stop: text };
  const found = endpointOf({ entry: { openai_base_url, openai_api_key, extra_body } });
  const expected = [
    ...['secret-of-body', 'own-key-of-entry', 'short', 'pass%20word', 'pass word'],
    ...['x%26y-signed', 'x&y-signed', Buffer.from('me:pass word').toString('base64')],
  ];
  assert.deepEqual([...(found.secrets ?? [])].sort(), expected.sort());
});

test('a password that no URL can hold is only what it is', () => {
  const openai_base_url = 'http://%zz:%zz-of-url@own/v1';
  const { secrets } = endpointOf({ entry: { ...own, openai_base_url } });
  assert.ok(secrets?.includes('%zz-of-url'));
});

test('fields whose names only sound like secrets are stored as they are, secrets are not, however their names are written, and are found again', () => {
  const kept = {
    ...Object.fromEntries(
      `prompt_cache_key stop_token max_token key keys sort_key eos_token tokens authorization_mode
       reset_password_url secretary`
        .split(/\s+/)
        .map((name) => [name, 'kept']),
    ),
    routing: { primary_key: ['kept'] },
  };
  const secret = {
    ...Object.fromEntries(
      `api_key X-API-Key openaiApiKey Authorization proxy-authorization client_secret password
       access_token bearer_token Ocp-Apim-Subscription-Key aws_secret_access_key private_key auth
       cookie`
        .split(/\s+/)
        .map((name) => [name, 'secret']),
    ),
    ...{ token: ['secret', { any: 'secret' }], credentials: { user: 'secret', tries: 2 } },
  };
  const { parameters } = entryWith({ entry: { extra_body: { ...kept, ...secret } } });
  const { model: _model, ...stored } = parameters;
  const blank = JSON.parse(JSON.stringify(secret), (_name, value) =>
    typeof value === 'string' ? '' : value,
  );
  assert.deepEqual(stored, { ...kept, ...blank });
  const found = endpointOf({ entry: { ...own, extra_body: { ...kept, ...secret } } });
  assert.deepEqual(found.parameters, { model: 'model-a', ...kept, ...secret });
});

test('a known key is not stored in any field: of the settings, of every entry, and of variables; all of it is found again', () => {
  const settings = {
    openaiApiKey: 'key-of-the-service',
    massiveApiKey: 'key-of-prices',
    jinaApiKey: 'key-of-news',
    apiToken: 'key-of-clients',
  };
  const environment = {
    OF_B: 'key-of-variable',
    OTHER_API_KEY: 'key-of-nothing',
    HOME: '/home/of-someone',
  };
  const others = ['key-of/b+', 'key-of-variable', 'key-of-nothing', 'own-key'];
  const keys = [...Object.values(settings), ...others];
  const extra_body = {
    user: keys,
    headers: { 'x-gateway': keys.map((key) => ({ value: `Bearer ${key}` })).slice(0, -1) },
    link: `https://gateway/?key=${encodeURIComponent('key-of/b+')}`,
    home: environment.HOME,
    marked: '[key]',
    stop: '',
  };
  const entry = { ...own, extra_body };
  const stored = entryWith({ entry, settings, environment });
  assert.deepEqual(
    keys.filter((key) => encodeEntry(stored).includes(key)),
    [],
  );
  assert.deepEqual(
    [stored.parameters['home'], stored.parameters['stop'], stored.parameters['link']],
    ['/home/of-someone', '', '[key]'],
  );
  const found = endpointOf({ entry, settings, environment });
  assert.deepEqual(found.parameters, { model: 'model-a', ...extra_body });
  const lost = errorOf({ entry: { ...own, extra_body: { user: 'own-key' } }, later: own });
  assert.match(lost, /its entry no longer has user in extra_body$/);
});

const HELD =
  'has no key: openai_api_key, which its entry held, is no longer in the server configuration';
const CUT = `"openai_base_url":"${cut.openai_base_url}","openai_api_key":"own-key"`;
const LOST = '…: neither its entry nor OPENAI_API_BASE has …http://own/v1?api-version=&sig=';
const CLAUDE = '"basemodel":"anthropic/c"';
// What was cut from the URL: without the file, of another server, and one value. The key that the
// entry held: without it, of another server, of another maker. A secret of the body: of another
// server, and without it.
const refusals = tableOf<[entry: string, more: string, error: string]>(`
                                             |                                      | has no key: set openai_api_key or openai_api_key_env in its entry, or OPENAI_API_KEY
  "openai_api_key_env":"MY_KEY"              | ${SERVICE}                           | has no key: …variable MY_KEY…
  "openai_api_key_env":"MY_KEY"              | "environment":{"MY_KEY":"your_key_here"} | has no key: …variable MY_KEY…
  "openai_api_key":"secret\\nX-Evil: 1"      |                                      | …its key contains blanks…
  ${CUT}                                     | "later":null                         | ${LOST}
  ${CUT}                                     | "later":{${OWN}},"settings":{"openaiApiBase":"http://service/v1?api-version=1&sig=2"} | ${LOST}
  ${CUT}                                     | "later":{${CUT},"openai_base_url":"http://me:pass@own/v1?api-version=1"} | ${LOST}
  ${OWN}                                     | "later":{${OWN_URL}}            | ${HELD}
  ${OWN}                                     | "later":{"openai_base_url":"http://elsewhere/v1","openai_api_key":"secret-of-other"} | ${HELD}
  ${CLAUDE},"openai_api_key":"secret-of-claude" | "later":{"basemodel":"gpt-5.6","openai_api_key":"secret-of-gpt"} | ${HELD}
  ${OWN_URL},"extra_body":{"api_key":"secret"} | "later":{"openai_base_url":"https://own/v1","extra_body":{"api_key":"secret-of-other"}} | …its entry no longer has api_key in extra_body
  ${OWN},"extra_body":{"a":{"api_key":"secret"}} | "later":{${OWN}}                 | …its entry no longer has a.api_key in extra_body
  "basemodel":"acme/model"                   | "settings":{"openaiApiKey":"k"}      | …'acme/' (known: openai/, …openrouter/)…openai_base_url…
  ${CLAUDE}                                  | "settings":{"openaiApiKey":"k"}      | has no key: set ANTHROPIC_API_KEY, or openai_api_key_env in its entry
`);
for (const [entry, more, error] of refusals) {
  test(`no request can be made: ${entry} ${more}`, () => {
    const found = errorOf(JSON.parse(`{"entry":{${entry}}${more && `,${more}`}}`));
    assert.match(found, like(`…'model-a'…${error}`));
    assert.doesNotMatch(found, /secret|me:pass|own-key/);
  });
}

const terms = parseConfiguration({ models: [] }, 'test').agent_config;
const hashOf = (entry: object, settings: Partial<Settings> = {}, changed: object = {}) =>
  requestHash(entryWith({ entry: { api: 'chat', ...entry }, settings }), { ...terms, ...changed });
const plain = hashOf({});
const MEMBER = { symbol: 'AAPL', from: '2025-01-01', to: '9999-12-31' };

const without = { seed: 7, repeats: 5, stream: false, enabled: true, max_cost_usd: 1 };
test('what cannot change what a model does is not asked in another way', () => {
  const price_per_million_tokens = { input: 1, output: 1 };
  const fields = { ...without, ...own, price_per_million_tokens, knowledge_cutoff: '2025-01-01' };
  for (const [name, value] of Object.entries(fields))
    assert.equal(hashOf({ [name]: value }), plain, name);
  assert.equal(hashOf({}, {}, { stock_symbols: [...nasdaq100].reverse() }), plain);
  const ofRange = { stock_symbols: ['AAPL'], members: [MEMBER] };
  assert.equal(hashOf({}, {}, ofRange), hashOf({}, {}, { members: [MEMBER] }));
});

const asked = { api: 'messages', basemodel: 'x', temperature: 0, prompt: 'x', notes: true };
const costs = { commission_per_trade: 1, commission_bps: 1, slippage_bps: 1 };
test('what can change what a model does is asked in another way', () => {
  const hashes = [plain, hashOf({}, { jinaApiKey: 'key' }), requestHash(null, terms)];
  for (const [name, value] of Object.entries({ ...asked, extra_body: { a: 1 } }))
    hashes.push(hashOf({ [name]: value }));
  const changed = { ...costs, max_steps: 1, stock_symbols: ['AAPL'], dividends: false };
  for (const [name, value] of Object.entries(changed))
    hashes.push(hashOf({}, {}, { [name]: value }));
  for (const member of [MEMBER, { ...MEMBER, to: '2025-06-05' }])
    hashes.push(hashOf({}, {}, { members: [member] }));
  assert.equal(new Set(hashes).size, 17);
});

test('patience comes from the settings and the agent configuration', () => {
  const { requestTimeoutMs, maxRetries, baseDelayMs } = endpointOf({
    entry: own,
    settings: { modelRequestTimeoutMs: 1_234 },
    agentConfig: { max_retries: 7, base_delay: 0.25 },
  });
  assert.deepEqual([requestTimeoutMs, maxRetries, baseDelayMs], [1_234, 7, 250]);
});

test('in DEV every model is simulated, whatever its entry says', () => {
  for (const entry of [own, { api: 'agent', agent_url: 'http://own/decide' }])
    assert.deepEqual(resolve({ entry, settings: { deploymentMode: 'DEV' } }), {
      kind: 'simulated',
    });
});

/** Each maker's key, as a canary. */
const canaries = Object.fromEntries(
  makers.map(({ keyVariable }) => [keyVariable, `canary-of-${keyVariable}`]),
);

const way = /^(\S+) +(\S+) +(\S+) +(\S+) +(\S+)$/gm;
const MAKERS = `
gpt-5.6                   https://api.openai.com/v1    responses gpt-5.6         OPENAI_API_KEY
openai/gpt-5.6            https://api.openai.com/v1    responses gpt-5.6         OPENAI_API_KEY
anthropic/claude-opus-5-5 https://api.anthropic.com    messages  claude-opus-5-5 ANTHROPIC_API_KEY
x-ai/grok-5               https://api.x.ai/v1          responses grok-5          XAI_API_KEY
xai/grok-5                https://api.x.ai/v1          responses grok-5          XAI_API_KEY
gemini/gemini-3           https://generativelanguage.googleapis.com/v1beta/openai chat gemini-3 GEMINI_API_KEY
deepseek/deepseek-v4      https://api.deepseek.com     chat      deepseek-v4     DEEPSEEK_API_KEY
mistralai/magistral       https://api.mistral.ai/v1    chat      magistral       MISTRAL_API_KEY
moonshotai/kimi-k3        https://api.moonshot.ai/v1   chat      kimi-k3         MOONSHOT_API_KEY
qwen/qwen4                https://dashscope-intl.aliyuncs.com/compatible-mode/v1 chat qwen4 DASHSCOPE_API_KEY
openrouter/z-ai/glm-5     https://openrouter.ai/api/v1 chat      z-ai/glm-5      OPENROUTER_API_KEY`;
for (const [, basemodel, host, api, model, variable = ''] of MAKERS.matchAll(way))
  test(`${basemodel} is asked at ${host} by ${api} with ${variable}`, () => {
    const settings = { openaiApiKey: canaries['OPENAI_API_KEY'] ?? null };
    const found = endpointOf({ entry: { basemodel }, settings, environment: canaries });
    assert.deepEqual(
      [found.baseUrl, found.api, found.parameters, found.stream, found.apiKey, found.cacheKey],
      [host, api, { model }, 'added', canaries[variable], 'model-a'],
    );
  });

const BASE = '"basemodel":"anthropic/claude"';
// With a URL nothing of what is known of its maker applies.
const others = tableOf<[entry: string, base: string, api: string, stream: string]>(`
  "basemodel":"gpt-4.1","api":"chat","seed":7 |               | chat      | added
  "basemodel":"gpt-5.6","stream":false        |               | responses | off
  ${BASE},${OWN_URL}                         |               | chat      | off
  ${BASE}                                     | http://own/v1 | chat      | off
  ${BASE},${OWN_URL},"api":"responses"       |               | responses | added
  ${BASE},${OWN_URL},"stream":true           |               | chat      | set
  ${BASE},${OWN_URL},"extra_body":{"stream":true} |          | chat      | set
`);
for (const [entry, base, api, stream] of others) {
  test(`${entry} ${base} is asked by ${api}, its stream ${stream}`, () => {
    const settings = { openaiApiKey: 'k', ...(base !== '' && { openaiApiBase: base }) };
    const found = endpointOf({ entry: JSON.parse(`{${entry}}`), settings, environment: canaries });
    const isOwn = entry.startsWith(BASE);
    const asked = isOwn ? ['http://own/v1', null] : ['https://api.openai.com/v1', 'model-a'];
    assert.deepEqual(
      [found.baseUrl, found.cacheKey, found.api, found.stream, found.apiKey],
      [...asked, api, stream, 'k'],
    );
    assert.equal('stream' in found.parameters, false);
    if (isOwn) assert.equal(found.parameters['model'], 'anthropic/claude');
  });
}

const USUAL = '"temperature":0,"top_p":0.9,"seed":0,"max_tokens":100,"reasoning_effort":"low"';
/** Entries, and what their requests have beside the model. */
const bodies = tableOf<[entry: string, fields: string]>(`
  ${OWN},${USUAL}                                                    | ${USUAL}
  ${OWN},"temperature":null,"seed":null                              |
  ${OWN},"temperature":1,"extra_body":{"temperature":0.5,"provider":{"order":["x"]},"stop":null} | "temperature":0.5,"provider":{"order":["x"]},"stop":null
  "basemodel":"gpt-5.6","reasoning_effort":"xhigh","max_tokens":9    | "reasoning":{"effort":"xhigh"},"max_output_tokens":9
  ${CLAUDE},"reasoning_effort":"max","max_tokens":9                  | "output_config":{"effort":"max"},"max_tokens":9
  ${CLAUDE},"reasoning_effort":"none"                                | "thinking":{"type":"disabled"}
  "basemodel":"gpt-4.1","api":"chat","reasoning_effort":"minimal","max_tokens":9 | "reasoning_effort":"minimal","max_tokens":9
  "basemodel":"deepseek/d","reasoning_effort":"none"                 | "thinking":{"type":"disabled"}
  "basemodel":"deepseek/d","reasoning_effort":"high"                 | "reasoning_effort":"high"
  "basemodel":"moonshotai/k","reasoning_effort":"none"               | "thinking":{"type":"disabled"}
  "basemodel":"qwen/q","reasoning_effort":"none"                     | "enable_thinking":false
  "basemodel":"openrouter/a/b","reasoning_effort":"low"              | "reasoning":{"effort":"low"}
  "basemodel":"gpt-5.6","reasoning_effort":"low","extra_body":{"reasoning":{"effort":"high"}} | "reasoning":{"effort":"high"}
`);
for (const [entry, fields] of bodies) {
  test(`the request of ${entry} has ${fields}`, () => {
    const settings = { openaiApiKey: 'k' };
    const found = endpointOf({ entry: JSON.parse(`{${entry}}`), settings, environment: canaries });
    const { model: _model, ...parameters } = found.parameters;
    assert.deepEqual(parameters, JSON.parse(`{${fields}}`));
  });
}

const refusedEntries = tableOf<[entry: string, error: string]>(`
  "api":"grpc"                                | api: must be one of chat, responses, messages…
  "reasoning_effort":"huge"                   | reasoning_effort: must be one of none, minimal, low, medium, high, xhigh, max
  ${CLAUDE},"reasoning_effort":"minimal"      | reasoning_effort: cannot be minimal here, only none, low, medium, high, xhigh, max; extra_body…
  "basemodel":"qwen/q","reasoning_effort":"low" | reasoning_effort: cannot be low here, only none; extra_body…
  "seed":7                                    | seed: is not a field of Responses: remove it, set "api": "chat", name a URL, or put it into extra_body
  ${CLAUDE},"seed":7                          | seed: is not a field of Messages…
`);
for (const [entry, error] of refusedEntries) {
  test(`${entry} is refused when the configuration is read`, () => {
    const models = [{ signature: 'model-a', ...JSON.parse(`{${entry}}`) }];
    assert.throws(() => parseConfiguration({ models }, 'test'), {
      message: like(`…: models['model-a'].${error}`),
    });
  });
}
