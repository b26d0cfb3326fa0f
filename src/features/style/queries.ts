import type { CalendarDate, DateSpan } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import { integer, query, reads, real, text } from '#database/rows.ts';
import type { Stamp } from '#database/prices.ts';

/**
 * Daily returns of factors, as fractions, by factor and date; `risk_free` is none of the factors.
 */

export const RISK_FREE = 'risk_free';

export interface FactorReturn {
  factor: string;
  date: CalendarDate;
  value: number;
}

const UPSERT = `
  INSERT INTO factors (factor, date, value, source, recorded_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (factor, date) DO UPDATE SET value = excluded.value, source = excluded.source, recorded_at = excluded.recorded_at
  WHERE value <> excluded.value`;
const COUNT = query('SELECT count(*) FROM factors', [integer]);

/** Stores returns in one transaction; returns how many are new, and how many replaced others. */
export function storeFactors(
  database: Database,
  returns: readonly FactorReturn[],
  { source, recordedAt }: Stamp,
) {
  const before = COUNT.one(database)[0];
  const upsert = database.statement(UPSERT);
  let changed = 0;
  for (const { factor, date, value } of returns)
    changed += Number(upsert.run(factor, date, value, source, recordedAt).changes);
  const added = COUNT.one(database)[0] - before;
  return { added, replaced: changed - added };
}

/** Removes a factor, within the caller's transaction; returns how many returns it had. */
export function removeFactor(database: Database, name: string): number {
  return Number(database.statement('DELETE FROM factors WHERE factor = ?').run(name).changes);
}

/** The names of the stored factors. */
export const factorNames = reads(
  'column',
  `SELECT DISTINCT factor FROM factors WHERE factor <> '${RISK_FREE}' ORDER BY factor`,
  [text],
);

/** The stored returns of all factors, and the risk-free one, between two dates. */
export const factorsBetween = reads(
  'all',
  'SELECT {} FROM factors WHERE date BETWEEN ? AND ? ORDER BY date',
  { factor: text, date: text, value: real },
  ({ from, to }: DateSpan) => [from, to],
);
