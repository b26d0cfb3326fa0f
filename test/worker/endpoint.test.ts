import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfiguration } from '../../src/configuration.ts';
import { decodeEntry, encodeEntry } from '../../src/entry.ts';
import type { Endpoint } from '../../src/protocol.ts';
import { type Settings, readSettings } from '../../src/settings.ts';
import { resolveModel } from '../../src/worker/endpoint.ts';
import { resolveEntry } from '../../src/worker/entries.ts';

interface Sources {
  /** The model's entry beside its signature. */
  entry?: object;
  settings?: Partial<Settings>;
  environment?: Record<string, string>;
  agentConfig?: object;
}

function resolve({ entry = {}, settings = {}, environment = {}, agentConfig = {} }: Sources) {
  const configuration = parseConfiguration(
    { models: [{ signature: 'model-a', ...entry }], agent_config: agentConfig },
    'test',
  );
  const all = { ...readSettings({}), ...settings };
  const stored = decodeEntry(encodeEntry(resolveEntry({ family: 'model-a', run: 1 }, { configuration, settings: all })));
  assert.ok(stored !== null);
  return resolveModel(stored, {
    settings: all,
    configuration,
    agentConfig: configuration.agent_config,
    environment,
  });
}

const own = { openai_base_url: 'http://own/v1', openai_api_key: 'own-key' };
const service = { openaiApiBase: 'http://service/v1', openaiApiKey: 'service-key' };

const addresses: [name: string, sources: Sources, baseUrl: string, apiKey: string | null][] = [
  ['its own base URL and key', { entry: own, settings: service }, 'http://own/v1', 'own-key'],
  ["the service's, when the entry has none", { settings: service }, 'http://service/v1', 'service-key'],
  [
    "the service's, when the entry has empty ones",
    { entry: { openai_base_url: '', openai_api_key: ' ' }, settings: service },
    'http://service/v1',
    'service-key',
  ],
  [
    'the key of a variable that the entry names',
    { entry: { openai_api_key_env: 'MY_KEY' }, settings: service, environment: { MY_KEY: 'named-key\n' } },
    'http://service/v1',
    'named-key',
  ],
  [
    'the key that the entry holds, before one that it names',
    { entry: { ...own, openai_api_key_env: 'MY_KEY' }, environment: {} },
    'http://own/v1',
    'own-key',
  ],
  [
    "OpenAI's URL by default",
    { settings: { openaiApiKey: 'service-key' } },
    'https://api.openai.com/v1',
    'service-key',
  ],
  ['no key, for a server that asks for none', { entry: { openai_base_url: 'http://own/v1' } }, 'http://own/v1', null],
];
for (const [name, sources, baseUrl, apiKey] of addresses) {
  test(`the request of a model has ${name}`, () => {
    const endpoint = resolve(sources) as Endpoint;
    assert.deepEqual([endpoint.baseUrl, endpoint.apiKey], [baseUrl, apiKey]);
  });
}

const refusals: [name: string, sources: Sources, error: RegExp][] = [
  [
    'no key at all',
    {},
    /^Model 'model-a' has no key: set openai_api_key or openai_api_key_env in its entry, or OPENAI_API_KEY$/,
  ],
  [
    'a variable that is not set, whatever the service has',
    { entry: { openai_api_key_env: 'MY_KEY' }, settings: service },
    /^Model 'model-a' has no key: the variable MY_KEY, which its entry names, is not set$/,
  ],
  [
    'a key that no header can hold',
    { entry: { openai_api_key: 'secret\nX-Evil: 1' } },
    /^Model 'model-a' has a key that cannot be sent: it contains blanks or characters beyond ASCII$/,
  ],
];
for (const [name, sources, error] of refusals) {
  test(`no request can be made with ${name}`, () => {
    const refusal = resolve(sources) as { error: string };
    assert.match(refusal.error, error);
    assert.doesNotMatch(refusal.error, /secret/);
  });
}

const bodies: [entry: object, parameters: object][] = [
  [{}, { model: 'model-a' }],
  [{ basemodel: 'vendor/model' }, { model: 'vendor/model' }],
  [
    { temperature: 0, top_p: 0.9, seed: 0, max_tokens: 100, reasoning_effort: 'low' },
    { model: 'model-a', temperature: 0, top_p: 0.9, seed: 0, max_tokens: 100, reasoning_effort: 'low' },
  ],
  [{ temperature: null, seed: null }, { model: 'model-a' }],
  [
    { temperature: 1, extra_body: { temperature: 0.5, provider: { order: ['x'] }, stop: null } },
    { model: 'model-a', temperature: 0.5, provider: { order: ['x'] }, stop: null },
  ],
];
for (const [entry, parameters] of bodies) {
  test(`the request of ${JSON.stringify(entry)}`, () => {
    assert.deepEqual((resolve({ entry: { ...own, ...entry } }) as Endpoint).parameters, parameters);
  });
}

test('patience comes from the settings and the agent configuration', () => {
  const { requestTimeoutMs, maxRetries, baseDelayMs } = resolve({
    entry: own,
    settings: { modelRequestTimeoutMs: 1_234 },
    agentConfig: { max_retries: 7, base_delay: 0.25 },
  }) as Endpoint;
  assert.deepEqual([requestTimeoutMs, maxRetries, baseDelayMs], [1_234, 7, 250]);
});

test('in DEV every model is simulated, whatever its entry says', () => {
  assert.deepEqual(resolve({ entry: own, settings: { deploymentMode: 'DEV' } }), { kind: 'simulated' });
});
