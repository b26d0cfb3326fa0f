import { dateIn } from './price-tables.ts';

const DIGIT = '[0-9]';
const DATE = `${DIGIT.repeat(4)}-${DIGIT.repeat(2)}-${DIGIT.repeat(2)}`;
const INSTANT = `${DATE}T${DIGIT.repeat(2)}:${DIGIT.repeat(2)}:${DIGIT.repeat(2)}.${DIGIT.repeat(3)}Z`;
/** The latest 09:30 in New York of a date, which is that of the winter, in UTC. */
const LATEST_OPEN = 'T14:30';

/**
 * What models may read, as of its date, and what each session was shown. A version of a document
 * never changes: another one has another instant.
 */
export const documentTables = `
-- What one command has imported. Nothing of it is seen before it is whole, which gives it a number among the writes of prices.
CREATE TABLE document_imports (
  import_id INTEGER PRIMARY KEY,
  recorded_at TEXT NOT NULL,
  documents INTEGER CHECK (documents >= 1), -- how many versions it added
  written INTEGER CHECK (written >= 1),
  CHECK ((documents IS NULL) = (written IS NULL))
) STRICT;

CREATE TABLE documents (
  version INTEGER PRIMARY KEY,
  document_id TEXT NOT NULL CHECK (document_id <> ''),
  published_at TEXT NOT NULL CHECK (published_at GLOB '${DATE}' OR published_at GLOB '${INSTANT}'), -- a date, or an instant in UTC
  date TEXT NOT NULL CHECK (${dateIn('date')}), -- of publication, in New York
  visible_from TEXT NOT NULL CHECK (${dateIn('visible_from')}), -- the first date on whose morning models may read it
  kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 40 AND kind NOT GLOB '*[^A-Za-z0-9_-]*'),
  title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 500),
  symbols TEXT NOT NULL CHECK (json_valid(symbols)), -- sorted; none: it is of all
  source TEXT,
  url TEXT,
  digest TEXT NOT NULL CHECK (length(digest) = 64), -- SHA-256 of everything above but the id, and of the text
  import_id INTEGER NOT NULL REFERENCES document_imports,
  text TEXT NOT NULL CHECK (text <> ''),
  UNIQUE (document_id, published_at),
  CHECK (published_at < visible_from OR (length(published_at) > 10 AND published_at < visible_from || '${LATEST_OPEN}'))
) STRICT;
CREATE INDEX documents_by_import ON documents (import_id);
CREATE INDEX documents_by_morning ON documents (visible_from);

-- Each version under each of its symbols, or under '' without any: what a list reads, the newest first.
CREATE TABLE document_symbols (
  symbol TEXT NOT NULL,
  date TEXT NOT NULL,
  published_at TEXT NOT NULL,
  document_id TEXT NOT NULL,
  version INTEGER NOT NULL REFERENCES documents,
  kind TEXT NOT NULL,
  visible_from TEXT NOT NULL,
  import_id INTEGER NOT NULL REFERENCES document_imports,
  PRIMARY KEY (symbol, date, published_at, document_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_symbols_by_kind ON document_symbols (symbol, kind, date);
CREATE INDEX document_symbols_by_version ON document_symbols (version);

-- The versions that a session was shown, listed or read, with what they were.
CREATE TABLE document_sessions (
  session_id INTEGER NOT NULL REFERENCES trading_sessions,
  version INTEGER NOT NULL REFERENCES documents,
  digest TEXT NOT NULL CHECK (length(digest) = 64),
  PRIMARY KEY (session_id, version)
) STRICT, WITHOUT ROWID;

-- How many documents of each kind a session could read in its morning, as its prompt says.
CREATE TABLE document_counts (
  session_id INTEGER NOT NULL REFERENCES trading_sessions,
  kind TEXT NOT NULL CHECK (kind <> ''),
  documents INTEGER NOT NULL CHECK (documents >= 1),
  PRIMARY KEY (session_id, kind)
) STRICT, WITHOUT ROWID;
`;

/** The words of the documents by their versions, without the texts; document-words.ts fills it. */
export const documentWords = `
CREATE VIRTUAL TABLE document_words USING fts5(words, content='', columnsize=0, tokenize='ascii');
`;
