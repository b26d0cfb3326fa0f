import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { JobRequest } from '../../src/core/jobs/plan.ts';
import { assertLike, like } from '../support/text-table.ts';
import { planJob } from '../../src/core/jobs/plan.ts';
import { WORDING } from '../../src/core/agent/prompt.ts';
import { scriptedAgent } from '../support/agents.ts';
import { runInProcess } from '../support/in-process.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { workerContext } from '../support/worker-context.ts';

/** What becomes of jobs whose terms are not those of the days before. */

const TERMS = { stock_symbols: ['AAPL', 'MSFT'], initial_cash: 10_000, max_steps: 30 };
const UNIVERSES = { one: ['AAPL'], both: ['MSFT', 'AAPL'], dated: { members: 'm.csv' } };
const PRICES = ['AAPL', 'MSFT']
  .flatMap((symbol) => ['10', '11', '12'].map((day) => `${symbol} 2025-11-${day} 100 101`))
  .join('\n');

const configurationOf = (terms: object, more: object = {}) => ({
  models: [{ signature: 'a', enabled: true }],
  agent_config: { ...TERMS, ...terms },
  universes: UNIVERSES,
  studies: { x: {} },
  ...more,
});

/** A service in which `a` and `a@x` have run on 10 and 11 November, and what a later trigger plans. */
async function startWithDays(t: TestContext) {
  const service = await startTestService(t, {
    configuration: configurationOf({}),
    prices: PRICES,
    agent: scriptedAgent({ '*': [[['buy', { symbol: 'AAPL', amount: 1 }]]] }),
  });
  const days = { start_date: '2025-11-10', end_date: '2025-11-11' };
  const jobs = new Map<string | null, string>();
  for (const study of [null, 'x'])
    jobs.set(study, (await service.runJob({ ...days, study })).job_id);
  const plan = (configuration: object, request: Partial<JobRequest>) => {
    const context = workerContext(service.database, configuration as { models: object[] });
    writeFileSync(
      join(dirname(context.settings.configurationPath), 'm.csv'),
      'symbol,from,to\nAAPL,2020-01-01,\nMSFT,2020-01-01,\n',
    );
    const planned = planJob(
      { ...context, clock: service.clock },
      {
        ...{ startDate: '2025-11-10', endDate: '2025-11-11', models: [], universe: null },
        ...{ replaceExisting: true, ...request },
      },
    );
    return planned.warnings
      .map((one) => (typeof one === 'string' ? one : one.message))
      .filter((one) => /other terms|prompt version/.test(one));
  };
  return { service, jobs, plan };
}

/** What is edited in `agent_config`, or sent, between two jobs, and what is said of it. */
const changes: [change: object, said: string | null, request?: Partial<JobRequest>][] = [
  [{ open: 'hidden' }, 'open: shown before, hidden now'],
  [{ limits: { max_orders: 1 } }, 'limits on orders: none before, at most 1 order a day now'],
  [{ commission_per_trade: 2 }, 'trading costs: none before, 2 dollars per trade now'],
  [{ commission_bps: 5 }, 'trading costs: none before, commission of 5 basis points now'],
  [{ slippage_bps: 5 }, 'trading costs: none before, slippage of 5 basis points now'],
  [{ dividends: false }, 'treatment of dividends: paid before, not paid now'],
  [{ initial_cash: 10_001 }, 'initial cash: 10000 dollars before, 10001 dollars now'],
  [{ max_steps: 29 }, 'steps: at most 30 a day before, at most 29 a day now'],
  [{ stock_symbols: ['AAPL'] }, 'universe: 2 symbols before, 1 symbol now, without MSFT'],
  [
    { stock_symbols: ['KO', 'MSFT'] },
    'universe: 2 symbols before, 2 symbols now, without AAPL, with KO',
  ],
  [{}, 'universe: 2 symbols before, 1 symbol now, without MSFT', { universe: 'one' }],
  [
    {},
    'universe: 2 symbols before, 2 symbols now, other lines in the file of its members',
    { universe: 'dated' },
  ],
  [
    { open: 'hidden', max_steps: 1 },
    'open: shown before, hidden now; steps: at most 30 a day before, at most 1 a day now',
  ],
  [{ stock_symbols: ['MSFT', 'aapl', 'MSFT'] }, null],
  [{ open: 'shown', limits: null, dividends: true, commission_bps: 0 }, null],
  [{ max_retries: 9, base_delay: 0, max_cost_usd: 1 }, null],
  [{}, null, { universe: 'both' }],
];

