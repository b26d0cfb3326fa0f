import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { decisionKinds, storeDecisions, storeFailures } from '../../src/database/decisions.ts';
import { type Decision, decisions, placeOf } from '../../src/database/records/decisions.ts';
import { portionsOf, RECORDS_PER_STEP } from '../../src/database/records/results.ts';
import { runs } from '../support/long.ts';

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

const DATES = ['2025-01-06', '2025-01-07', '2025-01-08', '2025-01-09'] as const;
const SYMBOLS = ['AAPL', 'MSFT', 'NVDA'] as const;
const someSymbols = fc.subarray([...SYMBOLS], { maxLength: 2 });
const anySession = fc.record({
  date: fc.constantFrom(...DATES),
  model: fc.constantFrom<string>('a', 'b', 'c'),
  jobId: fc.constantFrom<string>('j', 'k'),
  status: fc.constantFrom(
    'active' as const,
    'active' as const,
    'failed' as const,
    'superseded' as const,
  ),
  bought: someSymbols,
  refused: someSymbols,
  held: someSymbols,
});
type AnySession = typeof anySession extends fc.Arbitrary<infer One> ? One : never;
const anyFilters = fc.record({
  symbol: fc.constantFrom(undefined, ...SYMBOLS, 'NONE'),
  kind: fc.constantFrom(undefined, ...decisionKinds),
  models: fc.constantFrom<string[] | undefined>(undefined, ['a'], ['c', 'b']),
  jobId: fc.constantFrom(undefined, 'j'),
  startDate: fc.constantFrom(undefined, DATES[1]),
  endDate: fc.constantFrom(undefined, DATES[2]),
});
type Filters = typeof anyFilters extends fc.Arbitrary<infer One> ? One : never;

/**
 * A model-day as a commit or a failure leaves it; of model-days that are there already, one is
 * active at most.
 */
function insertSession(
  database: Database,
  { date, model, jobId, status, bought, refused, held }: AnySession,
): void {
  const insert = (table: string, row: Record<string, string | number | null>) => {
    const columns = Object.keys(row);
    return database
      .statement(
        `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      )
      .run(...Object.values(row)).lastInsertRowid;
  };
  const key = { date, model, job_id: jobId };
  const error = status === 'failed' ? 'why' : null;
  const ended = { ...key, error, started_at: 't', completed_at: 't' };
  insert('job_details', { ...ended, status: error === null ? 'completed' : 'failed' });
  const found = database
    .statement(`SELECT 1 FROM trading_sessions WHERE date = ? AND model = ? AND status = 'active'`)
    .get(date, model);
  if (found !== undefined && status === 'active') return;
  const session = {
    session_id: Number(
      insert('trading_sessions', { ...ended, status, initial_cash_e4: 5, wording: 1 }),
    ),
  };
  const state = {
    ...session,
    cash_e4: 5,
    portfolio_value_e4: 5,
    daily_profit_e4: 0,
  };
  for (const symbol of new Set([...bought, ...held]))
    insert('session_prices', { ...session, symbol, date });
  const log = (index: number, symbol: string, result: object) =>
    insert('reasoning_logs', {
      ...{
        ...session,
        message_index: index,
        role: 'tool',
        content: JSON.stringify(result),
        tool_name: 'buy',
        timestamp: 't',
      },
      // As models write it: in lower case, and with characters that JSON may escape.
      tool_input: JSON.stringify({ symbol: symbol.toLowerCase(), amount: 1 }).replace(
        'nvda',
        'n\\u0076da',
      ),
    });
  refused.forEach((symbol, index) => log(index, symbol, { error: 'no' }));
  if (refused.length > 0)
    insert('tool_usage', {
      ...session,
      tool_name: 'buy',
      calls: 2,
      refused: refused.length,
      duration_ms: 1,
    });
  if (status === 'failed') return storeFailures(database, { jobId, from: date, to: date, model });
  bought.forEach((symbol, index) => {
    log(refused.length + index, symbol, { executed: 'buy', symbol, amount: 1 });
    insert('positions', {
      ...state,
      action_id: index + 1,
      action_type: 'buy',
      symbol,
      amount: 1,
      price_e4: 1,
    });
  });
  if (bought.length === 0) insert('positions', { ...state, action_id: 1, action_type: 'no_trade' });
  storeDecisions(database, session.session_id);
}

/** All pages of the feed, with so many decisions on each. */
function pagesOf(database: Database, filters: Filters, limit: number): Decision[] {
  const all: Decision[] = [];
  for (
    let page: Decision[] | undefined;
    page === undefined || page.length === limit;
    all.push(...page)
  ) {
    const last = all.at(-1);
    const place = last === undefined ? null : (placeOf(database, last.id) ?? null);
    page = decisions(database, filters, { after: place, limit });
  }
  return all;
}

function isWanted(
  { symbol, kind, models, jobId, startDate, endDate }: Filters,
  one: Decision,
): boolean {
  const isOf = (wanted: string | undefined, value: string | null) =>
    wanted === undefined || wanted === value;
  return (
    isOf(symbol, one.symbol) &&
    isOf(kind, one.kind) &&
    isOf(jobId, one.job_id) &&
    models?.includes(one.model) !== false &&
    one.date >= (startDate ?? '') &&
    one.date <= (endDate ?? '~')
  );
}

test('whatever the models did, the filtered feed has what a scan of all decisions finds', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anySession, {
        maxLength: 16,
        selector: ({ date, model, jobId }) => `${date} ${model} ${jobId}`,
      }),
      anyFilters,
      fc.integer({ min: 1, max: 5 }),
      (sessions, filters, limit) => {
        const database = openDatabase(':memory:');
        database.statement('PRAGMA foreign_keys = OFF').get();
        for (const jobId of ['j', 'k'])
          database
            .statement(
              `INSERT INTO jobs (job_id, status, dates, start_date, end_date, created_at, completed_at, agent_config, replace_existing, deployment_mode)
             VALUES (?, 'completed', '[]', ?, ?, 't', 't', '{}', 0, 'PROD')`,
            )
            .run(jobId, DATES[0], DATES[3]);
        for (const session of sessions) insertSession(database, session);
        const everything = {
          symbol: undefined,
          kind: undefined,
          models: undefined,
          jobId: undefined,
          startDate: undefined,
          endDate: undefined,
        };
        const all = pagesOf(database, everything, 1_000);
        const { traded, quiet } = database
          .statement(
            `SELECT count(*) FILTER (WHERE action_type = 'buy') AS traded, count(*) FILTER (WHERE action_type = 'no_trade') AS quiet
           FROM positions JOIN trading_sessions USING (session_id) WHERE status = 'active'`,
          )
          .get() as Record<string, number>;
        const countOf = (kind: string) => all.filter((one) => one.kind === kind).length;
        assert.deepEqual([countOf('trade'), countOf('no_trade')], [traded, quiet]);
        assert.deepEqual(
          pagesOf(database, filters, limit),
          all.filter((one) => isWanted(filters, one)),
        );
        database.close();
      },
    ),
    { numRuns: runs(30, 1_000) },
  );
});
