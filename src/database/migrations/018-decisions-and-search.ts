/**
 * What the feed of decisions and the search need. The index of words starts empty: a search fills
 * it, step by step, so that no start waits for the logs. Released: never edit it.
 */
export const sql = `
  CREATE INDEX failed_model_days ON job_details (date, model, job_id) WHERE status = 'failed';

  -- The words of the reasoning logs by their rows, without the texts.
  CREATE VIRTUAL TABLE log_words USING fts5(words, content='', columnsize=0, tokenize='ascii');

  -- Which rows of reasoning_logs it has, as spans that do not touch. The last message of a span shows that its rows are still
  -- those: VACUUM may number rows anew.
  CREATE TABLE log_words_spans (
    first_row INTEGER PRIMARY KEY CHECK (first_row >= 1),
    last_row INTEGER NOT NULL CHECK (last_row >= first_row),
    session_id INTEGER NOT NULL,
    message_index INTEGER NOT NULL
  ) STRICT;
  `;
