import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createProviderModel } from '../../src/agent/provider/ask.ts';
import type { ApiDialect } from '../../src/basics/domain.ts';
import type { Addition, Endpoint } from '../../src/wire/protocol.ts';
import { openDatabase } from '../../src/database/database.ts';
import { addLeftOut, leftOutOf } from '../../src/database/jobs.ts';
import { insertTestJob } from '../support/jobs.ts';
import { realAgentHere } from '../support/agent-here.ts';
import {
  type Behaviour,
  type ModelRequest,
  type Reply,
  says,
  startModelServer,
} from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
import { assertReplays } from '../support/replays.ts';
import { until } from '../support/until.ts';

/** What the service adds to requests by itself, and a provider refuses. */

const DAYS = { start_date: '2025-10-06', end_date: '2025-10-07' };

const answerOf: Record<ApiDialect, Reply> = {
  chat: says('Held.'),
  responses: {
    body: {
      id: 'r',
      status: 'completed',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Held.' }] },
      ],
    },
  },
  messages: {
    body: {
      id: 'm',
      role: 'assistant',
      content: [{ type: 'text', text: 'Held.' }],
      stop_reason: 'end_turn',
    },
  },
};

interface Row {
  api: ApiDialect;
  isIn: (body: any) => boolean;
  /** How it is refused: the field, and the words. */
  errors: { param?: string; message: string }[];
  /** What the entry says, besides the dialect. */
  entry?: object;
  /** The entry's own choice of it. */
  own: object;
}

const rows: Record<Exclude<Addition, 'prompt_cache_key'>, Row> = {
  stream: {
    api: 'responses',
    isIn: ({ stream }) => stream === true,
    errors: [
      { param: 'stream', message: 'Your organization must be verified to stream this model.' },
      { message: 'Unsupported value: stream' },
    ],
    own: { stream: true },
  },
  stream_options: {
    api: 'chat',
    entry: { stream: true },
    isIn: ({ stream_options: options }) => options !== undefined,
    errors: [{ message: "Unrecognized request argument supplied: 'stream_options'" }],
    own: { extra_body: { stream_options: { include_usage: true } } },
  },
  'reasoning.summary': {
    api: 'responses',
    isIn: ({ reasoning }) => reasoning?.summary !== undefined,
    errors: [
      {
        param: 'reasoning.summary',
        message: 'Your organization must be verified to generate summaries.',
      },
      { message: 'This model has no `reasoning`' },
      { param: 'reasoning_effort', message: 'Not here.' },
    ],
    own: { extra_body: { reasoning: { summary: 'detailed' } } },
  },
  include: {
    api: 'responses',
    isIn: ({ include }) => include !== undefined,
    errors: [{ param: 'include', message: 'Encrypted content is not supported with this model.' }],
    own: { extra_body: { include: [] } },
  },
  thinking: {
    api: 'messages',
    isIn: ({ thinking }) => thinking !== undefined,
    errors: [
      { message: 'adaptive thinking is not supported on this model' },
      { message: 'thinking.type: Input tag not expected' },
    ],
    own: { extra_body: { thinking: { type: 'adaptive' } } },
  },
  cache_control: {
    api: 'messages',
    isIn: (body) => JSON.stringify(body).includes('"cache_control"'),
    errors: [
      { message: 'system.0.cache_control: Extra inputs are not permitted' },
      { message: 'cache_control is unknown' },
    ],
    own: { extra_body: { cache_control: { type: 'ephemeral' } } },
  },
};

const refusing =
  ({ api, isIn }: Row, error: object, status: number): Behaviour =>
  ({ body }) =>
    isIn(body)
      ? { status, body: { error: { type: 'invalid_request_error', ...error } } }
      : answerOf[api];

