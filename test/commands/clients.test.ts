import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { before, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { realAgentHere } from '../support/agent-here.ts';
import { runInProcess } from '../support/in-process.ts';
import { jobStatusAnswer } from '../support/job-status.ts';
import { listenHere } from '../support/loopback.ts';
import { installProgram, runProgram, startProgram } from '../support/program.ts';
import { fewStocks, startTestService, type TestService } from '../support/service.ts';
import { like, tableOf } from '../support/text-table.ts';

const RANGE = ['--start', '2025-11-10', '--end', '2025-11-12'];

let cwd: string;
let server: TestService;
before(async (t) => {
  cwd = installProgram();
  server = await startTestService(t as TestContext, { agent: await realAgentHere() });
});
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runInProcess(args, { cwd, env: { API_URL: server.url, ...env } });
/** The same as a process of its own. */
const runApart = (args: readonly string[]) =>
  runProgram(args, { cwd, env: { API_URL: server.url } });

test('trigger and watch are clients of a running server', async () => {
  const created = await runApart(['trigger', ...RANGE, '--models', 'model-a, other']);
  assert.equal(created.stderr, 'Job created: 6 model-days\n');
  assert.equal(created.code, 0);
  assert.match(created.stdout, /^[0-9a-f-]{36}\n$/);
  const jobId = created.stdout.trim();

  const watched = await runApart(['watch', jobId]);
  assert.equal(watched.code, 0);
  const days = ['10', '11', '12'].map((day) => `2025-11-${day} completed\n`);
  assert.equal(watched.stderr, days.join(''));
  assert.match(watched.stdout, /^Job completed after [\d.]+ s\. Model-days: \d of \d run\.\n$/);
  assert.deepEqual(await run(['watch', jobId]), watched, 'and again when it has ended');

  const part = jobId.slice(0, 8);
  for (const [name, says] of [
    [part, `There is no job "${part}"; did you mean "${jobId}"?\n`],
    ['nothing', 'There is no job "nothing"; GET /jobs lists them\n'],
    ['no/such?job', 'There is no job "no/such?job"; GET /jobs lists them\n'],
  ] as const) {
    const { code, stdout, stderr } = await run(['watch', name]);
    assert.deepEqual([code, stdout, stderr], [1, '', says]);
  }
});

test('trigger --watch follows its job to the end; a repeated one says what it skipped, --replace does not skip', async () => {
  const args = 'trigger --start 2025-11-18 --end 2025-11-18 --models model-c --watch'.split(' ');
  assert.equal((await run(args)).code, 0);
  const again = await run(args);
  assert.equal(again.code, 0);
  assert.match(again.stderr, /^.*\nJob [\da-f-]{36}\n2025-11-18 1 skipped\n$/);
  assert.match(
    again.stdout,
    /^Job completed after .*: 0 of 1 run, 1 skipped\.\nSkipped 1 completed model-day\n$/,
  );
  assert.match((await run([...args, '--replace'])).stderr, /2025-11-18 completed/);
});

const wrong = tableOf<[command: string, says: string]>(`
  trigger                                      | Cannot run trigger: --end DATE is missing. Run "npx trading-simulation-service trigger --help" to see what it takes.
  trigger --end 2025-02-30                     | …: --end: expected a date YYYY-MM-DD, got 2025-02-30. Run…
  trigger --start x\u001b[2J --end 2025-11-10  | …: --start: expected a date YYYY-MM-DD, got x\ufffd[2J. Run…
  trigger --end 2025-11-10 now                 | Cannot run trigger: there is no argument "now". Run…
  trigger --finish 2025-11-10                  | Cannot run trigger: there is no option --finish; --end DATE is missing. Run…
  watch one two                                | Cannot run watch: there is no argument "two". Run "npx trading-simulation-service watch --help"…
  watch --csv                                  | Cannot run watch: there is no option --csv.…
  watch --url localhost:8080                   | …: --url: expected a URL that starts with http…
  watch --url http://me:secret@localhost       | …: the URL must not contain a password; an access token comes from API_TOKEN.…
  watch --url http://localhost/?a              | …: the URL must end with its path.…`);
test('wrong usage: exit code 2, and no request', async () => {
  for (const [command, says] of wrong) {
    const args = command.split(' ');
    const { code, stdout, stderr } = await run(args, { API_URL: 'http://127.0.0.1:9' });
    assert.deepEqual([code, stdout], [2, ''], command);
    assert.match(stderr.trimEnd(), like(says));
    assert.doesNotMatch(stderr, /secret/);
  }
});

const refusals = tableOf<[options: string, says: string]>(`
  --end 2099-01-01                   | Invalid date range: 2099-01-01 is in the future…
  --end 2025-11-10 --models ,        | models[0]: must not be empty; models[1]: must not be empty
  --end 2025-11-10 --universe other  | Universe 'other' is not in the server configuration: it names none`);
test("a refusal is reported in the server's own words, with exit code 1", async () => {
  for (const [options, says] of refusals) {
    const { code, stdout, stderr } = await run(['trigger', ...options.split(' ')]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr.trimEnd(), like(says));
  }
});

test('a misspelt model is refused before there is a job, where its model-days would fail', async (t) => {
  const settings = { deploymentMode: 'PROD', preserveDevData: null } as const;
  const models = [...fewStocks.models, { signature: 'gpt#5', basemodel: 'openai/gpt-5' }];
  const configuration = { ...fewStocks, models };
  const { url: API_URL, get } = await startTestService(t, { settings, configuration });
  const told = (models: string) =>
    run(['trigger', '--end', '2025-11-10', '--models', models], { API_URL });
  const { code, stdout, stderr } = await told('model-b,model-x');
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, like(`…'model-x'…(did you mean "model-a"?)\n`));
  assert.deepEqual((await get('/jobs')).body.jobs, []);
  assert.equal((await told('model-b,model-off,gpt#5')).code, 0);
});

