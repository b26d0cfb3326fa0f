import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedAgent } from '../support/agents.ts';
import { ledgerOf } from '../support/ledger.ts';
import { startTestService } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';

/** Which ledger a name means, and who draws in it. */

const PRICES = `
  AAPL 2025-11-10 100 103
  AAPL 2025-11-11 104 102
  AAPL 2025-11-12 101 107
  MSFT 2025-11-10 200 196
  MSFT 2025-11-11 195 203
  MSFT 2025-11-12 204 201`;
const DAYS = { start_date: '2025-11-10', end_date: '2025-11-12' };

test('equal terms give equal days: simulated models and random draws know nothing of their study', async (t) => {
  const configuration = {
    models: [
      { signature: 'gpt', repeats: 3, enabled: true },
      { signature: 'unreliable-opus', enabled: true },
      { signature: 'dice', basemodel: 'baseline/random', repeats: 2, enabled: true },
    ],
    agent_config: { stock_symbols: ['AAPL', 'MSFT'] },
    studies: { one: {}, 'the other': { open: 'shown', initial_cash: 10_000 } },
  };
  const service = await startTestService(t, { configuration, prices: PRICES });
  const namesIn = async (study: string): Promise<string[]> =>
    (await service.runJob({ ...DAYS, study })).models;
  const wordsOf = (model: string) =>
    rowsAsText(
      service.database,
      `SELECT date, role, tool_calls, content FROM reasoning_logs JOIN trading_sessions USING (session_id)
       WHERE model = '${model}' ORDER BY date, message_index`,
    );
  const days = (names: string[]) =>
    names.map((name) => [ledgerOf(service.database, name), wordsOf(name)]);
  const unnamed = await namesIn('');
  assert.deepEqual(unnamed, ['gpt', 'gpt#2', 'gpt#3', 'unreliable-opus', 'dice', 'dice#2']);
  const expected = days(unnamed);
  assert.equal(new Set(expected.map((own) => JSON.stringify(own))).size, 6, 'runs draw apart');
  for (const study of ['one', 'the other']) {
    const names = await namesIn(study);
    const inStudy = unnamed.map((name) => name.replace(/(?=#)|$/, `@${study}`));
    assert.deepEqual(names, inStudy);
    assert.deepEqual(days(names), expected, study);
  }
});

const configuration = {
  models: [
    { signature: 'gpt', repeats: 2, enabled: true },
    { signature: 'claude@2025', enabled: true },
  ],
  agent_config: { stock_symbols: ['AAPL'] },
  studies: { 'hidden-open': { open: 'hidden' }, shown: {} },
};

const refused = tableOf<[name: string, study: string, models: string, detail: string]>(`
  an unknown study, with the nearest one | hiden-open | gpt | Study 'hiden-open' is not in the server configuration: it names hidden-open, shown (did you mean "hidden-open"?)
  one that is near to none | x | gpt | Study 'x' is not in the server configuration: it names hidden-open, shown
  a name of another study, without one | ${''} | gpt@shown | Cannot run 'gpt@shown'…study to shown
  a name of another study, in one | hidden-open | gpt@shown#2 | Cannot run 'gpt@shown#2'…study to shown
  a name of the study without a name | shown | gpt@ | Cannot run 'gpt@'…leave study out
  a run that the entry has not | shown | gpt@shown#3 | Cannot run 'gpt#3': 'gpt' has 2 runs: 'gpt', 'gpt#2'
`);
test('a trigger that means another study than it says is refused in words', async (t) => {
  const service = await startTestService(t, { configuration, agent: scriptedAgent({}) });
  for (const [name, study, model, detail] of refused) {
    const { status, body } = await service.post('/simulate/trigger', {
      ...{ ...DAYS, study, models: [model] },
    });
    assert.equal(status, 400, name);
    assert.match(body.detail, like(detail), name);
  }
  assert.equal((await service.get('/jobs')).body.count, 0);
});

test('the terms of a job in a study are not those of another one', async (t) => {
  const agent = scriptedAgent({});
  const service = await startTestService(t, { configuration, prices: PRICES, agent });
  const { job_id: terms_of } = await service.runJob({ ...DAYS, study: 'shown', models: ['gpt'] });
  const later = { ...DAYS, terms_of, replace_existing: true };
  for (const study of ['', 'hidden-open']) {
    const { status, body } = await service.post('/simulate/trigger', { ...later, study });
    const detail = `terms_of: job ${terms_of} belongs to the study 'shown'; leave study out`;
    assert.deepEqual([status, body.detail], [400, detail]);
  }
  for (const study of [undefined, null, 'shown']) {
    const { study: own } = await service.runJob({
      ...later,
      ...(study !== undefined && { study }),
    });
    assert.equal(own, 'shown');
  }
});

test('a ledger stays in the study in which its name ran first', async (t) => {
  const agent = scriptedAgent({});
  const first = await startTestService(t, { configuration, prices: PRICES, agent });
  await first.runJob({ ...DAYS, study: 'shown', models: ['gpt'] });
  await first.runJob({ ...DAYS, models: ['claude@2025'] });
  await first.stop();
  const later = {
    models: [{ signature: 'gpt@shown' }, { signature: 'claude' }],
    agent_config: configuration.agent_config,
    studies: { 2025: {} },
  };
  const { folder } = first;
  const service = await startTestService(t, { configuration: later, folder, agent });
  const answers = [
    await service.post('/simulate/trigger', { ...DAYS, models: ['gpt@shown'] }),
    await service.post('/simulate/trigger', { ...DAYS, study: '2025', models: ['claude'] }),
  ];
  const { models } = (await service.get('/models')).body;
  const named = models.find((one: { signature: string }) => one.signature === 'gpt@shown');
  const { configured, completed_model_days: days, last_job, entry, served } = named;
  assert.deepEqual([configured, days, last_job, entry, served], [true, 0, null, null, []]);
  const inStudy = (await service.get('/models?study=shown')).body.models;
  const ran = inStudy.find((one: { signature: string }) => one.signature === 'gpt@shown');
  assert.equal(ran.completed_model_days, 3, 'its ledger is that of the study');
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.detail]),
    [
      [
        400,
        "Cannot run 'gpt@shown': a model of that name ran in the study 'shown'; rename its entry or the study",
      ],
      [
        400,
        "Cannot run 'claude@2025': a model of that name ran without a study; rename its entry or the study",
      ],
    ],
  );
});
