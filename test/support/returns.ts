import type { CalendarDate } from '../../src/basics/calendar.ts';
import type { CommandDatabase } from '../../src/database/database.ts';
import { encodeEntry, type Entry } from '../../src/basics/entry.ts';

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
  signature: '',
  run: 1,
  repeats: 1,
  kind: 'provider',
  basemodel: 'some-model',
  url: 'http://127.0.0.1/v1',
  api: null,
  stream: null,
  stream_is_set: false,
  url_is_cut: false,
  key_source: 'service',
  key_variable: null,
  parameters: {},
  prompt: null,
  notes: false,
  knowledge_cutoff: null,
  price_per_million_tokens: null,
  max_cost_usd: null,
  tools: [],
  decision: 'tools',
  agent: null,
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
  database.transaction(() => {
    database
      .statement(
        `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, deployment_mode,
           created_at, completed_at)
         VALUES (?, 'completed', ?, ?, ?, 0, ?, 'PROD', ?, ?)`,
      )
      .run(
        jobId,
        dates[0] as string,
        dates.at(-1) as string,
        JSON.stringify(dates),
        JSON.stringify(agentConfig),
        AT,
        AT,
      );
    for (const [index, [run, { returns, family = run, entry }]] of Object.entries(runs).entries()) {
      const stored = encodeEntry({ ...anyEntry, signature: family, ...entry });
      database
        .statement(
          `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(jobId, run, index, dates[0] as string, AT, stored, family);
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
  const { lastInsertRowid } = database
    .statement(
      `INSERT INTO trading_sessions (job_id, date, model, status, started_from_session_id, initial_cash_e4, wording, started_at, completed_at)
       VALUES (?, ?, ?, 'active', ?, ?, 1, ?, ?)`,
    )
    .run(
      jobId,
      date,
      run,
      before?.sessionId ?? null,
      before === undefined ? INITIAL_CASH_E4 : null,
      AT,
      AT,
    );
  database
    .statement(
      `INSERT INTO positions (session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4)
       VALUES (?, 1, 'no_trade', 0, ?, ?)`,
    )
    .run(lastInsertRowid, value, value - startValue);
}
