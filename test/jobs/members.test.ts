import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { isSound } from '../../src/core/verify/database-audit.ts';
import { scriptedAgent, type Script } from '../support/agents.ts';
import { auditScripts } from '../support/replays.ts';
import { startTestService } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';
import { assertLike, like, tableOf } from '../support/text-table.ts';

/** NVDA is not a member yet on the 6th, and GONE has no prices. */
const PRICES = `
  AAPL 2025-01-06 100 110
  AAPL 2025-01-07 110 121
  AAPL 2025-01-08 121 121
  AAPL 2025-01-09 121 121
  MSFT 2025-01-06 50 45
  MSFT 2025-01-07 45 90
  MSFT 2025-01-08 90 90
  NVDA 2025-01-06 16 16
  NVDA 2025-01-07 20 20
  NVDA 2025-01-08 20 25
  NVDA 2025-01-09 25 25
  LATE 2025-01-08 10 10
  LATE 2025-01-09 10 12`;
const MEMBERS = `symbol,from,to
AAPL,2020-01-01,
"msft", 2020-01-01,2025-01-06

NVDA,2025-01-07,
GONE,2020-01-01,2025-01-07
AAPL,2000-01-01,2019-12-30
OLD,2000-01-01,2019-12-31
LATE,2025-01-09,
MSFT,2025-02-01,
`;
const RANGE = { start_date: '2025-01-06', end_date: '2025-01-08', universe: 'ndx' };

async function serviceWith(t: TestContext, script: Script, names: string[]) {
  const rule = { signature: 'rule', basemodel: 'baseline/buy-and-hold' };
  const models = [rule, ...names.map((signature) => ({ signature }))];
  const service = await startTestService(t, {
    configuration: {
      models: models.map((model) => ({ ...model, enabled: true })),
      universes: { ndx: { members: 'members.csv' } },
    },
    settings: { alphaVantageApiKey: 'set', autoDownloadPriceData: false },
    agent: scriptedAgent(script),
    prices: PRICES,
    isForged: true,
  });
  const write = (text: string) => writeFileSync(join(service.folder, 'members.csv'), text);
  write(MEMBERS);
  return { ...service, write };
}

const order = (side: string, symbol: string, amount: number): [string, object] => [
  side,
  { symbol, amount },
];
const SCRIPT: Script = {
  'rule 2025-01-06': [[order('buy', 'AAPL', 1), order('buy', 'MSFT', 1)]],
  'a 2025-01-06': [[order('buy', 'NVDA', 1), order('buy', 'MSFT', 2)]],
  'a 2025-01-07': [[order('buy', 'MSFT', 1), order('sell', 'MSFT', 1), order('buy', 'NVDA', 1)]],
  'a 2025-01-08': [[order('sell', 'MSFT', 1), order('buy', 'GONE', 1)]],
  'b 2025-01-07': [[['fail', 'at once']]],
};

/** A model's prices of a morning, and who left: named on its first session after, whatever happened before. */
const mornings = tableOf<[day: string, symbols: string, left: string]>(`
  a 2025-01-06 | AAPL GONE MSFT      |
  a 2025-01-07 | AAPL GONE MSFT NVDA | MSFT
  a 2025-01-08 | AAPL MSFT NVDA      | GONE
  a 2025-01-09 | AAPL LATE NVDA      |
  b 2025-01-06 | AAPL GONE MSFT      |
  b 2025-01-07 | AAPL GONE NVDA      | MSFT
  b 2025-01-08 | AAPL NVDA           | GONE MSFT
  b 2025-01-09 | AAPL LATE NVDA      |`);
/**
 * Close ÷ close before, the first from the open: AAPL and MSFT, then AAPL and NVDA, at last LATE
 * too, which the first job does not have on its dates.
 */
const RETURNS = [(0.1 - 0.1) / 2, (0.1 + 0.25) / 2, (0 + 0.25) / 2, (0 + 0 + 0.2) / 3];

