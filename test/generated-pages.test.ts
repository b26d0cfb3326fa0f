import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { generatedPages } from '../lab/docs.ts';
import { metricGroups } from '../src/features/openapi/metrics.ts';
import { metricLabel } from '../src/features/performance/labels.ts';

for (const { path, make } of generatedPages)
  test(`${path} is what the code says`, () => {
    const written = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
    assert.ok(written === make(), `${path} is older than the code: run npm run docs`);
  });

test('each metric has a definition and a label in words for readers, and none has two metrics of a group', () => {
  for (const { title, metrics } of metricGroups) {
    for (const { field, definition } of metrics) assert.ok(definition, field);
    const labels = metrics.map(({ name }) => metricLabel(name));
    assert.equal(new Set(labels).size, labels.length, title);
    for (const label of labels) assert.doesNotMatch(label, /_|\d\d$|usd|bps/i);
  }
});
