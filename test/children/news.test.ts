import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { StartChild } from '../../src/core/children/process.ts';
import { inProcesses } from '../support/agent-here.ts';
import { agentFixture, scriptedAgent } from '../support/agents.ts';
import { sendResults, startNewsServer } from '../support/news.ts';
import { type TestService, type TestServiceOptions, startTestService } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';
import { until } from '../support/until.ts';

const KEY = 'jina_secret"-\\key';
const MONDAY = { start_date: '2025-11-10', end_date: '2025-11-10' };
const SEARCH: [tool: string, args: unknown] = ['search_news', { query: 'Apple' }];
const BUY: [tool: string, args: unknown] = ['buy', { symbol: 'AAPL', amount: 1 }];

/** A service in PROD with one model and a day of prices, whose news come from that address. */
function startWithNews(
  t: TestContext,
  url: string | null,
  options: TestServiceOptions = {},
): Promise<TestService> {
  return startTestService(t, {
    configuration: {
      models: [{ signature: 'model-a', enabled: true, openai_base_url: 'http://127.0.0.1:1' }],
      agent_config: { stock_symbols: ['AAPL'] },
    },
    prices: 'AAPL 2025-11-10 100 101',
    ...options,
    settings: {
      deploymentMode: 'PROD',
      preserveDevData: null,
      ...(url !== null && { jinaApiKey: KEY, jinaBaseUrl: url }),
      ...options.settings,
    },
  });
}

/**
 * Log lines of searches that failed, which does not include those that the end of their model-day
 * aborts.
 */
function failedSearches({ logLines }: TestService) {
  return logLines.filter(({ message }) => message === 'news search failed');
}

async function conversationOf(service: TestService): Promise<any[]> {
  const { body } = await service.get('/reasoning?include_full_conversation=true');
  return body.sessions[0].conversation;
}

test('a model searches the news: its results are in the log, the key nowhere', async (t) => {
  const found = [
    ['rises', `It did, ${KEY}.`, 'Nov 7, 2025'],
    ['falls', 'It will.', 'Nov 11, 2025'],
    ['stays', 'It may.', '2 days ago'],
  ].map(([title, description, date]) => ({
    ...{ title: `Apple ${title}`, url: 'https://news.example/', description, date },
  }));
  const { url, received } = await startNewsServer(t, (response) =>
    received.length === 2
      ? response.writeHead(401).end(`{"message":"no such key: ${KEY}"}`)
      : sendResults(response, found),
  );
  const service = await startWithNews(t, url, {
    agent: scriptedAgent({ '*': [[SEARCH, SEARCH, BUY]] }),
  });
  const status = await service.runJob(MONDAY);
  assert.equal(status.status, 'completed');
  assert.equal(received[0]?.body.q, 'Apple before:2025-11-10');
  const tools = (await conversationOf(service)).filter(({ role }) => role === 'tool');
  const kept = {
    ...{ date: '2025-11-07', title: 'Apple rises', url: 'https://news.example/' },
    snippet: 'It did, [key].',
  };
  assert.deepEqual(
    tools.slice(0, 2).map(({ tool_name, content }) => [tool_name, JSON.parse(content)]),
    [
      { results: [kept], undated: 1 },
      { error: 'The news search failed: the provider refused the key.' },
    ].map((result) => ['search_news', result]),
  );
  assert.match(tools[2].content, /"executed":"buy"/);
  const usage = `SELECT calls, refused, duration_ms > 0 FROM tool_usage WHERE tool_name = 'search_news'`;
  assert.deepEqual(rowsAsText(service.database, usage), ['2 1 1']);
  const [{ level, model, date, reason }] = failedSearches(service) as any[]; // any: lines of the log have fields of their own
  const failure = [level, model, date, reason].join(' ');
  assert.equal(failure, 'WARNING model-a 2025-11-10 401: no such key: [key]');
  const files = ['', '-wal'].map((suffix) =>
    readFileSync(service.settings.databasePath + suffix, 'latin1'),
  );
  const told = JSON.stringify([service.logLines, (await service.get('/reasoning')).body]);
  assert.doesNotMatch([...files, told].join('\n'), /jina_secret|Apple falls|Apple stays/);
});

test('a child has the tool where there is a key for it, and never the key', async (t) => {
  for (const [deploymentMode, hasKey] of [
    ['DEV', true],
    ['PROD', false],
  ] as const) {
    const service = await startWithNews(t, hasKey ? 'http://127.0.0.1:1' : null, {
      agent: inProcesses(agentFixture('tells-start')),
      settings: { deploymentMode },
    });
    await service.runJob(MONDAY);
    const [{ content }] = (await conversationOf(service)) as [{ content: string }];
    const names = JSON.parse(content).tools.map(({ name }: any) => name);
    assert.equal(names.includes('search_news'), hasKey);
    assert.doesNotMatch(content, /jina_secret/);
  }
});

/** So long that only the end of its model-day ends a search. */
const noTimeLimit = { newsSearchMs: 1_000_000_000 };

/** More than a child may write to stderr, so that its model-day ends at once. */
const TOO_MUCH = Buffer.alloc(2 * 1024 * 1024);

test('a search does not outlive its model-day, and its results are dropped', async (t) => {
  const { url, received, asked, hasLeft } = await startNewsServer(t, () => {});
  const agent = scriptedAgent({ '*': [[SEARCH, BUY]] });
  const children: ChildProcess[] = [];
  const startChild: StartChild = (...of) => {
    const started = agent.startChild(...of);
    children.push(started.child);
    return started;
  };
  const service = await startWithNews(t, url, {
    agent: { ...agent, startChild },
    limits: noTimeLimit,
  });
  const { body } = await service.post('/simulate/trigger', MONDAY);
  await asked;
  children[0]?.stderr?.emit('data', TOO_MUCH);
  const status = await service.waitForJob(body.job_id);
  assert.match(status.details[0].error, /^The model process wrote more than \d+ bytes to stderr$/);
  assert.equal(received.length, 1);
  await until('the search to end', hasLeft);
  assert.deepEqual(failedSearches(service), []);
  assert.deepEqual(
    (await conversationOf(service)).map(({ role }) => role),
    ['user', 'assistant'],
  );
});

test('while a model waits for news, the service responds, the other models trade, and a stop waits for no search', async (t) => {
  const { url, asked, hasLeft } = await startNewsServer(t, () => {});
  const models = ['model-a', 'model-b'].map((signature) => ({
    ...{ signature, enabled: true, openai_base_url: 'http://127.0.0.1:1' },
  }));
  const service = await startWithNews(t, url, {
    configuration: { models, agent_config: { stock_symbols: ['AAPL'] } },
    agent: scriptedAgent({
      'model-a 2025-11-10': [[SEARCH]],
      'model-b 2025-11-10': [[['wait', 1]], [BUY]],
    }),
    limits: noTimeLimit,
  });
  const { body } = await service.post('/simulate/trigger', MONDAY);
  await asked;
  let details: any[] = [];
  while (details[1]?.status !== 'completed')
    details = (await service.get(`/simulate/status/${body.job_id}`)).body.details;
  assert.equal(details[0].status, 'running');
  await service.stop();
  await until('the search to end', hasLeft);
  assert.deepEqual(failedSearches(service), []);
  assert.ok(service.logLines.every(({ level }) => level !== 'ERROR'));
});
