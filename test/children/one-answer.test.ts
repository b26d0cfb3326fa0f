import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type ApiDialect, apiDialects } from '../../src/core/domain/vocabulary.ts';
import { type Decider, decide } from '../../src/core/trading/decision.ts';
import { bodies, saying } from '../support/dialects.ts';
import { replyTo } from '../support/dialect-servers.ts';
import { ledgerOf } from '../support/ledger.ts';
import { leftToLongForm } from '../support/long.ts';
import { type ModelRequest, type Reply, startModelServer } from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
import { assertReplays, replayDifferences } from '../support/replays.ts';
import { rowsAsText } from '../support/tables.ts';
import { assertLike, like } from '../support/text-table.ts';

/** Days in one answer, in three dialects, by the real child. */

const DAY = { start_date: '2025-10-15', end_date: '2025-10-15' };
const ORDERS = [
  { side: 'buy', symbol: 'AAPL', amount: 3 },
  { side: 'sell', symbol: 'MSFT', amount: 1 },
];
const DECISION = { orders: ORDERS, reason: 'AAPL is cheap.', confidence: 0.7 };
const BOUGHT = ['2025-10-15 buy AAPL 3 110 => 9670 10001.5 1.5 AAPL:3'];
const IDLE = ['2025-10-15 no_trade => 10000 10000 0'];

/** A provider's answer; in Messages a text that is JSON comes as the arguments of the forced tool. */
function answerOf({ body }: Pick<ModelRequest, 'body'>, api: ApiDialect, text: string): Reply {
  const answer = saying(api, text);
  if (api !== 'messages' || body.tool_choice === undefined) return { body: answer };
  const input = JSON.parse(text);
  const call = { type: 'tool_use', id: 't', name: 'trading_decision', input };
  return { body: { ...answer, content: [call] } };
}

interface RunOptions {
  api?: ApiDialect;
  entry?: object;
  agentConfig?: object;
  isForged?: boolean;
}

async function run(
  t: TestContext,
  { api = 'chat', entry, agentConfig = {}, isForged = false }: RunOptions,
  reply: (request: ModelRequest, count: number) => Reply,
) {
  const server = await startModelServer(t, reply);
  const model = {
    ...{ signature: 'm', openai_base_url: server.baseUrl, openai_api_key: 'sk', api },
    ...{ stream: false, decision: 'one_answer', ...entry },
  };
  const service = await startProdService(t, { models: [model], agentConfig, isForged });
  const job = await service.runJob(DAY);
  await assertReplays(service.database);
  const { sessions } = (await service.get('/reasoning?include_full_conversation=true')).body;
  const conversation: any[] = sessions[0]?.conversation ?? [];
  return {
    ...{ service, job, conversation, session: sessions[0], requests: server.requests },
    ledger: ledgerOf(service.database, 'm'),
    bodies: server.requests.map(({ body }) => body),
  };
}

/** What each dialect is asked for. */
const formats: Record<ApiDialect, (body: any) => unknown> = {
  chat: ({ response_format: { type, json_schema } }) => [type, json_schema.name],
  responses: ({ text: { format } }) => [format.type, format.name],
  messages: ({ tool_choice, tools, thinking }) => [tool_choice, tools.length, thinking],
};
const asked: Record<ApiDialect, unknown> = {
  chat: ['json_schema', 'trading_decision'],
  responses: ['json_schema', 'trading_decision'],
  messages: [{ type: 'tool', name: 'trading_decision' }, 1, undefined],
};

for (const api of apiDialects)
  test(`${api}: one request, whose orders are those of a loop`, {
    skip: api !== 'chat' && leftToLongForm,
  }, async (t) => {
    const text = JSON.stringify(DECISION);
    const one = await run(t, { api }, (request) => answerOf(request, api, text));
    assert.deepEqual(one.ledger, BOUGHT);
    assert.deepEqual(one.bodies.map(formats[api]), [asked[api]]);
    if (api !== 'messages') assert.equal(one.bodies[0].tools, undefined);
    assert.deepEqual(
      one.conversation.map(({ role, tool_name: name }: any) => name ?? role),
      ['system', 'user', 'assistant', 'buy', 'sell'],
    );
    const { session_summary: summary, confidence } = one.session;
    assert.deepEqual([summary, confidence], ['AAPL is cheap.', 0.7]);
    const calls = ORDERS.map(({ side, ...order }): [string, object] => [side, order]);
    const steps = [
      { text: 'I trade.', thought: '', calls },
      { text: 'Done.', thought: '', calls: [] },
    ];
    const loop = await run(t, { api, entry: { decision: 'tools' } }, (request) =>
      replyTo(request, steps),
    );
    const results = ({ conversation }: typeof loop) =>
      conversation.filter(({ role }: any) => role === 'tool').map(({ content }: any) => content);
    assert.deepEqual(one.ledger, loop.ledger);
    assert.deepEqual(results(one), results(loop));
    const decisions = ({ service }: typeof loop) =>
      rowsAsText(service.database, 'SELECT kind, side, symbol, amount, detail FROM decisions');
    assert.deepEqual(decisions(one), decisions(loop));
  });

