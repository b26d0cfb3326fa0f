import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createProviderModel } from '../../src/core/agent/provider/ask.ts';
import { assertLike } from '../support/text-table.ts';
import { type ApiDialect, apiDialects } from '../../src/core/domain/vocabulary.ts';
import type { ProviderEndpoint } from '../../src/core/wire/protocol.ts';
import { endpointAt } from '../support/agents.ts';
import { crashed } from '../support/crashed.ts';
import { replyTo, type Step, stepOf } from '../support/dialect-servers.ts';
import { ledgerOf } from '../support/ledger.ts';
import { isLong, leftToLongForm } from '../support/long.ts';
import { type Reply, startModelServer } from '../support/model-server.ts';
import { PROD, startProdService } from '../support/prod.ts';
import { assertReplays } from '../support/replays.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/**
 * One scripted day through six ways, three dialects, whole and streamed, against a provider as
 * strict as the makers are.
 */

const DAY = { start_date: '2025-10-15', end_date: '2025-10-15' };
const STEPS: Step[] = [
  {
    text: 'I look first.',
    thought: 'AAPL looks cheap → buy?',
    calls: [
      ['get_price', { symbol: 'AAPL' }],
      ['get_portfolio', {}],
    ],
  },
  {
    ...{ text: '', thought: '' }, // a step without thoughts after one with them
    calls: [
      ['buy', { symbol: 'AAPL', amount: 3 }],
      ['buy', { symbol: 'MSFT', amount: 0.5 }],
      ['sell', { symbol: 'MSFT', amount: 1 }],
    ],
  },
  { text: 'Done for today.', thought: 'Enough.', calls: [] },
];
const LEDGER = ['2025-10-15 buy AAPL 3 110 => 9670 10001.5 1.5 AAPL:3'];
const prices = { input: 2, output: 10, cached_input: 0.2, cache_write: 2.5 };

interface WayOptions {
  api: ApiDialect;
  stream: boolean;
  steps?: readonly Step[];
  maxSteps?: number;
}

const entryOf = (openai_base_url: string, { api, stream }: WayOptions) => ({
  ...{ signature: 'm', basemodel: 'model', openai_base_url, openai_api_key: 'sk-of-the-test' },
  ...{ api, stream, price_per_million_tokens: prices },
});

/** What the day came to, whichever way it was asked. */
async function outcomeOf(service: TestService, jobId: string) {
  const { details, status, warnings } = (await service.get(`/simulate/status/${jobId}`)).body;
  const { sessions } = (await service.get('/reasoning?include_full_conversation=true')).body;
  const conversation = sessions.flatMap((session: any) =>
    session.conversation.map(({ timestamp: _at, served, ...message }: any) => ({
      ...message,
      model: served?.model ?? null,
    })),
  );
  const [{ started_at: _start, completed_at: _end, duration_seconds: _seconds, ...used }] = details;
  return { status, warnings, ledger: ledgerOf(service.database, 'm'), conversation, used };
}

async function run(t: TestContext, options: WayOptions) {
  const server = await startModelServer(t, (request) => replyTo(request, options.steps ?? STEPS));
  const service = await startProdService(t, {
    models: [entryOf(server.baseUrl, options)],
    agentConfig: { max_steps: options.maxSteps ?? 30 },
  });
  const { job_id: jobId } = await service.runJob(DAY);
  await assertReplays(service.database);
  return { outcome: await outcomeOf(service, jobId), requests: server.requests };
}

