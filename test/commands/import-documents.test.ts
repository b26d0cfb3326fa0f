import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createWriteStream, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { linesOf, row } from '../support/document-files.ts';
import { runInProcess } from '../support/in-process.ts';
import { installProgram, startProgram, startServer } from '../support/program.ts';
import { descriptorsOf, noProc } from '../support/processes.ts';
import { like } from '../support/text-table.ts';
import { until } from '../support/until.ts';

test('a file without documents is exit code 1, the others are stored, and refused rows are printed as those of prices', async () => {
  const cwd = installProgram();
  const bad = Array.from({ length: 25 }, (_, index) => row({ kind: `no. ${index}` }));
  writeFileSync(join(cwd, 'good.jsonl'), linesOf([...bad, row({ title: '' }), row()]));
  writeFileSync(
    join(cwd, 'bad\u009b.jsonl'),
    linesOf([row({ title: '\u009b2J', kind: '\u009b' })]),
  );
  const run = (...names: string[]) => runInProcess(['import-documents', ...names], { cwd });
  const { code, stdout, stderr } = await run('good.jsonl', 'bad\u009b.jsonl', 'missing.jsonl');
  assert.equal(code, 1);
  const kind = 'kind must be 1 to 40 letters, digits, - or _';
  assert.equal(
    stdout,
    `good.jsonl: imported 1 document (1 new)
  refused 25 rows: ${kind}
  refused 1 row: title is missing
bad\ufffd.jsonl: imported 0 documents (0 new)
  refused 1 row: ${kind}
Stored in data/jobs.db, the database of PROD mode.
`,
  );
  const told = stderr.trimEnd().split('\n');
  assert.equal(told.length, 24);
  assert.deepEqual(told.slice(19), [
    `good.jsonl:20: refused, ${kind}: "no. 19"`,
    `good.jsonl: further rows refused for this reason are only counted: ${kind}`,
    'good.jsonl:26: refused, title is missing: "{\\"kind\\":\\"news\\",\\"title\\":\\"\\",\\"text\\":\\"A text.\\",\\"published_at\\":\\"2"',
    `bad\ufffd.jsonl:1: refused, ${kind}: "\ufffd"`,
    'Cannot import missing.jsonl: there is no such file or folder',
  ]);
  const again = await run('good.jsonl');
  assert.equal(again.code, 0);
  assert.match(again.stdout, /^good\.jsonl: imported 1 document \(0 new\)\n/);
});

test('- is standard input, also compressed, of which no copy stays, beside a service', async (t) => {
  const cwd = installProgram();
  const { url } = await startServer(t, { cwd });
  for (const bytes of [
    Buffer.from(linesOf([row()])),
    gzipSync(linesOf([row(), row({ id: 'a' })])),
  ]) {
    const { process: child, ended } = startProgram(['import-documents', '-'], {
      ...{ cwd, env: { TMPDIR: cwd } },
    });
    child.stdin?.end(bytes);
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^-: imported [12] documents? \(1 new\)\n/);
  }
  assert.equal((await fetch(`${url}/health`)).status, 200);
  assert.deepEqual(copiesIn(cwd), []);
});

const copiesIn = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith('import-documents-'));

test('no copy of standard input stays behind an import that is killed while it reads', {
  skip: noProc,
}, async (t) => {
  const cwd = installProgram();
  const { process: child, ended } = startProgram(['import-documents', '-'], {
    ...{ cwd, env: { TMPDIR: cwd } },
  });
  t.after(() => child.kill('SIGKILL'));
  child.stdin?.write(linesOf([row()]));
  const isNameless = (name: string) => /import-documents-.*\(deleted\)$/.test(name);
  await until('the copy to have no name', () => descriptorsOf(child.pid ?? 0).some(isNameless));
  child.kill('SIGKILL');
  await ended;
  assert.deepEqual(copiesIn(cwd), []);
});

test('one import at a time: a second one is refused; one that is killed leaves nothing to be seen, and the next one completes it', async (t) => {
  const cwd = installProgram();
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  const rows = Array.from({ length: 2_000 }, (_, id) => row({ id, text: `${id} `.repeat(30) }));
  const { process: child, ended } = startProgram(['import-documents', 'pipe'], { cwd });
  const pipe = createWriteStream(join(cwd, 'pipe'));
  t.after(() => (child.kill('SIGKILL'), pipe.destroy()));
  pipe.on('error', () => {}); // its reader is killed
  pipe.write(linesOf(rows));
  const path = join(cwd, 'data/jobs.db');
  const count = (what: string) => {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return Number(database.prepare(`SELECT count(*) AS n FROM ${what}`).get()?.['n']);
    } catch {
      return 0; // the tables are not there yet
    } finally {
      database.close();
    }
  };
  await until('rows to be stored', () => existsSync(path) && count('documents') > 100);
  writeFileSync(join(cwd, 'whole.jsonl'), linesOf(rows));
  const whole = () => runInProcess(['import-documents', 'whole.jsonl'], { cwd });
  const { code, stdout: none, stderr } = await whole();
  assert.deepEqual([code, none], [1, '']);
  const busy = `another import of documents into data/jobs.db is running, in process ${child.pid}, started …`;
  assert.match(
    stderr,
    like(`Cannot import documents: ${busy}; run this one when that has ended\n`),
  );
  child.kill('SIGKILL');
  await ended;
  const seen = 'documents JOIN document_imports USING (import_id) WHERE written IS NOT NULL';
  assert.ok(count('documents') < 2_000);
  assert.equal(count(seen), 0);
  const { stdout } = await whole();
  assert.match(stdout, /^whole\.jsonl: imported 2,000 documents \(2,000 new\)\n/);
  assert.deepEqual([count(seen), count('documents')], [2_000, 2_000]);
});
