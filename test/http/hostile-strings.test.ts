import assert from 'node:assert/strict';
import { join } from 'node:path';
import { readdirSync } from 'node:fs';
import { before, test, type TestContext } from 'node:test';
import { findUnprintable } from '../../src/core/text/text.ts';
import { scriptedAgent } from '../support/agents.ts';
import { hostileStrings } from '../support/hostile.ts';
import { isLong } from '../support/long.ts';
import { runJobHere } from '../support/job-here.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { readAnswers, send } from '../support/wire.ts';

/** Strings from outside are refused, or stored and returned exactly, without side effects. */

const DATE = '2025-11-10';
const MAX_TARGET_LENGTH = 8_192;
const MAX_HEAD_LENGTH = 16_384;
/** The longest detail of an error: it does not repeat a megabyte of the request. */
const MAX_DETAIL_LENGTH = 10_000;
const signatures = hostileStrings.filter(({ isSignature }) => isSignature).map(({ text }) => text);
/** A model that uses every hostile string as a tool's name, as a symbol, and as an expression. */
const trader = signatures.find((text) => text === '__proto__') as string;
const calls: [tool: string, args: unknown][] = hostileStrings
  .filter(({ text }) => text.length < 1_000)
  .flatMap(({ text }) => [
    [text, {}],
    ['buy', { symbol: text, amount: 1 }],
  ]);

/**
 * The ones that could mean something to the worker or its children; the sessions of the others run
 * in this process.
 */
const WITH_CHILD = [
  ...['__proto__', 'constructor', "x'); DROP TABLE jobs; --", '../../../../etc/passwd', '--help'],
  '  padded  ',
];

let service: TestService;
let job: any;
before(async (t) => {
  const script = { [`${trader} ${DATE}`]: chunksOf(calls, 100) };
  service = await startTestService(t as TestContext, { agent: scriptedAgent(script) });
  const withoutChild = signatures.filter((signature) => !WITH_CHILD.includes(signature));
  assert.equal(withoutChild.length, signatures.length - WITH_CHILD.length);
  const days = { start_date: DATE, end_date: DATE };
  await runJobHere(service, {}, { ...days, models: withoutChild });
  job = await service.runJob({ ...days, models: signatures });
});

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/**
 * Every byte percent-encoded, as any client may do; of a megabyte the beginning, which no request
 * may have in its head.
 */
function encode(text: string): string {
  return Buffer.from(text.slice(0, 2 * MAX_HEAD_LENGTH))
    .toString('hex')
    .replace(/../g, '%$&');
}

type Answer = { status: number; body: any };

/**
 * Requests paths unchanged, where `fetch` would normalise them: on one connection, or on one each
 * when a head ends it.
 */
