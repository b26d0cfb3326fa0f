import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scriptedAgent, type Script } from '../support/agents.ts';
import { readConversation } from '../support/conversation.ts';
import { importRows, row } from '../support/documents.ts';
import { startTestService } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';

const SYMBOLS = ['AAPL', 'GONE', 'MSFT', 'NVDA'];
const DATES = ['2025-01-03', '2025-01-06', '2025-01-07', '2025-01-08', '2025-01-09'];
const PRICES = SYMBOLS.flatMap((symbol, place) =>
  DATES.map((date, day) => `${symbol} ${date} ${100 + place} ${100 + place + day}`),
)
  .filter((line) => !line.startsWith('GONE'))
  .join('\n');
const MEMBERS = `symbol,from,to
AAPL,2020-01-01,
MSFT,2020-01-01,2025-01-06
NVDA,2025-01-07,
GONE,2020-01-01,
`;
const RANGE = { start_date: '2025-01-06', end_date: '2025-01-08' };

async function serviceWith(
  t: TestContext,
  {
    script = {},
    models = [{ signature: 'model-a', enabled: true }],
    prices = PRICES,
  }: { script?: Script; models?: object[]; prices?: string },
) {
  const universes = { ndx: { members: 'members.csv' }, plain: ['AAPL'] };
  const service = await startTestService(t, {
    configuration: { models, universes, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } },
    settings: { deploymentMode: 'PROD', preserveDevData: null },
    agent: scriptedAgent(script),
    prices,
    isForged: true,
  });
  const members = (text: string) => writeFileSync(join(service.folder, 'members.csv'), text);
  members(MEMBERS);
  return { service, members };
}

test('models may buy who is a member that morning, and sell all that they hold', async (t) => {
  const script: Script = {
    'model-a 2025-01-06': [
      [
        ['buy', { symbol: 'NVDA', amount: 1 }],
        ['buy', { symbol: 'MSFT', amount: 2 }],
      ],
    ],
    'model-a 2025-01-07': [
      [
        ['buy', { symbol: 'MSFT', amount: 1 }],
        ['sell', { symbol: 'MSFT', amount: 1 }],
        ['buy', { symbol: 'NVDA', amount: 1 }],
      ],
    ],
  };
  const { service } = await serviceWith(t, {
    script,
    models: [
      {
        signature: 'model-a',
        enabled: true,
        basemodel: 'm',
        openai_base_url: 'http://127.0.0.1:9',
      },
    ],
  });
  const job = await service.runJob({ ...RANGE, universe: 'ndx' });
  assert.equal(job.status, 'completed');
  assert.ok(
    job.warnings.includes('Members of the universe without a price while they are members: GONE'),
    job.warnings.join('\n'),
  );
  const briefs = readConversation(service.database, 'user').map((text) => JSON.parse(text));
  assert.deepEqual(
    briefs.map(({ date, quotes, left }) => [
      date,
      quotes.map(({ symbol }: any) => symbol).join(' '),
      left,
    ]),
    [
      ['2025-01-06', 'AAPL GONE MSFT', undefined],
      ['2025-01-07', 'AAPL GONE MSFT NVDA', ['MSFT']],
      ['2025-01-08', 'AAPL GONE MSFT NVDA', undefined],
    ],
  );
  assert.deepEqual(
    rowsAsText(
      service.database,
      'SELECT date, action_type, symbol, amount FROM positions JOIN trading_sessions USING (session_id) WHERE symbol IS NOT NULL ORDER BY 1, position_id',
    ),
    ['2025-01-06 buy MSFT 2', '2025-01-07 sell MSFT 1', '2025-01-07 buy NVDA 1'],
  );
  const { body } = await service.get('/performance?benchmark=universe');
  const [, second, third] = body.benchmark.curve;
  const mean = (date: number) =>
    ((100 + date) / (100 + date - 1) - 1 + (103 + date) / (103 + date - 1) - 1) / 2;
  assert.ok(Math.abs(second.daily_return - mean(2)) < 1e-6, JSON.stringify(body.benchmark));
  assert.ok(Math.abs(third.daily_return - mean(3)) < 1e-6);
});

