/** Which lives of the process count as restarts without progress. Released: never edit it. */
export const sql = `
  -- Whether the present life of the process counts in idle_restarts if it ends now without progress: a SIGKILL leaves no
  -- time to say so at the end.
  ALTER TABLE jobs ADD COLUMN life_counts INTEGER NOT NULL DEFAULT 0 CHECK (life_counts IN (0, 1));
  `;
