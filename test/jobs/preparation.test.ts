import assert from 'node:assert/strict';
import fs, { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { loadJob, rememberTrigger, unfinishedJobId } from '../../src/core/database/job-queries.ts';
import { createJobQueue, hashRequest } from '../../src/core/jobs/queue.ts';
import { insertTestJob } from '../support/jobs.ts';
import { clockFrom, copyTemplate } from '../support/service.ts';
import { fillWithTrackRecords, modelNames } from '../support/track-records.ts';
import { workerContext } from '../support/worker-context.ts';
import { temporaryFolder } from '../support/folder.ts';

const RESUMING = {
  ...{ startDate: null, endDate: '2023-10-06', models: [], replaceExisting: false },
  universe: null,
};

/**
 * A database in which models have traded from 2 to 4 October; `beforeWrite` runs before each
 * transaction of the jobs.
 */
function start(t: TestContext, beforeWrite = (_database: CommandDatabase) => {}) {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  copyTemplate(path);
  fillWithTrackRecords(path, { models: modelNames(2), days: 3 });
  const own = openDatabase(path, { isServing: true });
  t.after(() => own.close());
  const database: CommandDatabase = {
    ...own,
    write(work, options) {
      beforeWrite(own);
      return own.write(work, options);
    },
  };
  const models = modelNames(2).map((signature) => ({ signature, enabled: true }));
  const context = { ...workerContext(database, { models }), clock: clockFrom('2023-10-10') };
  const jobs = createJobQueue(context);
  t.after(() => jobs.stop());
  return { jobs, context, database: own };
}

/** Where the runs of the unfinished job start. */
function starts({ database }: { database: CommandDatabase }): string[] {
  const { runs } = loadJob(database, unfinishedJobId(database) ?? '');
  return runs.map(({ model, startDate }) => `${model} ${startDate}`);
}

test('a job resumes after the days that its models have when it is created, not when it was prepared', async (t) => {
  const unchanged = start(t);
  await unchanged.jobs.submit(RESUMING);
  assert.deepEqual(starts(unchanged), ['model-0 2023-10-05', 'model-1 2023-10-05']);
  const supersede = `UPDATE trading_sessions SET status = 'superseded' WHERE model = 'model-1' AND date > '2023-10-02'`;
  const changed = start(t, (database) => void database.statement(supersede).run());
  const { totalModelDays } = await changed.jobs.submit(RESUMING);
  assert.deepEqual(starts(changed), ['model-0 2023-10-05', 'model-1 2023-10-03']);
  assert.equal(totalModelDays, 8);
});

test('no writer waits for prompts, members and prices: a trigger reads them before its transaction', async (t) => {
  let isWriting = false;
  const read = new Set<string>();
  const note = (what: string) => {
    assert.ok(!isWriting, `${what} is read within the transaction`);
    read.add(what);
  };
  const { jobs, context, database } = start(t);
  const folder = dirname(context.settings.configurationPath);
  writeFileSync(join(folder, 'p.txt'), 'Be bold.');
  writeFileSync(join(folder, 'm.csv'), 'symbol,from,to\nAAPL,2020-01-01,\n');
  const models = modelNames(2).map((signature) => {
    return { signature, enabled: true, prompt_file: 'p.txt' };
  });
  const universes = { dated: { members: 'm.csv' } };
  writeFileSync(context.settings.configurationPath, JSON.stringify({ models, universes }));
  const { openSync } = fs;
  t.mock.method(fs, 'openSync', (...[path, ...more]: Parameters<typeof openSync>) => {
    if (/[pm]\.\w+$/.test(String(path))) note(basename(String(path)));
    return openSync(path, ...more);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const { write, statement } = database;
  Object.assign(context.database, {
    statement(...[sql, ...more]: Parameters<typeof statement>) {
      if (sql.includes('price_data')) note('prices');
      return statement(sql, ...more);
    },
    write: (work: () => unknown) =>
      write(() => {
        isWriting = true;
        try {
          return work();
        } finally {
          isWriting = false;
        }
      }),
  });
  await jobs.submit({ ...RESUMING, startDate: '2023-10-03', universe: 'dated' });
  assert.deepEqual([...read], ['p.txt', 'm.csv', 'prices']);
});

test('the rules of a trigger refuse in their order, and an unfinished job before files are read', async (t) => {
  const { jobs, context } = start(t);
  const { configurationPath: path } = context.settings;
  const written = readFileSync(path, 'utf8');
  const missing = written.replace('"enabled"', '"prompt_file":"missing.txt","enabled"');
  const future = { ...RESUMING, endDate: '2099-01-01' };
  const codeOf = async (text: string | null, request: Parameters<typeof jobs.submit>[0]) => {
    rmSync(path, { force: true });
    if (text !== null) writeFileSync(path, text);
    const refused = jobs.submit(request).then(() => null);
    return refused.catch(({ code }) => code);
  };
  const codes = async () => [
    await codeOf(null, future),
    await codeOf(written.replaceAll('"enabled":true', '"enabled":false'), future),
    await codeOf(written, future),
    await codeOf(missing, RESUMING),
    await codeOf(written, { ...RESUMING, universe: 'unknown' }),
    await codeOf(written, RESUMING),
  ];
  const first = ['broken_configuration', 'no_models', 'invalid_dates'];
  assert.deepEqual(await codes(), [...first, 'broken_configuration', 'unknown_universe', null]);
  assert.deepEqual(await codes(), [...first, ...Array(3).fill('another_job_unfinished')]);
});

test('a job that its Idempotency-Key has created meanwhile is not created again', async (t) => {
  const job = { jobId: 'meanwhile', totalModelDays: 2, message: '', warnings: [] };
  const create = (database: CommandDatabase) => {
    if (unfinishedJobId(database) !== null) return;
    const date = '2023-10-04';
    const day = { startDate: date, endDate: date, dates: [date], runs: [], createdAt: `${date}T` };
    const others = { replaceExisting: false, agentConfig: {}, warnings: [] };
    insertTestJob(database, { ...day, ...others, jobId: 'meanwhile' });
    const [requestHash, answer] = [hashRequest(RESUMING), JSON.stringify(job)];
    rememberTrigger(database, 'key', { jobId: 'meanwhile', requestHash, answer });
  };
  const { jobs } = start(t, create);
  assert.deepEqual(await jobs.submit(RESUMING, 'key'), job);
});