test('a date without members, and a broken file, are refused at the trigger', async (t) => {
  const { service, members } = await serviceWith(t, {});
  const ask = async (text: string) => {
    members(text);
    const { status, body } = await service.post('/simulate/trigger', { ...RANGE, universe: 'ndx' });
    return `${status} ${body.detail}`;
  };
  const some = 'symbol,from,to\nAAPL,2020-01-01,2025-01-06\nMSFT,2025-01-08,\n';
  assert.equal(await ask(some), `400 Universe 'ndx' has no members on 2025-01-07`);
  const broken = await ask('symbol,from,to\nAAPL,2020-01-01,\nAAPL,2021-01-01,\n');
  assert.match(
    broken,
    /^500 Cannot use the server configuration .*members\.csv:3: the span of AAPL overlaps that of line 2$/,
  );
});

const READS: Script = { '*': [[['list_documents', {}]], [['read_document', { id: 'a' }]]] };

test('documents are offered to who may read them, in jobs with some', async (t) => {
  const models = [
    { signature: 'reads', enabled: true },
    { signature: 'blind', enabled: true, documents: false },
    { signature: 'chosen', enabled: true, tools: ['buy', 'read_document'] },
  ].map((one) => ({ ...one, basemodel: 'm', openai_base_url: 'http://127.0.0.1:9' }));
  const { service } = await serviceWith(t, { script: READS, models });
  await importRows(t, service.database, [
    row({ id: 'a', symbol: 'MSFT', published_at: '2025-01-06' }),
    row({ id: 'b', symbol: 'XYZ', published_at: '2025-01-02' }),
  ]);
  const job = await service.runJob(RANGE);
  assert.deepEqual([job.status, job.warnings], ['completed', null]);
  const tools = job.entries.map(({ family, entry }: any) => [
    family,
    entry.tools.filter((tool: string) =>
      tool.endsWith('s') ? tool === 'list_documents' : tool === 'read_document',
    ),
  ]);
  assert.deepEqual(Object.fromEntries(tools), {
    reads: ['list_documents', 'read_document'],
    blind: [],
    chosen: ['read_document'],
  });
  const results = rowsAsText(
    service.database,
    `SELECT model, date, tool_name, CASE WHEN content LIKE '%There is no tool%' THEN 'none' WHEN content LIKE '%error%' THEN 'refused' ELSE 'done' END
     FROM reasoning_logs JOIN trading_sessions USING (session_id) WHERE role = 'tool' AND date > '2025-01-06' AND date < '2025-01-08' ORDER BY 1, log_id`,
  );
  assert.deepEqual(results, [
    'blind 2025-01-07 list_documents none',
    'blind 2025-01-07 read_document none',
    'chosen 2025-01-07 list_documents none',
    'chosen 2025-01-07 read_document done',
    'reads 2025-01-07 list_documents done',
    'reads 2025-01-07 read_document done',
  ]);
  const counted = readConversation(service.database, 'user').map(
    (text) => JSON.parse(text).documents,
  );
  assert.equal(counted.filter(Boolean).length, 4, 'two models on two mornings');
});

test('on a control market no document is offered, and a warning says so', async (t) => {
  const { service } = await serviceWith(t, { script: READS });
  await importRows(t, service.database, [row({ id: 'a' })]);
  service.database.statement(`UPDATE price_data SET source = 'disguise'`).run();
  const { body } = await service.post('/simulate/trigger', RANGE);
  assert.deepEqual(
    body.warnings.filter((one: string) => one.includes('control')),
    ['No documents are offered on a control market: its names cannot be hidden in texts'],
  );
  await service.waitForJob(body.job_id);
  assert.doesNotMatch(readConversation(service.database).join('\n'), /"documents"/);
});
