import type { CalendarDate } from '../basics/calendar.ts';
import { adjustedSourcesInSql } from './schema/price-conditions.ts';
import type { Reader } from './database.ts';
import { integer, query, text } from './rows.ts';

/**
 * Prices, splits and dividends as they were: temporary views with the names of the tables. SQLite
 * looks for a name among the temporary ones first, so the queries with which models trade read the
 * past without a change. The views are only seen through their connection, which must write no
 * prices meanwhile.
 */
export interface Past {
  /**
   * Shows the tables as of an instant. A row whose version at that instant is unknown, because the
   * first version that is known came later, is missing, unless `isLenient`: then that version is
   * shown.
   */
  goTo(instant: string, isLenient: boolean): void;
  /** Removes the views, so that the tables are seen as they are. */
  end(): void;
}

interface Table {
  name: string;
  /** Where its rows are kept as they were before each change. */
  revisions: string;
  date: 'date' | 'ex_date';
  columns: string;
  /** A column that the revisions do not have. */
  computed?: { name: string; sql: string };
}

const TABLES: readonly Table[] = [
  {
    name: 'price_data',
    revisions: 'price_revisions',
    date: 'date',
    columns: 'open, high, low, close, volume, source',
    // With the type of the table's column, or SQLite would not search the view by the indexes of
    // its two tables.
    computed: { name: 'adjusted', sql: `CAST(source IN (${adjustedSourcesInSql}) AS INTEGER)` },
  },
  {
    name: 'stock_splits',
    revisions: 'stock_split_revisions',
    date: 'date',
    columns: 'numerator, denominator, source',
  },
  {
    name: 'dividends',
    revisions: 'dividend_revisions',
    date: 'ex_date',
    columns: 'cash_e6, basis, source',
  },
];

const AT = '(SELECT instant FROM temp.past)';
const IS_LENIENT = '(SELECT is_lenient FROM temp.past)';

function viewOf({ name, revisions, date, columns, computed }: Table): string {
  const all = `symbol, ${date}, ${columns}, recorded_at`;
  const others = (row: string) =>
    `main.${revisions} AS other WHERE other.symbol = ${row}.symbol AND other.${date} = ${row}.${date} AND other.replaced_at > ${AT}`;
  return `CREATE TEMP VIEW ${name} AS
    SELECT ${all}${computed ? `, ${computed.name}` : ''} FROM main.${name} AS own
    WHERE recorded_at <= ${AT} OR (${IS_LENIENT} AND NOT EXISTS (SELECT 1 FROM ${others('own')}))
    UNION ALL
    SELECT ${all}${computed ? `, ${computed.sql}` : ''} FROM main.${revisions} AS own
    WHERE replaced_at > ${AT} AND (recorded_at <= ${AT} OR (${IS_LENIENT} AND NOT EXISTS (
      SELECT 1 FROM ${others('own')} AND (other.recorded_at, other.revision_id) < (own.recorded_at, own.revision_id))))`;
}

/** Begins to look at the past through a connection. */
export function openPast(reader: Reader): Past {
  const run = (sql: string) => reader.statement(sql).run();
  run('CREATE TEMP TABLE past (instant TEXT NOT NULL, is_lenient INTEGER NOT NULL) STRICT');
  run(`INSERT INTO temp.past VALUES ('', 0)`);
  for (const table of TABLES) run(viewOf(table));
  let now = '';
  return {
    goTo(instant, isLenient) {
      const place = `${instant} ${isLenient}`;
      if (place !== now)
        reader
          .statement('UPDATE temp.past SET instant = ?, is_lenient = ?')
          .run(instant, Number(isLenient));
      now = place;
    },
    end() {
      for (const { name } of TABLES) run(`DROP VIEW temp.${name}`);
      run('DROP TABLE temp.past');
    },
  };
}

/** Some symbols, up to a date. */
export interface Places {
  symbols: readonly string[];
  upTo: CalendarDate;
}

