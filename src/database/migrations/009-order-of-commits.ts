/**
 * Numbers the commits, so that a long answer that is read page by page shows the model-days as they
 * were when it began, whatever is committed or replaced meanwhile. Released: never edit it.
 */
export const sql = `
  -- Of a session that is or was active: the numbers of the changes that made it so and that ended it. At change N those
  -- sessions count for which active_from <= N and active_to is null or greater than N.
  ALTER TABLE trading_sessions ADD COLUMN active_from INTEGER;
  ALTER TABLE trading_sessions ADD COLUMN active_to INTEGER;

  -- For older rows: in the order in which they were committed; a superseded one ends where the one that followed it begins.
  CREATE TEMP TABLE commits AS
    SELECT session_id, number, lead(number) OVER (PARTITION BY model, date ORDER BY number) AS next
    FROM (SELECT session_id, model, date, row_number() OVER (ORDER BY status = 'active', completed_at, session_id) AS number
      FROM trading_sessions WHERE status IN ('active', 'superseded'));
  CREATE UNIQUE INDEX temp.commits_by_session ON commits (session_id);
  UPDATE trading_sessions SET
    active_from = (SELECT number FROM commits WHERE commits.session_id = trading_sessions.session_id),
    active_to = CASE status WHEN 'superseded' THEN
      (SELECT coalesce(next, number) FROM commits WHERE commits.session_id = trading_sessions.session_id) END
  WHERE status IN ('active', 'superseded');
  DROP TABLE temp.commits;

  CREATE INDEX sessions_by_activation ON trading_sessions (active_from) WHERE active_from IS NOT NULL;
  CREATE INDEX sessions_by_deactivation ON trading_sessions (active_to) WHERE active_to IS NOT NULL;
  CREATE INDEX sessions_by_model ON trading_sessions (model, date);

  CREATE VIEW last_change AS SELECT max(
    coalesce((SELECT max(active_from) FROM trading_sessions WHERE active_from IS NOT NULL), 0),
    coalesce((SELECT max(active_to) FROM trading_sessions WHERE active_to IS NOT NULL), 0)) AS number;
  CREATE TRIGGER session_inserted_active AFTER INSERT ON trading_sessions WHEN new.status = 'active'
  BEGIN
    UPDATE trading_sessions SET active_from = (SELECT number FROM last_change) + 1, active_to = NULL
    WHERE session_id = new.session_id;
  END;
  CREATE TRIGGER session_became_active AFTER UPDATE OF status ON trading_sessions
  WHEN new.status = 'active' AND old.status <> 'active'
  BEGIN
    UPDATE trading_sessions SET active_from = (SELECT number FROM last_change) + 1, active_to = NULL
    WHERE session_id = new.session_id;
  END;
  CREATE TRIGGER session_no_longer_active AFTER UPDATE OF status ON trading_sessions
  WHEN new.status <> 'active' AND old.status = 'active'
  BEGIN
    UPDATE trading_sessions SET active_to = (SELECT number FROM last_change) + 1 WHERE session_id = new.session_id;
  END;
  `;
