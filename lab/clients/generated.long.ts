import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { folderWith, pythonWith, run } from '../../test/support/foreign-tools.ts';
import { lastWeekdays } from '../../test/support/market.ts';
import { installProgram, startServer } from '../../test/support/program.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/**
 * Clients that other programs generate from the interface description, as they come, run a whole
 * job against the built program. The generators come from their registries; where they cannot be
 * had, their test is skipped by name.
 */

const TYPESCRIPT_TOOLS = [
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'typescript@5.9.3',
  '@types/node@24.19.2',
];
const PYTHON_TOOL = 'openapi-python-client==0.29.1';
const TOKEN = 'token-of-the-generated-clients';
const dates = lastWeekdays(4).slice(0, 3);
const [firstDate = '', lastDate = ''] = [dates[0], dates.at(-1)];
const fixture = (name: string) => new URL(`../fixtures/clients/${name}`, import.meta.url);

const STRICT = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    module: 'nodenext',
    target: 'es2023',
    types: ['node'],
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  files: ['job.ts'],
};

/** The built program with a token, in DEV mode; resolves to the arguments of a client. */
async function startService(t: TestContext): Promise<string[]> {
  const env = { DEPLOYMENT_MODE: 'DEV', API_TOKEN: TOKEN };
  const { url } = await startServer(t, { cwd: installProgram(), env });
  return [url, TOKEN, firstDate, lastDate];
}

async function saveDescription(url: string, path: string): Promise<void> {
  const response = await fetch(`${url}/openapi.json`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  writeFileSync(path, await response.text());
}

/** What a client read of its job, of two models over the dates. */
function checkJob(text: string): void {
  const seen = JSON.parse(text);
  assert.deepEqual([seen.status, seen.dates, seen.completed], ['completed', dates, 6]);
  assert.deepEqual(
    seen.modelDays.map(([date, model, steps]: any) => [date, model, steps > 0]),
    dates.flatMap((date) => ['model-a', 'model-b'].map((model) => [date, model, true])),
  );
  assert.deepEqual([...new Set(seen.records.map(([date]: any) => date))], dates);
  assert.match(seen.csvHeader, /^id,job_id,date,model,/);
  const both = (value: string) => [
    ['model-a', value],
    ['model-b', value],
  ];
  assert.deepEqual(seen.conversations, both('system'));
  assert.deepEqual(seen.models, both(lastDate));
  assert.deepEqual(
    seen.returns.map(([, figure]: any) => Number.isFinite(figure)),
    [true, true],
  );
  assert.equal(seen.benchmark, 'universe');
  assert.deepEqual(seen.jobs, [[true, 'completed']]);
  assert.deepEqual(seen.health, ['healthy', 'DEV', true]);
  assert.deepEqual(
    seen.errors.map(([status]: any) => status),
    [409, 422, 404, 401],
  );
  const words = [seen.errors[1][1], seen.errors[2][1]];
  assert.deepEqual(words, ['limit: expected a wh', 'Job a/b not found']);
}

test('a TypeScript client that openapi-typescript made compiles under strict and runs a whole job', async (t) => {
  const folder = folderWith(t, TYPESCRIPT_TOOLS);
  if (folder === null) return;
  const args = await startService(t);
  await saveDescription(args[0] as string, join(folder, 'openapi.json'));
  const tool = (name: string) => join(folder, 'node_modules/.bin', name);
  run(tool('openapi-typescript'), ['openapi.json', '-o', 'api.d.ts'], { cwd: folder });
  copyFileSync(fixture('job.ts.txt'), join(folder, 'job.ts'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(STRICT));
  run(tool('tsc'), ['-p', '.'], { cwd: folder });
  checkJob(run(process.execPath, ['job.ts', ...args], { cwd: folder }));
});

test('a Python client that openapi-python-client made runs a whole job', async (t) => {
  const python = pythonWith(t, [PYTHON_TOOL]);
  if (python === null) return;
  const folder = temporaryFolder();
  const bin = dirname(python);
  const args = await startService(t);
  await saveDescription(args[0] as string, join(folder, 'openapi.json'));
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` };
  const said = run(
    join(bin, 'openapi-python-client'),
    ['generate', '--path', 'openapi.json', '--output-path', 'generated', '--meta', 'none'],
    { cwd: folder, env },
  );
  assert.doesNotMatch(said, /warning|error|skipping/i, 'the generator left something out');
  assert.ok(existsSync(join(folder, 'generated/models/results_record.py')));
  assert.match(
    readFileSync(join(folder, 'generated/models/model_day.py'), 'utf8'),
    /date: datetime\.date/,
  );
  copyFileSync(fixture('job.py'), join(folder, 'job.py'));
  checkJob(run(python, ['job.py', ...args], { cwd: folder, env }));
});