for (const [name, row] of Object.entries(rows)) {
  for (const [index, error] of row.errors.entries()) {
    const status = index % 2 === 0 ? 400 : 422;
    const what = `'${error.param ?? error.message}'`;
    test(`${name}: refused with ${what}, it is left out for the rest of the run, and the job tells it once`, async (t) => {
      const server = await startModelServer(t, refusing(row, error, status));
      const service = await startProdService(t, {
        agent: await realAgentHere(),
        models: [{ signature: 'm', openai_base_url: server.baseUrl, api: row.api, ...row.entry }],
        agentConfig: { max_retries: 0, base_delay: 1_000 }, // it would be waited for in vain
      });
      const { status: end, warnings } = await service.runJob(DAYS);
      assert.equal(end, 'completed');
      assert.deepEqual(
        server.requests.map(({ body }) => row.isIn(body)),
        [true, false, false],
      );
      const told = warnings.filter((warning: string) =>
        warning.includes(`is asked without ${name}`),
      );
      assert.equal(told.length, 1, JSON.stringify(warnings));
      assert.ok(told[0].includes(error.message), told[0]);
    });
  }

  test(`${name}: what the entry sets is never left out`, async (t) => {
    const [error] = row.errors;
    const server = await startModelServer(
      t,
      refusing({ ...row, isIn: () => true }, error ?? {}, 400),
    );
    const service = await startProdService(t, {
      agent: await realAgentHere(),
      models: [
        { signature: 'm', openai_base_url: server.baseUrl, api: row.api, ...row.entry, ...row.own },
      ],
    });
    const { status, warnings, details } = await service.runJob({
      ...DAYS,
      end_date: DAYS.start_date,
    });
    assert.equal(status, 'failed');
    assert.ok(details[0].error.includes(error?.message), details[0].error);
    const first = server.requests[0]?.body;
    assert.ok(row.isIn(first), JSON.stringify(first));
    assert.ok(
      !warnings?.some((warning: string) => warning.includes(`without ${name}`)),
      JSON.stringify(warnings),
    );
    assert.ok(server.requests.every(({ body }) => row.isIn(body)));
  });
}

test('reasoning where the entry sets an effort is its own: the model-day fails', async (t) => {
  const error = { param: 'reasoning', message: 'This model has no reasoning.' };
  const server = await startModelServer(t, [{ status: 400, body: { error } }]);
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [
      {
        signature: 'm',
        openai_base_url: server.baseUrl,
        api: 'responses',
        reasoning_effort: 'high',
      },
    ],
  });
  assert.equal((await service.runJob(DAYS)).status, 'failed');
  assert.ok(
    server.requests.every(
      ({ body }) => body.reasoning.effort === 'high' && body.reasoning.summary === 'auto',
    ),
  );
});

test('prompt_cache_key: refused, it is left out of every later request', async (t) => {
  const isIn = (body: any) => body.prompt_cache_key !== undefined;
  const row: Row = { api: 'responses', isIn, errors: [], own: {} };
  const server = await startModelServer(
    t,
    refusing(row, { param: 'prompt_cache_key', message: 'Unknown parameter.' }, 400),
  );
  const endpoint: Endpoint = {
    ...{
      kind: 'provider',
      api: 'responses',
      baseUrl: server.baseUrl,
      apiKey: null,
      leftOut: [],
      parameters: { model: 'm' },
    },
    ...{ stream: 'off', cacheKey: 'abc', requestTimeoutMs: 60_000, maxRetries: 0, baseDelayMs: 1 },
  };
  const refused: (readonly Addition[])[] = [];
  const model = createProviderModel(endpoint, {
    tools: [],
    onFailure: () => {},
    onRefused: (names) => void refused.push(names),
  });
  const conversation = [{ role: 'user', content: 'Good morning' }] as const;
  await model(conversation);
  await model(conversation);
  assert.deepEqual(refused, [['prompt_cache_key']]);
  assert.deepEqual(
    server.requests.map(({ body }) => body.prompt_cache_key),
    ['abc', undefined, undefined],
  );
});

/**
 * One call of a tool with what has to go back, and then the end, in the form of each dialect;
 * `turn` from 1.
 */
