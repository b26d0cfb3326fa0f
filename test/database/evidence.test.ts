import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { findStaleDays } from '../../src/core/database/stale.ts';

test('staleness is looked up from session to session: no table is read as a whole, or searched by another order', (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  let sql = '';
  const reader = {
    ...database,
    statement: (text: string) => database.statement((sql = text)),
  };
  findStaleDays(reader, []);
  const plan = database.statement(`EXPLAIN QUERY PLAN ${sql}`).all();
  const reads = plan.flatMap(({ detail }) => /^(?:SEARCH|SCAN) .*/.exec(String(detail)) ?? []);
  const own = [
    'SCAN chosen VIRTUAL',
    'SEARCH trading_sessions USING INTEGER PRIMARY KEY',
    'SCAN own',
  ];
  const bySession = (table: string) => `SEARCH ${table} USING PRIMARY KEY (session_id=?)`;
  const ofSeries = 'SEARCH price_data USING PRIMARY KEY (symbol=?)';
  const allowed = [
    ...own,
    'SEARCH earlier USING INDEX sessions_by_model (model=? AND date<?)',
    // Of a day that started from another session: whether both closed the same.
    'SEARCH was USING INTEGER PRIMARY KEY',
    'SEARCH now USING INTEGER PRIMARY KEY',
    'SEARCH positions USING INDEX sqlite_autoindex_positions_1 (session_id=?)',
    bySession('holdings'),
    bySession('used'),
    'SEARCH bar USING PRIMARY KEY (symbol=? AND date=?)',
    'SEARCH stock_splits USING PRIMARY KEY (symbol=? AND date>? AND date<?)',
    'SEARCH known USING PRIMARY KEY (session_id=?',
    'SEARCH dividends USING PRIMARY KEY (symbol=? AND ex_date',
    'SEARCH stock_splits USING PRIMARY KEY (symbol=? AND date=?)',
    'SEARCH split USING PRIMARY KEY (symbol=? AND date>?)',
    'SEARCH exchanges USING PRIMARY KEY (symbol=? AND date',
    bySession('brought'),
    // Of a fraction that was paid at the close before.
    'SEARCH paid USING INDEX sqlite_autoindex_positions_1 (session_id=?)',
    'SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (job_id=?)',
    'SEARCH earlier USING PRIMARY KEY (symbol=? AND date<?)',
    'SEARCH split USING PRIMARY KEY (symbol=? AND date>? AND date<?)',
    'SCAN (subquery',
    ofSeries,
  ];
  assert.deepEqual(
    reads.filter((read) => !allowed.some((start) => read.startsWith(start))),
    [],
  );
  const joins = reads.filter((read) =>
    /^SEARCH (used|bar|stock_splits|dividends|exchanges) /.test(read),
  );
  const next = joins.flatMap((read, place) => (read === bySession('used') ? joins[place + 1] : []));
  assert.deepEqual(
    next.map((read) => read?.split(' ')[1]),
    ['bar', 'stock_splits', 'dividends', 'exchanges'],
    'what a session used comes before what is stored of it',
  );
});
