import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { portionsOf, RECORDS_PER_STEP } from '../../src/database/records/results.ts';

const FULL = 50;
assert.equal(FULL, RECORDS_PER_STEP);

/** A database with sessions of so many positions each; their ids are counted from 1. */
function withPositions(counts: readonly number[]): {
  database: Database;
  sessions: { sessionId: number }[];
} {
  const database = openDatabase(':memory:');
  database.statement('PRAGMA foreign_keys = OFF').get();
  const insert = database.statement(
    `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4)
     WITH RECURSIVE actions (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM actions)
     SELECT ?1, value, 'buy', 'AAPL', 1, 1, 5, 5, 0 FROM actions LIMIT ?2`,
  );
  const sessions = counts.map((_, index) => ({ sessionId: index + 1 }));
  for (const { sessionId } of sessions) insert.run(sessionId, counts[sessionId - 1] ?? 0);
  return { database, sessions };
}

/**
 * Portions as text: `1,2:1-50` reads all of two sessions, `3:1-50…` a part of one; more of it
 * follows.
 */
const portions: [name: string, counts: readonly number[], portions: readonly string[]][] = [
  ['none of none', [], []],
  ['sessions that fit together', [1, FULL - 2, 1], ['1,2,3:1-50']],
  ['a session that fits only by itself', [1, FULL, 1], ['1:1-50', '2:1-50', '3:1-50']],
  ['a session that would be the first to exceed a portion', [30, 21, 29], ['1:1-50', '2,3:1-50']],
  [
    'a session larger than a portion, between others',
    [2, 2 * FULL + 1, 2],
    ['1:1-50', '2:1-50…', '2:51-100…', '2:101-101', '3:1-50'],
  ],
  ['a session twice as large as a portion', [2 * FULL], ['1:1-50…', '1:51-100']],
  [
    'sessions without positions, which have none even if they are committed before they are read',
    [0, 1, 0, 0, 1],
    ['1:1-0', '2:1-50', '3:1-0', '4:1-0', '5:1-50'],
  ],
];
for (const [name, counts, expected] of portions) {
  test(`portions of ${name}`, () => {
    const { database, sessions } = withPositions(counts);
    const found = [...portionsOf(database, sessions)];
    assert.deepEqual(
      found.map(({ sessionIds, values: [ids, first, last], isFirst, isLast }) => {
        assert.deepEqual([JSON.parse(ids), first === 1], [sessionIds, isFirst]);
        return `${sessionIds.join(',')}:${first}-${last}${isLast ? '' : '…'}`;
      }),
      expected,
    );
    database.close();
  });
}
