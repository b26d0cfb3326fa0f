import assert from 'node:assert/strict';
import { routes } from '../../src/routes.ts';
import { assertLike } from '../support/text-table.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { publishSite } from '../../src/features/publish/publish.ts';
import { isLong } from '../support/long.ts';
import {
  calls,
  fails,
  type ModelRequest,
  type Reply,
  says,
  startModelServer,
  whereIs,
} from '../support/model-server.ts';
import { modelDaysOf, noProc, visibleTextOf } from '../support/processes.ts';
import { inProcesses } from '../support/agent-here.ts';
import { startProdService } from '../support/prod.ts';
import { EVERYTHING } from '../support/published.ts';
import { builtPages, realAgent, type TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/folder.ts';

const RANGE = {
  start_date: isLong ? '2025-10-06' : '2025-10-15',
  end_date: isLong ? '2025-10-31' : '2025-10-15',
};
const DATES = weekdays(RANGE.start_date, RANGE.end_date).length;
/**
 * On the morning of this date every model waits for the others, and the processes are looked at.
 */
const DATE_OF_THE_LOOK = '2025-10-15';
const MODELS = ['held-1', 'held-2', 'named', 'service'];
/** With signs that JSON, URLs and HTML spell in other ways. */
const keyOf = (model: string) => `sk-${model}-5f"2a\\9c&7e1b`;
/** A part of each key that is the same however it is spelled. */
const parts = MODELS.map((model) => `sk-${model}-5f`);

/** All that the service responds about a job, as one text. */
async function allAnswers({ get }: TestService, jobId: string): Promise<string> {
  const paths = [
    `/simulate/status/${jobId}`,
    '/results',
    '/reasoning?include_full_conversation=true',
    '/health',
    '/openapi.json',
  ];
  return JSON.stringify(await Promise.all(paths.map(async (path) => (await get(path)).body)));
}

/** The bytes of every file in a folder, but the configuration, which holds keys. */
function bytesIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && entry.name !== 'config.json');
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('');
}