test('an unreachable server is reported with its URL; --url takes precedence over API_URL, and that over API_PORT', async () => {
  const rows: [args: string[], env: Record<string, string>, address: string][] = [
    [[], { API_URL: '', API_PORT: '9' }, 'http://127.0.0.1:9'],
    [[], { API_URL: 'http://127.0.0.2:9/base', API_PORT: '1' }, 'http://127.0.0.2:9'],
    [['--url', 'http://127.0.0.3:9'], {}, 'http://127.0.0.3:9'],
  ];
  for (const [args, env, address] of rows) {
    const { code, stderr } = await run(['watch', ...args], env);
    assert.equal(code, 1);
    const said = stderr;
    assert.match(said, like(`Cannot reach the service at ${address}: …API_URL…\n`));
  }
});

interface FarAnswer {
  status?: number;
  type?: string;
  body: unknown;
}

/** Each request gets the next of these answers; the last one again and again. */
async function farService(t: TestContext, ...answers: [FarAnswer, ...FarAnswer[]]) {
  const requests: IncomingMessage[] = [];
  const far = createServer((request, response) => {
    const count = requests.push(request);
    const answer = answers[count - 1] ?? answers.at(-1) ?? answers[0];
    const { status = 200, type = 'application/json', body } = answer;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': type }).end(text);
  });
  return { url: `http://127.0.0.1:${await listenHere(t, far)}`, requests };
}

const oneDay = [{ date: '2025-11-10', model: 'a', status: 'completed' }] as const;
test('the exit code of watch is 0 only for a job that is completed', async (t) => {
  for (const status of ['completed', 'partial', 'failed', 'cancelled'] as const) {
    const { url } = await farService(t, { body: jobStatusAnswer(oneDay, { status }) });
    const { code } = await run(['watch', 'the-job', '--url', url]);
    assert.equal(code, status === 'completed' ? 0 : 1, status);
  }
});

