import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseConfiguration } from '../../src/basics/configuration.ts';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { endJob } from '../../src/database/jobs.ts';
import { commitSession, insertSession, type PositionRow } from '../../src/database/sessions.ts';
import { SYMBOL_PATTERN } from '../../src/basics/domain.ts';
import { money } from '../../src/basics/money.ts';
import { insertTestJob } from '../support/jobs.ts';
import { runs } from '../support/long.ts';

const DATE = '2025-01-03';
const AT = '2025-12-01T00:00:00.000Z';
const MARK = money(20_000);
const { agent_config: agentConfig } = parseConfiguration({ models: [] }, 'test');

/** Digits alone too, which JavaScript would put first in an object. */
const anySymbol = fc.oneof(fc.stringMatching(SYMBOL_PATTERN), fc.nat({ max: 2_000 }).map(String));
const anyHoldings = fc.uniqueArray(fc.tuple(anySymbol, fc.integer({ min: 1, max: 2 ** 32 })), {
  selector: ([symbol]) => symbol,
  maxLength: 12,
});

/** Commits a model-day of a new job with these holdings at its close. Returns the session. */
function commit(database: CommandDatabase, holdings: PositionRow['holdings']): number {
  const modelDay = { jobId: randomUUID(), date: DATE, model: 'model-a' };
  const initialCash = money(1_000_000);
  const worth = [...holdings.values()].reduce((sum, quantity) => sum + quantity * MARK, 0);
  const position: PositionRow = {
    actionId: 1,
    actionType: 'buy',
    symbol: 'AAPL',
    amount: 1,
    price: MARK,
    cash: initialCash,
    portfolioValue: money(initialCash + worth),
    dailyProfit: money(worth),
    dailyReturnPct: 0.125,
    holdings,
  };
  const positions = [position];
  const symbols = [...holdings.keys()];
  const mark = { price: MARK, date: DATE };
  const prices = symbols.map((symbol) => ({
    symbol,
    heldSince: null,
    open: mark,
    close: mark,
  }));
  const rest = {
    evidence: { prices, splits: [], dividends: [] },
    toolUsage: [],
    summary: '',
    note: null,
    confidence: null,
    unfilled: [],
    wording: 1,
    commitWrite: 0,
    completedAt: AT,
  };
  const range = {
    startDate: DATE,
    endDate: DATE,
    dates: [DATE],
    runs: [{ model: modelDay.model, startDate: DATE }],
  };
  return database.transaction(() => {
    insertTestJob(database, {
      ...range,
      jobId: modelDay.jobId,
      replaceExisting: false,
      agentConfig,
      createdAt: AT,
      warnings: [],
    });
    endJob(database, modelDay.jobId, { status: 'completed', error: null, at: AT });
    const sessionId = insertSession(database, modelDay, {
      startedFrom: null,
      initialCash,
      paysDividends: true,
      morningWrite: 0,
      startedAt: AT,
    });
    commitSession(
      database,
      { ...modelDay, sessionId, steps: 1, totalMessages: 0 },
      { positions, ...rest },
    );
    return sessionId;
  });
}

/** The rows of a query about a session, as arrays. */
function rowsOf(database: CommandDatabase, sql: string, sessionId: number): unknown[][] {
  return database.statement(sql, 'arrays').all(sessionId) as unknown[] as unknown[][];
}

const HOLDINGS = 'SELECT symbol, quantity FROM holdings WHERE session_id = ? ORDER BY symbol';

test('a commit stores what is held at the close', () => {
  const database = openDatabase(':memory:');
  fc.assert(
    fc.property(anyHoldings, (holdings) => {
      const sessionId = commit(database, new Map(holdings));
      const stored = rowsOf(database, HOLDINGS, sessionId);
      const inOrder = (rows: unknown[][]) => rows.map((row) => JSON.stringify(row)).sort();
      assert.deepEqual(inOrder(stored), inOrder(holdings));
    }),
    { numRuns: runs(20, 2_000) },
  );
  database.close();
});
