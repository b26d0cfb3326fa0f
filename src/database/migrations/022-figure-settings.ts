/**
 * The settings on which figures depend beside the other tables, so that a view of the file
 * has the figures of its author.
 * Released: never edit it.
 */
export const sql = `
  -- Those with which a service last served the database; of a package, its author's. No row where neither is known.
  CREATE TABLE figure_settings (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    risk_free_rate REAL NOT NULL CHECK (risk_free_rate > -1) -- yearly, as a fraction
  ) STRICT;
  `;
