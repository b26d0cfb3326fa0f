/**
 * Bars of the sources `file-split-adjusted` and `file-total-return` are adjusted for splits: a file
 * that says so by itself, or of which a person says so. That column is virtual, so nothing stored
 * changes, and the schema's text is edited in place
 * (https://sqlite.org/lang_altertable.html#otheralter): the prices are neither read nor copied.
 * Released: never edit it.
 */
export const sql = `
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(sql, '(source IN (''yahoo'', ''stooq'', ''synthetic'', ''disguise''))',
    '(source IN (''yahoo'', ''stooq'', ''synthetic'', ''disguise'', ''file-split-adjusted'', ''file-total-return''))')
  WHERE type = 'table' AND name = 'price_data';
  PRAGMA writable_schema = RESET;

  -- Fails where the text was not the released one. Its coming and going is a change of the schema that SQLite counts, so
  -- other connections read the schema again.
  CREATE TABLE schema_rewritten (texts INTEGER CONSTRAINT schema_is_as_released CHECK (texts = 1)) STRICT;
  INSERT INTO schema_rewritten SELECT count(*) FROM sqlite_schema
  WHERE type = 'table' AND name = 'price_data'
    AND instr(sql, '(source IN (''yahoo'', ''stooq'', ''synthetic'', ''disguise'', ''file-split-adjusted'', ''file-total-return''))') > 0;
  DROP TABLE schema_rewritten;
  `;