test('days are replaced on other terms where the request says so, or says nothing in the study without a name', async (t) => {
  const { jobs, plan } = await startWithDays(t);
  for (const [change, said, request] of changes)
    for (const [study, changeTerms, isRefused] of [
      [null, null, false],
      [null, true, false],
      [null, false, true],
      ['x', null, true],
      ['x', true, false],
      ['x', false, true],
    ] as const) {
      const name = JSON.stringify({ change, request, study, changeTerms });
      const planned = () => plan(configurationOf(change), { ...request, study, changeTerms });
      const what = `…replaces…job ${jobs.get(study)} from 2025-11-10 on…: ${said}`;
      if (said === null) assert.deepEqual(planned(), [], name);
      else if (isRefused)
        assert.throws(
          planned,
          { code: 'terms_differ', message: like(`${what}. …change_terms…`) },
          name,
        );
      else assertLike(planned(), [what], name);
    }
});

test('new days on other terms than the newest job of their study are a warning, whatever the request says', async (t) => {
  const { jobs, plan } = await startWithDays(t);
  for (const [change, said, request] of changes)
    for (const study of [null, 'x'])
      for (const replaceExisting of [false, true]) {
        const days = { startDate: '2025-11-12', endDate: '2025-11-12', replaceExisting };
        const found = plan(configurationOf(change), {
          ...days,
          ...request,
          study,
          changeTerms: false,
        });
        const what = `New days, from 2025-11-12 on…job ${jobs.get(study)}: ${said}`;
        assertLike(found, said === null ? [] : [what], JSON.stringify({ change, study }));
      }
  const hidden = configurationOf({ open: 'hidden' });
  const first = { startDate: null, endDate: '2025-11-12', replaceExisting: false };
  assert.match(plan(hidden, first).join(), /from 2025-11-12 on.*: open: shown/);
  const again = { replaceExisting: false, changeTerms: false };
  assert.deepEqual(plan(hidden, again), [], 'no day is new, and none is replaced');
  const studies = { y: { open: 'hidden' } };
  const other = { study: 'y', startDate: '2025-11-10' as const, changeTerms: false };
  assert.deepEqual(plan(configurationOf({}, { studies }), other), [], 'a study without days');
});

test('another wording of the program is a warning, and refuses nothing', async (t) => {
  const { service, jobs, plan } = await startWithDays(t);
  service.database.statement(`UPDATE trading_sessions SET wording = ${WORDING + 1}`).run();
  const said = [`…version ${WORDING};…job ${jobs.get('x')}…version ${WORDING + 1}`];
  const request = { study: 'x', changeTerms: false };
  const fresh = { startDate: '2025-11-12', endDate: '2025-11-12', replaceExisting: false } as const;
  for (const days of [{}, fresh])
    assertLike(plan(configurationOf({}), { ...request, ...days }), said);
  const nothing = { ...request, replaceExisting: false };
  assert.deepEqual(plan(configurationOf({}), nothing), [], 'no day is run');
  service.database.statement(`UPDATE trading_sessions SET wording = ${WORDING}`).run();
});

test('a study is compared with its own terms, and its own keys replace those of the file', async (t) => {
  const { plan } = await startWithDays(t);
  const edited = (own: object) => configurationOf({ open: 'hidden' }, { studies: { x: own } });
  const request = { study: 'x', changeTerms: false };
  assert.deepEqual(plan(edited({ open: 'shown' }), request), []);
  assert.deepEqual(plan(edited({ open: null }), request), [], 'null is the default');
  assert.throws(() => plan(edited({}), request), /open: shown before, hidden now/);
  const hidden = edited({ open: 'shown', universe: 'one' });
  assert.throws(() => plan(hidden, request), /without MSFT/);
  assert.deepEqual(
    plan(hidden, { ...request, universe: 'both' }),
    [],
    "the request's universe wins",
  );
});

