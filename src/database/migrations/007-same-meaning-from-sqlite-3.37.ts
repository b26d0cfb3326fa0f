/**
 * Two expressions that mean the same in every SQLite from 3.37 on: before 3.42 `json_valid(NULL)`
 * is 0, and `unixepoch` has no 'subsec'. Neither rewrite changes what is stored, so the schema's
 * text is edited in place, the procedure that SQLite documents for that case
 * (https://sqlite.org/lang_altertable.html#otheralter): however large the logs are, they are
 * neither read nor copied. Durations that an older SQLite stored as NULL are computed again.
 * Released: never edit it.
 */
export const sql = `
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (json_valid(tool_calls))', 'CHECK (tool_calls IS NULL OR json_valid(tool_calls))')
  WHERE type = 'table' AND name = 'reasoning_logs';
  UPDATE sqlite_schema SET sql = replace(sql,
    'round(unixepoch(completed_at, ''subsec'') - unixepoch(started_at, ''subsec''), 3)',
    'round((julianday(completed_at) - julianday(started_at)) * 86400.0, 3)')
  WHERE type = 'table' AND name = 'job_details';
  PRAGMA writable_schema = RESET;

  -- Fails where a text was not the released one. Its coming and going is a change of the schema that SQLite counts, so other
  -- connections read the schema again.
  CREATE TABLE schema_rewritten (texts INTEGER CONSTRAINT schema_is_as_released CHECK (texts = 2)) STRICT;
  INSERT INTO schema_rewritten SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND (
    (name = 'reasoning_logs' AND instr(sql, 'CHECK (tool_calls IS NULL OR json_valid(tool_calls))') > 0)
    OR (name = 'job_details' AND instr(sql, '(round((julianday(completed_at) - julianday(started_at)) * 86400.0, 3))') > 0));
  DROP TABLE schema_rewritten;

  UPDATE job_details SET error = error
  WHERE duration_seconds IS NOT round((julianday(completed_at) - julianday(started_at)) * 86400.0, 3);
  `;
