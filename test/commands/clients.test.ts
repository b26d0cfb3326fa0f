import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { before, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type JobStatus, jobStatuses } from '../../src/basics/domain.ts';
import { runInProcess } from '../support/in-process.ts';
import { jobStatusAnswer } from '../support/job-status.ts';
import { listenHere } from '../support/loopback.ts';
import {
  ask,
  installProgram,
  type Program,
  runProgram,
  startProgram,
  startServer,
} from '../support/program.ts';

const DEV = { DEPLOYMENT_MODE: 'DEV' };
const RANGE = ['--start', '2025-11-10', '--end', '2025-11-12'];
const ID = /^[0-9a-f-]{36}\n$/;

let cwd: string;
let server: Program & { url: string };
before(async (t) => {
  cwd = installProgram(t as TestContext);
  server = await startServer(t as TestContext, { cwd, env: DEV });
});
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runInProcess(args, { cwd, env: { API_URL: server.url, ...env } });
/** The same as a process of its own. */
const runApart = (args: readonly string[]) =>
  runProgram(args, { cwd, env: { API_URL: server.url } });

test('trigger and watch are clients of a running server', async () => {
  const created = await runApart(['trigger', ...RANGE, '--models', 'model-a, other']);
  assert.deepEqual(
    [created.code, created.stderr],
    [0, 'Simulation job created for 3 dates, 2 models\n'],
  );
  assert.match(created.stdout, ID);
  const jobId = created.stdout.trim();

  const watched = await runApart(['watch', jobId]);
  assert.equal(watched.code, 0);
  assert.equal(
    watched.stderr,
    ['10', '11', '12'].map((day) => `2025-11-${day} completed\n`).join(''),
  );
  assert.match(watched.stdout, /^The job is completed after [\d.]+ s: \d of \d run\.\n$/);
  assert.deepEqual(await run(['watch', jobId]), watched, 'and again when it has ended');

  const unknown: [args: string[], stderr: RegExp][] = [
    [
      ['watch', jobId.slice(0, 8)],
      new RegExp(`^There is no job "${jobId.slice(0, 8)}"; did you mean "${jobId}"\\?\n$`),
    ],
    [['watch', 'nothing'], /^There is no job "nothing"; GET \/jobs lists them\n$/],
  ];
  for (const [args, stderr] of unknown) {
    const { code, stdout, stderr: said } = await run(args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    assert.match(said, stderr);
  }
});

test('trigger --watch follows its job to the end; a repeated one says what it skipped, --replace does not skip', async () => {
  const day = ['--start', '2025-11-18', '--end', '2025-11-18', '--models', 'model-c'];
  assert.equal((await run(['trigger', ...day, '--watch'])).code, 0);
  const again = await run(['trigger', ...day, '--watch']);
  assert.deepEqual([again.code, again.stderr.split('\n')[1]], [0, '2025-11-18 1 skipped']);
  assert.match(
    again.stdout,
    /^The job is completed after .*: 0 of 1 run, 1 skipped\.\nSkipped 1 model-day already completed\n$/,
  );
  assert.match(
    (await run(['trigger', ...day, '--watch', '--replace'])).stderr,
    /2025-11-18 completed/,
  );
});

test('a job that fails ends the command with 1 and the reasons', async (t) => {
  const folder = installProgram(t, {
    models: [{ signature: 'keyless', enabled: true }],
    agent_config: { stock_symbols: ['AAPL'] },
  });
  const prod = await startServer(t, { cwd: folder });
  const { code, stdout } = await run(['trigger', ...RANGE, '--watch', '--url', prod.url]);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^The job is failed after .*: 0 of \d+ run, \d+ skipped\.\nNo trading dates available after price data preparation: neither MASSIVE_API_KEY nor ALPHAADVANTAGE_API_KEY is set; import-prices reads price files\n/,
  );
});

const wrong: [args: string[], says: RegExp][] = [
  [
    ['trigger'],
    /^Cannot run trigger: --end DATE is missing\. Run "node server\.js trigger --help" to see what it takes\.\n$/,
  ],
  [['trigger', '--end', '2025-02-30'], /: --end: expected a date YYYY-MM-DD, got 2025-02-30\. Run/],
  [
    ['trigger', '--start', 'x\u001b[2J', '--end', '2025-11-10'],
    /: --start: expected a date YYYY-MM-DD, got x\ufffd\[2J\. Run/,
  ],
  [
    ['trigger', '--end', '2025-11-10', 'now'],
    /^Cannot run trigger: there is no argument "now"\. Run/,
  ],
  [
    ['trigger', '--finish', '2025-11-10'],
    /^Cannot run trigger: there is no option --finish; --end DATE is missing\. Run/,
  ],
  [
    ['watch', 'one', 'two'],
    /^Cannot run watch: there is no argument "two"\. Run "node server\.js watch --help"/,
  ],
  [['watch', '--csv'], /^Cannot run watch: there is no option --csv\./],
  [['watch', '--url', 'localhost:8080'], /: --url: expected a URL that starts with http/],
  [
    ['watch', '--url', 'http://me:secret@localhost'],
    /: the URL must not contain a password; an access token comes from API_TOKEN\./,
  ],
  [['watch', '--url', 'http://localhost/?a'], /: the URL must end with its path\./],
];
for (const [args, says] of wrong) {
  test(`${args.join(' ').replace('\u001b', '')} is wrong usage: exit code 2, and no request`, async () => {
    const { code, stdout, stderr } = await run(args, { API_URL: 'http://127.0.0.1:9' });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, says);
    assert.doesNotMatch(stderr, /secret/);
  });
}

