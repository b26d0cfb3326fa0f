import type { Reader } from '../database.ts';
import { type RowOf, orNull, query, text } from '../rows.ts';

const NEWEST = query(
  `SELECT coalesce(family, model) AS family, json_extract(entry, '$.knowledge_cutoff') AS knowledgeCutoff
   FROM simulation_runs WHERE run_id = (SELECT max(run_id) FROM simulation_runs WHERE model = ?)`,
  { family: text, knowledgeCutoff: orNull(text) },
);

/**
 * The family of a model, and its knowledge cutoff as its newest job has it; undefined when no job
 * has named it.
 */
export function newestRun(reader: Reader, model: string): RowOf<typeof NEWEST> | undefined {
  return NEWEST.get(reader, model);
}