/** Runs the command that a text prints, against the service. */
async function runPrinted({ url }: TestService, text: string) {
  const [, command = ''] = /(trigger --start .*? --replace)/.exec(text) ?? [];
  const words = command.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", '')) ?? [];
  return runInProcess([...words, '--url', url], { cwd: temporaryFolder(), env: {} });
}

test('the printed command runs stale days again on the terms that they ran on, after the file was edited', async (t) => {
  const { service, jobs } = await startWithDays(t);
  const { database, settings } = service;
  database.statement(`UPDATE price_data SET close = 90 WHERE date = '2025-11-11'`).run();
  const edit = (study: object) => {
    const studies = { x: study };
    const edited = configurationOf({ open: 'hidden', stock_symbols: ['AAPL'] }, { studies });
    writeFileSync(settings.configurationPath, JSON.stringify(edited));
  };
  const stored = (jobId: string | undefined) =>
    database.statement('SELECT agent_config, universe FROM jobs WHERE job_id = ?').get(jobId ?? '');
  const remedy = async (query: string) => {
    const { body } = await service.get(`/performance?${query}`);
    return body.incomparable.find(({ kind }: { kind: string }) => kind === 'stale')?.reason ?? '';
  };
  edit({ open: 'shown', dividends: false });
  const text = await remedy('study=');
  assert.match(text, new RegExp(`--models a --terms-of ${jobs.get(null)} --replace`));
  const { code, stdout, stderr } = await runPrinted(service, text);
  assert.equal(code, 0, stderr);
  await service.waitForJob(stdout.trim());
  assert.deepEqual(stored(stdout.trim()), stored(jobs.get(null)));
  assert.equal(await remedy('study='), '');
  const ofStudy = await remedy('study=x');
  const job = jobs.get('x');
  assert.match(ofStudy, new RegExp(`--models a@x --study x --terms-of ${job} --replace`));
  const again = await runPrinted(service, ofStudy);
  assert.equal(again.code, 0, again.stderr);
  await service.waitForJob(again.stdout.trim());
  assert.deepEqual(stored(again.stdout.trim()), stored(job));
  assert.equal(await remedy('study=x'), '');
});

test('a job on the terms of another has its study, whatever the file names now', async (t) => {
  const { service, jobs } = await startWithDays(t);
  const { settings } = service;
  const models = ['a', 'b'].map((signature) => ({ signature, enabled: true }));
  const edited = configurationOf({}, { studies: {}, models });
  writeFileSync(settings.configurationPath, JSON.stringify(edited));
  const day = { start_date: '2025-11-12', end_date: '2025-11-12' };
  const of = jobs.get('x');
  for (const [request, status, detail] of [
    [{ terms_of: of, models: ['a'] }, 200, undefined],
    [{ terms_of: of, replace_existing: true }, 200, undefined],
    [{ terms_of: 'none', models: ['a'] }, 400, 'terms_of: there is no job none'],
    [{ terms_of: of, study: 'x', models: ['a'] }, 200, undefined],
    [
      { terms_of: of, study: 'y' },
      400,
      `terms_of: job ${of} belongs to the study 'x'; leave study out`,
    ],
    [
      { terms_of: of, universe: 'one' },
      422,
      'terms_of: cannot be combined with universe; the job has one',
    ],
    [{ study: 'x' }, 400, "Study 'x' is not in the server configuration: it names none"],
  ] as const) {
    const { body, status: found } = await service.post('/simulate/trigger', { ...day, ...request });
    assert.deepEqual([found, body.detail], [status, detail]);
    if (found !== 200) continue;
    assert.equal(body.study, 'x');
    const { models, status: end } = await service.waitForJob(body.job_id);
    assert.deepEqual([models, end], [['a@x'], 'completed']);
  }
});
