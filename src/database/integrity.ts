import type { CalendarDate } from '../calendar.ts';
import { type QueryResult, queryApart } from './apart.ts';
import { MISFITS } from './audit.ts';
import type { Snapshot } from './snapshot.ts';
import { STALE } from './stale.ts';

/** However much is damaged, the first findings are enough. */
const MAX_SENTENCES = 100;

/** A model-day that does not match its session. */
export interface Misfit {
  model: string;
  date: CalendarDate;
  sessionId: number | null;
  status: string;
  problem: string;
}

export interface Examination {
  /** Findings of SQLite's own integrity check (pages, indexes, CHECK constraints), and references to missing rows. */
  damage: string[];
  misfits: Misfit[];
  stale: { model: string; date: CalendarDate }[];
}

/** Checks a database without recomputing its figures. Reads every table in full, in a separate process that the signal ends. */
export async function examineDatabase(
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<Examination> {
  const queries = [
    { sql: `PRAGMA integrity_check(${MAX_SENTENCES})` },
    { sql: `SELECT "table" AS child, rowid, parent FROM pragma_foreign_key_check LIMIT ${MAX_SENTENCES}` },
    { sql: MISFITS },
    { sql: STALE },
  ];
  const results = await queryApart(snapshot, queries, signal);
  const [integrity, references, misfits, stale] = results as [QueryResult, QueryResult, QueryResult, QueryResult];
  const damage = [
    ...rowsOf(integrity).map((row) => String(row['integrity_check'])),
    ...rowsOf(references).map(describeReference),
    ...[integrity, references, misfits, stale].flatMap((result) =>
      'error' in result ? [`the check stopped: ${result.error}`] : [],
    ),
  ];
  return {
    damage: [...new Set(damage.filter((sentence) => sentence !== 'ok'))],
    misfits: rowsOf(misfits) as never,
    stale: rowsOf(stale) as never,
  };
}

function describeReference({ child, rowid, parent }: Record<string, unknown>): string {
  const row = rowid === null ? 'a row' : `row ${rowid}`;
  return `${row} of ${child} refers to a row of ${parent} that is not there`;
}

function rowsOf(result: QueryResult): Record<string, unknown>[] {
  return 'rows' in result ? result.rows : [];
}
