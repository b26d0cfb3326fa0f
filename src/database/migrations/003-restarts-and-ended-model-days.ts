/** Restarts without progress; a session ends with its model-day. Released: never edit it. */
export const sql = `
  -- Restarts in a row that found no progress since the one before, and what progress is measured by: the messages in the
  -- job's reasoning logs and its model-days that ended.
  ALTER TABLE jobs ADD COLUMN idle_restarts INTEGER NOT NULL DEFAULT 0 CHECK (idle_restarts >= 0);
  ALTER TABLE jobs ADD COLUMN progress_mark INTEGER NOT NULL DEFAULT 0;

  -- A model-day that has ended, however it did, has no session that is still running.
  CREATE TRIGGER model_day_ended AFTER UPDATE OF completed_at ON job_details WHEN new.completed_at IS NOT NULL
  BEGIN
    UPDATE trading_sessions SET status = 'failed', error = coalesce(new.error, 'Its model-day ended without it'),
      completed_at = new.completed_at,
      total_messages = (SELECT count(*) FROM reasoning_logs WHERE reasoning_logs.session_id = trading_sessions.session_id)
    WHERE job_id = new.job_id AND date = new.date AND model = new.model AND status = 'running';
  END;
  `;
