import { dateCheck, dateSql, flagSql } from './columns.ts';

/** SQL: where a row is from, and the write that gave it its values; null until another program's has one. */
const STAMPED = `source TEXT NOT NULL DEFAULT 'manual' CHECK (source <> ''),
  written INTEGER CHECK (written >= 1)`;

/** A table whose earlier values are kept, by symbol and date. */
export interface RevisedTable {
  name: string;
  revisions: string;
  /** Where model-days keep what they knew of it. */
  evidence: string;
  date: 'date' | 'ex_date';
  /** What its key has beside symbol and date. */
  key?: readonly string[];
  /** Columns whose change counts as a revision. */
  values: readonly string[];
}

export const bars: RevisedTable = {
  name: 'price_data',
  revisions: 'price_revisions',
  evidence: 'session_prices',
  date: 'date',
  values: ['open', 'high', 'low', 'close', 'volume', 'source'],
};
export const splits: RevisedTable = {
  name: 'stock_splits',
  revisions: 'stock_split_revisions',
  evidence: 'session_splits',
  date: 'date',
  values: ['numerator', 'denominator'],
};
export const dividends: RevisedTable = {
  name: 'dividends',
  revisions: 'dividend_revisions',
  evidence: 'session_dividends',
  date: 'ex_date',
  values: ['cash_e6', 'basis'],
};
export const exchanges: RevisedTable = {
  name: 'exchanges',
  revisions: 'exchange_revisions',
  evidence: 'session_exchanges',
  date: 'date',
  key: ['into_symbol'],
  values: ['cash_e6', 'numerator', 'denominator', 'remains'],
};

/**
 * Every row of a table as it was before it was changed or removed, so that a past valuation can be
 * recomputed. A row that another program changes without a number has the next one. `columns`
 * declares the values, and the source.
 */
function revisionsSql(
  { name, revisions, date, key = [], values }: RevisedTable,
  columns: string,
): string {
  const stored = ['symbol', date, ...key, ...new Set([...values, 'source']), 'written'];
  const insert = `INSERT INTO ${revisions} (${stored.join(', ')}, replaced)
  SELECT ${stored.map((column) => `old.${column}`).join(', ')}`;
  const isUnnumbered = '(new.written IS NULL OR new.written IS old.written)';
  const isNew = ['symbol', date, ...key].map((own) => `${own} = new.${own}`).join(' AND ');
  return `
CREATE TABLE ${revisions} (
  revision_id INTEGER PRIMARY KEY,
  symbol TEXT NOT NULL,
  ${date} TEXT NOT NULL,
  ${columns},
  written INTEGER, -- its number; null if it was never given one, and so never read by a model-day
  replaced INTEGER NOT NULL, -- the number of the write that replaced or removed it
  replaced_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) -- for people: clocks differ
) STRICT;

CREATE INDEX unnumbered_${name} ON ${name} (symbol) WHERE written IS NULL;
CREATE INDEX ${revisions}_in_order ON ${revisions} (symbol, ${date});

CREATE TRIGGER ${name}_revised AFTER UPDATE OF symbol, ${[date, ...key, ...values].join(', ')} ON ${name}
BEGIN
  UPDATE price_writes SET number = number + 1 WHERE ${isUnnumbered};
  UPDATE ${name} SET written = (SELECT number FROM price_writes) WHERE ${isNew} AND ${isUnnumbered};
  ${insert}, written FROM ${name} WHERE ${isNew};
END;

CREATE TRIGGER ${name}_removed AFTER DELETE ON ${name}
BEGIN
  UPDATE price_writes SET number = number + 1;
  ${insert}, number FROM price_writes;
END;
`;
}

/** The spans, both ends included, for which a source's values of a symbol are known. */
function spansSql(table: string): string {
  return `
CREATE TABLE ${table} (
  symbol TEXT NOT NULL,
  source TEXT NOT NULL,
  ${dateSql('start_date')},
  end_date TEXT NOT NULL CHECK (${dateCheck('end_date')} AND start_date <= end_date),
  recorded_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (symbol, source, start_date)
) STRICT, WITHOUT ROWID;
`;
}

/**
 * Daily bars, splits and dividends, the spans for which each is known, and the values that changes
 * replaced. Prices are in dollars, because other tools read and write these tables.
 */