test('a job with members: mornings, orders, warnings, the benchmark, marks, replay and package', async (t) => {
  const service = await serviceWith(t, SCRIPT, ['a', 'b']);
  const { database, folder } = service;
  const job = await service.runJob(RANGE);
  assertLike(job.warnings.slice(1), ['1 of 4 symbols has no prices …: GONE']);
  assert.deepEqual(job.terms.symbols, ['AAPL', 'GONE', 'MSFT', 'NVDA'], 'those of its dates');
  const next = await service.runJob({ end_date: '2025-01-09', universe: 'ndx' });
  assert.deepEqual(next.terms.symbols, ['AAPL', 'LATE', 'NVDA']);
  const read = rowsAsText(
    database,
    `SELECT model, content FROM reasoning_logs JOIN trading_sessions USING (session_id)
     WHERE role = 'user' AND model <> 'rule' ORDER BY model, date`,
  );
  const briefs = read.map((line) => {
    const { date, quotes, left = [] } = JSON.parse(line.slice(2));
    const symbols = quotes.map(({ symbol }: { symbol: string }) => symbol);
    return [`${line[0]} ${date}`, symbols.join(' '), left.join(' ')];
  });
  assert.deepEqual(briefs, mornings);
  assert.deepEqual(
    rowsAsText(
      database,
      `SELECT date, action_type, symbol, amount FROM positions JOIN trading_sessions USING (session_id)
       WHERE model = 'a' AND symbol IS NOT NULL ORDER BY date, position_id`,
    ),
    [
      ...['2025-01-06 buy MSFT 2', '2025-01-07 sell MSFT 1', '2025-01-07 buy NVDA 1'],
      '2025-01-08 sell MSFT 1',
    ],
  );
  const { body } = await service.get('/performance?benchmark=universe');
  assert.equal(body.benchmark.symbols, 5);
  const returns = body.benchmark.curve.map((day: any) => day.daily_return);
  assert.deepEqual(
    returns,
    RETURNS.map((own) => Math.round(own * 1e10) / 1e10),
  );
  const marks = body.models.flatMap(({ incomparable }: any) => incomparable);
  assert.deepEqual(
    marks.filter(({ kind }: any) => kind === 'universe' || kind === 'part_of_universe'),
    [],
  );
  assert.ok(isSound(await auditScripts(service)));
  const target = join(folder, 'paper.db');
  await packageJob({ path: service.settings.databasePath, jobId: job.job_id, target });
  const packaged = await auditScripts({ settings: { databasePath: target } });
  assert.deepEqual([packaged.modelDays, isSound(packaged)], [8, true]);
  const forge = `UPDATE jobs SET agent_config = json_set(agent_config, '$.members[2].from', '2025-01-08') WHERE job_id = ?`;
  database.statement(forge).run(job.job_id);
  const { problems } = await auditScripts(service);
  const found = problems.first.map(({ model, date }) => `${model} ${date}`);
  assert.deepEqual(found.sort(), ['a 2025-01-07', 'rule 2025-01-07']);
});

/** What is in the file, with `/` between lines, and what the trigger answers. */
const refusals = tableOf<[text: string, answer: string]>(`
  symbol,from,to/AAPL,2020-01-01,2025-01-06/A,2025-01-08, | 400 Invalid date range: the universe has no members on 2025-01-07
  symbol,from,to                                          | 400 Invalid date range: the universe has no members on 2025-01-06
  symbol,from,to,why/A,2020-01-01,,                       | line 1: the columns must be symbol,from,to
  symbol,from/A,2020-01-01                                | line 1: the columns must be symbol,from,to
  symbol,from,to/A,2020-01-01,/?,2020-01-01,              | line 3: symbol is not a ticker symbol
  symbol,from,to/A,2020-1-1,                              | line 2: from must be a date YYYY-MM-DD
  symbol,from,to//A,2020-01-01,2025-02-30                 | line 3: to must be a date YYYY-MM-DD
  symbol,from,to/A,2020-01-02,2020-01-01                  | line 2: to must not be before from
  symbol,from,to/A,2020-01-02,/B,2020-01-01,/A,2021-01-01, | line 4: A is a member from 2020-01-02 on already
  symbol,from,to/A,2021-01-01,/"a", 2020-01-01,2021-01-01 | line 3: A is a member from 2021-01-01 on already
  symbol,from,to/A,2020-01-01,,B                          | line 2: it has more than three columns
  symbol,from,to/A                                        | line 2: from must be a date YYYY-MM-DD`);

test('a date without members and a broken file are refused at the trigger', async (t) => {
  const service = await serviceWith(t, {}, []);
  const ask = async () => {
    const { status, body } = await service.post('/simulate/trigger', RANGE);
    return `${status} ${body.detail}`;
  };
  const broken = `500 Cannot use the server configuration ${service.folder}/config.json: universes.ndx.members: ${service.folder}/members.csv: `;
  for (const [text, answer] of refusals) {
    service.write(text.replaceAll('/', '\n'));
    assert.match(await ask(), like(answer.startsWith('400') ? answer : broken + answer), text);
  }
  const many = Array.from({ length: 1_001 }, (_, place) => `S${place},2020-01-01,`);
  service.write(['symbol,from,to', ...many].join('\n'));
  const most =
    'Invalid date range: the universe has 1001 members on these dates, the maximum is 1000';
  assert.equal(await ask(), `400 ${most}`);
  service.write(' '.repeat(256 * 1024 + 1));
  assert.equal(await ask(), `${broken}it is larger than 262144 bytes`);
  rmSync(join(service.folder, 'members.csv'));
  assert.equal(await ask(), `${broken}there is no such file or folder`);
});
