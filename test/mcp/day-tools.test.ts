import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/json-schema.ts';
import { ledgerOf } from '../support/ledger.ts';
import { bearer, callTool, mcp, modern, request } from '../support/mcp.ts';
import { ask, BOUGHT, DECISION, run } from '../support/own-agents.ts';
import { sendResults, startNewsServer } from '../support/news.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startTestView } from '../support/view.ts';

/** The tools of a model-day by the Model Context Protocol, for its token. */

const DONE = { body: { done: true, reason: 'It is cheap.' } };
/** What an agent learnt; JSON. */
type Learnt = Record<string, any>; // any: the tests check its fields
/** Something with a name: a tool as it is listed. */
interface Named {
  name: string;
}

test('a day has the tools that it has over REST, with the same texts, in the same ledger', async (t) => {
  const learnt: Learnt = {};
  const { ledger, session } = await run(t, async ({ body }) => {
    const { url, mcp_url, token } = body.day;
    learnt['place'] = [mcp_url, `${url}/mcp`];
    learnt['tools'] = (await ask(body, '/tools')).body.tools;
    learnt['listed'] = (await mcp(url, request('tools/list'), bearer(token))).body.result.tools;
    const later = modern('tools/list');
    const { body: listed } = await mcp(url, later.body, { ...later.headers, ...bearer(token) });
    learnt['later'] = listed.result.tools;
    const call = (name: string, args: object) => callTool(url, name, args, token);
    learnt['portfolio'] = [
      (await call('get_portfolio', {})).content[0].text,
      JSON.stringify((await ask(body, '/tools/get_portfolio', {})).body),
    ];
    learnt['refused'] = await call('buy', { symbol: 'AAPL', amount: 9_999 });
    learnt['unknown'] = await call('start_job', { end_date: '2025-10-15' });
    learnt['bought'] = await call('buy', { symbol: 'AAPL', amount: 3 });
    return DONE;
  });
  assert.deepEqual(ledger, BOUGHT);
  const { place, tools, listed, later, portfolio, refused, unknown, bought } = learnt;
  assert.equal(place[0], place[1]);
  const inputs = tools.map(({ parameters: inputSchema, ...own }: Json) => ({
    ...own,
    inputSchema,
  }));
  assert.deepEqual([listed, later], [inputs, inputs]);
  assert.equal(portfolio[0], portfolio[1]);
  assert.deepEqual([refused.isError, unknown.isError, bought.isError], [true, true, false]);
  assert.match(unknown.content[0].text, /^\{"error":"There is no tool named \\"start_job\\"\./);
  // The unknown one is counted and logged, as all are.
  const names = session.conversation.flatMap((one: Json) => one['tool_name'] ?? []);
  assert.deepEqual(names, ['get_portfolio', 'get_portfolio', 'buy', 'start_job', 'buy']);
});

test('after its decision a call says so, and after its day the token opens nothing', async (t) => {
  let day: { url: string; token: string } | undefined;
  const learnt: Learnt = {};
  // A search keeps the day from its end until a call has read that it is decided.
  const news = await startNewsServer(t, async (response) => {
    const { url, token } = day ?? { url: '', token: '' };
    const call = () => callTool(url, 'get_portfolio', {}, token);
    await until('the day to be decided', async () => {
      const sent = mcp(url, request('tools/list'), bearer(token));
      return (await sent).body.result.tools.length === 0;
    });
    learnt['decided'] = await call();
    learnt['rest'] = await ask({ day }, '/tools/get_portfolio', {});
    sendResults(response, []);
  });
  const { service } = await run(
    t,
    async ({ body }) => {
      day = body.day;
      void ask(body, '/tools/search_news', { query: 'AAPL' });
      await news.asked;
      return DECISION;
    },
    { settings: { jinaApiKey: 'key', jinaBaseUrl: news.url } },
  );
  assert.ok(day);
  const { decided, rest } = learnt;
  assert.deepEqual([decided.isError, rest.status], [true, 409]);
  assert.equal(decided.content[0].text, rest.body.detail);
  const { status, headers, body } = await mcp(service.url, request('ping'), bearer(day.token));
  assert.equal(status, 401, 'also on a service without tokens');
  assert.match(headers.get('www-authenticate') ?? '', /^Bearer realm=/);
  assert.equal(body.error.message, body.detail);
  assert.equal((await mcp(service.url, request('ping'))).status, 200);
});

test('the token of a day opens its day, and nothing of the service or of another day', async (t) => {
  const learnt: { names: string[]; portfolio: string; status: number }[] = [];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  let days = 0;
  const { job, service } = await run(
    t,
    async ({ body }) => {
      days += 1;
      const amount = days;
      if (days === 2) resolve();
      await both;
      const { url, token } = body.day;
      const { body: answer } = await mcp(url, request('tools/list'), bearer(token));
      const names = answer.result.tools.map(({ name }: Named) => name);
      const { content } = await callTool(url, 'get_portfolio', {}, token);
      await callTool(url, 'buy', { symbol: 'AAPL', amount }, token);
      const jobs = await fetch(`${url}/jobs`, { headers: bearer(token) });
      learnt.push({ names, portfolio: content[0].text, status: jobs.status });
      return DONE;
    },
    { entry: { repeats: 2 } },
  );
  assert.equal(job.status, 'completed');
  assert.equal(learnt.length, 2);
  for (const own of learnt) {
    assert.ok(!own.names.includes('start_job'));
    assert.equal(own.status, 403);
    assert.match(own.portfolio, /"cash":10000/);
  }
  const ledgers = ['mine', 'mine#2'].map((model) => ledgerOf(service.database, model).join());
  assert.deepEqual(ledgers.sort(), [
    '2025-10-15 buy AAPL 1 110 => 9890 10000.5 0.5 AAPL:1',
    '2025-10-15 buy AAPL 2 110 => 9780 10001 1 AAPL:2',
  ]);
});

test('a view has the reading tools, and its other paths still refuse what is not a GET', async (t) => {
  const service = await startTestService(t);
  await service.runJob({ start_date: '2025-11-24', end_date: '2025-11-24' });
  const view = await startTestView(t, service.settings.databasePath);
  const { body } = await mcp(view.url, request('tools/list'));
  const names = body.result.tools.map(({ name }: Named) => name);
  assert.ok(names.includes('results') && !names.includes('start_job'));
  const { structuredContent } = await callTool(view.url, 'results', {});
  assert.deepEqual(structuredContent, (await service.get('/results')).body);
  const refused = await fetch(`${view.url}/simulate/trigger`, { method: 'POST' });
  assert.equal(refused.status, 405);
  const read = await fetch(`${view.url}/mcp`);
  assert.deepEqual([read.status, read.headers.get('allow')], [405, 'POST']);
  assert.ok('/mcp' in (await view.get('/openapi.json')).body.paths);
});
