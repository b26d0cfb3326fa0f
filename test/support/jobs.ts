import type { Database } from '../../src/core/database/database.ts';
import { insertJob, type NewJob, type JobRun } from '../../src/core/database/job-queries.ts';
import { encodeEntry } from '../../src/core/settings/entry.ts';
import { offeredToolNames } from '../../src/core/trading/tools.ts';

/**
 * A run of a job; unless they are given, its family is the model itself, and its entry that of
 * `storedEntry`.
 */
export type TestRun = Pick<JobRun, 'model' | 'startDate'> & Partial<JobRun>;

/** A job; its mode is PROD unless it is given. */
export type TestJob = Omit<NewJob, 'runs' | 'deploymentMode'> &
  Partial<Pick<NewJob, 'deploymentMode'>> & { runs: readonly TestRun[] };

/** What ran, as the trigger stores it: a model that may keep notes. */
export function storedEntry(
  signature: string,
  { hasNews = false, hasDocuments = false } = {},
): string {
  return encodeEntry({
    ...{ signature, run: 1, repeats: 1, kind: 'simulated', basemodel: signature },
    ...{ url: null, url_is_cut: false, api: null, stream: null, stream_is_set: false },
    ...{ key_source: null, key_variable: null, parameters: {}, prompt: null, notes: true },
    ...{ knowledge_cutoff: null, price_per_million_tokens: null, max_cost_usd: null },
    ...{
      tools: offeredToolNames({ hasNews, hasNotes: true, hasDocuments }),
      decision: 'tools',
      agent: null,
    },
  });
}

/** Inserts a job with its model-days, within the caller's transaction. */
export function insertTestJob(database: Database, { runs, ...job }: TestJob): void {
  const whole = runs.map(({ model, family = model, entry = storedEntry(family), startDate }) => ({
    model,
    family,
    entry,
    startDate,
  }));
  insertJob(database, { deploymentMode: 'PROD', ...job, runs: whole });
}
