import { queryApart } from './apart.ts';
import { type RowOf, integer, orNull, query, text } from './rows.ts';
import type { Snapshot } from './snapshot.ts';
import { STALE, type StaleModelDay } from './stale.ts';

/** However much is damaged, the first findings are enough. */
const MAX_SENTENCES = 100;

/** SQLite's own integrity check: pages, indexes, CHECK constraints. */
const INTEGRITY = query(`PRAGMA integrity_check(${MAX_SENTENCES})`, { integrity_check: text });

/** References to missing rows. */
const REFERENCES = query(
  `SELECT "table" AS child, rowid, parent FROM pragma_foreign_key_check LIMIT ${MAX_SENTENCES}`,
  { child: text, rowid: orNull(integer), parent: text },
);

/** Model-days that do not match their sessions, whatever their figures. */
const MISFITS = query(
  `SELECT model, date, session_id AS sessionId, status, 'it is ' || status || ' and has positions' AS problem
   FROM trading_sessions
   WHERE status IN ('running', 'failed') AND EXISTS (SELECT 1 FROM positions WHERE positions.session_id = trading_sessions.session_id)
   UNION ALL
   SELECT model, date, session_id, own.status, 'its model-day in job ' || job_id || ' is ' || job_details.status || ', not completed'
   FROM trading_sessions AS own JOIN job_details USING (job_id, date, model)
   WHERE own.status IN ('active', 'superseded') AND job_details.status <> 'completed'
   UNION ALL
   SELECT model, date, NULL, 'missing', 'it is completed in job ' || job_id || ' and has no session with positions there'
   FROM job_details
   WHERE status = 'completed' AND NOT EXISTS (
     SELECT 1 FROM trading_sessions AS own WHERE own.job_id = job_details.job_id AND own.date = job_details.date
       AND own.model = job_details.model AND own.status IN ('active', 'superseded'))
   ORDER BY 1, 2
   LIMIT 1000`,
  { model: text, date: text, sessionId: orNull(integer), status: text, problem: text },
);

export interface Examination {
  /** Findings of SQLite's own integrity check, and references to missing rows. */
  damage: string[];
  misfits: RowOf<typeof MISFITS>[];
  stale: StaleModelDay[];
}

/** Checks a database without recomputing its figures. Reads every table in full, in a separate process that the signal ends. */
export async function examineDatabase(
  { path, url }: Snapshot,
  signal: AbortSignal,
  { isReadOnly }: { isReadOnly: boolean },
): Promise<Examination> {
  const source = { path: isReadOnly ? null : path, url };
  const results = await queryApart(source, [INTEGRITY, REFERENCES, MISFITS, STALE], signal);
  const [integrity, references, misfits, stale] = results;
  const damage = [
    ...integrity.rows.map((row) => row.integrity_check),
    ...references.rows.map(describeReference),
    ...results.flatMap(({ error }) => (error === null ? [] : [`the check stopped: ${error}`])),
  ];
  return {
    damage: [...new Set(damage.filter((sentence) => sentence !== 'ok'))],
    misfits: misfits.rows,
    stale: stale.rows,
  };
}

function describeReference({ child, rowid, parent }: RowOf<typeof REFERENCES>): string {
  const row = rowid === null ? 'a row' : `row ${rowid}`;
  return `${row} of ${child} refers to a row of ${parent} that is missing`;
}
