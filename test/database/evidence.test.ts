import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';

/**
 * How the model-days that held a symbol over a date are found: from morning to morning, each read
 * from that date on.
 */
const BY_MORNING = [
  'symbol=? AND held_since<?',
  'symbol=? AND held_since>? AND held_since<?',
  'symbol=? AND held_since=? AND date>?',
];
for (const trigger of ['split_written', 'dividend_written']) {
  test(`${trigger} reads only the model-days to compare, and one of each morning before`, (t) => {
    const database = openDatabase(':memory:');
    t.after(() => database.close());
    const text = String(
      database.statement('SELECT sql FROM sqlite_schema WHERE name = ?').get(trigger)?.['sql'],
    );
    const [update = ''] = /UPDATE session_prices[^]*?;/.exec(text) ?? [];
    const plan = database.statement(`EXPLAIN QUERY PLAN ${update.replace(/new\.\w+/g, '?')}`).all();
    const reads = plan.flatMap(
      ({ detail }) => /(?:SEARCH|SCAN) (?:session_prices|own) .*/.exec(String(detail)) ?? [],
    );
    assert.deepEqual(reads, [
      'SEARCH session_prices USING PRIMARY KEY (session_id=? AND symbol=?)',
      ...BY_MORNING.map(
        (columns) =>
          `SEARCH ${columns.includes('=? AND date') ? 'own' : 'session_prices'} USING COVERING INDEX session_prices_by_holding (${columns})`,
      ),
    ]);
  });
}
