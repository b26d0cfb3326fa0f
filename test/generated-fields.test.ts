import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiFieldsPage } from '../lab/docs/api-fields.ts';
import { metricsPage } from '../lab/docs/metrics.ts';
import { metricGroups } from '../src/features/openapi/metrics.ts';
import { metricLabel } from '../src/features/performance/labels.ts';

const pages = { 'metrics.md': metricsPage, 'api-fields.md': apiFieldsPage };

for (const [name, make] of Object.entries(pages))
  test(`docs/reference/${name} is what the code makes: npm run docs writes it again`, () => {
    const page = readFileSync(new URL(`../docs/reference/${name}`, import.meta.url), 'utf8');
    assert.equal(page, make());
  });

test('labels are words for readers, and none has two metrics of a group', () => {
  for (const { title, metrics } of metricGroups) {
    const labels = metrics.map(({ field }) => metricLabel(field.split('.').at(-1) ?? ''));
    assert.equal(new Set(labels).size, labels.length, title);
    for (const label of labels) assert.doesNotMatch(label, /_|\d\d$|usd|bps/i);
  }
});
