import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { join } from 'node:path';
import { test } from 'node:test';
import { publishedFile } from '../../src/features/publish/published.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import type { Publication } from '../../src/features/publish/site.ts';
import { publishedFrom } from '../support/published.ts';
import { tableOf } from '../support/text-table.ts';

/** A published folder: what is in it, and which folders it is written to. */

/** All that a folder says, in one text. */
function contentOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name));
      return `${name} ${name.endsWith('.gz') ? gunzipSync(bytes) : bytes}`;
    })
    .join('\n');
}

/** What is published of two jobs → what the folder has and lacks. */
const parts: [own: Partial<Publication>, has: string, lacks: string][] = [
  [{}, 'bench-0000 bench-0001 gamma 2023-10-02 2023-10-05 "role":"assistant" got-her-words', ''],
  [
    { jobId: 'bench-0001', withConversations: false },
    'bench-0001 gamma 2023-10-05',
    'bench-0000 2023-10-03.json.gz "role":"assistant"',
  ],
  [{ withConversations: false }, '"kind":"malformed"', '"role":"assistant" got-her-words'],
  [{ models: ['alpha'] }, 'alpha#2 2023-10-02 2023-10-05', 'bench- gamma BETA'],
  [{ endDate: '2023-10-04' }, 'gamma 2023-10-02', 'bench- 2023-10-05'],
  [{ models: ['alpha'], endDate: '2023-10-04' }, 'alpha#2', 'bench- gamma 2023-10-05'],
];
const wordsOf = (text: string) => text.split(' ').filter((word) => word !== '');

test('a folder has what was asked for and nothing else', async (t) => {
  const { path, folder, again } = await publishedFrom(t, { days: 4, datesPerJob: 3, failures: 0 });
  const database = openDatabase(path);
  database
    .statement(
      `UPDATE decisions SET tool = 'buy', side = NULL, symbol = NULL, amount = NULL, detail = 'got-her-words' WHERE kind = 'refusal'`,
    )
    .run();
  database.close();
  for (const [own, has, lacks] of parts) {
    await again(own);
    const content = contentOf(folder);
    for (const text of wordsOf(has)) assert.ok(content.includes(text), `it has ${text}`);
    for (const text of [...wordsOf(lacks), path, process.cwd()])
      assert.ok(!content.includes(text), `${JSON.stringify(own)} lacks ${text}`);
  }
});

/** The URL of a request, the file that answers it, the part of it that does. */
const filesOfUrls = tableOf<[url: string, file: string, part: string]>(`
  /models                                                      | data/models.json.gz                                                      |
  /jobs?limit=8                                                | data/jobs.json.gz                                                        |
  /simulate/status/a-1                                         | data/simulate/status/a-1.json.gz                                         |
  /performance?common=true&by=entry                            | data/performance,by=entry,common=true.json.gz                            |
  /performance?model=A%2Fb&table=actions&format=csv            | data/performance,format=csv,model=_a~2f~b,table=actions.csv.gz           |
  /results?model=a_B%232&date=2025-10-01                       | data/model-days/a___b~23~2/2025-10-01.json.gz                            | results
  /reasoning?date=x&model=..&more=1                            | data/model-days/~2e~./x.json.gz                                          | reasoning
  /decisions?before=2025-10-01&limit=50                        | data/decisions,before=2025-10-01.json.gz                                 |
  /decisions?model=a&start_date=2025-10-01&end_date=2025-10-01 | data/decisions,before=2025-10-01.json.gz                                 |
  /models?x=😀                                                 | data/models,x=~1f600~.json.gz                                            |`);

