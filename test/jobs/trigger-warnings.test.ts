import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedAgent } from '../support/agents.ts';
import { startProdService } from '../support/prod.ts';
import { startTestService, twoModels } from '../support/service.ts';
import { assertLike, like, tableOf } from '../support/text-table.ts';

/** Monday to Monday, with a holiday on Wednesday and nothing known before or after. */
const PRICES = ['10', '11', '13', '14', '17']
  .map((day) => `AAPL 2025-11-${day} 100 101\nMSFT 2025-11-${day} 200 201`)
  .join('\n');

test('a trigger says beforehand which completed model-days its days come before', async (t) => {
  const service = await startTestService(t, {
    configuration: { ...twoModels, agent_config: { dividends: false } },
    prices: PRICES,
    settings: { alphaVantageApiKey: 'set', autoDownloadPriceData: false },
    agent: scriptedAgent({ 'model-b 2025-11-11': [[['fail', 'at once']]] }),
  });
  const steps = tableOf<[models: string, dates: string, replaces: string, later: string]>(`
    a b | 10 14 | no  |
    a   | 10 14 | no  |
    a b | 10 14 | no  | 2 model-days of model-b from 2025-11-13 on
    a b | 17 17 | no  |
    b   | 10 13 | yes | 2 model-days of model-b from 2025-11-14 on
    b   | 10 17 | yes |
    a b | 06 07 | no  | 5 model-days of model-a from 2025-11-10 on, 4 model-days of model-b from 2025-11-10 on
    a   | - 18  | no  |
  `);
  // The second is complete but for a holiday; in the third a failed day is run again.
  for (const [names, dates, replaces, later] of steps) {
    const models = names.split(' ').map((name) => `model-${name}`);
    const [from, to] = dates.split(' ');
    const start_date = from === '-' ? null : `2025-11-${from}`;
    const replace_existing = replaces === 'yes';
    const request = { start_date, end_date: `2025-11-${to}`, models, replace_existing };
    const { body } = await service.post('/simulate/trigger', request);
    const expected = later === '' ? [] : [`…stale: ${later}. …replace_existing`];
    assertLike(body.warnings ?? [], expected, JSON.stringify(request));
    await service.waitForJob(body.job_id);
  }
});

test('a trigger says how many symbols have real prices where the others are made up', async (t) => {
  const universes = {
    own: ['AAPL', 'MSFT'],
    none: ['ORLY'],
    both: ['MSFT', 'ORLY', 'AAPL', 'TSLA'],
  };
  const models = [{ signature: 'model-a', enabled: true }];
  const service = await startTestService(t, {
    prices: PRICES,
    configuration: { models, universes },
    agent: scriptedAgent({}),
  });
  const rows: [universe: string, warnings: string[] | null, codes: string[] | null][] = [
    ['own', null, null],
    ['none', null, null],
    ['both', ['Only 2 of 4 symbols have real prices (AAPL, MSFT)…'], ['mixed_prices']],
  ];
  for (const [universe, warnings, codes] of rows) {
    const request = { ...ONE_DAY, universe, replace_existing: true };
    const { body } = await service.post('/simulate/trigger', request);
    const isOfPrices = (_: unknown, index: number) => !body.warnings[index].includes('other terms');
    const [told, told_codes] = [body.warnings, body.warning_codes].map((all) => {
      const own = all?.filter(isOfPrices) ?? [];
      return own.length === 0 ? null : own;
    });
    assertLike(told ?? [], warnings ?? [], `${universe}`);
    assert.deepEqual(told_codes, codes, `${universe}`);
    const job = await service.waitForJob(body.job_id);
    assert.equal(job.warning_codes?.includes('mixed_prices') ?? false, warnings !== null);
  }
});

const ONE_DAY = { start_date: '2025-11-10', end_date: '2025-11-10' };

test('a trigger says whose dividends are not known between its dates, and how to bring them in', async (t) => {
  const terms = tableOf<[known: string, dates: string, more: string, unknown: string]>(`
    -           | 10 14 | {}                   | 2 of 2 symbols: AAPL, MSFT
    -           | 10 10 | {}                   |
    -           | 10 14 | {"dividends":false}  |
    AAPL 11 14  | 10 14 | {}                   | 1 of 2 symbols: MSFT
    AAPL 11 13  | 10 14 | {}                   | 2 of 2 symbols: AAPL, MSFT
  `);
  for (const [known, dates, more, unknown] of terms) {
    const agent_config = { stock_symbols: ['AAPL', 'MSFT'], ...JSON.parse(more) };
    const service = await startTestService(t, {
      configuration: { ...twoModels, agent_config },
      prices: PRICES,
      settings: { autoDownloadPriceData: false },
      agent: scriptedAgent({}),
    });
    const [symbol = '', since, until] = known.split(' ');
    if (since !== undefined)
      service.database
        .statement(
          `INSERT INTO dividend_coverage (symbol, source, start_date, end_date) VALUES (?, 'csv', ?, ?)`,
        )
        .run(symbol, `2025-11-${since}`, `2025-11-${until}`);
    const [from, to] = dates.split(' ');
    const range = { start_date: `2025-11-${from}`, end_date: `2025-11-${to}` };
    const { body } = await service.post('/simulate/trigger', range);
    const [message = ''] = body.warnings ?? [];
    assert.equal(message !== '', unknown !== '', JSON.stringify(body.warnings));
    if (unknown === '') continue;
    const [count = '', names = ''] = unknown.split(': ');
    assert.match(message, like(`${count}…(${names})…import-prices…download-prices --dividends`));
    assert.deepEqual(body.warning_codes, ['unknown_dividends']);
    await service.waitForJob(body.job_id);
  }
});

test('a trigger names what is missing to ask a model, once for all its runs, and the name that was probably meant', async (t) => {
  const service = await startProdService(t, {
    models: [
      { signature: 'gpt-5', basemodel: 'openai/gpt-5', repeats: 2 },
      { signature: 'held', basemodel: 'openai/gpt-5', openai_api_key_env: 'NOT_SET' },
      { signature: 'local', openai_base_url: 'http://127.0.0.1:1/v1' },
      { signature: 'rule', basemodel: 'baseline/random' },
    ],
    environment: {},
    agent: scriptedAgent({}),
  });
  const models = ['gpt-5', 'gpt5', 'held', 'local', 'rule', 'stranger'];
  const { body } = await service.post('/simulate/trigger', { ...ONE_DAY, models });
  const missing =
    "Model 'gpt-5' has no key: set openai_api_key or openai_api_key_env in its entry, or OPENAI_API_KEY";
  const reasons = [
    missing,
    `Model 'gpt5' is not in the server configuration (did you mean "gpt-5"?)`,
    "Model 'held' has no key: its entry names the variable NOT_SET, which is not set",
    "Model 'stranger' is not in the server configuration",
  ];
  assert.deepEqual(
    body.warnings,
    reasons.map((reason) => `${reason}; its model-days will fail`),
  );
  const { details } = await service.waitForJob(body.job_id);
  assert.equal(details.find(({ model }: { model: string }) => model === 'gpt-5#2').error, missing);
});
