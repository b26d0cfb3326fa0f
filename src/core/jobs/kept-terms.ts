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
  if (statusOfJob(database, jobId) === null)
    throw new ServiceError('invalid_models', `terms_of: there is no job ${jobId}`);
  const job = loadJob(database, jobId);
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
  const changed = [...byJob].flatMap(([jobId, [first]]) => {
    const terms = differences(loadJob(database, jobId).agentConfig);
    const days = `completed days of job ${jobId} from ${first?.date} on, which ran on other terms`;
    return terms === '' ? [] : `${days}: ${terms}`;
  });
  const warning = `This job replaces ${list(changed, { most: MAX_NAMED_JOBS })}`;
  const warnings = changed.length === 0 ? [] : [warning];
  if (changed.length > 0 && !(changeTerms ?? study === null))
    throw new ServiceError(
      'terms_differ',
      `${warning}. To replace them anyway, set change_terms to true (--change-terms)`,
    );
  const newest = newestActiveJob(database, study ?? '');
  if (newest === undefined) return warnings;
  const { jobId, wording } = newest;
  const terms = differences(newest.agentConfig);
  if (wording === WORDING && terms === '') return warnings;
  const done = Map.groupBy(readCompleted(), ({ date }) => date);
  const countDone = (date: CalendarDate) =>
    done.get(date)?.reduce((sum, { days }) => sum + days, 0) ?? 0;
  const first = dates.find(
    (date) => countDone(date) < runs.filter(({ startDate }) => startDate <= date).length,
  );
  return compact([
    ...warnings,
    first !== undefined &&
      terms !== '' &&
      `New days, from ${first} on, run on other terms than the earlier job ${jobId}: ${terms}`,
    wording !== WORDING &&
      (first !== undefined || replaced !== null) &&
      `Models now read prompt version ${WORDING}; in the earlier job ${jobId} they read version ${wording}`,
  ]);
}
