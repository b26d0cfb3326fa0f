import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as v from 'valibot';
import { performanceResponse } from '../../src/features/performance/response.ts';
import { definitions, reportConventions } from '../../src/features/performance/definitions.ts';

const model = performanceResponse.entries.models.item.entries;
const groups = [
  model,
  model.relative.entries,
  model.trading.entries,
  model.round_trips.entries,
  model.usage.entries,
];

test('every figure that has a unit is in the response', () => {
  const details = model.details.wrapped.entries;
  const known = [...groups, details].flatMap(Object.keys);
  const named = Object.values(reportConventions(0, []).units).flat();
  assert.equal(new Set(named).size, named.length);
  assert.deepEqual(
    named.filter((name) => !known.includes(name)),
    [],
  );
});

test('every figure that can be null for a reason has a definition', () => {
  const figures = groups.flatMap((group) =>
    Object.entries(group).flatMap(([name, schema]) => (isFigure(schema) ? [name] : [])),
  );
  assert.ok(figures.length > 20);
  assert.deepEqual(
    figures.filter((name) => !(name in definitions)),
    [],
  );
});

/** Any number, or null; counts of tokens are whole numbers. */
function isFigure(schema: v.GenericSchema): boolean {
  return v.is(schema, null) && v.is(schema, -0.5);
}

test('every definition is in docs/reference/metrics.md, and the conventions are those of the schema', () => {
  const page = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8');
  assert.deepEqual(
    Object.keys(definitions).filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
  const conventions = reportConventions(0.04, []);
  assert.deepEqual(v.parse(performanceResponse.entries.conventions, conventions), conventions);
});