export const priceTables = [
  // Every write to bars, splits and dividends takes the next number. What other programs write
  // without one has it from the next morning or commit of a model-day on. "As it was then" is
  // the version with the highest number that is not above the one at the time.
  `CREATE TABLE price_writes (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  number INTEGER NOT NULL CHECK (number >= 0) -- the last one
) STRICT;
INSERT INTO price_writes VALUES (1, 0);`,
  // Daily bars in dollars. Other processes may write here too, so optional columns have
  // defaults.
  `CREATE TABLE price_data (
  symbol TEXT NOT NULL,
  ${dateSql('date')},
  open REAL NOT NULL CHECK (open >= 0.0001 AND open <= 10000000),
  high REAL CHECK (high >= 0.0001 AND high <= 10000000),
  low REAL CHECK (low >= 0.0001 AND low <= 10000000),
  close REAL CHECK (close >= 0.0001 AND close <= 10000000),
  volume REAL CHECK (volume >= 0 AND volume <= 1e15),
  ${STAMPED}, -- the number of the write that gave it its values; null until another program's has one
  PRIMARY KEY (symbol, date)
) STRICT, WITHOUT ROWID;`,
  revisionsSql(
    bars,
    'open REAL NOT NULL, high REAL, low REAL, close REAL, volume REAL, source TEXT NOT NULL',
  ),
  // A day inside a span without a bar is a day without trading.
  spansSql('price_data_coverage'),
  // The days of the whole market that a provider returned with bars, and when it last did.
  `CREATE TABLE market_days (
  source TEXT NOT NULL,
  ${dateSql('date')},
  recorded_at TEXT NOT NULL,
  PRIMARY KEY (source, date)
) STRICT, WITHOUT ROWID;`,
  // The returns of factors on a day, as fractions, which style reads; risk_free is none of them.
  `CREATE TABLE factors (
  factor TEXT NOT NULL CHECK (factor <> ''),
  ${dateSql('date')},
  value REAL NOT NULL CHECK (value > -1 AND value < 1),
  source TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  PRIMARY KEY (factor, date)
) STRICT, WITHOUT ROWID;`,
  // numerator new shares for denominator old ones, before the open of date.
  `CREATE TABLE stock_splits (
  symbol TEXT NOT NULL,
  ${dateSql('date')},
  numerator INTEGER NOT NULL CHECK (numerator BETWEEN 1 AND 1000000),
  denominator INTEGER NOT NULL CHECK (denominator BETWEEN 1 AND 1000000 AND denominator <> numerator),
  source TEXT NOT NULL DEFAULT 'manual',
  written INTEGER CHECK (written >= 1),
  PRIMARY KEY (symbol, date)
) STRICT, WITHOUT ROWID;`,
  revisionsSql(
    splits,
    'numerator INTEGER NOT NULL, denominator INTEGER NOT NULL, source TEXT NOT NULL',
  ),
  // Through which date a provider's splits of a symbol are known.
  `CREATE TABLE stock_split_coverage (
  symbol TEXT PRIMARY KEY,
  ${dateSql('end_date')},
  source TEXT NOT NULL,
  recorded_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;`,
  // A date inside a span without a row has no split.
  spansSql('stock_split_spans'),
  // Cash per share, paid on the morning of ex_date on shares held at the close before. Other
  // processes may write here.
  `CREATE TABLE dividends (
  symbol TEXT NOT NULL,
  ${dateSql('ex_date')},
  cash_e6 INTEGER NOT NULL CHECK (cash_e6 BETWEEN 1 AND 1000000000000), -- per share, in 1/1,000,000 dollar
  basis TEXT NOT NULL DEFAULT 'as_paid' CHECK (basis IN ('as_paid', 'split_adjusted')), -- per share at the time, or per share of today
  ${STAMPED},
  ${flagSql('confirmed')}, -- whether its amount is right, however large
  PRIMARY KEY (symbol, ex_date)
) STRICT, WITHOUT ROWID;`,
  revisionsSql(dividends, 'cash_e6 INTEGER NOT NULL, basis TEXT NOT NULL, source TEXT NOT NULL'),
  // A date inside a span without a row has no dividend.
  spansSql('dividend_coverage'),
  // What becomes of a share on the morning of a date, after the dividends and splits of that date:
  // cash, shares of another symbol, or both. Other processes may write here.
  `CREATE TABLE exchanges (
  symbol TEXT NOT NULL,
  ${dateSql('date')}, -- the first on which the old share no longer trades; of a spin-off the ex-date
  into_symbol TEXT NOT NULL DEFAULT '' CHECK (into_symbol <> symbol), -- '' where no shares come
  cash_e6 INTEGER NOT NULL DEFAULT 0 CHECK (cash_e6 BETWEEN 0 AND 1000000000000), -- per old share, in 1/1,000,000 dollar
  numerator INTEGER CHECK (numerator BETWEEN 1 AND 1000000), -- new shares for old ones
  denominator INTEGER CHECK (denominator BETWEEN 1 AND 1000000),
  ${flagSql('remains')}, -- whether the old share stays, as in a spin-off
  ${STAMPED},
  PRIMARY KEY (symbol, date, into_symbol),
  CHECK ((into_symbol = '') = (numerator IS NULL) AND (numerator IS NULL) = (denominator IS NULL)),
  CHECK (remains = 0 OR into_symbol <> '')
) STRICT, WITHOUT ROWID;`,
  revisionsSql(
    exchanges,
    `into_symbol TEXT NOT NULL, cash_e6 INTEGER NOT NULL, numerator INTEGER, denominator INTEGER,
  remains INTEGER NOT NULL, source TEXT NOT NULL`,
  ),
].join('\n');