test('what is asked: the report, then the last closes of the universe', async (t) => {
  const { bodies, requests } = await run(t, {}, (request) =>
    answerOf(request, 'chat', JSON.stringify(DECISION)),
  );
  const [system, user] = bodies[0].messages;
  assert.match(system.content, /There are no tools[^]*Answer with one JSON object/);
  assert.doesNotMatch(system.content, /Use the tools|without a tool call/);
  const [heading, dates, ...rows] = user.content.split('\n').slice(-4);
  assert.match(heading, /^The last closes before today, oldest first/);
  assert.match(dates, /^date 2025-10-01 .* 2025-10-14$/);
  assert.deepEqual(
    rows.map((row: string) => row.split(' ').length),
    [11, 11],
  );
  assert.match(rows[0], /^AAPL 100\.5 .* 109\.5$/);
  assert.equal(requests.length, 1);
});

const DAY_IN_ONE_ANSWER: Decider = { by: 'one_answer' };
const AGENT: Decider = { by: 'agent', signature: 'm', run: 'm', maxToolCalls: 1, seconds: 1 };
const WHOLE = JSON.stringify(DECISION);
const NO_OBJECT = 'It is not a JSON object, nor has it one in its only code fence.';
const ordering = (side: string, amount: number) =>
  JSON.stringify({ orders: [{ side, symbol: 'AAPL', amount }], reason: '' });
