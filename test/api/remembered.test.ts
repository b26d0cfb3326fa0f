import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { addCoverage } from '../../src/database/prices.ts';
import { rememberResponses, rememberTexts } from '../../src/api/response-cache.ts';

const LONG = 'x'.repeat(300 * 1024);

/** Responses of which each names how often it was computed; `parts` are its pieces. */
function counter(limits = { most: 2, maxLength: 2 * LONG.length + 10 }) {
  const remembered = rememberResponses(limits);
  let computed = 0;
  const ask = (
    database: Database,
    key: string,
    parts: readonly string[] = ['a', '', 'b'],
    meanwhile = () => {},
  ) => {
    const body = remembered(database.moment(), key, function* () {
      computed += 1;
      yield `${computed}`;
      meanwhile();
      yield* parts;
    });
    return { text: [...body].join(''), isWhole: typeof body === 'string' };
  };
  return ask;
}

function change(database: Database): void {
  addCoverage(
    database,
    { symbol: 'AAPL', startDate: '2025-01-01', endDate: '2025-01-02' },
    { source: 'csv', recordedAt: '2025-01-03T00:00:00.000Z' },
  );
}

test('a response is computed once while nothing in the database changes, and again after any change', () => {
  const [one, other] = [openDatabase(':memory:'), openDatabase(':memory:')];
  const ask = counter();
  assert.deepEqual(ask(one, 'a'), { text: '1ab', isWhole: false });
  assert.deepEqual(ask(one, 'a'), { text: '1ab', isWhole: true });
  assert.equal(ask(other, 'a').text, '2ab', 'another database');
  assert.equal(ask(one, 'a').text, '3ab');
  change(one);
  assert.equal(ask(one, 'a').text, '4ab');
  assert.equal(ask(one, 'b', [], () => change(one)).text, '5', 'changed while it was computed');
  assert.equal(ask(one, 'b').text, '6ab');
});

test('the response requested longest ago makes room; a long one stays in pieces, and one above the limit is not kept', () => {
  const database = openDatabase(':memory:');
  const ask = counter();
  for (const key of ['a', 'b', 'a', 'c']) ask(database, key);
  assert.equal(ask(database, 'a').text, '1ab');
  assert.equal(ask(database, 'b').text, '4ab');
  assert.deepEqual(ask(database, 'long', [LONG, LONG]), {
    text: `5${LONG}${LONG}`,
    isWhole: false,
  });
  assert.deepEqual(ask(database, 'long', [LONG, LONG]), {
    text: `5${LONG}${LONG}`,
    isWhole: false,
  });
  assert.equal(ask(database, 'longer', [LONG, LONG, 'more than that']).text.at(0), '6');
  assert.equal(ask(database, 'longer').text, '7ab');
});

test('a text that never changes is read once per database, unless it is too long or others were used since', () => {
  let reopenings = 0;
  const one = Object.assign(openDatabase(':memory:'), { reopened: () => reopenings });
  const other = openDatabase(':memory:');
  const remembered = rememberTexts({ most: 2, maxLength: 10 });
  let reads = 0;
  const ask = (database: Database, key: string, text = '') =>
    remembered(database.moment(), key, () => `${(reads += 1)}${text}`);
  assert.deepEqual([ask(one, 'a'), ask(one, 'a')], ['1', '1']);
  change(one);
  assert.equal(ask(one, 'a'), '1');
  assert.deepEqual([ask(other, 'a'), ask(one, 'a')], ['2', '3'], 'each of another database');
  assert.deepEqual(
    [ask(one, 'b'), ask(one, 'a'), ask(one, 'c'), ask(one, 'a'), ask(one, 'b')],
    ['4', '3', '5', '3', '6'],
  );
  assert.deepEqual(
    [ask(one, 'long', ' and longer'), ask(one, 'long', ' and longer')],
    ['7 and longer', '8 and longer'],
  );
  reopenings += 1; // in the place of the file of a view there is another one
  assert.deepEqual([ask(one, 'b'), ask(one, 'b')], ['9', '9']);
});
