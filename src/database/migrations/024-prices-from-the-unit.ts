/**
 * Prices are at least 0.0001 dollar, the unit of money: a smaller one was rounded to 0, by which
 * orders divided. What other programs have stored below it becomes unknown, and stays in the
 * revision log. The checks are edited in place
 * (https://sqlite.org/lang_altertable.html#otheralter), so that prices are not copied. Released:
 * never edit it.
 */
export const sql = `
  DELETE FROM price_data WHERE open < 0.0001;
  UPDATE price_data SET high = iif(high < 0.0001, NULL, high), low = iif(low < 0.0001, NULL, low), close = iif(close < 0.0001, NULL, close)
  WHERE high < 0.0001 OR low < 0.0001 OR close < 0.0001;

  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql, '(open > 0 AND', '(open >= 0.0001 AND'),
    '(high > 0 AND', '(high >= 0.0001 AND'), '(low > 0 AND', '(low >= 0.0001 AND'), '(close > 0 AND', '(close >= 0.0001 AND')
  WHERE type = 'table' AND name = 'price_data';
  PRAGMA writable_schema = RESET;

  -- Fails where the text was not the released one. Its coming and going is a change of the schema that SQLite counts, so
  -- other connections read the schema again.
  CREATE TABLE schema_rewritten (texts INTEGER CONSTRAINT schema_is_as_released CHECK (texts = 1)) STRICT;
  INSERT INTO schema_rewritten SELECT count(*) FROM sqlite_schema
  WHERE type = 'table' AND name = 'price_data' AND instr(sql, '(open >= 0.0001 AND') > 0 AND instr(sql, '(high >= 0.0001 AND') > 0
    AND instr(sql, '(low >= 0.0001 AND') > 0 AND instr(sql, '(close >= 0.0001 AND') > 0;
  DROP TABLE schema_rewritten;
  `;