/** Answers, and what is wrong with them; null where they are read. */
const answers: [what: string, text: string, problem: string | null, by?: Decider][] = [
  ['the whole text', WHOLE, null],
  ['in a fence, with prose around it', `I buy.\n\`\`\`json\n${WHOLE}\n\`\`\`\nThat is all.`, null],
  ['null for what is not meant', JSON.stringify({ ...DECISION, weights: null }), null],
  ['two fences', '```\n{}\n```\n```\n{}\n```', NO_OBJECT],
  ['nothing', '', NO_OBJECT],
  ['prose', 'I buy 3 AAPL.', NO_OBJECT],
  ['a list', '[]', 'It is not an object.'],
  ['neither', '{"reason":""}', 'It must have exactly one of orders and weights.'],
  ['both', `{"weights":{},${WHOLE.slice(1)}`, 'It must have exactly one of orders and weights.'],
  ['orders twice', `{"orders":[],${WHOLE.slice(1)}`, '"orders" is named twice.'],
  [
    'a weight twice, in a fence',
    '```\n{"weights":{"A":0.5,"\\u0041":0.2},"reason":""}\n```',
    '"A" is named twice.',
  ],
  ['no reason', '{"orders":[]}', 'reason is missing.'],
  ['a field more', `{"date":"2025-10-16",${WHOLE.slice(1)}`, 'There is no field "date".'],
  ['a part of a share', ordering('buy', 0.5), 'orders.0.amount must be a whole number…, got 0.5.'],
  ['another side', ordering('short', 1), 'orders.0.side must be buy or sell.'],
  [
    'more than the whole',
    '{"weights":{"A":0.75,"B":0.5},"reason":""}',
    'weights must add up…1.25.',
  ],
  ['too sure', '{"orders":[],"reason":"","confidence":70}', 'confidence must be…, got 70.'],
  [
    'absurdly nested',
    `{"orders":[],"reason":"","confidence":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
    'confidence must be…, got deeply nested JSON.',
  ],
  ['done, as agents say it', '{"done":true,"reason":""}', 'There is no field "done".'],
  ['done, by an agent', '{"done":true,"reason":""}', null, AGENT],
  ['neither, by an agent', '{"reason":""}', 'It must have exactly one…', AGENT],
  ['done and orders', `{"done":true,${WHOLE.slice(1)}`, 'There is no field "orders"…', AGENT],
];
for (const [what, text, problem, by = DAY_IN_ONE_ANSWER] of answers)
  test(`a decision is read, or in words what is wrong with it: ${what}`, () => {
    const { again, end, calls } = decide(by, { content: text }, true) ?? assert.fail();
    if (problem === null) {
      const names = by === AGENT ? [] : ['buy', 'sell'];
      assert.deepEqual([end?.status, calls.map(({ name }) => name)], ['finished', names]);
      return;
    }
    const said =
      by === AGENT
        ? `Its answer is not a decision. ${problem}`
        : `That is not a decision. ${problem} Answer once more, with the JSON object and nothing else.`;
    assert.match(again ?? (end as { error: string }).error, like(said));
  });

test('a model whose answer is not a decision has a second chance', async (t) => {
  const { ledger, conversation, bodies } = await run(t, {}, (request, count) =>
    answerOf(request, 'chat', count === 1 ? 'I buy 3 AAPL.' : WHOLE),
  );
  assert.deepEqual(ledger, BOUGHT);
  assert.equal(bodies.length, 2);
  const again = conversation.filter(({ role }: any) => role === 'user')[1].content;
  assert.deepEqual(
    bodies[1].messages.slice(-2).map(({ role, content }: any) => `${role}: ${content}`),
    ['assistant: I buy 3 AAPL.', `user: ${again}`],
  );
});

test('two answers that cannot be read: the day ends without a trade, and the job counts it', async (t) => {
  const { ledger, session, job } = await run(t, {}, (request) =>
    answerOf(request, 'chat', 'I wait.'),
  );
  assert.deepEqual(ledger, IDLE);
  assert.equal(session.session_summary, `No answer could be read: ${NO_OBJECT}`);
  assertLike(job.warnings, ["'m'…1 model-day…"]);
  assert.deepEqual(job.warning_codes, ['unread']);
});

test('an audit finds an answer that is not the one whose orders ran', async (t) => {
  const text = '{"orders":[{"side":"buy","symbol":"AAPL","amount":3}],"reason":"It is cheap."}';
  const { service } = await run(t, { isForged: true }, (request) =>
    answerOf(request, 'chat', text),
  );
  service.database
    .statement(
      `UPDATE reasoning_logs SET content = replace(content, ':3', ':4') WHERE role = 'assistant'`,
    )
    .run();
  const [first = '', ...others] = await replayDifferences(service.database);
  assert.match(first, /step 1, tool_calls: stored "….*:3.*", replayed "….*:4/);
  assert.deepEqual(others, []);
});

test('weights are the whole portfolio', async (t) => {
  const text = '{"weights":{"aapl":0.5,"MSFT":0.25},"reason":"Half and a quarter."}';
  const { ledger, conversation } = await run(t, {}, (request) => answerOf(request, 'chat', text));
  assert.deepEqual(
    ledger.map((line) => line.split(' =>')[0]),
    ['2025-10-15 buy AAPL 45 110', '2025-10-15 buy MSFT 11 210'],
  );
  assert.equal(conversation[3].tool_input, '{"weights":{"aapl":0.5,"MSFT":0.25},"sell_rest":true}');
});

test('an answer that is cut off is a failed day', async (t) => {
  const cut = bodies.chat({ text: '{"orders":[]}', reason: 'length' });
  const { job, bodies: sent } = await run(t, {}, () => ({ body: cut }));
  assert.equal(job.details[0].error, 'Its answer was cut off, and half a decision is none');
  assert.equal(sent.length, 1);
});

test('messages: where the format is refused, the answer is asked for as text', async (t) => {
  const message = 'tool_choice: not supported by this model';
  const refused = { status: 400, body: { error: { type: 'invalid_request_error', message } } };
  const { ledger, bodies, job } = await run(t, { api: 'messages' }, (request, count) =>
    count === 1 ? refused : answerOf(request, 'messages', WHOLE),
  );
  assert.deepEqual(ledger, BOUGHT);
  assert.deepEqual([bodies[1].tool_choice, bodies[1].tools], [undefined, undefined]);
  assert.match(job.warnings[0], /'m' rejected tool_choice, which the service adds/);
});

test('limits and a hidden open hold for decisions too', async (t) => {
  const agentConfig = { open: 'hidden', limits: { max_weight: 0.5 } };
  const { ledger, conversation } = await run(t, { agentConfig }, (request) =>
    answerOf(request, 'chat', ordering('buy', 60)),
  );
  assert.deepEqual(ledger, IDLE);
  assert.match(conversation[3].content, /the limit is 50 %; at most 45 shares can be bought/);
});
