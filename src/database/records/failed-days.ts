import { type CalendarDate, addDays } from '../../calendar.ts';
import { type SessionFilters, boundsOf } from '../chosen.ts';
import type { Database } from '../database.ts';
import { query, text } from '../rows.ts';

/** Jobs in which a model-day can have failed: a completed job has none. */
const JOBS = query(
  `SELECT job_id, max(start_date, ?2), min(end_date, ?3) FROM jobs
   WHERE job_id = coalesce(?1, job_id) AND status <> 'completed' AND start_date <= ?3 AND end_date >= ?2`,
  [text, text, text],
);

const FAILED = query(
  `SELECT model, date FROM job_details
   WHERE job_id = ? AND date BETWEEN ? AND ? AND status = 'failed' AND model = coalesce(?, model)`,
  [text, text],
);

/** Calendar days that one statement reads: it visits every model-day of the job in them. */
const DAYS_PER_STEP = 30;

/**
 * The dates on which a model-day that matches the filters failed in some job, by model; another job
 * may have completed it.
 */
export function failedModelDays(
  database: Database,
  { jobId, model, ...window }: SessionFilters,
): Map<string, Set<CalendarDate>> {
  const failed = new Map<string, Set<CalendarDate>>();
  for (const [job, first, last] of JOBS.all(database, jobId ?? null, ...boundsOf(window))) {
    for (let start = first; start <= last; start = addDays(start, DAYS_PER_STEP)) {
      const end = addDays(start, DAYS_PER_STEP - 1);
      for (const [name, date] of FAILED.all(
        database,
        job,
        start,
        end < last ? end : last,
        model ?? null,
      )) {
        const dates = failed.get(name) ?? new Set();
        failed.set(name, dates.add(date));
      }
    }
  }
  return failed;
}