test('the same day through six ways: the same positions, conversation and costs', async (t) => {
  const ways = apiDialects.flatMap((api) => [false, true].map((stream) => ({ api, stream })));
  const days = [];
  for (const way of ways) days.push({ ...way, ...(await run(t, way)) });
  const [{ outcome: first }] = days as [(typeof days)[0]];
  assert.deepEqual(first.ledger, LEDGER);
  const { input, output, cached_input, cache_write } = prices;
  const each = 500 * input + 300 * cached_input + 200 * cache_write + 90 * output;
  assert.ok(Math.abs(first.used.cost_usd - (3 * each) / 1e6) < 1e-12, first.used.cost_usd);
  assert.deepEqual(
    first.conversation
      .filter(({ role }: any) => role === 'assistant')
      .map(({ content, summary, model }: any) => [content.slice(0, 20), summary, model]),
    STEPS.map(({ text, thought }) => [text.slice(0, 20), thought || null, 'model-2026-07-07']),
  );
  assert.doesNotMatch(JSON.stringify(first.conversation), /sealed-/, 'only the provider reads it');
  for (const { api, stream, outcome, requests } of days) {
    assert.deepEqual(outcome, first, `${api} ${stream}`);
    const streams = requests.map(({ body }) => body.stream === true);
    assert.deepEqual(streams, [stream, stream, stream]);
    if (api !== 'messages') continue;
    const results: any[] = requests[2]?.body.messages.at(-1).content;
    const errors = results.map((result) => result.is_error);
    assert.deepEqual(errors, [undefined, true, undefined], 'a malformed call, not a refusal');
    assert.deepEqual(results.at(-1).cache_control, { type: 'ephemeral' });
  }
});

/** Starts a service again on what an earlier one left, with the entries that it stored. */
async function restart(t: TestContext, folder: string): Promise<TestService> {
  return startTestService(t, { configuration: null, folder, settings: PROD });
}

/** The messages of a day's log before its last step. */
const ROLES = 'system user assistant tool tool assistant tool tool tool'.split(' ');
/**
 * How many of them are there after each write; the prompt is one, and the results of an answer. In
 * the short form an answer without its results, and with them.
 */
const WRITTEN = isLong ? [2, 3, 5, 6, 9] : [3, 5];

// How a log becomes a conversation does not depend on the dialect.
for (const api of apiDialects)
  test(`${api}: wherever a crash cuts the log of a day, it continues there, and pays for no answer again`, {
    skip: api !== 'responses' && leftToLongForm,
  }, async (t) => {
    let hasCrashed = false;
    let asked: number[] = [];
    const server = await startModelServer(t, (request): Reply => {
      if (stepOf(request) === 3 && !hasCrashed) return 'never';
      asked.push(stepOf(request));
      return replyTo(request, STEPS);
    });
    const models = [entryOf(server.baseUrl, { api, stream: true })];
    const first = await startProdService(t, { models });
    const { body } = await first.post('/simulate/trigger', DAY);
    await server.untilAsked(3);
    const log = first.database.statement('SELECT role FROM reasoning_logs ORDER BY message_index');
    await until('its messages', () => log.all().length === ROLES.length);
    assert.deepEqual(
      log.all().map(({ role }) => role),
      ROLES,
    );
    await first.stop();
    hasCrashed = true;
    for (const kept of WRITTEN) {
      asked = [];
      const cut = `DELETE FROM reasoning_logs WHERE message_index >= ${kept}`;
      const later = await restart(t, crashed(first.folder, cut));
      await later.waitForJob(body.job_id);
      const answers = ROLES.slice(0, kept).filter((role) => role === 'assistant').length;
      const { status, used, ledger } = await outcomeOf(later, body.job_id);
      // An answer that is cut off here was counted when it came.
      assert.deepEqual([status, used.error, used.steps], ['completed', null, 5 - answers]);
      assert.deepEqual([asked, ledger], [[1, 2, 3].slice(answers), LEDGER], `${kept} messages`);
      await assertReplays(later.database);
    }
  });

test('an entry that moved in the middle of a day: its blocks stay where they were made, and the day fails with a sentence', async (t) => {
  const server = await startModelServer(t, (request) => replyTo(request, STEPS));
  const elsewhere = await startModelServer(t, ['never']);
  const modelAt = (changes: Partial<ProviderEndpoint>) =>
    createProviderModel(endpointAt(server.baseUrl, { api: 'responses', ...changes }), {
      tools: [],
      onFailure: () => assert.fail('asked'),
    });
  const question = { role: 'user', content: 'Good morning' } as const;
  const { content, toolCalls, carried } = await modelAt({})([question]);
  const conversation = [question, { role: 'assistant', content, toolCalls, carried } as const];
  for (const moved of [
    { baseUrl: elsewhere.baseUrl },
    { parameters: { model: 'other' } },
    { api: 'messages' as const },
  ])
    await assert.rejects(
      modelAt(moved)(conversation),
      /^Error: The day began with test at http.* \(responses\), whose thoughts .* cannot read/,
    );
  assert.deepEqual([server.requests.length, elsewhere.requests.length], [1, 0]);
});

