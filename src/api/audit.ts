import * as v from 'valibot';
import {
  audit as auditDatabase,
  type AuditOptions,
  type AuditReport,
  type Finding,
  isSound,
} from '../verify/audit.ts';
import type { Database } from '../database/database.ts';
import type { Listed } from '../basics/domain.ts';
import { type Context, deploymentFields, type LateBody, lateText } from './handler.ts';
import { countSchema, dateText, deploymentEntries, integer, named } from './schemas.ts';

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
 * Clients that request an audit while one runs share its response; it is aborted when the last of
 * them leaves.
 */
const running = new WeakMap<Database, RunningAudit>();

/** Recomputes the ledgers and reports what does not add up; 200 whatever it finds. */
export function audit(context: AuditContext): LateBody {
  const { database } = context;
  const shared = running.get(database) ?? start({ ...context, database });
  shared.clients += 1;
  const stop = () => {
    shared.clients -= 1;
    if (shared.clients > 0) return;
    running.delete(database); // the next client starts a new one
    shared.end.abort();
  };
  return lateText(shared.text, stop);
}

function start({ database, settings, log, viewedFile }: AuditContext): RunningAudit {
  const startedAt = performance.now();
  const end = new AbortController();
  const options = {
    signal: end.signal,
    isReadOnly: viewedFile !== null,
    onProgress: progressInLog(log),
  };
  const text = auditDatabase(settings.databasePath, options)
    .then((report) => {
      const body = bodyOf(report, Math.round(performance.now() - startedAt) / 1000);
      if (!isSound(report)) log.warning('the audit found faults', body.counts);
      return JSON.stringify({ ...body, ...deploymentFields(settings) });
    })
    .finally(() => {
      if (running.get(database) === audit) running.delete(database);
    });
  const audit = { text, clients: 0, end };
  running.set(database, audit);
  return audit;
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
      log.info('the audit recomputes model-days', {
        done,
        total,
        percent: Math.floor((100 * done) / total),
      });
    else if (hasTold)
      log.info('the audit has recomputed all model-days; the file is being read', { done, total });
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
      superseded_model_days: report.supersededModelDays,
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
