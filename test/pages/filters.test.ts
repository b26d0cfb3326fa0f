import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  readFilters,
  hasFilters,
  NO_FILTERS,
  filterQuery,
  replaceFilters,
} from '../../src/features/pages/browser/filters.ts';
import { byName } from '../../src/features/pages/browser/format.ts';

const PERIOD = { start_date: '2025-10-01', end_date: '2025-10-31' };
const addresses: [search: string, filters: object, query: string][] = [
  ['', {}, ''],
  ['?days=all&common=true&job_id=%20', { days: 'all', common: 'true' }, ''],
  [
    '?days=clean&models=b,a%232,b',
    { models: ['b', 'a#2'], days: 'clean' },
    '?models=b,a%232&days=clean',
  ],
  [
    '?common=false&benchmark=QQQ&end_date=2025-10-31&start_date=2025-10-01&job_id=j%2F1',
    { ...PERIOD, job_id: 'j/1', benchmark: 'QQQ', common: 'false' },
    '?start_date=2025-10-01&end_date=2025-10-31&job_id=j%2F1&benchmark=QQQ&common=false',
  ],
  ['?start_date=soon&other=1', { start_date: 'soon' }, '?start_date=soon'],
];

test('filters are read from an address, and written into one by the same names, without defaults', () => {
  for (const [search, filters, query] of addresses) {
    assert.deepEqual(readFilters(search), { ...NO_FILTERS, ...filters }, search);
    assert.equal(filterQuery(readFilters(search)), query);
    assert.equal(hasFilters(readFilters(search)), query !== '');
  }
});

test('a page uses only its own filters, and a change keeps the parameters that are not filters', () => {
  const filters = readFilters('?models=a&days=clean&common=false');
  assert.equal(filterQuery(filters, ['days', 'start_date']), '?days=clean');
  assert.equal(hasFilters(filters, ['start_date', 'job_id']), false);
  const changed = '?models=a&days=clean&common=false&against=b';
  assert.equal(replaceFilters('?against=b&days=all&models=x', filters), changed);
  assert.equal(replaceFilters('?against=b%232&models=x', NO_FILTERS), '?against=b%232');
});

test('numbers in names sort by value', () => {
  const sorted = 'model-1 model-2 model-2#2 model-2#10 model-10 модель-9 модель-10 模型'.split(' ');
  assert.deepEqual(sorted.toReversed().sort(byName), sorted);
  assert.notEqual(byName('model-1', 'Model-1'), 0);
  assert.notEqual(byName('model-01', 'model-1'), 0);
  assert.equal(byName('model-1', 'model-1'), 0);
});
