import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { silentLog } from '../../src/core/process/log.ts';
import { like } from '../support/text-table.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { firstTriedDate } from '../../src/features/performance/queries.ts';
import { addWarnings, warnedSubjects } from '../../src/core/database/job-queries.ts';
import { discardJob } from '../../src/core/jobs/queue.ts';
import { isSound } from '../../src/core/verify/database-audit.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { type RequestHere, runJobHere } from '../support/job-here.ts';
import { inLongForm, runs } from '../support/long.ts';
import { auditScripts, replayDifferences } from '../support/replays.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { staleNow } from '../support/stale.ts';
import { rowsAsText } from '../support/tables.ts';
import { until } from '../support/until.ts';
import { startTestView } from '../support/view.ts';

/** `DELETE /jobs/{job_id}`: the model-days of a job no longer count, those that they replaced do. */

const DATES = ['2025-11-10', '2025-11-11', '2025-11-12', '2025-11-13'];
const [FIRST, SECOND, THIRD, LAST] = DATES as [string, string, string, string];
const PRICES = DATES.map((date, index) => `AAPL ${date} ${100 + index} ${101 + index}`).join('\n');
const MODELS = ['model-a', 'model-b'];
const OWN = { models: ['model-a'] };
const buy = (amount: number): Script[string] => [[['buy', { symbol: 'AAPL', amount }]]];
const FAIL: Script[string] = [[['get_portfolio', {}]], [['fail', 'no']]];

function configurationWith(more: object = {}) {
  const models = MODELS.map((signature) => ({ signature, enabled: true, ...more }));
  return { models, agent_config: { stock_symbols: ['AAPL'] } };
}

const serve = (t: TestContext, script: Script = {}) =>
  startTestService(t, {
    configuration: configurationWith(),
    agent: scriptedAgent(script),
    prices: `${PRICES}\n${PRICES.replaceAll('AAPL', 'QQQ')}`,
  });

async function discard({ url }: TestService, jobId: string): Promise<Omit<Answer, 'headers'>> {
  const response = await fetch(`${url}/jobs/${jobId}`, { method: 'DELETE' });
  return { status: response.status, body: await response.json() };
}

/** A job of both models over all dates, unless `part` says otherwise; its id. */
async function run(
  service: TestService,
  script: Script,
  part: Partial<RequestHere> = {},
): Promise<string> {
  const all = { start_date: FIRST, end_date: LAST, models: MODELS };
  return (await runJobHere(service, script, { ...all, ...part })).job_id;
}

const RESPONSES = [
  '/results',
  '/performance?details=true',
  '/performance?by=entry&common=true',
  '/comparison?models=model-a,model-b&align=number',
  '/holdings?model=model-a',
  '/decisions',
  '/reasoning?include_full_conversation=true',
  '/search?q=trade',
  '/models',
];

async function responsesOf(service: TestService): Promise<unknown[]> {
  const answers = await Promise.all(RESPONSES.map((path) => service.get(path)));
  const tried = MODELS.map((model) => firstTriedDate(service.database, model, {}));
  return [...answers.map(({ body }) => body), tried];
}