async function getAll(paths: readonly string[]): Promise<Answer[]> {
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`;
  const together = paths.every((path) => path.length < MAX_TARGET_LENGTH)
    ? [paths]
    : paths.map((path) => [path]);
  const texts = together.map((some) =>
    send(service.url, `${some.map(request).join('\r\n')}Connection: close\r\n\r\n`),
  );
  const answers = (await Promise.all(texts)).flatMap(readAnswers);
  assert.equal(answers.length, paths.length);
  return answers.map(({ status, body }, index) => {
    const json = Buffer.from(body, 'latin1').toString();
    if (status >= 400)
      assert.equal(findUnprintable(json), null, `of ${JSON.stringify(paths[index])}`);
    return { status, body: JSON.parse(json) };
  });
}

/** The status that refuses a query or path of this length; null when it is short enough. */
function tooLong(encoded: string): number | null {
  if (encoded.length > MAX_HEAD_LENGTH) return 431;
  return encoded.length > MAX_TARGET_LENGTH - 100 ? 414 : null;
}

test('a model with any odd signature runs, and its signature is returned exactly', async () => {
  assert.deepEqual([job.status, job.models], ['completed', signatures]);
  const { body } = await service.get(`/jobs?before=2100-01-01T00:00Z`);
  assert.deepEqual(body.jobs[0].models, signatures);
  const { results } = (await service.get('/results')).body;
  const models = new Set(results.map(({ model }: any) => model));
  assert.deepEqual(models, new Set(signatures));
});

test('each string: as a signature it is found again or refused', async () => {
  for (const { name, text, isSignature } of hostileStrings) {
    const query = `model=${encode(text)}&date=${DATE}`;
    const answers = await getAll([`/results?${query}`, `/reasoning?${query}`]);
    const [results, reasoning] = answers as [Answer, Answer];
    if (isSignature) {
      const models = new Set(results.body.results.map(({ model }: any) => model));
      assert.deepEqual([...models], [text], name);
      const sessions = reasoning.body.sessions.map(({ model }: any) => model);
      assert.deepEqual(sessions, [text], name);
      continue;
    }
    const statuses = [200, 404].map((status) => tooLong(encode(text)) ?? status);
    assert.deepEqual([results.status, reasoning.status], statuses, name);
    const request = { end_date: DATE, models: ['fine', text] };
    const refused = await service.post('/simulate/trigger', request);
    assert.equal(refused.status, 422, name);
    assert.match(refused.body.detail, /^models\[1\]: must not /);
  }
});

/** In the short form every third: the test before knows what becomes of each. */
const few = hostileStrings.filter(
  ({ text }, place) => isLong || place % 3 === 0 || text === 'true',
);
test('each string: in every other field and parameter it is refused, or harmless', async () => {
  for (const { name, text } of few) {
    const bodies = [
      ...[{ end_date: text }, { end_date: DATE, start_date: text }],
      ...[
        { end_date: DATE, models: text },
        { end_date: DATE, replace_existing: text },
      ],
      Object.fromEntries([
        ['end_date', DATE],
        [text, 1],
      ]),
    ];
    for (const body of bodies) {
      const { status, body: answer } = await service.post('/simulate/trigger', body);
      assert.equal(status, 422, `${name}: ${JSON.stringify(answer)}`);
      assert.ok(answer.detail.length < MAX_DETAIL_LENGTH);
    }
    const encoded = encode(text);
    const asked: [path: string, status: number][] = [
      [`/simulate/status/${encoded}`, 404],
      [`/${encoded}`, 404],
      [`/results?job_id=${encoded}`, 200],
      [`/results?date=${encoded}`, 200],
      [`/reasoning?job_id=${encoded}`, 404],
      [`/reasoning?date=${encoded}`, 400],
      [`/reasoning?include_full_conversation=${encoded}`, text === 'true' ? 200 : 422],
      [`/jobs?status=${encoded}`, 422],
      [`/jobs?limit=${encoded}`, 422],
      [`/jobs?before=${encoded}`, 422],
      [`/results?${encoded}=${encoded}`, 422],
    ];
    const answers = await getAll(asked.map(([path]) => path));
    for (const [index, [path, status]] of asked.entries()) {
      const { status: given, body } = answers[index] as Answer;
      const what = `${name}, ${path.slice(0, 60)}: ${body.detail}`;
      assert.equal(given, tooLong(path) ?? tooLong(encoded) ?? status, what);
      if (path.startsWith('/results?')) assert.equal(body.count ?? 0, 0);
      if (path.startsWith('/simulate/status') && given === 404)
        assert.equal(body.detail, `Job ${text.toWellFormed()} not found`);
    }
  }
});

test("a model's words are returned exactly, and its calls of unknown tools are refused", async () => {
  const { body } = await service.get(`/reasoning?model=${trader}&include_full_conversation=true`);
  const said = body.sessions[0].conversation.filter(({ role }: any) => role === 'tool');
  const found = said.map(({ tool_name, tool_input }: any) => [tool_name, tool_input]);
  assert.deepEqual(
    found,
    calls.map(([tool, args]) => [tool.toWellFormed(), JSON.stringify(args)]),
  );
  assert.ok(said.every(({ content }: any) => content.startsWith('{"error":')));
});

test('there are no side effects: no file, no lost table, no failure in the log', async () => {
  const files = readdirSync(service.folder).sort();
  // That of long responses, whose files have no names.
  assert.deepEqual(files, ['config.json', 'jobs.db', 'jobs.db-shm', 'jobs.db-wal', 'reports']);
  assert.deepEqual(readdirSync(join(service.folder, 'reports')), []);
  const integrity = service.database.statement('PRAGMA integrity_check').get();
  assert.equal(integrity?.['integrity_check'], 'ok');
  assert.equal((await service.get('/jobs')).body.count, 2);
  assert.ok(service.logLines.every(({ level }) => level !== 'ERROR'));
  assert.equal(({} as Record<string, unknown>)['replace_existing'], undefined);
});
