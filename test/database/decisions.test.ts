import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { decisionKinds, NO_TRADE, storeDecisions } from '../../src/core/database/decisions.ts';
import { endModelDays } from '../../src/core/database/model-days.ts';
import {
  type FeedDecision,
  readDecisions,
  findPlace,
} from '../../src/features/decisions/queries.ts';
import { queries } from '../../src/core/database/rows.ts';
import { endModelDay } from '../../src/core/database/sessions.ts';
import { runs } from '../support/long.ts';

/** What models did and why, as rows, and the feed of them. */

const DATES = ['2025-01-06', '2025-01-07', '2025-01-08', '2025-01-09'] as const;
const JOB_ROW = `
  INSERT INTO jobs (job_id, status, dates, start_date, end_date, created_at, completed_at, agent_config, replace_existing, deployment_mode)
  VALUES (?, 'completed', '[]', ?, ?, 't', 't', '{}', 0, 'PROD')`;
const SYMBOLS = ['AAPL', 'MSFT', 'NVDA'] as const;
const someSymbols = fc.subarray([...SYMBOLS], { maxLength: 2 });
const statuses = ['active', 'active', 'failed', 'superseded'] as const;
const anySession = fc.record({
  date: fc.constantFrom(...DATES),
  model: fc.constantFrom<string>('a', 'b', 'c'),
  jobId: fc.constantFrom<string>('j', 'k'),
  status: fc.constantFrom(...statuses),
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
type Filters = Partial<typeof anyFilters extends fc.Arbitrary<infer One> ? One : never>;

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
  const opened = { ...ended, status, initial_cash_e4: 5, wording: 1 };
  const session = { session_id: Number(insert('trading_sessions', opened)) };
  const state = { ...session, cash_e4: 5, portfolio_value_e4: 5, daily_profit_e4: 0 };
  for (const symbol of new Set([...bought, ...held]))
    insert('session_prices', { ...session, symbol, date });
  const order = (symbol: string, message_index: number) => {
    const message = { message_index, role: 'tool', content: '', tool_name: 'buy' };
    insert('reasoning_logs', { ...session, ...message, timestamp: 'logged' });
    return { ...NO_TRADE, message_index, side: 'buy' as const, symbol };
  };
  const refusals = refused.map((symbol, index) => {
    return { ...order(symbol, index), amount: 1, detail: 'no' };
  });
  if (status === 'failed') return;
  const trades = bought.map((symbol, index) => {
    const trade = { action_type: 'buy', symbol, amount: 1, price_e4: 1 };
    insert('positions', { ...state, action_id: index + 1, ...trade });
    return { ...order(symbol, refused.length + index), action_id: index + 1 };
  });
  if (bought.length === 0) insert('positions', { ...state, action_id: 1, action_type: 'no_trade' });
  const none = bought.length === 0 ? [NO_TRADE] : [];
  storeDecisions(database, session.session_id, [...refusals, ...trades, ...none]);
}

/** All pages of the feed, with so many decisions on each. */
function pagesOf(database: Database, filters: Filters, limit: number): FeedDecision[] {
  const all: FeedDecision[] = [];
  for (let isFull = true; isFull; ) {
    const last = all.at(-1);
    const after = last === undefined ? null : (findPlace(database, last.id) ?? null);
    const page = readDecisions(database, filters, { after, limit });
    all.push(...page);
    isFull = page.length === limit;
  }
  return all;
}

function isWanted(
  { symbol, kind, models, jobId, startDate, endDate }: Filters,
  one: FeedDecision,
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
        for (const jobId of ['j', 'k']) database.statement(JOB_ROW).run(jobId, DATES[0], DATES[3]);
        for (const session of sessions) insertSession(database, session);
        const all = pagesOf(database, {}, 1_000);
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

const day = { date: DATES[0], model: 'a', bought: [], refused: [], held: [] };

/** A feed with these model-days, of model a unless they say otherwise. */
function feedOf(t: TestContext, ...days: Partial<AnySession>[]): Database {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  database.statement('PRAGMA foreign_keys = OFF').get();
  for (const own of days) insertSession(database, { ...day, jobId: 'j', status: 'active', ...own });
  return database;
}

const feedAfter = (database: Database, after: Parameters<typeof readDecisions>[2]['after']) =>
  readDecisions(database, {}, { after, limit: 9 });

test('a model-day that another job replaced since the last page is not begun again', (t) => {
  const replaced: Partial<AnySession> = { status: 'superseded', refused: ['AAPL', 'MSFT'] };
  const database = feedOf(t, replaced, { jobId: 'k', bought: [...SYMBOLS] }, { model: 'b' });
  const found = feedAfter(database, findPlace(database, '1:1:2') ?? null);
  assert.deepEqual(
    found.map(({ id }) => id),
    ['3'],
  );
});

test('the ids of decisions and of sessions are places in the feed, and other texts are not', (t) => {
  const traded: Partial<AnySession> = { refused: ['MSFT'], bought: ['AAPL', 'NVDA'] };
  const failed = { status: 'failed', model: 'c' } as const;
  const database = feedOf(t, traded, { jobId: 'k', model: 'b' }, failed);
  const after = (id: string) => {
    const place = findPlace(database, id);
    return place && feedAfter(database, place).map((one) => one.id);
  };
  const failure = `failure:${DATES[0]}:j:c`;
  const all = ['1:2:1', '1:1:2', '1:0:3', '2', failure];
  assert.deepEqual(after('1'), all);
  for (const [index, id] of all.entries()) assert.deepEqual(after(id), all.slice(index + 1));
  const told = feedAfter(database, null).map(({ timestamp, side, reason }) =>
    [timestamp, side, reason].join(' '),
  );
  assert.deepEqual(told, ['logged buy ', 'logged buy ', 'logged buy ', 't  ', 't  ']);
  for (const other of ['9', '1:2', '1:2:3', '1:9:2', '2:0', `${failure}c`, 'failure:', ''])
    assert.equal(after(other), undefined, other);
});

test('the failures of a discarded job are not in the feed', (t) => {
  const database = feedOf(t, { status: 'failed' });
  database.statement(JOB_ROW).run('j', DATES[0], DATES[0]);
  const count = () => feedAfter(database, null).length;
  assert.equal(count(), 1);
  database.statement(`UPDATE jobs SET status = 'discarded'`).run();
  assert.equal(count(), 0);
});

/** How a model-day fails that has no session. */
const failing: [what: string, fail: (database: Database) => void][] = [
  [
    'that failed before its session began',
    (database) => {
      const end = { status: 'failed', error: 'No key.', completedAt: 'later' } as const;
      endModelDay(database, { jobId: 'j', date: DATES[0], model: 'm' }, end);
    },
  ],
  [
    'whose job failed',
    (database) => endModelDays(database, 'j', { status: 'failed', error: 'No key.', at: 'later' }),
  ],
];
for (const [what, fail] of failing) {
  test(`a model-day ${what} is in the feed, once, with its error`, () => {
    const database = openDatabase(':memory:');
    database.statement(JOB_ROW).run('j', DATES[0], DATES[0]);
    database
      .statement(
        `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family)
         VALUES ('j', 'm', 0, ?, 't', '{}', 'm')`,
      )
      .run(DATES[0]);
    database
      .statement(`INSERT INTO job_details (job_id, date, model) VALUES ('j', ?, 'm')`)
      .run(DATES[0]);
    fail(database);
    const found = readDecisions(database, {}, { after: null, limit: 9 });
    assert.deepEqual(
      found.map(({ id, kind, session_id, timestamp, reason, detail }) =>
        [id, kind, session_id, timestamp, reason, detail].join(),
      ),
      [`failure:${DATES[0]}:j:m,failure,,later,,No key.`],
    );
    database.close();
  });
}

const BY_DATE = 'SEARCH own USING INDEX sessions_in_answer_order (date>? AND date<?)';
const OF_A_DATE = 'USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY';
const SORTED = ['SEARCH own USING INTEGER PRIMARY KEY (rowid=?)', 'USE TEMP B-TREE FOR ORDER BY'];
/** How each feed finds its page, and what it sorts. */
const plans = [
  [
    ...[BY_DATE, 'SEARCH made USING PRIMARY KEY (session_id=?)', OF_A_DATE],
    'SEARCH own USING INDEX failed_model_days (date>? AND date<?)',
  ],
  ['SCAN made USING INDEX refused_decisions', ...SORTED],
  [BY_DATE, 'SEARCH made USING INDEX refused_decisions (session_id=?)', OF_A_DATE],
  ['SEARCH made USING INDEX decisions_by_symbol (symbol=?)', ...SORTED],
  [BY_DATE, 'SEARCH made USING INDEX decisions_by_symbol (symbol=? AND session_id=?)', OF_A_DATE],
];
test('a page takes time for its own decisions, however many there are', () => {
  const database = openDatabase(':memory:');
  const found = queries
    .filter(({ sql }) => sql.includes(' AS turn') && !sql.startsWith('SELECT count'))
    .map(({ sql }) => {
      const plan = database.statement(`EXPLAIN QUERY PLAN ${sql}`).all();
      const steps = plan.map(({ detail }) => String(detail));
      return steps.filter((step) => /^(SEARCH|SCAN) (own|made) |TEMP B-TREE/.test(step));
    });
  assert.deepEqual(found, plans);
  database.close();
});

test('many decisions of a symbol, and many refusals, are found session by session', (t) => {
  const [many, few] = [5_200, 20];
  const database = feedOf(t, ...DATES.map((date) => ({ date, jobId: 'k' })));
  const decide = (session: number, symbol: string, detail: string | null) => {
    const order = { ...NO_TRADE, message_index: 0, symbol, detail };
    return { ...order, action_id: detail === null ? session : null };
  };
  for (const [index, session] of [1, 2, 3, 4].entries()) {
    database.statement('DELETE FROM decisions WHERE session_id = ?').run(session);
    const own = Array.from({ length: many / 4 }, () => decide(session, 'AAPL', 'no'));
    const rare = Array.from({ length: index * few }, () => decide(session, 'MSFT', null));
    storeDecisions(database, session, [...own, ...rare]);
  }
  const all = pagesOf(database, {}, 1_000);
  for (const filters of [{ symbol: 'AAPL' }, { kind: 'refusal' }, { symbol: 'MSFT' }] as const) {
    const wanted = all.filter((one) => isWanted(filters, one));
    assert.ok(wanted.length > few);
    assert.deepEqual(pagesOf(database, filters, 150), wanted);
  }
});
