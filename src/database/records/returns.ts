import { addDays, type CalendarDate } from '../../basics/calendar.ts';
import {
  boundsOf,
  countActiveDays,
  type JobWindow,
  jsonIds,
  type SessionFilters,
  type Window,
} from '../session-filters.ts';
import type { Database } from '../database.ts';
import { amount, integer, orNull, query, text } from '../rows.ts';
import { staleAmong } from '../stale.ts';
import { namedModels, newestRun } from './models.ts';
import { type ChosenDay, chosenDays } from './performance.ts';

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
  'SELECT session_id, model FROM json_each(?) AS chosen CROSS JOIN served_models ON session_id = chosen.value ORDER BY session_id, model',
  [integer, text],
);

const CLOSINGS = query(
  `SELECT portfolio_value_e4, daily_profit_e4 FROM json_each(?) AS chosen
     LEFT JOIN positions ON position_id = (
       SELECT position_id FROM positions AS own WHERE own.session_id = chosen.value ORDER BY action_id DESC LIMIT 1)
   ORDER BY chosen.key`,
  [orNull(amount), orNull(amount)],
);

/** An active model-day of a run. */
export interface DayOfRun extends ChosenDay {
  /** A fraction; null when the day started from a value of 0. */
  dailyReturn: number | null;
  isStale: boolean;
  /** The models that answered, in their providers' names; none where no provider said. */
  servedBy: readonly string[];
}

/** The model-days of a run that count, by date. */
export function daysOfRun(database: Database, run: string, window: JobWindow): DayOfRun[] {
  const days: DayOfRun[] = [];
  for (const sessions of chosenDays(database, { ...window, model: run })) {
    const returns = dailyReturns(database, sessions);
    const stale = new Set(staleAmong(database, sessions).map(({ date }) => date));
    const served = Map.groupBy(SERVED.all(database, jsonIds(sessions)), ([sessionId]) => sessionId);
    for (const [index, day] of sessions.entries()) {
      const servedBy = (served.get(day.sessionId) ?? []).map(([, model]) => model);
      const dailyReturn = returns[index] ?? null;
      days.push({ ...day, dailyReturn, isStale: stale.has(day.date), servedBy });
    }
  }
  return days;
}

/**
 * The daily returns of some committed sessions, in their order; null for one that started from a
 * value of 0.
 */
export function dailyReturns(
  database: Database,
  sessions: readonly { sessionId: number }[],
): (number | null)[] {
  return CLOSINGS.all(database, jsonIds(sessions)).map(([value, profit]) =>
    returnOf(value, profit),
  );
}

function returnOf(value: number | null, profit: number | null): number | null {
  if (value === null || profit === null || value === profit) return null;
  return profit / (value - profit);
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

/** The dates on which any of these symbols has a bar; one symbol per step. */
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

/**
 * Jobs in which a model-day can have failed: a completed job has none, and those of a discarded one
 * do not count.
 */
const JOBS = query(
  `SELECT job_id, max(start_date, ?2), min(end_date, ?3) FROM jobs
   WHERE job_id = coalesce(?1, job_id) AND status NOT IN ('completed', 'discarded') AND start_date <= ?3 AND end_date >= ?2`,
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
