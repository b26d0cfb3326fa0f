import type { Database } from '../../src/core/database/database.ts';

/**
 * What differs between two runs of the same model-days: identities, times, durations, and the order
 * of commits.
 */
const OF_ONE_RUN = /(^|_)(id|at)$|^timestamp$|duration|^active_(from|to)$/;
const OF_SESSIONS = [
  'reasoning_logs',
  'tool_usage',
  'session_prices',
  'session_splits',
  'session_dividends',
  'session_exchanges',
];

/**
 * Everything that a job has stored, a text per model-day, without times and identities: the same
 * model-days have the same records.
 */
export function recordsOf(database: Database, jobId: string): string[] {
  const rows = (sql: string, ...values: (string | number)[]) =>
    database
      .statement(sql)
      .all(...values)
      .map(withoutIdentity);
  const days = database
    .statement('SELECT * FROM job_details WHERE job_id = ? ORDER BY date, model')
    .all(jobId);
  return days.map(({ date, model, ...detail }) => {
    const session = database
      .statement(
        `SELECT * FROM trading_sessions WHERE job_id = ? AND date = ? AND model = ? ORDER BY session_id DESC`,
      )
      .get(jobId, String(date), String(model));
    const id = Number(session?.['session_id']);
    const positions = rows('SELECT * FROM positions WHERE session_id = ? ORDER BY action_id', id);
    const holdings = rows(
      'SELECT symbol, quantity FROM holdings WHERE session_id = ? ORDER BY symbol',
      id,
    );
    const others = OF_SESSIONS.map((table) =>
      rows(`SELECT * FROM ${table} WHERE session_id = ? ORDER BY 1, 2, 3`, id),
    );
    return JSON.stringify([
      date,
      model,
      withoutIdentity(detail),
      withoutIdentity(session ?? {}),
      positions,
      holdings,
      ...others,
    ]);
  });
}

function withoutIdentity(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !OF_ONE_RUN.test(name)));
}
