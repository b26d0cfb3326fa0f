import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { migrateTo } from '../support/migrate-to.ts';
import { MODELS, auditOf, fourDays } from '../support/books.ts';
import { anyBars, anyEvents, booksIn } from '../support/random-books.ts';
import { runs } from '../support/long.ts';
import { temporaryFolder } from '../support/service.ts';
import { staleByStamps } from '../support/stale.ts';

const RUNS = Number(process.env['AUDIT_RUNS'] ?? runs(12, 200));
/** The last version without evidence. */
const WITHOUT_EVIDENCE = 10;

/** The columns that the migrations since then add. */
const LATER_COLUMNS = [
  ['trading_sessions', 'start_changed'],
  ['trading_sessions', 'note'],
  ['simulation_runs', 'entry'],
  ['simulation_runs', 'family'],
  ['jobs', 'universe'],
  ['trading_sessions', 'pays_dividends'],
  ['jobs', 'deployment_mode'],
  ['trading_sessions', 'wording'],
  ['reasoning_logs', 'served'],
  ['simulation_runs', 'left_out'],
];

/** Removes what the migrations add, and makes another change to the rest. */
function takeEvidenceAway(path: string, sql: string): void {
  const database = new DatabaseSync(path, { defensive: false });
  const added = database
    .prepare(
      `SELECT type, name FROM sqlite_schema WHERE name IN ('session_prices', 'session_splits')
         OR type IN ('table', 'view') AND (name LIKE 'dividend%' OR name IN ('session_dividends', 'market_days', 'stock_split_spans'))
         OR type = 'table' AND (name IN ('log_words', 'log_words_spans', 'opening_lots', 'package_manifest', 'session_digests', 'figure_settings', 'served_models')) OR name = 'failed_model_days'
         OR (type IN ('view', 'trigger') AND name LIKE 'written_%') OR (type = 'trigger' AND sql LIKE '%written_%')
       ORDER BY type = 'trigger' DESC`,
    )
    .all();
  const drops = added.map(({ type, name }) => `DROP ${type} IF EXISTS ${name};`).join(' ');
  const columns = LATER_COLUMNS.map(
    ([table, column]) => `ALTER TABLE ${table} DROP COLUMN ${column};`,
  ).join(' ');
  database.exec(`PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, ', ''file-split-adjusted'', ''file-total-return''', '') WHERE name = 'price_data';
    PRAGMA writable_schema = RESET`);
  database.exec(`BEGIN; UPDATE jobs SET agent_config = json_remove(agent_config, '$.dividends'); ${drops} ${columns}
    PRAGMA user_version = ${WITHOUT_EVIDENCE}; COMMIT; ${sql}`);
  database.close();
}

/** Books as the version without evidence would have stored them, migrated. */
function migrated(books: Database, folder: string, sql = ''): Database {
  const path = join(folder, 'jobs.db');
  rmSync(path, { force: true });
  books.statement('VACUUM INTO ?').run(path);
  takeEvidenceAway(path, sql);
  return openDatabase(path);
}

test('books without evidence have the tables of the version before it', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  openDatabase(path).close();
  takeEvidenceAway(path, '');
  const former = new DatabaseSync(':memory:');
  migrateTo(former, WITHOUT_EVIDENCE);
  const namesIn = (database: DatabaseSync) =>
    database.prepare('SELECT type, name FROM sqlite_schema ORDER BY 1, 2').all();
  assert.deepEqual(namesIn(new DatabaseSync(path, { readOnly: true })), namesIn(former));
});

test('whatever is traded, replaced, split and revised: migrating reconstructs the evidence, and the audit finds nothing new', async (t) => {
  const folder = temporaryFolder(t);
  const books = openDatabase(':memory:');
  await fc.assert(
    fc.asyncProperty(anyBars, anyEvents, async (bars, events) => {
      await booksIn(books, bars, events, { paysDividends: false });
      const stale = staleByStamps(books, MODELS, { opensOf: 'commit' });
      const database = migrated(books, folder);
      assert.deepEqual(await auditOf(database), { problems: [], unverifiable: [], stale });
      database.close();
    }),
    { numRuns: RUNS },
  );
  books.close();
});

