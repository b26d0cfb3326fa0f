import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { readSettings } from '../src/core/settings/settings.ts';
import { openResponder } from '../src/features/publish/respond.ts';
import { routes } from '../src/routes.ts';

/** examples/analysis.ipynb has outputs of this program; lab/clients/analysis.long.ts runs all of it. */

const ROOT = new URL('..', import.meta.url);
const name = new URL('docs/demo-package.db', ROOT).pathname;
const file = openResponder(name, { name, settings: readSettings({}), routes });
after(() => file.close());

test('the sentence in examples/analysis.ipynb is that of the program; lab/fixtures/clients/notebook.py stores it', () => {
  const { cells } = JSON.parse(readFileSync(new URL('examples/analysis.ipynb', ROOT), 'utf8'));
  const texts: string[] = cells.flatMap(({ outputs = [] }: any) =>
    outputs.map(({ text = [] }: any) => [text].flat().join('')),
  );
  const { answer } = JSON.parse(file.respond('/comparison', { looks: 'daily' }));
  assert.equal(texts[0], `${answer.sentence}\n`);
});
