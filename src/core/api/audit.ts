import * as v from 'valibot';
import {
  auditDatabase,
  type AuditOptions,
  isSound,
  auditInThread,
} from '#verify/database-audit.ts';
import type { Listed } from '#domain/vocabulary.ts';
import { ServiceError } from '#domain/service-error.ts';
import type { ReplayFilters } from '#database/replay-queries.ts';
import type { AuditReport, Finding } from '#verify/replay.ts';
import { sessionFilters } from './filters.ts';
import { type Context, jsonBody, asyncText } from './handler.ts';
import {
  countSchema,
  dateText,
  namedResponse,
  integerSchema,
  jobFilter,
  modelFilter,
  studyFilter,
  named,
} from './schemas.ts';
import { BUSY, NO_JOB, route } from './route.ts';

const auditQuery = v.object({ job_id: jobFilter, model: modelFilter, study: studyFilter });

const findingsSchema = v.array(
  named('AuditFinding', {
    model: v.string(),
    date: dateText,
    session_id: v.nullable(integerSchema),
    status: v.string(),
    problems: v.array(v.string()),
  }),
);

export const auditResponse = namedResponse('AuditResponse', {
  status: v.picklist(['sound', 'faulty']),
  duration_seconds: v.number(),
  counts: named('AuditCounts', {
    models: countSchema,
    model_days: countSchema,
    superseded_model_days: countSchema,
    positions: countSchema,
    damage: countSchema,
    problems: countSchema,
    unverifiable: countSchema,
    stale: countSchema,
  }),
  damage: v.array(v.string()),
  problems: findingsSchema,
  unverifiable: findingsSchema,
  stale: v.array(named('StaleModelDay', { model: v.string(), date: dateText })),
});

/** How often a long audit logs its progress. */
const PROGRESS_INTERVAL_MS = 5_000;

type AuditContext = Pick<Context, 'database' | 'settings' | 'log'>;

/** Audits run one after another: each has a thread, and reads the whole file. */
let previousAudit: Promise<unknown> = Promise.resolve();

async function runAudit(
  { database, settings, log }: AuditContext,
  filters: ReplayFilters,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const startedAt = performance.now();
  const address = database.address();
  if (address === null)
    throw new ServiceError('storage_fault', database.storageFault() ?? 'The database has no file');
  const report = await auditDatabase(address, {
    filters,
    signal,
    readLedger: (_, options) => auditInThread(address, options),
    onProgress: createProgressLogger(log),
  });
  const body = auditBody(report, Math.round(performance.now() - startedAt) / 1000);
  if (!isSound(report)) log.warning('the audit found faults', body.counts);
  return jsonBody(settings, body);
}

/**
 * Logs how far an audit is, every few seconds; nothing of a short one. `now` is in milliseconds, of
 * any origin.
 */
export function createProgressLogger(
  log: AuditContext['log'],
  now = () => performance.now(),
): NonNullable<AuditOptions['onProgress']> {
  let toldAt = now();
  let hasTold = false;
  return (done, total) => {
    if (done < total && now() - toldAt < PROGRESS_INTERVAL_MS) return;
    if (done < total)
      log.info('the audit plays model-days again', {
        done,
        total,
        percent: Math.floor((100 * done) / total),
      });
    else if (hasTold)
      log.info('the audit has played all model-days again; the file is being read', {
        done,
        total,
      });
    [toldAt, hasTold] = [now(), true];
  };
}

function auditBody(report: AuditReport, seconds: number) {
  const { damage, problems, unverifiable, stale } = report;
  return {
    status: isSound(report) ? 'sound' : 'faulty',
    duration_seconds: seconds,
    counts: {
      models: report.models,
      model_days: report.modelDays,
      superseded_model_days: report.superseded.modelDays,
      positions: report.positions,
      damage: damage.length,
      problems: problems.total,
      unverifiable: unverifiable.total,
      stale: stale.total,
    },
    damage,
    problems: findingRows(problems),
    unverifiable: findingRows(unverifiable),
    stale: stale.first,
  };
}

function findingRows({ first }: Listed<Finding>): unknown[] {
  return first.map(({ model, date, sessionId, status, sentences }) => ({
    model,
    date,
    session_id: sessionId,
    status,
    problems: sentences,
  }));
}

export const auditRoute = route({
  method: 'GET',
  path: '/audit',
  tag: 'service',
  summary:
    'Play every model-day again from its recorded answers and prices, and report what does not add up.',
  query: auditQuery,
  response: auditResponse,
  errors: { ...NO_JOB, ...BUSY },
  isDirect: true,
  handle(context, { query }) {
    const { jobId, models } = sessionFilters(context, query, { mustExist: true });
    const end = new AbortController();
    const text = previousAudit.then(() => runAudit(context, { jobId, models }, end.signal));
    previousAudit = text.catch(() => {});
    return asyncText(text, end);
  },
});