const LATER = `recorded_at = '2031-01-01T00:00:00.000Z'`;
const AAPL_ON_7 = `symbol = 'AAPL' AND date = '2025-01-07'`;
const madeReady = (seconds: number) => {
  const at = `(SELECT strftime('%Y-%m-%dT%H:%M:%fZ', completed_at, '-${seconds} seconds') FROM trading_sessions WHERE session_id = 3)`;
  return `UPDATE price_data SET close = 50, recorded_at = ${at} WHERE ${AAPL_ON_7}`;
};
const replacing = (row: string) =>
  `INSERT OR REPLACE INTO price_data (symbol, date, open, close, source, recorded_at) VALUES (${row}, 'csv', '2031-01-01T00:00:00.000Z')`;

/**
 * What happened to books before evidence was stored, and of which dates the audit has something to
 * say since then.
 */
const pasts: [
  name: string,
  sql: string,
  said: { problems?: string[]; unverifiable?: string[]; stale?: string[] },
][] = [
  ['nothing', '', {}],
  [
    'another close',
    `UPDATE price_data SET close = 50, ${LATER} WHERE ${AAPL_ON_7}`,
    { stale: ['2025-01-07'] },
  ],
  ['all bars, taken away', 'DELETE FROM price_data', {}],
  [
    'a bar, replaced without a trace by another',
    replacing(`'AAPL', '2025-01-07', 90, 91`),
    { unverifiable: ['2025-01-07'], stale: ['2025-01-07'] },
  ],
  [
    'a bar, replaced without a trace by the same',
    replacing(`'AAPL', '2025-01-07', 104, 105`),
    { stale: ['2025-01-07'] },
  ],
  [
    'the bar of a trade, replaced without a trace',
    replacing(`'MSFT', '2025-01-06', 90, 194`),
    { unverifiable: ['2025-01-06'], stale: ['2025-01-06'] },
  ],
  [
    'the bar before a day without one, replaced without a trace',
    replacing(`'ORLY', '2025-01-06', 30, 34`),
    { unverifiable: ['2025-01-06', '2025-01-07'], stale: ['2025-01-06'] },
  ],
  ['the split, taken away', 'DELETE FROM stock_splits', {}],
  [
    'the split, with another ratio',
    `UPDATE stock_splits SET numerator = 5, ${LATER}`,
    { stale: ['2025-01-08'] },
  ],
  [
    'the split, replaced without a trace by another',
    `INSERT OR REPLACE INTO stock_splits (symbol, date, numerator, denominator, recorded_at)
     VALUES ('ORLY', '2025-01-08', 5, 2, '2031-01-01T00:00:00.000Z')`,
    { unverifiable: ['2025-01-08'], stale: ['2025-01-08'] },
  ],
  ['a close that another program committed just after', madeReady(30), {}],
  ['a close that was known for long', madeReady(90), { problems: ['2025-01-07'] }],
  [
    'cash that was changed',
    'UPDATE positions SET cash_e4 = cash_e4 + 10000 WHERE position_id = 2',
    { problems: ['2025-01-03'] },
  ],
  [
    'a value that was changed',
    'UPDATE positions SET portfolio_value_e4 = portfolio_value_e4 + 1 WHERE position_id = 5',
    { problems: ['2025-01-07'] },
  ],
  [
    'a price that was changed',
    'UPDATE positions SET price_e4 = 990000 WHERE position_id = 1',
    { problems: ['2025-01-03'] },
  ],
  [
    'a purchase of what had no price',
    `UPDATE positions SET symbol = 'ORLY' WHERE position_id = 2`,
    { problems: ['2025-01-03'] },
  ],
  [
    'the amount of a split that was changed',
    'UPDATE positions SET amount = 4 WHERE position_id = 6',
    { problems: ['2025-01-08'] },
  ],
  [
    'the day before, made again',
    `UPDATE trading_sessions SET status = 'superseded' WHERE session_id = 3`,
    { stale: ['2025-01-08'] },
  ],
];
const fourBooks = fourDays();
for (const [name, sql, said] of pasts) {
  test(`migrated: ${name}`, async (t) => {
    const database = migrated((await fourBooks).database, temporaryFolder(t), sql);
    const { problems, unverifiable, stale } = await auditOf(database);
    const dates = (lines: readonly string[]) => [
      ...new Set(lines.map((line) => line.slice('model-a '.length).slice(0, 10))),
    ];
    const found = {
      problems: dates(problems),
      unverifiable: dates(unverifiable),
      stale: dates(stale),
    };
    assert.deepEqual(found, { problems: [], unverifiable: [], stale: [], ...said });
    database.close();
  });
}

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