/** The most instants that are looked at for one model-day. */
const MAX_CHANGES = 8;
const NAMED = 'symbol IN (SELECT value FROM json_each(?1))';

const changesOf = ({ name, revisions, date }: Table) =>
  [
    [name, 'recorded_at'],
    [revisions, 'recorded_at'],
    [revisions, 'replaced_at'],
  ].map(
    ([table, stamp]) =>
      `SELECT ${stamp} AS instant FROM main.${table} WHERE ${NAMED} AND ${date} <= ?2 AND ${stamp} > ?3 AND ${stamp} <= ?4`,
  );
const CHANGES = query(
  `SELECT instant FROM (${TABLES.flatMap(changesOf).join(' UNION ')}) ORDER BY instant DESC LIMIT ${MAX_CHANGES}`,
  [text],
);

/** When prices, splits or dividends changed within a span, its end included: the last times. */
export function changesWithin(
  reader: Reader,
  { symbols, upTo }: Places,
  { from, to }: { from: string; to: string },
): string[] {
  return CHANGES.all(reader, JSON.stringify(symbols), upTo, from, to).flat();
}

const lostIn = ({ name, revisions, date }: Table) => `
  EXISTS (SELECT 1 FROM (
      SELECT symbol, ${date} AS day FROM main.${name} WHERE ${NAMED} AND ${date} <= ?2 AND recorded_at > ?3
      UNION ALL
      SELECT symbol, ${date} FROM main.${revisions} WHERE ${NAMED} AND ${date} <= ?2 AND recorded_at > ?3) AS later
    WHERE NOT EXISTS (SELECT 1 FROM main.${name} AS own
        WHERE own.symbol = later.symbol AND own.${date} = later.day AND own.recorded_at <= ?3)
      AND NOT EXISTS (SELECT 1 FROM main.${revisions} AS own
        WHERE own.symbol = later.symbol AND own.${date} = later.day AND own.recorded_at <= ?3 AND own.replaced_at > ?3))`;
const LOST = query(`SELECT ${TABLES.map(lostIn).join(' OR ')}`, [integer]);

/**
 * Whether the first version that is known of a price, a split or a dividend came after an instant:
 * an earlier one may be lost.
 */
export function isLostAt(reader: Reader, { symbols, upTo }: Places, instant: string): boolean {
  return LOST.one(reader, JSON.stringify(symbols), upTo, instant)[0] === 1;
}

const BEGINNINGS = query(
  `SELECT own.session_id AS id, own.started_at AS startedAt, coalesce(past.completed_at, '') AS pastCompletedAt
   FROM trading_sessions AS own LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   ORDER BY own.session_id`,
  { id: integer, startedAt: text, pastCompletedAt: text },
);

const LAST_STAMP = query(
  `SELECT coalesce(max(max(started_at, iif(completed_at <= ?2, completed_at, started_at))), '') FROM trading_sessions
   WHERE session_id < ?1 AND started_at <= ?2`,
  [text],
);

/** A span of time, as time stamps. */
export interface TimeSpan {
  from: string;
  to: string;
}

/**
 * The spans through which the clock ran more than once, because it was set back: stamps within one
 * of them tell no order. A session begins after those with lower numbers, and after the end of the
 * one that it started from. What was written between the change of the clock and the next session
 * is counted too: a span begins at the last stamp before that session.
 */
export function clockSetBacks(reader: Reader): TimeSpan[] {
  const spans: TimeSpan[] = [];
  let reached = '';
  for (const { id, startedAt, pastCompletedAt } of BEGINNINGS.iterate(reader)) {
    if (pastCompletedAt > reached) reached = pastCompletedAt;
    const last = spans.at(-1);
    if (startedAt >= reached) reached = startedAt;
    else if (last === undefined || startedAt < last.from || reached > last.to)
      spans.push({ from: LAST_STAMP.one(reader, id, startedAt)[0], to: reached });
  }
  return spans;
}
