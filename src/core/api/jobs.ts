import * as v from 'valibot';
import { timestamp } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import {
  type JobPlace,
  countJobs,
  listedJob,
  nextJob,
  placeAt,
  placeOfJob,
  hasMoreModelDays,
} from '#database/records/job-records.ts';
import { invalidFilter } from '#domain/service-error.ts';
import {
  appendMembers,
  schemaColumns,
  type Context,
  flatten,
  formatQuery,
  jsonBody,
  listBody,
  objectTable,
} from './handler.ts';
import {
  countSchema,
  dateText,
  namedResponse,
  jobCourseEntries,
  jobStatusSchema,
  limitFilter,
  named,
  progressSchema,
  studyFilter,
  textFilter,
  warningEntries,
  warningFields,
  nullableText,
} from './schemas.ts';
import assert from 'node:assert/strict';
import { count } from '#text/sentences.ts';
import { discardJob } from '#jobs/queue.ts';
import { currentWarnings } from '#prices/warnings.ts';
import { checkJob } from './filters.ts';
import { resolveStudy } from './studies.ts';
import { NO_JOB, route } from './route.ts';

const DEFAULT_JOBS = 50;
const MAX_JOBS = 200;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/;

export const jobsQuery = v.object({
  status: v.optional(jobStatusSchema),
  study: studyFilter,
  limit: limitFilter(MAX_JOBS, DEFAULT_JOBS, 'jobs'),
  before: textFilter('A job_id or a timestamp: the jobs that were created before that one.'),
  ...formatQuery,
});

const job = named('Job', {
  job_id: v.string(),
  status: jobStatusSchema,
  progress: progressSchema,
  start_date: dateText,
  end_date: dateText,
  ...jobCourseEntries,
  most_frequent_error: v.nullable(
    named('FrequentError', { reason: v.string(), model_days: countSchema }),
  ),
  ...warningEntries,
});

export const jobsResponse = namedResponse('JobsResponse', {
  jobs: v.array(job),
  count: countSchema,
  next_before: nullableText,
});

/** With more model-days their sums would take too long in the serving thread. */
const MAX_SHORT_MODEL_DAYS = 10_000;

/** Whether the jobs have few model-days. */
function areJobsSmall({ database }: Context): boolean {
  return !hasMoreModelDays(database, MAX_SHORT_MODEL_DAYS);
}

function findJobPlace(database: Database, before: string): JobPlace {
  if (TIMESTAMP.test(before) && !Number.isNaN(Date.parse(before)))
    return placeAt(database, timestamp(new Date(before)));
  const place = placeOfJob(database, before);
  if (place !== undefined) return place;
  throw invalidFilter(
    'before',
    'expected the job_id of a job, or a timestamp YYYY-MM-DDTHH:MM:SSZ',
  );
}

const cancelResponse = namedResponse('CancelResponse', {
  job_id: v.string(),
  status: v.literal('cancelled'),
  message: v.string(),
});

const discardResponse = named('DiscardResponse', {
  ...cancelResponse.entries,
  status: v.literal('discarded'),
});

export const cancelRoute = route({
  method: 'POST',
  path: '/simulate/cancel/{job_id}',
  tool: 'cancel_job',
  tag: 'jobs',
  summary: 'Stop a job: its model processes end, completed model-days are kept.',
  response: cancelResponse,
  errors: { ...NO_JOB, 409: 'The job has ended, and was not cancelled.' },
  async handle({ jobs, settings }, { params: { job_id = '' } }) {
    assert(jobs !== null, 'a view refuses whatever would change something');
    const notRun = await jobs.cancel(job_id);
    const message =
      notRun === null
        ? 'The job was already cancelled'
        : `Job cancelled; ${count(notRun, 'model-day')} will not be run`;
    return jsonBody(settings, { job_id, status: 'cancelled', message });
  },
});

export const discardRoute = route({
  method: 'DELETE',
  path: '/jobs/{job_id}',
  tag: 'jobs',
  summary: 'Discard an ended job: its model-days no longer count, those they replaced do again.',
  response: discardResponse,
  errors: { ...NO_JOB, 409: 'A job has not ended.' },
  async handle(context, { params: { job_id = '' } }) {
    checkJob(context.database, { jobId: job_id });
    const done = await discardJob(context, job_id);
    const message =
      done === null
        ? 'The job was already discarded'
        : `Job discarded: ${count(done.withdrawn, 'model-day')} withdrawn, ` +
          `${count(done.restored, 'earlier result')} active again` +
          (done.stale > 0 ? `; stale now: ${count(done.stale, 'model-day')} (see warnings)` : '');
    return jsonBody(context.settings, { job_id, status: 'discarded', message });
  },
});

export const jobsRoute = route({
  method: 'GET',
  path: '/jobs',
  tool: 'list_jobs',
  tag: 'jobs',
  summary: 'The jobs, newest first, each with its status and progress; a page at a time.',
  query: jobsQuery,
  response: jobsResponse,
  isShort: areJobsSmall,
  hasTable: true,
  list: 'jobs',
  count: (context, { query }) =>
    countJobs(context.database, { ...resolveStudy(context, query), before: null }),
  isKept: true,
  handle(context, { query, format }) {
    const { database, settings } = context;
    const { status, study, limit, before } = resolveStudy(context, query);
    let place = before === undefined ? null : findJobPlace(database, before);
    let last: string | null = null;
    let hasMore = true;
    const items = function* (): Generator<string> {
      for (let count = 0; ; count += 1) {
        const next = nextJob(database, { status, study, before: place });
        hasMore = next !== undefined;
        if (next === undefined || count === limit) return;
        const listed = listedJob(database, next.jobId);
        yield appendMembers(listed.json, warningFields(currentWarnings(database, listed)));
        [last, place] = [next.jobId, next];
      }
    };
    if (format === 'csv')
      return objectTable(
        'jobs.csv',
        [...schemaColumns(job).filter((name) => name !== 'study'), 'study'],
        items().map((json) => flatten(JSON.parse(json))),
      );
    return listBody(settings, 'jobs', items(), () => ({ next_before: hasMore ? last : null }));
  },
});
