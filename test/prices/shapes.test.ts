import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { importText } from '../support/imports.ts';

/**
 * The shapes of files that people have: `shapes.txt` has a file each, under its name, and after
 * `=>` its format, what its prices are taken for, what is stored of it, and what is refused.
 */
const SHAPES = readFileSync(new URL('shapes.txt', import.meta.url), 'utf8');

for (const shape of SHAPES.split(/^# /m).slice(1)) {
  const [title = '', ...lines] = shape.trimEnd().split('\n');
  const [name = '', file] = title.split(' | ');
  const end = lines.findIndex((line) => line.startsWith('=> '));
  test(`a file of ${name}`, async () => {
    const text = `${lines.slice(0, end).join('\n')}\n`;
    const { summary, stored, refused } = await importText(text, { ...(file && { name: file }) });
    const { format, taken } = summary;
    const meaning = taken === null ? '' : `, ${taken.meaning} by ${taken.by}`;
    const shown = [`=> ${format}${meaning}`, ...stored, ...refused.map((row) => `refused ${row}`)];
    const written = shown.map((line) => line.trimEnd());
    assert.deepEqual(written, lines.slice(end));
  });
}
