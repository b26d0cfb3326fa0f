import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { ledgerOf } from '../support/ledger.ts';
import { assertLike } from '../support/text-table.ts';
import { type Behaviour, type ModelRequest, startModelServer } from '../support/model-server.ts';
import { ask, BOUGHT, BUY, DAY, DECISION, run, urlHere } from '../support/own-agents.ts';
import { startProdService } from '../support/prod.ts';
import { rowsAsText } from '../support/tables.ts';

/** Agents of the user's over HTTP: what they are sent, and what becomes of what they send. */

test('an agent gets the day in one request, with its own key, and its decision is carried out', async (t) => {
  const { requests, ledger, job, session, service } = await run(
    t,
    [{ ...DECISION, headers: { 'agent-version': 'mine 1.2' } }],
    { entry: { prompt: 'Be calm.', max_tool_calls: 7 } },
  );
  assert.deepEqual(ledger, BOUGHT);
  const [{ method, path, headers, body }] = requests as [ModelRequest];
  assert.deepEqual(
    [method, path, headers.authorization, headers['idempotency-key'], requests.length],
    ['POST', '/decide', 'Bearer own-key', `${job.job_id}:mine:2025-10-15`, 1],
  );
  const { system, report, day, ...rest } = body;
  assert.match(system, /Use the tools[^]*Further instructions:\nBe calm\.$/);
  assert.match(report, /^Today's date: 2025-10-15[^]*MSFT 210 210$/m);
  assert.match(day.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.match(day.token, /^[\w-]{43}$/);
  assert.ok(new Date(day.expires_at) > service.clock());
  assert.deepEqual(rest, {
    ...{ signature: 'mine', run: 'mine', date: '2025-10-15', universe: ['AAPL', 'MSFT'] },
    portfolio: { cash: 10_000, holdings: [], value: 10_000 },
    prices: {
      AAPL: { previous_close: 109.5, open: 110 },
      MSFT: { previous_close: 210, open: 210 },
    },
    limits: { max_tool_calls: 7, seconds: 3_600 },
  });
  const [user, assistant, tool] = session.conversation;
  assert.equal(user.content.includes(day.token), false, 'the log has no token');
  assert.deepEqual(
    [user.role, JSON.parse(assistant.content), assistant.served?.model, tool.tool_name],
    ['user', (DECISION as any).body, 'mine 1.2', 'buy'], // any: a reply may have other forms
  );
  assert.equal(session.session_summary, 'It is cheap.');
  const { models } = (await service.get('/performance')).body;
  assert.deepEqual(
    models.map(({ model, outside }: any) => [model, outside]),
    [['mine', ['agent']]],
  );
  assert.equal(job.entries[0].entry.kind, 'agent');
});

test('in a study an agent gets both names: that of its entry, and that of its run with the study', async (t) => {
  const { requests, job, service } = await run(t, () => DECISION, {
    entry: { signature: 'mine', repeats: 2 },
    studies: { calm: {} },
    dates: { ...DAY, study: 'calm' },
  });
  const names = requests.map(({ headers, body: { signature, run } }) => {
    return { signature, run, key: headers['idempotency-key'] };
  });
  assert.deepEqual(
    names.toSorted((one, other) => (one.run < other.run ? -1 : 1)),
    ['mine@calm', 'mine@calm#2'].map((run) => ({
      ...{ signature: 'mine', run, key: `${job.job_id}:${run}:2025-10-15` },
    })),
  );
  for (const { run } of names) assert.deepEqual(ledgerOf(service.database, run), BOUGHT);
});

test('days of an agent stay marked when its entry is something else', async (t) => {
  const { service } = await run(t, [DECISION]);
  const later = [{ signature: 'mine', basemodel: 'baseline/cash', enabled: true }];
  const file = JSON.stringify({ models: later, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } });
  writeFileSync(service.settings.configurationPath, file);
  await service.runJob({ start_date: '2025-10-16', end_date: '2025-10-16' });
  for (const path of ['/performance', '/comparison', '/performance?start_date=2025-10-16'])
    assert.deepEqual(
      (await service.get(path)).body.models.map(({ outside }: any) => outside),
      [path.includes('?') ? [] : ['agent']],
      path,
    );
});

test('what an agent reports of its cost counts, and what it does not report is unknown', async (t) => {
  const usage = { prompt_tokens: 5, completion_tokens: 7, reasoning_tokens: 2, cost_usd: 0.25 };
  const told = await run(t, [{ body: { orders: [], reason: '', usage } }]);
  const of = ({ cost_usd, prompt_tokens, completion_tokens, reasoning_tokens }: any) => [
    ...[cost_usd, prompt_tokens, completion_tokens, reasoning_tokens],
  ];
  assert.deepEqual(of(told.job.details[0]), [0.25, 5, 7, 2]);
  const silent = await run(t, [DECISION], { entry: { max_cost_usd: 1 } });
  assertLike(silent.job.warnings, ["max_cost_usd of 'mine' has no effect…agent reports no cost"]);
  assert.deepEqual(of(silent.job.details[0]), [null, null, null, null]);
  const calling = await run(t, async ({ body }) => {
    await ask(body, '/tools/get_portfolio', {});
    return { body: { done: true, reason: '' } };
  });
  assert.deepEqual(
    of(calling.job.details[0]),
    [null, null, null, null],
    'calls cost nothing known',
  );
});

test('user, password and query of the URL reach the agent, and nothing else; PUBLIC_URL, without a slash at its end, is where it reaches the service', async (t) => {
  const { requests, ledger, service, session } = await run(t, [DECISION], {
    entry: { openai_api_key: null },
    settings: { publicUrl: 'https://service.test/base/', openaiApiKey: 'key-of-the-service' },
    urlOf: (port) => `http://user:pass-of-mine@127.0.0.1:${port}/decide?key=query-secret`,
  });
  assert.deepEqual(ledger, BOUGHT);
  const [{ path, headers, body }] = requests as [ModelRequest];
  assert.equal(body.day.url, 'https://service.test/base');
  assert.doesNotMatch(JSON.stringify([headers, body]), /key-of-the-service/);
  const user = Buffer.from('user:pass-of-mine').toString('base64');
  assert.deepEqual([path, headers.authorization], ['/decide?key=query-secret', `Basic ${user}`]);
  const shown = JSON.stringify([session, (await service.get('/models')).body, service.logLines]);
  assert.doesNotMatch(shown, /pass-of-mine|query-secret/);
});

test('arguments that are nested too deep are refused, and the day continues', async (t) => {
  let answers: { status: number; body: any }[] = [];
  const { ledger } = await run(t, async ({ body }) => {
    // JSON.parse reads this depth; JSON.stringify of Node 24 cannot write it.
    const nested = `{"symbol":${'['.repeat(8_000)}${']'.repeat(8_000)},"amount":1}`;
    const { url, token } = body.day;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const refused = await fetch(`${url}/day/tools/buy`, { method: 'POST', headers, body: nested });
    answers = [{ status: refused.status, body: await refused.json() }];
    return DECISION;
  });
  const refusal = { error: 'The arguments are nested more than 64 deep.' };
  assert.deepEqual([answers, ledger], [[{ status: 200, body: refusal }], BOUGHT]);
});

test('calls side by side run one after another: no dollar is spent twice', async (t) => {
  const buy = { symbol: 'AAPL', amount: 6 };
  let answers: { status: number; body: any }[] = [];
  const { ledger } = await run(t, async ({ body }) => {
    answers = await Promise.all(Array.from({ length: 20 }, () => ask(body, '/tools/buy', buy)));
    return { body: { done: true, reason: '' } };
  });
  const holdings = answers.flatMap(({ body }) => body.holding ?? []);
  const all = Array.from({ length: 15 }, (_, index) => 6 * (index + 1));
  assert.deepEqual(
    holdings.toSorted((one, other) => one - other),
    all,
  );
  const refusals = answers.flatMap(({ body }) => body.error ?? []);
  const refusal = 'Cannot buy 6 AAPL at 110.00: cash is 100.00, enough for 0';
  assert.deepEqual(refusals, Array(5).fill(refusal));
  assert.equal(ledger.length, 15);
});

const BUYS = [40, 50, 'Cannot buy 60 AAPL at 110.00: cash is 4,500.00, enough for 40'];

test('the tools of the day: the same ledger, refusals, log and order as for a model', async (t) => {
  const seen: Record<string, any> = {};
  const { ledger, session, service, job } = await run(t, async ({ body }) => {
    seen['tools'] = await ask(body, '/tools');
    seen['buys'] = [];
    for (const amount of [40, 10, 60])
      seen['buys'].push(await ask(body, '/tools/buy', { symbol: 'AAPL', amount }));
    seen['future'] = await ask(body, '/tools/get_price', { symbol: 'AAPL', date: '2025-10-16' });
    seen['unknown'] = await ask(body, '/tools/short', {});
    seen['wrong'] = await ask(body, '/tools/sell', { symbol: 'AAPL' });
    seen['day'] = await ask(body, '');
    seen['sent'] = body;
    const orders = [
      { side: 'buy', symbol: 'NVDA', amount: 1 },
      { side: 'sell', symbol: 'AAPL', amount: 1 },
    ];
    return { body: { orders, reason: 'Done.' } };
  });
  assert.deepEqual(seen['tools'].body.tools.map(({ name }: any) => name).slice(0, 3), [
    'buy',
    'sell',
    'rebalance',
  ]);
  const [first, second, third] = seen['buys'].map(({ body }: any) => body.holding ?? body.error);
  assert.deepEqual([first, second, third], BUYS);
  assert.equal(seen['future'].body.error, 'No prices are known after today, 2025-10-15.');
  assert.match(seen['unknown'].body.error, /^There is no tool named "short"/);
  assert.equal(seen['wrong'].body.error, 'sell: amount is missing.');
  assert.deepEqual(seen['day'].body.day, seen['sent'].day);
  const held = ledger.map((line) => line.split(' =>')[0]);
  assert.equal(held.at(-1), '2025-10-15 sell AAPL 1 110');
  assert.equal(seen['day'].body.portfolio.holdings[0].quantity, 50);
  assert.equal(session.session_summary, 'Done.');
  assert.equal(job.details[0].requests, 1);
  assert.deepEqual(
    rowsAsText(service.database, 'SELECT kind, side, symbol FROM decisions ORDER BY place').slice(
      0,
      2,
    ),
    ['trade sell AAPL', 'refusal buy NVDA'],
    'orders of the decision that cannot be carried out are refused one by one',
  );
});

const OWN_KEY = 'own-key-of-the-agent';

test('tokens: of a wrong one nothing, of a day no other route', async (t) => {
  const statuses: Record<string, unknown> = {};
  let late: any;
  const act: Behaviour = async ({ body }, count) => {
    if (count === 1) late = body;
    const { url, token } = body.day;
    const get = async (path: string, bearer: string) =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${bearer}` } })).status;
    await ask(body, `/tools/${token}`, {});
    await ask(body, '/tools/calculate', { expression: OWN_KEY });
    Object.assign(statuses, {
      guessed: await get('/day', 'x'.repeat(43)),
      none: (await fetch(`${url}/day`)).status,
      elsewhere: await get('/results', token),
      own: await get('/day', token),
      page: await get('/health', token),
    });
    return DECISION;
  };
  const { service, session } = await run(t, act, { entry: { openai_api_key: OWN_KEY } });
  assert.equal(JSON.stringify(session).includes(OWN_KEY), false);
  assert.deepEqual(statuses, {
    ...{ guessed: 401, none: 401, elsewhere: 403, own: 200, page: 403 },
  });
  const after = [
    await ask(late, '/tools/buy', { symbol: 'AAPL', amount: 1 }),
    await ask(late, ''),
    await ask({ day: { ...late.day, token: 'old' } }, '/tools'),
  ];
  assert.equal(JSON.stringify(service.logLines).includes(late.day.token), false);
  for (const { status, body } of after) {
    assert.equal(status, 401);
    assert.match(body.detail, /^The token of a model-day that runs is needed/);
  }
  assert.deepEqual(ledgerOf(service.database, 'mine'), BOUGHT);
});

test('where the service has access tokens, a day is opened by its own, and by none of them', async (t) => {
  const apiToken = 'an-access-token-with-all-rights';
  const asked = Promise.withResolvers<number[]>();
  const server = await startModelServer(t, async ({ body }) => {
    const answers = [await ask(body, ''), await ask(body, '', undefined, apiToken)];
    asked.resolve(answers.map(({ status }) => status));
    return DECISION;
  });
  const entry = { signature: 'mine', api: 'agent', agent_url: urlHere(server.port) };
  const { url } = await startProdService(t, {
    models: [entry],
    settings: { apiToken },
  });
  const { status } = await fetch(`${url}/simulate/trigger`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(DAY),
  });
  assert.equal(status, 200);
  assert.deepEqual(await asked.promise, [200, 401]);
});

test('calls without end are refused in words beyond the limit', async (t) => {
  const said: string[] = [];
  const act: Behaviour = async ({ body }) => {
    for (let call = 0; call < 5; call += 1) {
      const { status, body: found } = await ask(body, '/tools/get_portfolio', {});
      said.push(`${status} ${found.error ?? 'answered'}`);
    }
    return { body: { done: true, reason: 'By the tools.' } };
  };
  const { session } = await run(t, act, { entry: { max_tool_calls: 3 } });
  assert.deepEqual(said, [
    ...Array(3).fill('200 answered'),
    '200 This is call 4, and the limit is 3 a day.',
    '200 This is call 5, and the limit is 3 a day.',
  ]);
  assert.equal(session.session_summary, 'By the tools.');
  const tools = session.conversation.filter(({ role }: any) => role === 'tool');
  assert.equal(tools.length, 3);
});

const WITH_DATE = { body: { orders: BUY, reason: '', date: '2025-10-16' } };
test('an answer that is not a decision fails the day after one request', async (t) => {
  const failed = await run(t, [WITH_DATE]);
  assert.equal(failed.error, 'Its answer is not a decision. There is no field "date".');
  assert.deepEqual([failed.ledger, failed.requests.length], [[], 1]);
});

test('a name that no header can hold is percent-encoded in the key of the day', async (t) => {
  const { requests, job } = await run(t, [DECISION], { entry: { signature: 'é 100%:🚀' } });
  const key = `${job.job_id}:%C3%A9%20100%25:%F0%9F%9A%80:2025-10-15`;
  assert.deepEqual([job.status, requests[0]?.headers['idempotency-key']], ['completed', key]);
});

test('a server in trouble is asked again, with the same key, token and body', async (t) => {
  const { ledger, requests } = await run(t, [{ status: 503, body: 'busy' }, DECISION]);
  assert.deepEqual(ledger, BOUGHT);
  const [one, two] = requests.map(({ headers, body }) => [headers['idempotency-key'], body]);
  assert.deepEqual(one, two);
});

test('an idle connection is kept longer for the token of a day, and for none else', async (t) => {
  const httpLimits = { keepAliveTimeoutMs: 50, agentKeepAliveMs: 60_000 };
  const act: Behaviour = async ({ body: { day } }) => {
    const open = () => connect(Number(new URL(day.url).port), '127.0.0.1');
    const get = async (socket: Socket, token: string) => {
      const head = `Host: localhost\r\nAuthorization: Bearer ${token}`;
      socket.write(`GET /day HTTP/1.1\r\n${head}\r\n\r\n`);
      const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      return Number(String(answer).split(' ')[1]);
    };
    const [own, other] = [open(), open()];
    assert.equal(await get(own, day.token), 200);
    assert.equal(await get(other, 'unknown'), 401); // idle for less time than the first
    await once(other, 'close');
    assert.equal(own.closed, false);
    assert.equal(await get(own, day.token), 200);
    own.destroy();
    return DECISION;
  };
  const { ledger } = await run(t, act, { httpLimits });
  assert.deepEqual(ledger, BOUGHT);
});

test('a cost limit counts what agents report', async (t) => {
  const usage = { prompt_tokens: 1, completion_tokens: 1, cost_usd: 2 };
  const { job, requests } = await run(t, [{ body: { orders: [], reason: '', usage } }], {
    entry: { max_cost_usd: 3 },
    dates: { start_date: '2025-10-15', end_date: '2025-10-17' },
  });
  assert.deepEqual([requests.length, job.warnings], [2, null]);
  assert.match(
    job.details[2].error,
    /^Cost limit reached: .*\$4 on 'mine', and max_cost_usd is \$3$/,
  );
});