test('when a job is discarded, every response is as it was before the job, and the job is kept', async (t) => {
  const service = await serve(t);
  await run(service, { '*': buy(1) }, { start_date: SECOND, end_date: THIRD });
  const before = await responsesOf(service);
  const [{ settings }, cutoff] = [service, { knowledge_cutoff: SECOND }];
  writeFileSync(settings.configurationPath, JSON.stringify(configurationWith(cutoff)));
  const script = { '*': buy(2), [`model-b ${FIRST}`]: FAIL, [`model-a ${LAST}`]: FAIL };
  const job = await run(service, script, { replace_existing: true });
  writeFileSync(settings.configurationPath, JSON.stringify(configurationWith()));
  for (const [index, body] of (await responsesOf(service)).entries())
    assert.notDeepEqual(body, before[index], RESPONSES[index]);

  const { status, body } = await discard(service, job);
  assert.deepEqual(
    [status, body.status, body.message],
    [200, 'discarded', 'Job discarded: 6 model-days withdrawn, 4 earlier results active again'],
  );
  assert.deepEqual(await responsesOf(service), before);
  const { body: kept } = await service.get(`/simulate/status/${job}`);
  assert.deepEqual(
    [kept.status, kept.progress.completed, kept.progress.failed, kept.warnings],
    ['discarded', 6, 2, null],
  );
  assert.equal((await service.get('/jobs?status=discarded')).body.count, 1);
  assert.equal((await service.get(`/results?job_id=${job}`)).body.count, 0);
  const refused = [
    await service.get(`/reasoning?job_id=${job}`),
    await service.post(`/simulate/cancel/${job}`, {}),
    await discard(service, 'nothing'),
  ].map((answer) => `${answer.status} ${answer.body.detail}`);
  assert.match(
    refused.join(),
    /^404 No trading sessions found.*,409 .*status is discarded.*,404 Job nothing not found/,
  );

  const again = await discard(service, job);
  assert.deepEqual([again.status, again.body.message], [200, 'The job was already discarded']);
  assert.deepEqual(await responsesOf(service), before);
});

test('the message of a discard says how many model-days are stale then, as the warnings do', async (t) => {
  for (const [models, end_date, message, warning] of [
    [['model-a'], FIRST, '1 model-day withdrawn, 0 earlier results active again', null],
    [['model-a'], SECOND, '1 …; stale now: 1 model-day (see warnings)', '1 model-day is stale…'],
    [MODELS, SECOND, '2 …; stale now: 2 model-days (see warnings)', '2 model-days are stale…'],
  ] as const) {
    const service = await serve(t);
    const early = await run(service, { '*': buy(1) }, { models: [...models], end_date: FIRST });
    const later = { models: [...models], start_date: SECOND, end_date };
    if (end_date > FIRST) await run(service, {}, later);
    const { body } = await discard(service, early);
    assert.match(body.message, like(`Job discarded: ${message}`));
    const { warnings } = (await service.get(`/simulate/status/${early}`)).body;
    if (warning === null) assert.equal(warnings, null);
    else assert.match(String(warnings), like(warning));
  }
});

test('an early trigger is undone; what rests on a discarded job is stale; resume mode follows', async (t) => {
  const service = await serve(t);
  const later = await run(service, {}, { ...OWN, start_date: SECOND, end_date: THIRD });
  const early = await run(service, {}, { ...OWN, end_date: FIRST });
  assert.deepEqual(staleNow(service.database), [`model-a ${SECOND}`]);
  await discard(service, early);
  assert.deepEqual(staleNow(service.database), []);
  const resume = async () => {
    const { date_range, job_id } = await service.runJob({ end_date: LAST, ...OWN });
    return { dates: date_range, job: job_id as string };
  };
  const resumed = await resume();
  assert.deepEqual(resumed.dates, [LAST]);
  const about = ['A 2025-01-06 10 1'];
  await service.database.write(() =>
    addWarnings(service.database, later, [{ code: 'possible_split', message: 'Split', about }]),
  );
  const told = () => [...warnedSubjects(service.database, 'possible_split')];
  assert.deepEqual(told(), about);
  await discard(service, later);
  assert.deepEqual(told(), [], 'as if there were none');
  const { warnings } = (await service.get(`/simulate/status/${later}`)).body;
  assert.match(
    String(warnings),
    new RegExp(
      `possible split of A on 2025-01-06,1 model-day is stale, .*: model-a ${LAST}; npx trading-simulation-service trigger `,
    ),
  );
  const report = await auditScripts(service);
  assert.deepEqual(
    [isSound(report), report.modelDays, report.superseded],
    [true, 1, { modelDays: 3, same: 3 }],
  );
  await discard(service, resumed.job);
  assert.deepEqual((await resume()).dates, [LAST], 'a cold start, because no day is left');
});

