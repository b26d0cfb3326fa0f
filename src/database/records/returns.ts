import type { CalendarDate } from '../../basics/calendar.ts';
import {
  boundsOf,
  countActiveDays,
  type JobWindow,
  jsonIds,
  type Window,
} from '../session-filters.ts';
import type { Database } from '../database.ts';
import { integer, orNull, query, text } from '../rows.ts';
import { staleAmong } from '../stale.ts';
import { namedModels, newestRun } from './models.ts';
import { type ChosenDay, dailyReturns } from './performance.ts';

/** A run, the family it belongs to, and how many active model-days it has in the window. */
export interface RunInWindow {
  run: string;
  family: string;
  modelDays: number;
}

/** Every run that a job has named, by name. */
export function runsInWindow(database: Database, window: JobWindow): RunInWindow[] {
  const runs: RunInWindow[] = [];
  for (const run of namedModels(database)) {
    const { family = run } = newestRun(database, run) ?? {};
    runs.push({ run, family, modelDays: countActiveDays(database, run, window) });
  }
  return runs;
}

const ASKED = query(
  `SELECT job_id, entry, agent_config FROM json_each(?) AS chosen
     CROSS JOIN simulation_runs ON job_id = chosen.value AND model = ? JOIN jobs USING (job_id)`,
  [text, text, text],
);

/** What a run was asked in some jobs, as stored: its entry and the job's agent configuration. */
export function storedRequests(
  database: Database,
  run: string,
  jobIds: Iterable<string>,
): [jobId: string, entry: string, agentConfig: string][] {
  return ASKED.all(database, JSON.stringify([...jobIds]), run);
}

const SERVED = query(
  `SELECT DISTINCT session_id, served_model FROM json_each(?) AS chosen CROSS JOIN reasoning_logs ON session_id = chosen.value
   WHERE served_model IS NOT NULL ORDER BY session_id, served_model`,
  [integer, text],
);

/** An active model-day of a run. */
export interface DayOfRun extends ChosenDay {
  dailyReturn: number | null;
  isStale: boolean;
  /** The models that answered, in their providers' names; none where no provider said. */
  servedBy: readonly string[];
}

/** The active model-days of a run, by date. */
export function daysOfRun(database: Database, run: string, window: JobWindow): DayOfRun[] {
  const days = dailyReturns(database, run, window);
  const stale = new Set(staleAmong(database, days).map(({ date }) => date));
  const served = Map.groupBy(SERVED.all(database, jsonIds(days)), ([sessionId]) => sessionId);
  return days.map((day) => {
    const servedBy = (served.get(day.sessionId) ?? []).map(([, model]) => model);
    return Object.assign(day, { isStale: stale.has(day.date), servedBy });
  });
}

const FIRST_TRIED = query(
  `SELECT min((
     SELECT date FROM job_details AS own
     WHERE own.job_id = simulation_runs.job_id AND own.model = simulation_runs.model AND date BETWEEN ?2 AND ?3
       AND own.status IN ('completed', 'failed')
     ORDER BY date LIMIT 1))
   FROM simulation_runs JOIN jobs USING (job_id)
   WHERE model = ?1 AND jobs.status <> 'discarded' AND (?4 IS NULL OR job_id = ?4)`,
  [orNull(text)],
);

/**
 * The date of the first model-day of a run that was completed or has failed; null when there is
 * none.
 */
export function firstTriedDate(
  database: Database,
  run: string,
  { jobId, ...window }: JobWindow,
): CalendarDate | null {
  return FIRST_TRIED.one(database, run, ...boundsOf(window), jobId ?? null)[0];
}

const DATES_OF_SYMBOL = query(
  'SELECT date FROM price_data WHERE symbol = ? AND date BETWEEN ? AND ?',
  [text],
);

/** The dates on which any of these symbols has a bar. */
export function marketDates(
  database: Database,
  symbols: readonly string[],
  window: Window,
): Set<CalendarDate> {
  const dates = new Set<CalendarDate>();
  for (const symbol of symbols) {
    for (const [date] of DATES_OF_SYMBOL.all(database, symbol, ...boundsOf(window)))
      dates.add(date);
  }
  return dates;
}

/** A completed job has no failed model-day, and those of a discarded one do not count. */
const FAILED = query(
  `SELECT DISTINCT model, date FROM jobs CROSS JOIN job_details AS own USING (job_id)
   WHERE job_id = coalesce(?1, job_id) AND jobs.status NOT IN ('completed', 'discarded')
     AND date BETWEEN ?2 AND ?3 AND own.status = 'failed'`,
  [text, text],
);

/**
 * The dates on which a model-day that matches the filters failed in some job, by model; another job
 * may have completed it.
 */
export function failedModelDays(
  database: Database,
  { jobId, ...window }: JobWindow,
): Map<string, Set<CalendarDate>> {
  const failed = new Map<string, Set<CalendarDate>>();
  const rows = FAILED.all(database, jobId ?? null, ...boundsOf(window));
  for (const [name, date] of rows) failed.set(name, (failed.get(name) ?? new Set()).add(date));
  return failed;
}
