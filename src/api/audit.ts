import * as v from 'valibot';
import { audit as auditDatabase, type AuditOptions, isSound } from '../verify/audit.ts';
import type { Database } from '../database/database.ts';
import type { Listed } from '../basics/domain.ts';
import type { ReplayFilters } from '../database/replay.ts';
import { auditInThread } from '../verify/audit-thread.ts';
import type { AuditReport, Finding } from '../verify/replay.ts';
import { checkJob, filtersOf } from './filters.ts';
import { type Context, deploymentFields, type Input, type LateBody, lateText } from './handler.ts';
import {
  countSchema,
  dateText,
  deploymentEntries,
  integer,
  jobFilter,
  modelFilter,
  named,
} from './schemas.ts';

export const auditQuery = v.object({ job_id: jobFilter, model: modelFilter });

const findingsSchema = v.array(
  named('AuditFinding', {
    model: v.string(),
    date: dateText,
    session_id: v.nullable(integer),
    status: v.string(),
    problems: v.array(v.string()),
  }),
);

export const auditResponse = named('AuditResponse', {
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
  ...deploymentEntries,
});

/** How often a long audit logs its progress. */
const TELL_EVERY_MS = 5_000;

type AuditContext = Pick<Context, 'database' | 'settings' | 'log' | 'viewedFile'>;

interface RunningAudit {
  text: Promise<string>;
  clients: number;
  end: AbortController;
}

/**
 * Clients that request the same audit while one runs share its response; it is aborted when the
 * last of them leaves.
 */
const running = new WeakMap<Database, Map<string, RunningAudit>>();

/** The model-days of one audit are read after those of the one before: each has a thread. */
let before: Promise<unknown> = Promise.resolve();

const inTurn: typeof auditInThread = (reader, options) => {
  const own = before.then(() => auditInThread(reader, options));
  before = own.catch(() => {});
  return own;
};

/** Plays model-days again and reports what does not add up; 200 whatever it finds. */
export function audit(
  context: AuditContext,
  { query }: Input<v.InferOutput<typeof auditQuery>>,
): LateBody {
  const { jobId, model } = filtersOf(query);
  checkJob(context.database, { jobId });
  const database = context.database;
  const audits = running.get(database) ?? new Map<string, RunningAudit>();
  running.set(database, audits);
  const key = JSON.stringify([jobId, model]);
  const shared = audits.get(key) ?? start(context, { jobId, model });
  audits.set(key, shared);
  const forget = () => {
    if (audits.get(key) === shared) audits.delete(key);
  };
  if (shared.clients === 0) shared.text.then(forget, forget);
  shared.clients += 1;
  return lateText(shared.text, () => {
    shared.clients -= 1;
    if (shared.clients > 0) return;
    forget(); // the next client starts a new one
    shared.end.abort();
  });
}

function start({ settings, log, viewedFile }: AuditContext, filters: ReplayFilters): RunningAudit {
  const startedAt = performance.now();
  const end = new AbortController();
  const options = {
    filters,
    signal: end.signal,
    isReadOnly: viewedFile !== null,
    readLedger: inTurn,
    onProgress: progressInLog(log),
  };
  const text = auditDatabase(settings.databasePath, options).then((report) => {
    const body = bodyOf(report, Math.round(performance.now() - startedAt) / 1000);
    if (!isSound(report)) log.warning('the audit found faults', body.counts);
    return JSON.stringify({ ...body, ...deploymentFields(settings) });
  });
  return { text, clients: 0, end };
}

/**
 * Logs how far an audit is, every few seconds; nothing of a short one. `now` is in milliseconds, of
 * any origin.
 */
export function progressInLog(
  log: AuditContext['log'],
  now = () => performance.now(),
): NonNullable<AuditOptions['onProgress']> {
  let toldAt = now();
  let hasTold = false;
  return (done, total) => {
    if (done < total && now() - toldAt < TELL_EVERY_MS) return;
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

function bodyOf(report: AuditReport, seconds: number) {
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
    problems: findingsOf(problems),
    unverifiable: findingsOf(unverifiable),
    stale: stale.first,
  };
}

function findingsOf({ first }: Listed<Finding>): unknown[] {
  return first.map(({ model, date, sessionId, status, sentences }) => ({
    model,
    date,
    session_id: sessionId,
    status,
    problems: sentences,
  }));
}
