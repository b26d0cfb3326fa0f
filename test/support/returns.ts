import type { CalendarDate } from '../../src/core/time/calendar.ts';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import { encodeEntry, type Entry } from '../../src/core/settings/entry.ts';
import { storedEntry } from './jobs.ts';

/** Ledgers made of daily returns, for tests of what is computed from returns. */

/** One run of a job: a return per date of the job; null for a model-day that failed. */
export interface ReturnsOfRun {
  returns: readonly (number | null)[];
  family?: string;
  entry?: Partial<Entry>;
}

export interface JobOfReturns {
  dates: readonly CalendarDate[];
  agentConfig?: object;
  runs: Record<string, ReturnsOfRun>;
}

/** A billion dollars, so that the ledger's rounding changes a return by less than 1e-13. */
const INITIAL_CASH_E4 = 1e13;
const AT = '2025-12-01T00:00:00.000Z';

const anyEntry: Entry = {
  ...JSON.parse(storedEntry('')),
  ...{ kind: 'provider', basemodel: 'some-model', url: 'http://127.0.0.1/v1' },
  ...{ key_source: 'service', notes: false, tools: [] },
};

let jobs = 0;

/**
 * Inserts a completed job whose runs made these returns, each day starting from the run's latest
 * earlier one.
 */
export function insertReturns(
  database: CommandDatabase,
  { dates, agentConfig = {}, runs }: JobOfReturns,
): void {
  const jobId = `returns-${(jobs += 1)}`;
  const [first, last] = [dates[0] as string, dates.at(-1) as string];
  const lists = [JSON.stringify(dates), JSON.stringify(agentConfig)] as const;
  const job = database.statement(
    `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config,
       deployment_mode, created_at, completed_at)
     VALUES (?, 'completed', ?, ?, ?, 0, ?, 'PROD', ?, ?)`,
  );
  const ofRun = database.statement(
    `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  database.transaction(() => {
    job.run(jobId, first, last, ...lists, AT, AT);
    for (const [index, [run, { returns, family = run, entry }]] of Object.entries(runs).entries()) {
      const stored = encodeEntry({ ...anyEntry, signature: family, ...entry });
      ofRun.run(jobId, run, index, first, AT, stored, family);
      for (const [day, date] of dates.entries())
        insertDay(database, { jobId, run, date }, returns[day] ?? null);
    }
  });
}

interface ModelDayOfRun {
  jobId: string;
  run: string;
  date: CalendarDate;
}

function insertDay(
  database: CommandDatabase,
  { jobId, run, date }: ModelDayOfRun,
  dailyReturn: number | null,
): void {
  const [status, error] = dailyReturn === null ? ['failed', 'No answer'] : ['completed', null];
  database
    .statement(
      'INSERT INTO job_details (job_id, date, model, status, error, started_at, completed_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    .run(jobId, date, run, status, error, AT, AT);
  if (dailyReturn === null) return;
  const before = database
    .statement(
      `SELECT session_id AS sessionId, portfolio_value_e4 AS value FROM trading_sessions JOIN positions USING (session_id)
       WHERE model = ? AND status = 'active' AND date < ? ORDER BY date DESC LIMIT 1`,
    )
    .get(run, date) as { sessionId: number; value: number } | undefined;
  const startValue = before?.value ?? INITIAL_CASH_E4;
  const value = Math.round(startValue * (1 + dailyReturn));
  const cash = before === undefined ? INITIAL_CASH_E4 : null;
  const { lastInsertRowid } = database
    .statement(
      `INSERT INTO trading_sessions (job_id, date, model, status, started_from_session_id, initial_cash_e4, wording, started_at, completed_at)
       VALUES (?, ?, ?, 'active', ?, ?, 1, ?, ?)`,
    )
    .run(jobId, date, run, before?.sessionId ?? null, cash, AT, AT);
  database
    .statement(
      `INSERT INTO positions (session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4)
       VALUES (?, 1, 'no_trade', 0, ?, ?)`,
    )
    .run(lastInsertRowid, value, value - startValue);
}
