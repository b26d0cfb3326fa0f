/** What ran, kept with the run, and the notes of models. Released: never edit it. */
export const sql = `
  ALTER TABLE simulation_runs ADD COLUMN entry TEXT CHECK (entry IS NULL OR json_valid(entry));
  ALTER TABLE simulation_runs ADD COLUMN family TEXT;
  ALTER TABLE trading_sessions ADD COLUMN note TEXT CHECK (note <> '');
  `;