test('an answer that its provider pauses continues when it goes back, and each continuation is a step', async (t) => {
  const steps: Step[] = [
    { text: 'Let me think on.', thought: 'Hm.', calls: [], isPaused: true },
    ...STEPS.slice(1),
  ];
  const paused = { api: 'messages', stream: true, steps } as const;
  const { outcome, requests } = await run(t, paused);
  assert.deepEqual([outcome.used.steps, outcome.ledger, outcome.used.error], [3, LEDGER, null]);
  const [user, assistant] = requests[1]?.body.messages ?? [];
  assert.equal(requests[1]?.body.messages.length, 2);
  assert.deepEqual(user.content.at(-1).cache_control, { type: 'ephemeral' });
  assert.equal(assistant.role, 'assistant');
  const { used } = (await run(t, { ...paused, maxSteps: 1 })).outcome;
  assert.deepEqual([used.steps, used.error], [1, null]);
});

const askedWithout = (field: string, words: string) =>
  `…'m' rejected ${field}, which the service adds; …returned 400: ${words}`;

test('what a maker refuses of what the service adds is left out for the whole job, also after a restart, and told once', async (t) => {
  const WEEK = { start_date: '2025-10-13', end_date: '2025-10-15' };
  const refusing: [field: string, words: string, isIn: (body: any) => boolean][] = [
    ['stream', 'You must be verified to stream.', ({ stream }) => stream === true],
    ['reasoning.summary', 'No summaries for you.', ({ reasoning }) => reasoning !== undefined],
  ];
  let holds = true;
  const asked = Promise.withResolvers<void>();
  const server = await startModelServer(t, (request): Reply => {
    const date = /Today's date: (\S+)/.exec(request.body.input[0].content)?.[1];
    const [param, message] = refusing.find(([, , isIn]) => isIn(request.body)) ?? [];
    if (param !== undefined)
      return { status: 400, body: { error: { message, param, code: 'unsupported_value' } } };
    if (holds && date === '2025-10-14') {
      asked.resolve();
      return 'never';
    }
    return replyTo(request, STEPS.slice(2));
  });
  const models = [{ signature: 'm', openai_base_url: server.baseUrl, api: 'responses' }];
  const first = await startProdService(t, { models });
  const { body } = await first.post('/simulate/trigger', WEEK);
  await asked.promise;
  await first.stop();
  holds = false;
  const second = await restart(t, first.folder);
  const { status, warnings } = await second.waitForJob(body.job_id);
  assert.equal(status, 'completed');
  const asking = server.requests.map((request) =>
    refusing.filter(([, , isIn]) => isIn(request.body)).map(([field]) => field),
  );
  const once = [['stream', 'reasoning.summary'], ['reasoning.summary']];
  assert.deepEqual(
    asking.filter((fields) => fields.length > 0),
    once,
    'each is asked for until it is refused, over both lives',
  );
  assertLike(
    warnings.filter((warning: string) => warning.includes('rejected')),
    refusing.map(([field, words]) => askedWithout(field, words)),
  );
});

test('two runs of an entry are asked in the same way: one warning, under the name of the entry', async (t) => {
  const body = { error: { message: 'No stream here.', param: 'stream' } };
  const server = await startModelServer(
    t,
    (request): Reply =>
      request.body.stream === true ? { status: 400, body } : replyTo(request, STEPS.slice(2)),
  );
  const entry = { signature: 'm', openai_base_url: server.baseUrl, api: 'responses', repeats: 2 };
  const service = await startProdService(t, { models: [entry] });
  const { status, warnings, details } = await service.runJob(DAY);
  assert.deepEqual([status, details.map(({ model }: any) => model)], ['completed', ['m', 'm#2']]);
  const told = warnings.filter((warning: string) => warning.includes('rejected'));
  assertLike(told, [askedWithout('stream', 'No stream here.')]);
});