test('no job is discarded while one is unfinished', async (t) => {
  const service = await serve(t, { '*': [[['wait', 60_000]]] });
  const ended = await run(service, {});
  const wanted = { start_date: FIRST, end_date: LAST, ...OWN, replace_existing: true };
  const { body } = await service.post('/simulate/trigger', wanted);
  const sessions = `SELECT 1 FROM trading_sessions WHERE status = 'running'`;
  await until('a day to run', () => service.database.statement(sessions).get() !== undefined);
  for (const job of [body.job_id, ended]) {
    const { status, body: refused } = await discard(service, job);
    assert.equal(status, 409);
    assert.match(refused.detail, like(`…${job}: job ${body.job_id}…cancel…`));
  }
  await service.post(`/simulate/cancel/${body.job_id}`, {});
  for (const job of [body.job_id, ended]) assert.equal((await discard(service, job)).status, 200);
  assert.equal((await service.get('/results')).body.count, 0);
});

test(
  'the packages of a discarded job, and of one that rests on it, are sound and show what counts',
  inLongForm,
  async (t) => {
    const service = await serve(t);
    const base = await run(service, { '*': buy(1) }, { ...OWN, end_date: SECOND });
    const next = await run(service, { '*': buy(1) }, { ...OWN, start_date: THIRD });
    await discard(service, base);
    const packages: [job: string, status: string, results: number, stale: unknown[]][] = [
      [base, 'discarded', 0, []],
      [next, 'completed', 2, [{ model: 'model-a', date: THIRD }]],
    ];
    for (const [jobId, status, results, stale] of packages) {
      const target = join(service.folder, `${status}.db`);
      await packageJob({ path: service.settings.databasePath, jobId, target });
      const view = await startTestView(t, target);
      assert.deepEqual((await view.get('/audit')).body.stale, stale);
      assert.equal((await view.get('/jobs')).body.jobs[0].status, status);
      assert.equal((await view.get('/results')).body.count, results);
      const refused = await fetch(`${view.url}/jobs/${jobId}`, { method: 'DELETE' });
      assert.equal(refused.status, 405);
      const file = openDatabase(target);
      assert.deepEqual(await replayDifferences(file), []);
      file.close();
    }
  },
);

test('an active model-day of a discarded job is a problem for the audit', async (t) => {
  const service = await serve(t);
  await run(service, {}, { ...OWN, end_date: FIRST });
  service.database.statement(`UPDATE jobs SET status = 'discarded'`).run();
  const { problems } = await auditScripts(service);
  assert.deepEqual(problems.first[0]?.sentences, ['its job is discarded']);
});

const KEYS = MODELS.flatMap((model) => DATES.map((date) => `${model} ${date}`));
/** A job runs, or the one of that number is discarded. */
const anyStep = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      discarded: fc.constant(null),
      ends: fc.tuple(fc.nat(3), fc.nat(3)),
      models: fc.subarray(MODELS, { minLength: 1 }),
      replaces: fc.boolean(),
      fails: fc.subarray(KEYS, { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ discarded: fc.nat(4) }) },
);
/** Another generation of the first model-day. */
const GENERATION = {
  ...{ discarded: null, ends: [0, 0], models: ['model-a'], replaces: true, fails: [] },
} satisfies Step;
type Step = typeof anyStep extends fc.Arbitrary<infer Type> ? Type : never;

/** A job as it should be: each model-day that it completed, with the one that this started from. */
interface ExpectedJob {
  id: string;
  isDiscarded: boolean;
  completed: Map<string, string>;
}

/** The newest job that completed a model-day and is not discarded. */
function ownerOf(jobs: readonly ExpectedJob[], key: string): ExpectedJob | undefined {
  return jobs.findLast(({ isDiscarded, completed }) => !isDiscarded && completed.has(key));
}

