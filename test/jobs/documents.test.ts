import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { assertLike } from '../support/text-table.ts';
import { scriptedAgent, type Script } from '../support/agents.ts';
import { storeDocuments } from '../support/documents.ts';
import { startModelServer } from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
import { assertReplays, auditScripts } from '../support/replays.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';

const DATES = ['2025-01-03', '2025-01-06', '2025-01-07', '2025-01-08'];
const PRICES = DATES.flatMap((date) => [`AAPL ${date} 100 101`, `MSFT ${date} 200 201`]).join('\n');
const RANGE = { start_date: '2025-01-06', end_date: '2025-01-08' };
const READS: Script = { '*': [[['list_documents', {}]], [['read_document', { id: 'a' }]]] };

/** Jobs of models at an endpoint that no test asks: they follow the script. */
function serviceWith(
  t: TestContext,
  models: object[],
  script: Script = READS,
): Promise<TestService> {
  const endpoint = { enabled: true, basemodel: 'm', openai_base_url: 'http://127.0.0.1:9' };
  return startTestService(t, {
    configuration: {
      models: models.map((model) => ({ ...endpoint, ...model })),
      universes: { apple: ['AAPL'], index: { members: 'members.csv' } },
      agent_config: { stock_symbols: ['AAPL', 'MSFT'] },
    },
    settings: { deploymentMode: 'PROD', preserveDevData: null },
    agent: scriptedAgent(script),
    prices: PRICES,
    isForged: true,
  });
}

const briefsOf = ({ database }: TestService): any[] =>
  rowsAsText(
    database,
    "SELECT content FROM reasoning_logs WHERE role = 'user' ORDER BY log_id",
  ).map((text) => JSON.parse(text));

test('documents are offered to those who may read them, from the morning on which there are some', async (t) => {
  const models = [
    { signature: 'blind', documents: false },
    { signature: 'chosen', tools: ['buy', 'read_document'] },
    { signature: 'reads' },
  ];
  const service = await serviceWith(t, models);
  storeDocuments(service.database, [
    { id: 'a', symbols: ['MSFT'], published_at: '2025-01-06' },
    { id: 'b', symbols: ['XYZ'], published_at: '2025-01-02' },
  ]);
  const job = await service.runJob(RANGE);
  assert.deepEqual([job.status, job.warnings], ['completed', null]);
  const offered = job.entries.map(({ family, entry }: any) => [
    family,
    entry.tools.filter((tool: string) => tool.includes('_document')),
  ]);
  assert.deepEqual(Object.fromEntries(offered), {
    blind: [],
    chosen: ['read_document'],
    reads: ['list_documents', 'read_document'],
  });
  const results = rowsAsText(
    service.database,
    `SELECT model, date, tool_name, CASE WHEN content LIKE '%There is no tool%' THEN 'none' WHEN content LIKE '%error%' THEN 'refused' ELSE 'done' END
     FROM reasoning_logs JOIN trading_sessions USING (session_id) WHERE role = 'tool' AND date <= '2025-01-07' ORDER BY 1, log_id`,
  );
  assert.deepEqual(results, [
    'blind 2025-01-06 list_documents none',
    'blind 2025-01-06 read_document none',
    'blind 2025-01-07 list_documents none',
    'blind 2025-01-07 read_document none',
    'chosen 2025-01-06 list_documents none',
    'chosen 2025-01-06 read_document none',
    'chosen 2025-01-07 list_documents none',
    'chosen 2025-01-07 read_document done',
    'reads 2025-01-06 list_documents none',
    'reads 2025-01-06 read_document none',
    'reads 2025-01-07 list_documents done',
    'reads 2025-01-07 read_document done',
  ]);
  const counted = briefsOf(service).flatMap(({ date, documents }) => (documents ? [date] : []));
  const expected = ['2025-01-07', '2025-01-07', '2025-01-08', '2025-01-08'];
  assert.deepEqual(counted, expected, 'two models on two mornings');
});

test('models are not comparable that could read different documents on a date, whatever they read', async (t) => {
  const names = ['before', 'blind', 'early', 'late'];
  const models = names.map((signature) => ({ signature, documents: signature !== 'blind' }));
  models.push({ signature: 'base', basemodel: 'baseline/buy-and-hold' } as any); // any: no need of documents
  const service = await serviceWith(t, models, {});
  const run = (...models: string[]) => service.runJob({ ...RANGE, models });
  const marks = async () => {
    const { incomparable } = (await service.get('/performance')).body;
    return incomparable.flatMap(({ model, kind, reason }: any) =>
      kind === 'documents' ? `${model}: ${reason}` : [],
    );
  };
  await run('before', 'base');
  await run('blind');
  assert.deepEqual(await marks(), []);
  storeDocuments(service.database, [{ id: 'a', symbols: ['AAPL'] }]);
  await run('early');
  const on = (dates: string) => `…documents…${dates}`;
  const all = on('3 dates, such as 2025-01-06');
  assertLike(await marks(), [`early: ${all}`], 'of two the first is the measure');
  // Neither of another symbol nor too late for some dates.
  storeDocuments(service.database, [
    { id: 'b', symbols: ['XYZ'] },
    { id: 'a', symbols: ['AAPL'], published_at: '2025-01-07', text: 'Another version.' },
  ]);
  await run('late');
  const [most, last] = [on('2 dates, such as 2025-01-06'), on('1 date, such as 2025-01-08')];
  assertLike(await marks(), [`before: ${most}`, `early: ${last}`, `late: ${last}`]);
});