const turnOf: Record<'responses' | 'messages', (turn: number) => Reply> = {
  responses: (turn) =>
    turn > 2
      ? answerOf.responses
      : {
          body: {
            id: 'r',
            status: 'completed',
            output: [
              {
                type: 'reasoning',
                id: `rs_${turn}`,
                summary: [],
                encrypted_content: `secret thought ${turn}`,
              },
              {
                type: 'function_call',
                call_id: `call_${turn}`,
                name: 'buy',
                arguments: '{"symbol":"AAPL","amount":1}',
              },
            ],
          },
        },
  messages: (turn) => {
    if (turn > 2) return answerOf.messages;
    const thought = { type: 'thinking', thinking: '', signature: `secret thought ${turn}` };
    const use = {
      type: 'tool_use',
      id: `toolu_${turn}`,
      name: 'buy',
      input: { symbol: 'AAPL', amount: 1 },
    };
    const isPaused = turn === 1;
    const content = isPaused
      ? [thought, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }]
      : [thought, use];
    return {
      body: {
        id: 'm',
        role: 'assistant',
        content,
        stop_reason: isPaused ? 'pause_turn' : 'tool_use',
      },
    };
  },
};

const LEFT_OUT = `SELECT 1 FROM simulation_runs WHERE left_out <> '[]'`;

/** How many answers of its own a request carries back. */
const answersIn = ({ body }: ModelRequest): number =>
  JSON.stringify(body).split('secret thought').length - 1;

for (const api of ['responses', 'messages'] as const) {
  for (const step of [1, 2, 3]) {
    test(`${api}: a restart while step ${step} is asked continues there, with what went back and what was left out`, async (t) => {
      const refused = api === 'responses' ? 'include' : 'thinking';
      const turns: number[] = [];
      const behaviour: Behaviour = (request) => {
        if (request.body[refused] !== undefined)
          return { status: 400, body: { error: { message: `${refused} is unknown` } } };
        const turn = answersIn(request) + 1;
        turns.push(turn);
        const isFirst = turns.filter((one) => one === turn).length === 1;
        return turn === step && isFirst ? 'never' : turnOf[api](turn);
      };
      const server = await startModelServer(t, behaviour);
      const entry = { signature: 'm', openai_base_url: server.baseUrl, api };
      const agent = await realAgentHere();
      const first = await startProdService(t, { agent, models: [entry] });
      const { body } = await first.post('/simulate/trigger', {
        ...DAYS,
        end_date: DAYS.start_date,
      });
      await server.untilAsked(step + 1);
      await until('the refusal to be stored', () => first.database.statement(LEFT_OUT).get());
      await first.stop();
      const later = await startProdService(t, {
        agent,
        models: [entry],
        folder: first.folder,
        prices: '',
      });
      const { status, details, warnings } = await later.waitForJob(body.job_id);
      assert.deepEqual([status, details[0].steps], ['completed', 3], details[0].error);
      assert.deepEqual(
        turns,
        [1, 2, 3].flatMap((turn) => (turn === step ? [turn, turn] : [turn])),
        'no answer was paid for twice',
      );
      const named = server.requests.filter((request) => request.body[refused] !== undefined);
      assert.equal(named.length, 1, 'what was refused is left out after the restart too');
      assert.equal(
        warnings.filter((warning: string) => warning.includes(`without ${refused}`)).length,
        1,
      );
      await assertReplays(later.database);
      const { body: reasoning } = await later.get('/reasoning?include_full_conversation=true');
      assert.ok(!JSON.stringify(reasoning).includes('secret thought'));
    });
  }
}

/** The messages of a day's log before its third step, by dialect: what a crash may leave of it. */
const before = {
  responses: ['system', 'user', 'assistant', 'tool', 'assistant', 'tool'],
  messages: ['system', 'user', 'assistant', 'assistant', 'tool'],
};

