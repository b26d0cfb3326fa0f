/**
 * The models that jobs have named, and the last job of each, by one look-up. Released: never edit
 * it.
 */
export const sql = `
  CREATE INDEX runs_by_model ON simulation_runs (model, created_at);
  `;