test("a refusal is reported in the server's own words, with exit code 1", async () => {
  const rows: [args: string[], says: RegExp][] = [
    [
      ['trigger', '--end', '2099-01-01'],
      /^POST \/simulate\/trigger: 400 Invalid date range: 2099-01-01 is in the future/,
    ],
    [
      ['trigger', '--end', '2025-11-10', '--models', ','],
      /^POST \/simulate\/trigger: 422 models\[0\]: must not be empty; models\[1\]: must not be empty\n/,
    ],
    [
      ['trigger', '--end', '2025-11-10', '--universe', 'other'],
      /^POST \/simulate\/trigger: 400 Universe 'other' is not in the server configuration: it names none\n/,
    ],
    [['watch', 'no/such?job'], /^There is no job "no\/such\?job"; GET \/jobs lists them\n$/],
  ];
  for (const [args, says] of rows) {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, says);
  }
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
    assert.match(
      stderr,
      new RegExp(`^Cannot reach the service at ${address}: \\w.*API_URL say where it is\\)\n$`),
    );
  }
});

/** Each request gets the next of these answers; the last one again and again. */
async function farService(
  t: TestContext,
  answers: { status?: number; type?: string; body: unknown }[],
): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const far = createServer((request, response) => {
    const {
      status = 200,
      type = 'application/json',
      body,
    } = answers[Math.min(requests.length, answers.length - 1)] ?? {
      body: null,
    };
    requests.push(request);
    response
      .writeHead(status, { 'content-type': type })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return { url: `http://127.0.0.1:${await listenHere(t, far)}`, requests };
}

const oneDay = [{ date: '2025-11-10', model: 'a', status: 'completed' } as const];
const outcomes: Partial<Record<JobStatus, number>> = {
  completed: 0,
  partial: 1,
  failed: 1,
  cancelled: 1,
};
for (const status of jobStatuses.filter((name) => outcomes[name] !== undefined)) {
  test(`watching a job that ends ${status} exits with ${outcomes[status]}`, async (t) => {
    const { url } = await farService(t, [{ body: jobStatusAnswer(oneDay, { status }) }]);
    assert.equal((await run(['watch', 'the-job', '--url', url])).code, outcomes[status]);
  });
}

test('the access token is sent with every request, and never shown', async (t) => {
  const { url, requests } = await farService(t, [
    { status: 401, body: { detail: 'Who are you?' } },
  ]);
  for (const args of [
    ['watch', 'x'],
    ['trigger', '--end', '2025-11-10'],
  ]) {
    const { code, stderr } = await run([...args, '--url', `${url}/base/`], {
      API_TOKEN: 'token-123',
    });
    assert.deepEqual(
      [code, /: 401 Who are you\?\n$/.test(stderr), stderr.includes('token-123')],
      [1, true, false],
    );
  }
  assert.deepEqual(
    new Set(requests.map(({ headers }) => headers.authorization)),
    new Set(['Bearer token-123']),
  );
  assert.ok(requests.every(({ url: path }) => path?.startsWith('/base/')));
});

test('a service that is briefly unreachable is waited for', async (t) => {
  const running = jobStatusAnswer([{ date: '2025-11-10', model: 'a', status: 'running' }]);
  const { url } = await farService(t, [
    { body: running },
    { status: 503, type: 'text/html', body: '<h1>Service\u001b[2J starts</h1>' },
    { status: 503, body: { detail: 'still' } },
    { body: jobStatusAnswer(oneDay) },
  ]);
  const { code, stderr } = await run(['watch', 'the-job', '--url', url]);
  assert.equal(code, 0);
  assert.equal(
    stderr,
    'GET /simulate/status/the-job: 503 <h1>Service [2J starts</h1>; trying again\n2025-11-10 completed\n',
  );
});

test('a service that restarts right after it has created a job is waited for', async (t) => {
  const id = '7d0f8c8e-6c1a-4b53-9d0a-2f1f6f1f0a01';
  const mode = { deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false };
  const created = {
    job_id: id,
    status: 'pending',
    total_model_days: 1,
    message: 'created',
    ...mode,
    warnings: null,
  };
  const { url } = await farService(t, [
    { body: created },
    { status: 503, body: { detail: 'starting' } },
    { body: jobStatusAnswer(oneDay) },
  ]);
  const { code, stderr } = await run(['trigger', '--end', '2025-11-10', '--watch', '--url', url]);
  assert.deepEqual(
    [code, stderr],
    [0, `created\nGET /simulate/status/${id}: 503 starting; trying again\n2025-11-10 completed\n`],
  );
});

test('each date is said once, when it has ended; a holiday has ended before earlier dates', async (t) => {
  const holiday = { date: '2025-11-11', model: 'a', status: 'skipped' } as const;
  const open = { date: '2025-11-10', model: 'a', status: 'running' } as const;
  const answers = [open, ...oneDay].map((day) => ({ body: jobStatusAnswer([day, holiday]) }));
  const { url } = await farService(t, answers);
  const { code, stderr } = await run(['watch', 'the-job', '--url', url]);
  assert.deepEqual([code, stderr], [0, '2025-11-11 1 skipped\n2025-11-10 completed\n']);
});

test('another service is reported, not followed and not trusted', async (t) => {
  const rows: [answer: Parameters<typeof farService>[1][number], says: RegExp][] = [
    [
      { type: 'text/html', body: '<html>' },
      /^Cannot read the response of http:.*\/jobs: it is not JSON; is it this service\?\n$/,
    ],
    [
      { body: { jobs: 5 } },
      /^Cannot read the response of .*: jobs is not as expected; is it this service\?\n$/,
    ],
    [{ status: 302, body: '' }, /^GET \/jobs: 302 \(a redirect, which is not followed\)\n$/],
  ];
  for (const [answer, says] of rows) {
    const { url } = await farService(t, [answer]);
    const { code, stderr } = await run(['watch', '--url', url]);
    assert.equal(code, 1);
    assert.match(stderr, says);
  }
});

test('text from the server is shown without control characters', async (t) => {
  const evil = 'evil\u001b[2J\u0007\u202e';
  const hostile = jobStatusAnswer([{ date: '2025-11-10', model: evil, status: 'failed' }], {
    status: 'failed',
    error: evil,
    warnings: [evil],
  });
  const { url } = await farService(t, [{ body: hostile }, { status: 400, body: { detail: evil } }]);
  const watched = await run(['watch', 'the-job', '--url', url]);
  assert.match(watched.stdout, /2025-11-10 evil \[2J failed/);
  const refused = await run(['trigger', '--end', '2025-11-10', '--url', url]);
  for (const { stdout, stderr } of [watched, refused])
    assert.doesNotMatch(stdout + stderr, /(?!\n)\p{Cc}|\u202e/u);
});

test('watch without a job takes the newest one', async (t) => {
  const { url, requests } = await farService(t, [
    { body: { jobs: [{ job_id: 'the-job', status: 'completed' }], count: 1 } },
    { body: jobStatusAnswer(oneDay) },
  ]);
  assert.equal((await run(['watch', '--url', url])).code, 0);
  assert.deepEqual(
    requests.map((request) => request.url),
    ['/jobs?limit=1', '/simulate/status/the-job'],
  );
  const empty = await farService(t, [{ body: { jobs: [] } }]);
  const none = await run(['watch', '--url', empty.url]);
  assert.deepEqual([none.code, none.stderr], [1, 'There is no job to watch yet\n']);
});

test('watch without a job follows the newest job of this service', async () => {
  await run(['trigger', '--end', '2025-11-20', '--models', 'newest', '--watch']);
  const { code, stderr } = await run(['watch']);
  assert.deepEqual([code, stderr], [0, '2025-11-20 completed\n']);
});

const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script');
test('on a terminal a bar stays below the dates that have ended', {
  skip: !hasScript && 'there is no Linux script(1) to make a terminal with',
}, async () => {
  const onTerminal = async (args: string) => {
    const command = `stty cols 80 rows 12; "${process.execPath}" server.js ${args}`;
    const program = promisify(execFile)('/usr/bin/script', ['-qec', command, '/dev/null'], { cwd });
    return (await program).stdout;
  };
  const live = await onTerminal(
    `trigger ${RANGE.join(' ')} --models live --watch --url ${server.url}`,
  );
  assert.match(live, /2025-11-12 completed\r\n[^\n]*\[#+\] 100 % 3 of 3 run, job completed/);
  assert.match(live, /\u001b\[\?7h\r\nThe job is completed after [\d.]+ s: 3 of 3 run\.\r\n$/);
});

test('the commands are in the help', async () => {
  const { stdout } = await run(['--help']);
  for (const command of ['trigger', 'watch'])
    assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
});

test('Ctrl-C ends a watch and not the job', async () => {
  const { stdout } = await run(['trigger', '--start', '2025-09-01', '--end', '2025-09-03']);
  const watching = startProgram(['watch', stdout.trim()], { cwd, env: { API_URL: server.url } });
  await watching.waitFor(/completed\n/);
  watching.process.kill('SIGINT');
  assert.equal((await watching.ended).signal, 'SIGINT');
  const { status } = await ask(`${server.url}/simulate/status/${stdout.trim()}`);
  assert.ok(status === 'running' || status === 'completed');
  assert.equal((await run(['watch', stdout.trim()])).code, 0);
});