test('what the files of a folder refer to is in it', async (t) => {
  const { folder } = await publishedFrom(t, { models: ['alpha'], days: 2 });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const named = [
    ...read('index.html').matchAll(/ (?:href|src)="([^"#]*)"|og:image" content="([^"]*)"/g),
  ];
  named.push(...read('app.css').matchAll(/url\(['"]?([^'")]*)/g));
  named.push(...read('preview.svg').matchAll(/ (?:href|src)="([^"]*)"/g));
  const files = named.map(([, file, image]) => file ?? image ?? '');
  assert.ok(files.length >= 4, files.join());
  for (const file of files) assert.ok(existsSync(join(folder, file)), file);
});

test('the file of a request has a name for every file system, and no two share one', () => {
  for (const [url, file, part] of filesOfUrls) {
    const found = publishedFile(url);
    assert.deepEqual([found.path, found.part ?? ''], [file, part], url);
  }
  const names = 'a A _a a/b a-b a.b ~ é É . ..'.split(' ');
  names.push('x'.repeat(200), `${'x'.repeat(199)}y`);
  const files = names.map(
    (model) => publishedFile(`/performance?${new URLSearchParams({ model })}`).path,
  );
  assert.equal(new Set(files.map((file) => file.toLowerCase())).size, names.length);
  for (const file of files) assert.match(file, /^data\/[\w.=,~-]{1,200}$/);
});

test('a second run writes only what changed, and removes what is gone', async (t) => {
  const { folder, written, again } = await publishedFrom(t, { days: 4, datesPerJob: 3 });
  assert.equal(written.changed, written.files);
  assert.deepEqual(await again(), { ...written, changed: 0 });
  const renamed = await again({ title: 'Another title' });
  assert.deepEqual([renamed.changed, renamed.removed], [2, 0]); // index.html and the preview
  const gone = await again({ jobId: 'bench-0001' });
  assert.ok(gone.removed > 10, 'the days of the other job');
  assert.equal(readdirSync(join(folder, 'data/simulate/status')).length, 1);
  await again({ models: ['alpha'] });
  assert.ok(!existsSync(join(folder, 'data/model-days/gamma')), 'a folder without a file');
  const back = await again();
  assert.equal(back.files, written.files);
});

test('a folder with what publish did not write is refused, and stays as it is', async (t) => {
  const { folder, again } = await publishedFrom(t, { models: ['alpha'], days: 2 });
  const write = (name: string) => writeFileSync(name, '');
  const foreign: [name: string, make: (name: string) => void, words: RegExp][] = [
    ['notes.txt', write, /it has notes\.txt/],
    ['data/notes.txt', write, /data.notes\.txt/],
    ['etc', (name) => symlinkSync('/etc', name), /it has etc/],
    ['notes.txt.partial', write, /it has notes\.txt\.partial/],
    ['published.txt', rmSync, /which publish did not write/],
  ];
  for (const [name, make, words] of foreign) {
    make(join(folder, name));
    const before = contentOf(folder);
    await assert.rejects(again({ title: 'Another' }), words, name);
    assert.equal(contentOf(folder), before, name);
    rmSync(join(folder, name), { force: true });
  }
});

test('of two runs into one folder the second is refused; a killed one hinders none', async (t) => {
  const { folder, again } = await publishedFrom(t, { models: ['alpha'], days: 2 });
  const file = join(folder, 'published.lock');
  assert.ok(!existsSync(file));
  let seconds = 0;
  const onProgress = () => {
    const other = again({ title: 'Another' });
    const refusal = { code: 'cannot_start', message: /another run has locked published\.lock/ };
    void assert.rejects(other, refusal).then(() => (seconds += 1));
  };
  await again({}, { signal: new AbortController().signal, onProgress });
  assert.ok(seconds > 0 && !existsSync(file));
  assert.doesNotMatch(contentOf(folder), /Another/);
  const holds = `new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)}).exec('BEGIN IMMEDIATE'); console.log('held'); setInterval(() => {}, 1000)`;
  const other = spawn(process.execPath, ['-e', holds], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(other.stdout, 'data');
  await assert.rejects(again(), /another run has locked/);
  other.kill('SIGKILL');
  await once(other, 'close');
  assert.ok(existsSync(file));
  assert.equal((await again()).removed, 0);
  assert.ok(!existsSync(file));
  execFileSync('mkfifo', [file]);
  await assert.rejects(again(), /or it cannot be locked/);
});

test('only names of the manifest are its own, however short or like them, and they are regular files', async (t) => {
  const { folder, again } = await publishedFrom(t, { models: ['alpha'], days: 2 });
  const victim = join(folder, '../victim');
  writeFileSync(victim, 'mine');
  const refusesWith = async (path: string, why: string) => {
    await assert.rejects(again({ title: path }), {
      code: 'cannot_start',
      message: `Cannot publish to ${folder}: it has ${path}, which ${why}; name a folder of its own`,
    });
    assert.equal(readFileSync(victim, 'utf8'), 'mine');
  };
  for (const path of ['404.html', 'LICENSE', 'notes.md', 'a/b.txt', 'app.css.old.css']) {
    mkdirSync(join(folder, 'a'), { recursive: true });
    writeFileSync(join(folder, path), 'mine');
    await refusesWith(path, 'publish did not write');
    rmSync(join(folder, path));
  }
  for (const path of ['published.txt', 'index.html', 'index.html.partial']) {
    const place = join(folder, path);
    if (existsSync(place)) renameSync(place, `${folder}.aside`);
    for (const put of [() => symlinkSync(victim, place), () => execFileSync('mkfifo', [place])]) {
      put();
      await refusesWith(path, 'is not a regular file');
      rmSync(place);
    }
    if (existsSync(`${folder}.aside`)) renameSync(`${folder}.aside`, place);
  }
  linkSync(join(folder, 'published.txt'), `${folder}.backup`);
  const listed = readFileSync(`${folder}.backup`, 'utf8');
  mkdirSync(join(folder, 'uploads'));
  const { removed } = await again({ endDate: '2023-10-02' });
  assert.ok(removed > 0 && existsSync(join(folder, 'uploads')), 'an empty folder of others');
  assert.equal(readFileSync(`${folder}.backup`, 'utf8'), listed, 'another name of the manifest');
});

test('a run that was stopped leaves a folder that the next one completes', async (t) => {
  const { folder, again, written } = await publishedFrom(t, { models: ['alpha'], days: 6 });
  rmSync(folder, { recursive: true });
  let stopping = new AbortController();
  const onProgress = () => stopping.abort();
  await assert.rejects(again({}, { signal: stopping.signal, onProgress }), { name: 'AbortError' });
  const listed = readFileSync(join(folder, 'published.txt'), 'utf8').split('\n', 3);
  const halves = new Set(['published.txt', ...listed]);
  const leave = () => {
    for (const path of halves) writeFileSync(join(folder, `${path}.partial`), 'half');
    appendFileSync(join(folder, 'published.txt'), 'data/mod'); // half a line
  };
  leave(); // as a SIGKILL or a full disk leaves it
  let steps = 0;
  const later = () => (steps += 1) === 3 && stopping.abort();
  stopping = new AbortController();
  await assert.rejects(again({}, { signal: stopping.signal, onProgress: later }));
  leave();
  writeFileSync(join(folder, 'data/mod'), 'mine');
  await assert.rejects(again(), /it has data.mod, which publish did not write/);
  rmSync(join(folder, 'data/mod'));
  assert.ok(!existsSync(join(folder, 'index.html')));
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git/config'), 'of the repository');
  writeFileSync(join(folder, 'CNAME'), 'example.org');
  const { files, removed } = await again();
  assert.deepEqual([files, removed], [written.files, halves.size]);
  assert.ok(existsSync(join(folder, 'index.html')) && existsSync(join(folder, '.git/config')));
  assert.ok(existsSync(join(folder, 'CNAME')));
});

const refused: [own: Partial<Publication>, why: RegExp][] = [
  [{ jobId: 'unknown' }, /Job unknown not found/],
  [{ models: ['alphq'] }, /alphq/],
  [{ models: ['alpha#2'] }, /alpha#2 is a run of alpha; name that/],
  [{ startDate: '2031-01-01' }, /no model-day fits/],
  [{ startDate: '2024-01-02', endDate: '2024-01-01' }, /Invalid date range/],
  [{ chromium: '/no/such/program' }, /--chromium: \/no\/such\/program made no picture/],
];

test('what cannot be published is refused in words', async (t) => {
  const { again } = await publishedFrom(t, { days: 2 });
  for (const [own, why] of refused) await assert.rejects(again(own), why);
});

test('links to the site have a preview: a title, a description and a picture', async (t) => {
  const own = { url: 'https://example.org/board/' };
  const { folder } = await publishedFrom(t, { own, days: 4, failures: 0 });
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  assert.match(html, /og:title" content="Which &#60;model&#62; trades “better”\?"/);
  const period = 'from 2023-10-02 to 2023-10-05';
  assert.ok(html.includes(`og:description" content="3 models over 4 days, ${period}."`));
  assert.ok(html.includes('og:image" content="https://example.org/board/preview.svg"'));
  const svg = readFileSync(join(folder, 'preview.svg'), 'utf8');
  for (const text of ['Which &#60;model&#62; trades', 'gamma', 'QQQ', 'BETA/5: x%'])
    assert.ok(svg.includes(text), text);
  const colours = new Set(svg.match(/stroke="#\w+"/g));
  assert.equal(colours.size, 5, 'three models, the benchmark and the line');
});
