import { dateSql, OF_SESSION } from './columns.ts';

/**
 * What models may read, as of its date, and what each session was shown. A version of a document
 * never changes: another one was published at another time.
 */
export const documentTables = [
  // What one command has imported. Nothing of it is visible before it is whole, which gives it a
  // number among the writes of prices.
  `CREATE TABLE document_imports (
  import_id INTEGER PRIMARY KEY,
  recorded_at TEXT NOT NULL,
  written INTEGER CHECK (written >= 1)
) STRICT;`,
  // The version tells the time from which it is out, so that a row number says what a morning
  // may read: 1,000,000 times that second, and a place within it. A document that has only a
  // date is out when that date is over.
  `CREATE TABLE documents (
  version INTEGER PRIMARY KEY,
  document_id TEXT NOT NULL CHECK (document_id <> ''),
  published_at TEXT NOT NULL, -- a date, or an instant in UTC with milliseconds
  ${dateSql('date')}, -- of publication, in New York
  kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 40 AND kind NOT GLOB '*[^A-Za-z0-9_-]*'),
  title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 500),
  symbols TEXT NOT NULL CHECK (json_valid(symbols)), -- sorted; none: it is of all
  source TEXT,
  url TEXT,
  digest TEXT NOT NULL CHECK (length(digest) = 64), -- SHA-256 of everything above but the id, and of the text
  import_id INTEGER NOT NULL REFERENCES document_imports,
  UNIQUE (document_id, published_at),
  CHECK (coalesce(version >= (CAST(strftime('%s', published_at) AS INTEGER) + 86400 * (length(published_at) = 10)) * 1000000, FALSE))
) STRICT;

CREATE TABLE document_texts (
  version INTEGER PRIMARY KEY REFERENCES documents,
  text TEXT NOT NULL CHECK (text <> '')
) STRICT;`,
  // The versions that a committed session was shown, listed or read.
  `CREATE TABLE document_sessions (
  ${OF_SESSION},
  version INTEGER NOT NULL REFERENCES documents,
  PRIMARY KEY (session_id, version)
) STRICT, WITHOUT ROWID;`,
].join('\n');

/** The words, symbols and kinds of the documents by their versions; document-words.ts fills it. */
export const documentWords = `
CREATE VIRTUAL TABLE document_words USING fts5(words, content='', columnsize=0, tokenize='ascii');
`;