test("documents of symbols that are members on none of a job's dates are not offered", async (t) => {
  const service = await serviceWith(t, [{ signature: 'reads' }]);
  const rows = ['symbol,from,to', 'AAPL,2020-01-01,', 'MSFT,2020-01-01,2020-12-31'];
  writeFileSync(join(service.folder, 'members.csv'), rows.join('\n'));
  storeDocuments(service.database, [{ id: 'a', symbols: ['MSFT'] }]);
  const job = await service.runJob({ ...RANGE, universe: 'index' });
  assert.equal(job.status, 'completed');
  const { tools } = job.entries[0].entry;
  assert.deepEqual([tools.includes('buy'), tools.includes('list_documents')], [true, false]);
});

test('on a control market no document is offered, and a warning says so', async (t) => {
  const service = await serviceWith(t, [{ signature: 'reads' }]);
  storeDocuments(service.database, [{ id: 'a' }]);
  service.database.statement(`UPDATE price_data SET source = 'disguise'`).run();
  const { body } = await service.post('/simulate/trigger', RANGE);
  const { warnings } = await service.waitForJob(body.job_id);
  assert.match(warnings.join('\n'), /documents: the universe is a control market/);
  assert.ok(briefsOf(service).every(({ documents }) => documents === undefined));
});

test('what is held outside the universe is counted and read too', async (t) => {
  const buys: Script = { 'reads 2025-01-06': [[['buy', { symbol: 'MSFT', amount: 1 }]]] };
  const service = await serviceWith(t, [{ signature: 'reads' }], { ...buys, ...READS });
  storeDocuments(service.database, [
    { id: 'a', symbols: ['MSFT'], kind: '10-K' },
    { id: 'b', symbols: ['AAPL', 'MSFT'] },
    { id: 'c', symbols: [] },
    { id: 'd', symbols: ['XYZ'] },
  ]);
  await service.runJob({ ...RANGE, end_date: '2025-01-06' });
  await service.runJob({ ...RANGE, start_date: '2025-01-07', universe: 'apple' });
  const news = { kind: 'news', documents: 2 };
  const filing = { kind: '10-K', documents: 1 };
  const counts = briefsOf(service).map(({ documents }) => documents);
  assert.deepEqual(counts, [
    [news, filing],
    [news, filing],
    [news, filing],
  ]);
  const read = rowsAsText(
    service.database,
    `SELECT content FROM reasoning_logs WHERE tool_name = 'read_document'`,
  );
  assert.deepEqual(
    read.map((text) => JSON.parse(text).id),
    ['a', 'a'],
  );
});

test('a package of several dates replays, although it lacks a version that no session was shown', async (t) => {
  const script: Script = {
    'reads 2025-01-06': [[['list_documents', {}]]],
    'reads 2025-01-07': [[['list_documents', { query: 'needle' }]]],
  };
  const service = await serviceWith(t, [{ signature: 'reads' }], script);
  storeDocuments(service.database, [
    { id: 'a', text: 'A needle.' },
    { id: 'a', text: 'Corrected.', published_at: '2025-01-06' },
  ]);
  const { job_id: jobId } = await service.runJob({ ...RANGE, end_date: '2025-01-07' });
  const target = join(service.folder, 'package.db');
  await packageJob({ path: service.settings.databasePath, jobId, target });
  const paper = new DatabaseSync(target, { readOnly: true });
  const texts = paper.prepare('SELECT text FROM document_texts').all();
  paper.close();
  assert.deepEqual(
    texts.map(({ text }) => text),
    ['A needle.'],
  );
  const { problems, same } = await auditScripts({ settings: { databasePath: target } });
  assert.deepEqual([problems.first, same], [[], 2]);
});

test('a model that is asked once reads the titles of the newest documents', async (t) => {
  const reply = () => ({
    body: {
      choices: [{ message: { content: '{"orders":[],"reason":"Read."}' }, finish_reason: 'stop' }],
    },
  });
  const server = await startModelServer(t, reply);
  const models = [
    {
      signature: 'm',
      openai_base_url: server.baseUrl,
      openai_api_key: 'sk',
      stream: false,
      decision: 'one_answer',
    },
  ];
  const service = await startProdService(t, { models });
  storeDocuments(service.database, [
    { id: 'a', title: 'First' },
    { id: 'b', title: 'Second', published_at: '2025-01-03', kind: '10-K' },
    { id: 'c', title: 'Not yet', published_at: '2099-01-03' },
  ]);
  const job = await service.runJob({ start_date: '2025-10-15', end_date: '2025-10-15' });
  assert.equal(job.status, 'completed', JSON.stringify(job));
  const [{ body }] = server.requests as any; // any: a body is unchecked JSON
  const prompt = body.messages.at(-1).content as string;
  assert.match(prompt, /\nDocuments published before this morning: 2 \(1 10-K, 1 news\)\n/);
  assert.match(
    prompt,
    /\n\nThe newest documents \(date, kind, title\):\n2025-01-03 10-K Second\n2025-01-02 news First$/,
  );
  const shown = rowsAsText(
    service.database,
    'SELECT document_id FROM document_sessions JOIN documents USING (version) ORDER BY 1',
  );
  assert.deepEqual(shown, ['a', 'b']);
  await assertReplays(service.database);
});
