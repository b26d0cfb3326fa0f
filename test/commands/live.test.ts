import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  addDays,
  type CalendarDate,
  lastWeekdayClosed,
  weekdays,
} from '../../src/core/time/calendar.ts';
import { addCoverage } from '../../src/core/database/prices.ts';
import { scriptedAgent } from '../support/agents.ts';
import { runInProcess } from '../support/in-process.ts';
import { MASSIVE_KEY, massiveFaults, startMassiveServer } from '../support/massive-server.ts';
import { storePrices } from '../support/prices.ts';
import { startTestService } from '../support/service.ts';
import { auditScripts } from '../support/replays.ts';
import { rowsAsText } from '../support/tables.ts';
import { until } from '../support/until.ts';
import { readYaml } from '../support/yaml.ts';
import { inLongForm } from '../support/long.ts';
import { temporaryFolder } from '../support/folder.ts';

/**
 * A benchmark that runs every day by itself, over a month of a made-up calendar: 20 October to 18
 * November 2025.
 */

const DAYS = Array.from({ length: 30 }, (_, index) => addDays('2025-10-20', index));
const [FIRST, LAST] = [DAYS[0] as string, DAYS.at(-1) as string];
const HOLIDAYS = ['2025-10-29', '2025-11-07'];
const SESSIONS = weekdays('2025-09-01', LAST).filter((date) => !HOLIDAYS.includes(date));
/** A late Friday; and two late days, directly after a Friday without trading. */
const CATCH_UP = '2025-11-12';
const LATE: Record<CalendarDate, CalendarDate> = {
  '2025-10-24': '2025-10-25',
  '2025-11-10': CATCH_UP,
  '2025-11-11': CATCH_UP,
};
const CORRECTED = { date: '2025-11-04', on: '2025-11-06' };
/** 17:30 in New York until 1 November, 16:30 from the 2nd on. */
const EVENING = 'T21:30:00Z';

/** What the provider has published by a day. */
function published(day: CalendarDate): string {
  const known = SESSIONS.filter((date) => (LATE[date] ?? date) <= day);
  const rows = known.map((date, index) => {
    const close = 101 + index + (date === CORRECTED.date && day >= CORRECTED.on ? 0.5 : 0);
    return `AAPL ${date} ${100 + index} ${close}\nMSFT ${date} 200 201`;
  });
  return rows.join('\n');
}

/** A provider whose prices and faults are set. */
async function startProvider(t: TestContext) {
  const { url, ...server } = await startMassiveServer(t, {});
  const settings = { massiveApiKey: MASSIVE_KEY, massiveBaseUrl: url, priceHistoryDays: 2 };
  return { ...server, settings };
}

type Provider = Awaited<ReturnType<typeof startProvider>>;

/**
 * A service that can be restarted, at a time that is set, and the command as a scheduler runs it.
 */
async function startLive(t: TestContext, provider: Provider, models: readonly string[]) {
  let now = { start: Date.parse(`${FIRST}${EVENING}`), since: performance.now() };
  const purchase: [string, object][][] = [[['buy', { symbol: 'AAPL', amount: 10 }]]];
  const options = {
    settings: provider.settings,
    clock: () => new Date(now.start + performance.now() - now.since),
    configuration: {
      models: models.map((signature) => ({ signature, enabled: true })),
      agent_config: { stock_symbols: ['AAPL', 'MSFT'] },
    },
    agent: scriptedAgent(
      Object.fromEntries(models.map((model) => [`${model} ${FIRST}`, purchase])),
    ),
  };
  const live = {
    service: await startTestService(t, options),
    setTime: (time: string) => void (now = { start: Date.parse(time), since: performance.now() }),
    async restart() {
      await live.service.stop();
      live.service = await startTestService(t, { ...options, folder: live.service.folder });
    },
    run: (...args: string[]) =>
      runInProcess(args, { cwd: live.service.folder, env: { API_URL: live.service.url } }),
    trigger: (...args: string[]) => live.run('trigger', '--end', 'last-session', ...args),
  };
  return live;
}

type Live = Awaited<ReturnType<typeof startLive>>;