test('the access token is sent with every request, and never shown', async (t) => {
  const { url, requests } = await farService(t, { status: 401, body: { detail: 'Who are you?' } });
  for (const command of ['watch x', 'trigger --end 2025-11-10']) {
    const args = [...command.split(' '), '--url', `${url}/base/`];
    const { code, stderr } = await run(args, { API_TOKEN: 'token-123' });
    assert.equal(code, 1);
    assert.match(stderr, /^The service needs an access token: set API_TOKEN.*\n$/);
    assert.doesNotMatch(stderr, /token-123/);
  }
  assert.equal(requests.length, 2);
  for (const { headers, url: path } of requests) {
    assert.equal(headers.authorization, 'Bearer token-123');
    assert.match(path ?? '', /^\/base\//);
  }
});

test('a service that is briefly unreachable is waited for', async (t) => {
  const running = jobStatusAnswer([{ date: '2025-11-10', model: 'a', status: 'running' }]);
  const page = '<h1>Service\u001b[2J starts</h1>';
  const starting = { status: 503, type: 'text/html', body: page };
  const still = { status: 503, body: { detail: 'still' } };
  const last = { body: jobStatusAnswer(oneDay) };
  const { url } = await farService(t, { body: running }, starting, still, last);
  const { code, stderr } = await run(['watch', 'the-job', '--url', url]);
  assert.equal(code, 0);
  const says = '…503: <h1>Service [2J starts</h1>; trying again\n2025-11-10 completed\n';
  assert.match(stderr, like(says));
});

test('a service that restarts right after it has created a job is waited for', async (t) => {
  const id = '7d0f8c8e-6c1a-4b53-9d0a-2f1f6f1f0a01';
  const created = {
    ...{ job_id: id, status: 'pending', total_model_days: 1, message: 'created', study: null },
    ...{ deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false, warnings: null },
    warning_codes: null,
  };
  const starting = { status: 503, body: { detail: 'starting' } };
  const last = { body: jobStatusAnswer(oneDay) };
  const { url } = await farService(t, { body: created }, starting, last);
  const { code, stderr } = await run(['trigger', '--end', '2025-11-10', '--watch', '--url', url]);
  assert.equal(code, 0);
  const says = `Job created: 1 model-day\nJob ${id}\n…503: starting; trying again\n2025-11-10 completed\n`;
  assert.match(stderr, like(says));
});

test('each date is said once, when it has ended; a holiday has ended before earlier dates', async (t) => {
  const holiday = { date: '2025-11-11', model: 'a', status: 'skipped' } as const;
  const first = jobStatusAnswer([{ ...oneDay[0], status: 'running' }, holiday]);
  const last = jobStatusAnswer([oneDay[0], holiday]);
  const { url } = await farService(t, { body: first }, { body: last });
  const { code, stderr } = await run(['watch', 'the-job', '--url', url]);
  assert.deepEqual([code, stderr], [0, '2025-11-11 1 skipped\n2025-11-10 completed\n']);
});

test('another service is reported, not followed and not trusted', async (t) => {
  const rows: [answer: FarAnswer, says: string][] = [
    [{ type: 'text/html', body: '<html>' }, 'Cannot read …: it is not JSON; is it this service?\n'],
    [{ body: { jobs: 5 } }, 'Cannot read …: jobs is not as expected; is it this service?\n'],
    [{ status: 302, body: '' }, '…302 (a redirect, which is not followed)\n'],
  ];
  for (const [answer, says] of rows) {
    const { url } = await farService(t, answer);
    const { code, stderr } = await run(['watch', '--url', url]);
    assert.equal(code, 1);
    assert.match(stderr, like(says));
  }
});

test('text from the server is shown without control characters', async (t) => {
  const evil = 'evil\u001b[2J\u0007\u202e';
  const failed = { status: 'failed' as const, error: evil, warnings: [evil] };
  const hostile = jobStatusAnswer([{ date: '2025-11-10', model: evil, status: 'failed' }], failed);
  const { url } = await farService(t, { body: hostile }, { status: 400, body: { detail: evil } });
  const watched = await run(['watch', 'the-job', '--url', url]);
  assert.match(watched.stdout, /2025-11-10 evil \[2J failed/);
  const refused = await run(['trigger', '--end', '2025-11-10', '--url', url]);
  for (const { stdout, stderr } of [watched, refused])
    assert.doesNotMatch(stdout + stderr, /(?!\n)\p{Cc}|\u202e/u);
});

test('watch without a job takes the newest one', async (t) => {
  const list = { jobs: [{ job_id: 'the-job', status: 'completed' }], count: 1 };
  const { url, requests } = await farService(t, { body: list }, { body: jobStatusAnswer(oneDay) });
  assert.equal((await run(['watch', '--url', url])).code, 0);
  const paths = requests.map((request) => request.url);
  assert.deepEqual(paths, ['/jobs?limit=1', '/simulate/status/the-job']);
  const empty = await farService(t, { body: { jobs: [] } });
  const none = await run(['watch', '--url', empty.url]);
  assert.deepEqual([none.code, none.stderr], [1, 'There is no job to watch yet\n']);
  await run(['trigger', '--end', '2025-11-20', '--models', 'newest', '--watch']);
  const { code, stderr } = await run(['watch']);
  assert.deepEqual([code, stderr], [0, '2025-11-20 completed\n'], 'of this service');
});

const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script');
const skip = !hasScript && 'there is no Linux script(1) to make a terminal with';
test('on a terminal a bar stays below the dates that have ended', { skip }, async () => {
  const onTerminal = async (args: string) => {
    const command = `stty cols 80 rows 12; "${process.execPath}" server.js ${args}`;
    const program = promisify(execFile)('/usr/bin/script', ['-qec', command, '/dev/null'], { cwd });
    return (await program).stdout;
  };
  const watched = `trigger ${RANGE.join(' ')} --models live --watch`;
  const live = await onTerminal(`${watched} --url ${server.url}`);
  assert.match(live, /2025-11-12 completed\r\n[^\n]*\[#+\] 100 % 3 of 3 run, job completed/);
  assert.match(live, /\u001b\[\?7h\r\nJob completed after [\d.]+ s\. .*: 3 of 3 run\.\r\n$/);
});

test('Ctrl-C ends a watch and not the job', async (t) => {
  const running = { date: '2025-11-11', model: 'a', status: 'running' } as const;
  const { url, requests } = await farService(t, { body: jobStatusAnswer([...oneDay, running]) });
  const watching = startProgram(['watch', 'the-job'], { cwd, env: { API_URL: url } });
  await watching.waitFor(/completed\n/);
  watching.process.kill('SIGINT');
  assert.equal((await watching.ended).signal, 'SIGINT');
  assert.deepEqual(new Set(requests.map(({ method }) => method)), new Set(['GET']));
});
