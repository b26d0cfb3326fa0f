import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { run } from './support/foreign-tools.ts';
import { ask, installProgram, startServer, waitForJob } from './support/program.ts';

/** The tables, columns, queries and the command of docs/reference/database.md. */

const text = readFileSync(new URL('../docs/reference/database.md', import.meta.url), 'utf8');
const PACKAGE = new URL('../docs/demo-package.db', import.meta.url).pathname;
const DAYS = { start_date: '2025-11-13', end_date: '2025-11-14' };
const blockOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(text)?.[1] ??
  assert.fail(`docs/reference/database.md has ${language}`);
const queries = blockOf('sql')
  .trim()
  .split(/(?<=;)\n/);

test('the queries of docs/reference/database.md find rows in the demo package', () => {
  assert.equal(queries.length, 3);
  const database = new DatabaseSync(PACKAGE, { readOnly: true });
  for (const query of queries) assert.ok(database.prepare(query).all().length > 0, query);
  database.close();
});

test('docs/reference/database.md has ten tables of a running service, with their columns, and its command reads them', async (t) => {
  const cwd = installProgram();
  const { url } = await startServer(t, { cwd, env: { DEPLOYMENT_MODE: 'DEV' } });
  const { job_id } = await ask(`${url}/simulate/trigger`, DAYS);
  await waitForJob(url, job_id);
  const database = new DatabaseSync(join(cwd, 'data/jobs_dev.db'), { readOnly: true });
  const listed = [...text.matchAll(/^- `(\w+)`: .*?\. (.*)\.$/gm)];
  assert.equal(listed.length, 10);
  for (const [, table = '', columns = ''] of listed)
    for (const [, column = ''] of columns.matchAll(/`(\w+)`/g)) {
      const [first] = database.prepare(`SELECT ${table}.${column} FROM ${table}`).all();
      assert.ok(first, `${table} has rows`);
    }
  for (const query of queries) database.prepare(query).all();
  database.close();
  if (spawnSync('sqlite3', ['--version']).status !== 0) return t.diagnostic('there is no sqlite3');
  const command = blockOf('sh').replace('data/jobs.db', 'data/jobs_dev.db');
  const lines = run('sh', ['-c', command], { cwd }).trim().split('\n');
  assert.deepEqual(
    lines.filter((_, index) => index !== 1).map((line) => line.trim().split(/ +/)),
    [
      ['model', 'days'],
      ['model-a', '2'],
      ['model-b', '2'],
    ],
  );
});
