import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startDemoView } from '../../test/support/demo-view.ts';
import { pythonOn } from '../../test/support/docs-agents.ts';
import { pythonWith, runAsync } from '../../test/support/foreign-tools.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/** docs/guides/analyse-in-python.md, docs/reference/database.md and examples/analysis.ipynb, run on the demo package. */

const PANDAS = ['pandas==3.0.1', 'httpx==0.28.1'];
const ROOT = new URL('../..', import.meta.url);
const NOTEBOOK = new URL('examples/analysis.ipynb', ROOT);
const PACKAGE = new URL('docs/demo-package.db', ROOT).pathname;
const RUN_NOTEBOOK = new URL('lab/fixtures/clients/notebook.py', ROOT).pathname;
const textOf = (path: string | URL) => readFileSync(new URL(path, ROOT), 'utf8');

/** Runs a Python program in a folder. Resolves to what it writes. */
const runPython = (python: string, args: string[], cwd: string, own = {}): Promise<string> =>
  runAsync(python, args, { cwd, env: { HOME: cwd, NO_PROXY: '*', ...own } });

async function prepare(t: TestContext, packages: readonly string[]) {
  const python = pythonWith(t, [...PANDAS, ...packages]);
  return python === null
    ? null
    : { python, url: await startDemoView(t), folder: temporaryFolder() };
}

test('the programs of docs/guides/analyse-in-python.md print what it shows, one after another', async (t) => {
  const ready = await prepare(t, ['quantstats==0.0.86']);
  if (ready === null) return;
  const { python, url, folder } = ready;
  const blocks = [
    ...textOf('docs/guides/analyse-in-python.md').matchAll(/^```(python|text)\n([^]*?)^```/gm),
  ];
  const written = (kind: string) =>
    blocks.flatMap(([, own, text = '']) => (own === kind ? [text] : [])).join('');
  const path = join(folder, 'analyse.py');
  writeFileSync(path, written('python').replace('http://localhost:8080', url));
  assert.equal(await runPython(python, [path], folder), written('text'));
  assert.ok(existsSync(join(folder, 'simulated-2.html')));
  mkdirSync(join(folder, 'data'));
  copyFileSync(PACKAGE, join(folder, 'data/jobs.db'));
  const printed = await runPython(python, ['-c', pythonOn('docs/reference/database.md')], folder);
  assert.match(printed, /^0 +buy-and-hold +2026-10-05 +9884\.2625$/m);
});

test('examples/analysis.ipynb runs, and its stored outputs are those of the demo package', async (t) => {
  const ready = await prepare(t, ['nbclient==0.11.0', 'ipykernel==7.4.0']);
  if (ready === null) return;
  const { python, url, folder } = ready;
  copyFileSync(NOTEBOOK, join(folder, 'analysis.ipynb'));
  const args = [RUN_NOTEBOOK, 'analysis.ipynb'];
  const printed = JSON.parse(await runPython(python, args, folder, { API_URL: url }));
  // A text is one string or a list of lines.
  const whole = (text: string | string[]) => [text].flat().join('');
  const stored = JSON.parse(textOf(NOTEBOOK)).cells.flatMap(({ cell_type, outputs }: any) =>
    cell_type === 'code'
      ? [outputs.map(({ text, data }: any) => whole(text ?? data['text/plain']))]
      : [],
  );
  assert.ok(stored.flat().length > 5);
  assert.deepEqual(printed, stored);
});