test('every evening of a month: each session once', inLongForm, async (t) => {
  const provider = await startProvider(t);
  provider.set({ prices: published(FIRST) });
  const models = ['live', 'other'];
  const live = await startLive(t, provider, models);
  let said = '';
  for (const day of DAYS) {
    provider.set({ prices: published(day) });
    live.setTime(`${day}${EVENING}`);
    if (['2025-10-22', '2025-10-25', '2025-11-07', '2025-11-11'].includes(day))
      await live.restart();
    if (day === CATCH_UP) {
      // In the middle of the job that catches up three days.
      const created = await live.trigger();
      assert.equal(created.code, 0, created.stderr);
      const begun = live.service.database.statement(
        `SELECT 1 FROM job_details WHERE job_id = ? AND status IN ('running', 'completed')`,
      );
      await until('the job to run model-days', () => begun.get(created.stdout.trim()));
      await live.restart();
      const watched = await live.run('watch', created.stdout.trim());
      assert.equal(watched.code, 0, watched.stdout + watched.stderr);
      continue;
    }
    const { code, stdout, stderr } = await live.trigger('--watch');
    assert.equal(code, 0, `${day}: ${stdout}${stderr}`);
    said = stderr + stdout;
    if (stdout.startsWith('Job completed')) await assertNothingLeft(live, day);
  }
  const sessions = SESSIONS.filter((date) => date >= FIRST);
  for (const model of models) {
    const { body } = await live.service.get(`/results?model=${model}`);
    assert.deepEqual(
      body.results.map(({ date }: { date: string }) => date),
      sessions,
    );
  }
  const count = rowsAsText(live.service.database, 'SELECT count(*) FROM trading_sessions');
  assert.deepEqual(count, [String(2 * sessions.length)], 'none was simulated twice or in vain');
  const dated = await live.run('trigger', '--end', LAST);
  assert.equal(dated.code, 1, 'with a date of its own it is a refusal');
  const { stale, problems } = await auditScripts(live.service);
  assert.deepEqual(problems.first, []);
  const staleDays = stale.first.map(({ model, date }) => `${model} ${date}`);
  assert.deepEqual(
    staleDays,
    models.map((model) => `${model} ${CORRECTED.date}`),
  );
  const changed = 'because earlier results, prices, splits, dividends or exchanges changed since';
  assert.ok(said.includes(`, ${changed}: ${staleDays.join(', ')}; `), said);
});

/** A second run on a day that is done. */
async function assertNothingLeft({ trigger }: Live, day: CalendarDate): Promise<void> {
  const newest = SESSIONS.findLast((date) => date <= day);
  const { code, stdout, stderr } = await trigger('--watch');
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(
    stderr,
    new RegExp(`^The last session is ${newest}.*\nNothing to do up to ${newest}: `),
  );
}

const instants: [instant: string, date: CalendarDate, why: string][] = [
  ['2025-11-12T20:59:59Z', '2025-11-11', 'a second before the close, in winter time'],
  ['2025-11-12T21:00:00Z', '2025-11-12', 'the close, in winter time'],
  ['2025-10-29T19:59:59Z', '2025-10-28', 'a second before the close, in summer time'],
  ['2025-10-29T20:00:00Z', '2025-10-29', 'the close, in summer time'],
  ['2025-10-31T20:00:00Z', '2025-10-31', 'the last close of summer time'],
  ['2025-11-03T20:59:59Z', '2025-10-31', 'the first Monday of winter time, before the close'],
  ['2025-03-07T20:59:59Z', '2025-03-06', 'the last Friday of winter time'],
  ['2025-03-10T20:00:00Z', '2025-03-10', 'the first Monday of summer time'],
  ['2025-11-13T03:00:00Z', '2025-11-12', 'the evening in New York, the next date in UTC'],
  ['2025-11-13T05:30:00Z', '2025-11-12', 'after midnight in New York'],
  ['2025-11-15T12:00:00Z', '2025-11-14', 'a Saturday'],
  ['2025-11-16T23:59:59Z', '2025-11-14', 'a Sunday'],
  ['2026-01-01T04:59:00Z', '2025-12-31', "New Year's Eve in New York"],
];
test('the last session is the last weekday that is over in New York', () => {
  for (const [instant, date, why] of instants)
    assert.equal(lastWeekdayClosed(new Date(instant)), date, why);
});