test('models with keys and endpoints of their own, side by side: no key is where it does not belong', {
  skip: noProc,
}, async (t) => {
  const seenOfProcesses: string[] = [];
  const isThere = Promise.withResolvers<void>();
  let waiting = 0;
  /** Buys one share a day; says its key in answers and errors, as careless providers do. */
  const provider = async (request: ModelRequest, count: number): Promise<Reply> => {
    const { authorization } = request.headers;
    const { date, step } = whereIs(request);
    if (count === 2)
      return fails(500, `Overloaded, ${authorization}, ${JSON.stringify({ authorization })}`);
    if (step > 1) {
      const { body } = says(`I bought. You sent ${authorization}.`);
      return { body: { ...body, model: `test of ${authorization}` } };
    }
    if (date === DATE_OF_THE_LOOK) {
      waiting += 1;
      if (waiting === MODELS.length) {
        seenOfProcesses.push(...modelDaysOf(process.pid).map(visibleTextOf));
        isThere.resolve();
      }
      await isThere.promise;
    }
    return calls(['buy', { symbol: 'AAPL', amount: 1 }], ['buy', { symbol: authorization }]);
  };
  const servers = await Promise.all(MODELS.map(() => startModelServer(t, provider)));
  const baseUrlOf = (model: string) => servers[MODELS.indexOf(model)]?.baseUrl as string;
  const held = MODELS.slice(0, 2).map((signature) => ({
    signature,
    openai_base_url: baseUrlOf(signature),
    openai_api_key: keyOf(signature),
  }));
  const named = {
    ...{ signature: 'named', openai_base_url: baseUrlOf('named') },
    openai_api_key_env: 'KEY_OF_NAMED',
  };
  const service = await startProdService(t, {
    agent: inProcesses(await realAgent()),
    models: [...held, named, { signature: 'service' }],
    settings: { openaiApiBase: baseUrlOf('service'), openaiApiKey: keyOf('service') },
    environment: { KEY_OF_NAMED: keyOf('named') },
  });

  const { body: trigger } = await service.post('/simulate/trigger', RANGE);
  const status = await service.waitForJob(trigger.job_id);
  assert.deepEqual(
    [status.status, status.progress.completed],
    ['completed', MODELS.length * DATES],
  );

  MODELS.forEach((model, index) => {
    const requests = servers[index]?.requests as ModelRequest[];
    assert.equal(requests.length, 2 * DATES + 1, model); // two a day, and one again
    const sent = requests.map(({ headers, path, body }) => JSON.stringify([headers, path, body]));
    assert.ok(requests.every(({ headers }) => headers.authorization === `Bearer ${keyOf(model)}`));
    assert.deepEqual(
      parts.filter((part) => sent.join('').includes(part)),
      [`sk-${model}-5f`],
    );
  });
  assert.equal(seenOfProcesses.length, MODELS.length);
  assert.ok(seenOfProcesses.every((text) => text.includes(`model-day ${DATE_OF_THE_LOOK}`)));
  const answers = JSON.stringify(trigger) + (await allAnswers(service, trigger.job_id));
  const copies = temporaryFolder();
  const path = service.settings.databasePath;
  const watched = { signal: new AbortController().signal, onProgress: () => {} };
  await packageJob({ path, jobId: trigger.job_id, target: join(copies, 'package.db') });
  if (isLong) {
    const site = { path, folder: join(copies, 'site'), pages: await builtPages(), routes };
    await publishSite({ ...site, settings: service.settings }, EVERYTHING, watched);
  }
  const places = {
    processes: seenOfProcesses.join(''),
    copies: bytesIn(copies),
    answers,
    log: JSON.stringify(service.logLines),
    files: bytesIn(service.folder),
  };
  assert.ok(readdirSync(service.folder).includes('jobs.db-wal'));
  for (const [place, text] of Object.entries(places)) {
    assert.deepEqual(
      parts.filter((part) => text.includes(part)),
      [],
      place,
    );
  }
  for (const text of [answers, places.copies]) {
    assert.match(text, /You sent Bearer \[key\]\./);
    assert.match(text, /"model": ?"test of Bearer \[key\]"/);
  }
  assert.match(places.log, /returned 500: Overloaded, Bearer \[key\], \{.{0,20}Bearer \[key\]/);
});

const WEEK = { start_date: '2025-10-13', end_date: '2025-10-17' };

test('a run whose key is refused on two model-days in a row is not asked any more, and the next job asks again', async (t) => {
  /** What the provider replies to `wrong` on each date; `right` is always answered. */
  const replies: Record<string, Reply> = {
    '2025-10-14': fails(401, 'Incorrect API key provided'),
    '2025-10-15': fails(403, 'Key expired'),
  };
  const asked: string[] = [];
  const server = await startModelServer(t, (request) => {
    const { date } = whereIs(request);
    if (request.body.model !== 'wrong') return says('Done.');
    asked.push(date.slice(-2));
    return replies[date] ?? says('Done.');
  });
  const models = ['wrong', 'right'].map((signature) => ({
    ...{ signature, openai_base_url: server.baseUrl, openai_api_key: 'sk-x' },
  }));
  const service = await startProdService(t, { models });
  const errorsOf = (details: any[], model: string) =>
    details.filter((detail) => detail.model === model).map(({ error }) => error);
  const { details, status } = await service.runJob(WEEK);
  assert.equal(status, 'partial');
  const [incorrect, expired] = ['401: Incorrect API key provided', '403: Key expired'].map(
    (words) =>
      `The model provider returned ${words.replace(':', ` (key from openai_api_key, host ${new URL(server.baseUrl).host}):`)}`,
  );
  const [done, ...wrong] = errorsOf(details, 'wrong');
  const notRun = `Not run: …key…2 model-days; …${expired}`;
  assert.equal(done, null);
  assertLike(wrong, [incorrect, expired, notRun, notRun].map(String));
  assert.deepEqual(errorsOf(details, 'right'), [null, null, null, null, null]);
  assert.equal(asked.splice(0).join(' '), '13 14 15');
  delete replies['2025-10-15'];
  const again = await service.runJob({ ...WEEK, models: ['wrong'] }); // one refusal, then an answer: the count starts again
  const errors = errorsOf(again.details, 'wrong');
  assert.deepEqual(errors, ['Already completed', incorrect, null, null, null]);
  assert.equal(asked.join(' '), '14 15 16 17');
});

test('a refused key is named by the place that it was sent from, with the host, and the status names its variable', async (t) => {
  const server = await startModelServer(t, () => fails(401, 'Incorrect API key provided'));
  const openai_base_url = server.baseUrl;
  const runOn = async (settings: { openaiApiKey: string | null }) => {
    const service = await startProdService(t, {
      models: [
        { signature: 'named', openai_base_url, openai_api_key_env: 'KEY_OF_NAMED' },
        { signature: 'service', openai_base_url },
      ],
      settings,
      environment: { KEY_OF_NAMED: 'sk-named' },
    });
    const date = '2025-10-15';
    const { details, entries } = await service.runJob({ start_date: date, end_date: date });
    return { details, entries };
  };
  const host = new URL(openai_base_url).host;
  for (const [openaiApiKey, sent, variable] of [
    ['sk-service', 'key from OPENAI_API_KEY', 'OPENAI_API_KEY'],
    [null, 'no key', null],
  ] as const) {
    const { details, entries } = await runOn({ openaiApiKey });
    const errors = details.map(({ model, error }: any) => `${model}: ${error}`).sort();
    const said = (key: string) =>
      `The model provider returned 401 (${key}, host ${host}): Incorrect API key provided`;
    assert.deepEqual(errors, [`named: ${said('key from KEY_OF_NAMED')}`, `service: ${said(sent)}`]);
    const found = entries.map(({ entry }: any) => [entry.key_source, entry.key_variable]);
    assert.deepEqual(found, [
      ['variable', 'KEY_OF_NAMED'],
      ['service', variable],
    ]);
  }
});