/** The model's day before, and whose it is. */
function startOf(jobs: readonly ExpectedJob[], key: string): string {
  const before = KEYS.slice(0, KEYS.indexOf(key)).filter(
    (other) => other.split(' ')[0] === key.split(' ')[0],
  );
  const latest = before.findLast((other) => ownerOf(jobs, other) !== undefined);
  return latest === undefined ? 'cash' : `${ownerOf(jobs, latest)?.id} ${latest}`;
}

/** Takes a step in the service, and in what is expected of it. */
async function take(service: TestService, jobs: ExpectedJob[], step: Step): Promise<void> {
  if (step.discarded !== null) {
    const job = jobs[step.discarded];
    if (job === undefined) return;
    await discardJob({ ...service, log: silentLog }, job.id);
    job.isDiscarded = true;
    return;
  }
  const { models, fails, replaces } = step;
  const [first = 0, last = 0] = [...step.ends].sort();
  const part = { start_date: DATES[first] as string, end_date: DATES[last] as string, models };
  const script = {
    '*': buy(1 + jobs.length),
    ...Object.fromEntries(fails.map((key) => [key, FAIL])),
  };
  const job: ExpectedJob = { id: '', isDiscarded: false, completed: new Map() };
  job.id = await run(service, script, { ...part, replace_existing: replaces });
  const done = KEYS.filter((key) => ownerOf(jobs, key) !== undefined);
  jobs.push(job);
  for (const model of models)
    for (const date of DATES.slice(first, last + 1)) {
      const key = `${model} ${date}`;
      if (!fails.includes(key) && (replaces || !done.includes(key)))
        job.completed.set(key, startOf(jobs, key));
    }
}

/** What is stored: whose each active model-day is, the stale ones, and the runs that are superseded. */
function stateOf({ database }: TestService) {
  const rows = (sql: string) => rowsAsText(database, `SELECT ${sql}`);
  return {
    active: rows(`model, date, job_id FROM trading_sessions WHERE status = 'active' ORDER BY 1, 2`),
    stale: staleNow(database),
    superseded: rows(
      `job_id, model FROM simulation_runs WHERE status = 'superseded' ORDER BY run_id`,
    ),
  };
}

function expectedOf(jobs: readonly ExpectedJob[], runsOf: (id: string) => readonly string[]) {
  const active = KEYS.filter((key) => ownerOf(jobs, key) !== undefined);
  return {
    active: active.map((key) => `${key} ${ownerOf(jobs, key)?.id}`),
    stale: active.filter((key) => ownerOf(jobs, key)?.completed.get(key) !== startOf(jobs, key)),
    superseded: jobs.flatMap((job) =>
      runsOf(job.id)
        .filter((model) => {
          const own = [...job.completed.keys()].filter((key) => key.startsWith(`${model} `));
          return (
            job.isDiscarded || (own.length > 0 && own.every((key) => ownerOf(jobs, key) !== job))
          );
        })
        .map((model) => `${job.id} ${model}`),
    ),
  };
}

test('whatever runs, is replaced and discarded: the newest generation counts whose job is not discarded', async (t) => {
  const steps = fc.array(anyStep, { minLength: 3, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const service = await serve(t);
      const jobs: ExpectedJob[] = [];
      const models = new Map<string, readonly string[]>();
      for (const step of all) {
        await take(service, jobs, step);
        if (step.discarded === null) models.set(jobs.at(-1)?.id ?? '', step.models);
        assert.deepEqual(
          stateOf(service),
          expectedOf(jobs, (id) => models.get(id) ?? []),
        );
      }
      const { damage, problems } = await auditScripts(service);
      assert.deepEqual([damage, problems.first], [[], []]);
      await service.stop();
    }),
    {
      numRuns: runs(1, 300),
      examples: [
        [[GENERATION, GENERATION, GENERATION, { discarded: 1 }, { discarded: 2 }]],
        [[GENERATION, GENERATION, GENERATION, { discarded: 2 }]],
      ],
    },
  );
});