test('a date of which the stored prices show that there was no trading is not the last session', async (t) => {
  const live = await startLive(t, await startProvider(t), ['live']);
  const { database } = live.service;
  const stamp = { source: 'massive', recordedAt: '2025-11-20T00:00:00.000Z' } as const;
  const cover = (symbol: string) => {
    const span = { symbol, startDate: '2025-11-19', endDate: '2025-11-20' };
    database.transaction(() => addCoverage(database, span, stamp));
  };
  live.setTime('2025-11-20T22:00:00Z');
  const assertLast = async (words: string, why: string) => {
    const { code, stderr } = await live.trigger('--start', '2099-01-01'); // which the service refuses
    assert.deepEqual([code, stderr.split('\n')[0]], [1, `The last session is ${words}`], why);
  };
  cover('GONE');
  await assertLast('2025-11-20', 'nothing has a bar');
  const bars = ['AAPL 2025-11-17', 'AAPL 2025-11-18', 'MSFT 2025-11-18', 'OLD 2024-11-18'];
  storePrices(database, bars.map((bar) => `${bar} 1 1`).join('\n'), 'massive');
  await assertLast('2025-11-20', 'of AAPL and MSFT nothing is known');
  cover('AAPL');
  await assertLast('2025-11-20', 'of MSFT nothing is known');
  cover('MSFT');
  await assertLast('2025-11-18; no trading on 2025-11-19, 2025-11-20', 'all is known');
  storePrices(database, 'AAPL 2025-11-20 1 1', 'massive');
  await assertLast('2025-11-20', 'it has a bar');
});

test('what keeps a run from its work ends it with exit code 1, holiday or not', async (t) => {
  const provider = await startProvider(t);
  provider.set({ prices: published('2025-10-17') });
  const live = await startLive(t, provider, ['live']);
  const waiting = await live.trigger('--watch');
  assert.equal(waiting.code, 0);
  assert.match(waiting.stdout, /^No prices yet for 2025-10-20: .*\.\n/);
  provider.set({ prices: `${published('2025-10-17')}\nAAPL ${FIRST} 135 136` });
  assert.equal((await live.trigger('--watch')).code, 0, 'some symbols are not out yet');
  live.setTime(`2025-10-22${EVENING}`);
  provider.set({ fault: (request) => (request === '2025-10-21' ? massiveFaults.html : undefined) });
  const unread = await live.trigger('--start', '2025-10-21', '--watch');
  assert.equal(unread.code, 1, '2025-10-22 is not out yet, but 2025-10-21 cannot be read');
  const found = unread.stdout;
  assert.match(found, /all prices of 1 date yet.*: 2025-10-22\n/);
  provider.set({ fault: () => undefined });
  const dated = await live.run('trigger', '--end', '2025-10-22', '--watch');
  assert.equal(dated.code, 1, 'a date of its own');
  assert.match(dated.stdout, /\nThe job could not run: there are no prices for any of its dates\n/);
  provider.set({ fault: () => massiveFaults.unknownKey });
  const keyless = await live.trigger('--watch');
  assert.equal(keyless.code, 1);
  assert.match(keyless.stdout, /rejects the key in MASSIVE_API_KEY/);
  const done = await live.run('trigger', '--end', '2025-10-19');
  assert.match(done.stderr, /^Invalid date range: 2025-10-19 to 2025-10-19 has no weekday/m);
  provider.set({ prices: published('2025-10-21'), fault: () => undefined });
  const some = await live.trigger('--start', '2025-10-21', '--watch');
  assert.equal(some.code, 0);
  assert.match(
    some.stdout,
    /^Job completed .*\n.*2025-10-22\nSkipped 1 date without prices: 2025-10-22\n$/,
  );
  const [, job] = /^Job (\S+)$/m.exec(some.stderr) ?? [];
  assert.equal((await live.service.get(`/simulate/status/${job}`)).body.status, 'completed');
  live.setTime(`2025-10-23${EVENING}`);
  provider.set({
    prices: published('2025-10-23'),
    fault: (request) => (request === '2025-10-22' ? massiveFaults.html : undefined),
  });
  const left = await live.trigger('--start', '2025-10-21', '--watch');
  assert.match(left.stdout, /^Job completed .*: 1 of 3 run, 2 skipped\.\n/);
  assert.equal(left.code, 1, '2025-10-22 was left out, and it was not a holiday');
  live.setTime(`2025-10-30${EVENING}`);
  storePrices(live.service.database, '600519.SH 2025-10-29 1 1', 'csv'); // of another exchange
  provider.set({ prices: published('2025-10-30'), fault: () => undefined });
  const holiday = await live.trigger('--start', '2025-10-28', '--watch');
  assert.match(holiday.stdout, /\nSkipped 1 date without prices: 2025-10-29\n$/);
  assert.equal(holiday.code, 0, 'on 2025-10-29 the exchange of the universe was closed');
  const nowhere = await live.trigger('--url', 'http://127.0.0.1:9');
  assert.deepEqual([nowhere.code, nowhere.stdout], [1, '']);
});

