import { WORDING } from '#agent/prompt.ts';
import type { CompletedDays } from '#database/active-days.ts';
import type { Database } from '#database/database.ts';
import { loadJob, newestActiveJob, statusOfJob } from '#database/job-queries.ts';
import { ServiceError } from '#domain/service-error.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import { changedTerms } from '#settings/terms.ts';
import { compact, list } from '#text/sentences.ts';
import type { CalendarDate } from '#time/calendar.ts';

/** The terms of earlier jobs, which a study keeps. */

/** The terms of a job, with what else of them is stored with it. */
export function readTermsOf(database: Database, jobId: string) {
  const job = statusOfJob(database, jobId) === null ? null : loadJob(database, jobId);
  if (job === null) throw new ServiceError('invalid_models', `terms_of: there is no job ${jobId}`);
  return { ...job, agentConfig: parseAgentConfiguration(job.agentConfig) };
}

/** Jobs that a warning names. */
const MAX_NAMED_JOBS = 3;

interface TermsRequest {
  study: string | null;
  /** Null where the client does not say. */
  changeTerms: boolean | null;
  /** The completed days that are replaced; null where none are. */
  replaced: readonly CompletedDays[] | null;
  /** Reads all that there are on the dates: for this, what differs must be worth it. */
  readCompleted: () => readonly CompletedDays[];
  agentConfig: AgentConfiguration;
  runs: readonly { startDate: CalendarDate }[];
  dates: readonly CalendarDate[];
}

/**
 * Sentences about days on other terms than those before: days that are replaced, than their own;
 * new days, than those of the study's newest job. Throws a `ServiceError` (`terms_differ`) for days
 * to replace, unless the request says that terms may change, or says nothing of them outside of a
 * named study. Another wording is a sentence too, and refuses nothing.
 */
export function compareWithEarlier(
  database: Database,
  { study, changeTerms, replaced, readCompleted, agentConfig, runs, dates }: TermsRequest,
): string[] {
  const differences = (stored: string) =>
    changedTerms(parseAgentConfiguration(stored), agentConfig).join('; ');
  const byJob = Map.groupBy(replaced ?? [], ({ jobId }) => jobId);
  const changed = [...byJob].map(([jobId, days]) => {
    const terms = differences(loadJob(database, jobId).agentConfig);
    return (
      terms !== '' &&
      `completed days of job ${jobId} on other terms, from ${days[0]?.date} on: ${terms}`
    );
  });
  const warnings = compact([
    changed.some(Boolean) &&
      `This job replaces ${list(compact(changed), { most: MAX_NAMED_JOBS })}`,
  ]);
  if (warnings.length > 0 && !(changeTerms ?? study === null))
    throw new ServiceError(
      'terms_differ',
      `${warnings}. To replace them all the same, send change_terms true (--change-terms)`,
    );
  const newest = newestActiveJob(database, study ?? '');
  if (newest === undefined) return warnings;
  const { jobId, wording } = newest;
  const terms = differences(newest.agentConfig);
  if (wording === WORDING && terms === '') return warnings;
  const done = Map.groupBy(readCompleted(), ({ date }) => date);
  const isNew = (date: CalendarDate) =>
    (done.get(date) ?? []).reduce((sum, { days }) => sum + days, 0) <
    runs.filter(({ startDate }) => startDate <= date).length;
  const fresh = dates.filter(isNew);
  return compact([
    ...warnings,
    fresh.length > 0 &&
      terms !== '' &&
      `New days are on other terms than those of job ${jobId} before, from ${fresh[0]} on: ${terms}`,
    wording !== WORDING &&
      (fresh.length > 0 || replaced !== null) &&
      `The texts of this program that models read are not those of job ${jobId} before: version ${wording} then, ${WORDING} now`,
  ]);
}
