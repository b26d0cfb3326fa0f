/** What a provider wants back with its messages. Released: never edit it. */
export const sql = `
  -- Of an assistant's message: what its provider wants back with it, word for word, also after a restart.
  ALTER TABLE reasoning_logs ADD COLUMN carried TEXT
    CHECK (carried IS NULL OR (role = 'assistant' AND json_valid(carried)));
  `;