test('without downloads, a date between imported ones is a holiday; a later one must be there', async (t) => {
  const provider = await startProvider(t);
  const settings = { ...provider.settings, autoDownloadPriceData: false };
  const live = await startLive(t, { ...provider, settings }, ['live']);
  const store = (date: string, source?: 'massive') =>
    storePrices(live.service.database, `AAPL ${date} 1 1\nMSFT ${date} 1 1`, source);
  store('2025-11-25');
  store('2025-11-26');
  live.setTime(`2025-11-27${EVENING}`);
  const thanksgiving = await live.trigger('--start', '2025-11-25', '--watch');
  assert.match(thanksgiving.stdout, /^Job completed .*: 2 of 3 run, 1 skipped\.\n/);
  assert.equal(thanksgiving.code, 1, 'its prices may come');
  store('2025-11-28');
  live.setTime(`2025-11-28${EVENING}`);
  const friday = await live.trigger('--watch');
  assert.match(friday.stdout, /\nSkipped 1 date without prices: 2025-11-27\n/);
  assert.equal(friday.code, 0, friday.stdout);
  live.service.database.transaction(() =>
    live.service.database.statement('DELETE FROM price_data_coverage').run(),
  );
  assert.equal(
    (await live.trigger('--start', '2025-11-25', '--replace', '--watch')).code,
    0,
    'of bars without high and low',
  );
  store('2025-11-28');
  store('2025-12-15');
  live.setTime(`2025-12-15${EVENING}`);
  assert.equal((await live.trigger('--watch')).code, 1, 'no exchange was closed for two weeks');
  store('2025-12-17', 'massive');
  live.setTime(`2025-12-17${EVENING}`);
  assert.equal((await live.trigger('--watch')).code, 1, 'a provider would have known');
});

const exampleOf = (path: string) =>
  readFileSync(new URL(`../../examples/${path}`, import.meta.url), 'utf8');

test('the CronJob in examples/kubernetes runs the command in the image, never twice at once, with no more rights than it needs', () => {
  const { apiVersion, kind, spec } = readYaml(exampleOf('kubernetes/trading-live.yaml')) as any; // any: the assertions below check the shape that they read
  assert.deepEqual(
    [apiVersion, kind, spec.concurrencyPolicy, spec.timeZone],
    ['batch/v1', 'CronJob', 'Forbid', 'Etc/UTC'],
  );
  assert.match(spec.schedule, /^\d{1,2} \d{1,2},\d{1,2} \* \* \*$/);
  const pod = spec.jobTemplate.spec.template.spec;
  assert.equal(pod.restartPolicy, 'Never');
  const [{ args, securityContext, env }] = pod.containers;
  assert.deepEqual(args, ['trigger', '--end', 'last-session', '--watch']);
  const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
  assert.equal(String(pod.securityContext.runAsUser), /^USER (\d+):/m.exec(dockerfile)?.[1]);
  assert.deepEqual(securityContext, {
    ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
    capabilities: { drop: ['ALL'] },
  });
  const variables = env.map(({ name }: { name: string }) => name);
  assert.deepEqual(variables, ['API_URL', 'API_TOKEN']);
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const skip = !hasSystemd && 'there is no systemd-analyze here';
test('systemd accepts the units in examples/systemd', { skip }, () => {
  const folder = temporaryFolder();
  const names = ['trading-simulation.service', 'trading-live.service', 'trading-live.timer'];
  const paths = names.map((name) => join(folder, name));
  for (const [index, path] of paths.entries()) {
    const unit = exampleOf(`systemd/${names[index]}`);
    writeFileSync(path, unit.replaceAll('/usr/local/bin/node', process.execPath));
  }
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr.split('\n').filter((line) => line.includes(folder))], [0, []]);
});