for (const api of ['responses', 'messages'] as const) {
  for (const kept of [...before[api].keys()].slice(1)) {
    // the prompt's two messages are one write
    test(`${api}: a crash that left ${kept + 1} messages of the day costs no answered request again`, async (t) => {
      const turns: number[] = [];
      let hasCrashed = false;
      const server = await startModelServer(t, (request) => {
        const turn = answersIn(request) + 1;
        if (turn === 3 && !hasCrashed) return 'never';
        if (hasCrashed) turns.push(turn);
        return turnOf[api](turn);
      });
      const models = [{ signature: 'm', openai_base_url: server.baseUrl, api }];
      const agent = await realAgentHere();
      const first = await startProdService(t, { agent, models });
      const { body } = await first.post('/simulate/trigger', {
        ...DAYS,
        end_date: DAYS.start_date,
      });
      await server.untilAsked(3);
      const log = first.database.statement(
        'SELECT role FROM reasoning_logs ORDER BY message_index',
      );
      await until('its messages', () => log.all().length === before[api].length);
      assert.deepEqual(
        log.all().map(({ role }) => role),
        before[api],
      );
      await first.stop();
      const database = new DatabaseSync(`${first.folder}/jobs.db`);
      database.prepare('DELETE FROM reasoning_logs WHERE message_index > ?').run(kept);
      database.close();
      hasCrashed = true;
      const later = await startProdService(t, { agent, models, folder: first.folder, prices: '' });
      const { status, details } = await later.waitForJob(body.job_id);
      const answered = before[api].slice(0, kept + 1).filter((role) => role === 'assistant').length;
      const lost = 2 - answered; // deleted here, but counted when they came
      assert.deepEqual([status, details[0].steps], ['completed', 3 + lost], details[0].error);
      assert.deepEqual(turns, [1, 2, 3].slice(answered));
      await assertReplays(later.database);
    });
  }
}

test('an entry that moved in the middle of a day: its blocks stay where they were made, and the day fails with a sentence', async (t) => {
  const server = await startModelServer(t, (request) =>
    answersIn(request) === 0 ? turnOf.responses(1) : 'never',
  );
  const elsewhere = await startModelServer(t, [answerOf.responses]);
  const failures: string[] = [];
  const asked: Endpoint = {
    ...{
      kind: 'provider',
      api: 'responses',
      baseUrl: server.baseUrl,
      apiKey: null,
      leftOut: [],
      parameters: { model: 'm' },
    },
    ...{ stream: 'off', cacheKey: null, requestTimeoutMs: 60_000, maxRetries: 0, baseDelayMs: 1 },
  };
  const modelAt = (changes: Partial<Endpoint>) =>
    createProviderModel(
      { ...asked, ...changes },
      { tools: [], onFailure: ({ reason }) => void failures.push(reason) },
    );
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
      /^Error: The day began with m at http.* \(responses\), whose thoughts .* cannot read/,
    );
  assert.deepEqual([server.requests.length, elsewhere.requests.length, failures.length], [1, 0, 0]);
});

test('what was left out is stored with its run, each addition once', () => {
  const database = openDatabase(':memory:');
  const runs = ['m', 'n'].map((model) => ({ model, startDate: '2025-10-06' }));
  const range = { startDate: '2025-10-06', endDate: '2025-10-06', dates: ['2025-10-06'] };
  const others = { replaceExisting: false, agentConfig: {}, warnings: [] };
  const createdAt = '2025-12-01T00:00:00.000Z';
  insertTestJob(database, { jobId: 'job', ...range, runs, ...others, createdAt });
  const run = { jobId: 'job', model: 'm' };
  assert.deepEqual(leftOutOf(database, run), []);
  addLeftOut(database, run, ['stream']);
  addLeftOut(database, run, ['thinking', 'stream']);
  assert.deepEqual(leftOutOf(database, run), ['stream', 'thinking']);
  assert.deepEqual(leftOutOf(database, { ...run, model: 'n' }), []);
});
