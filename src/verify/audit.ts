import { storageFaultOf } from '../database/storage/faults.ts';
import { examineDatabase } from '../database/integrity.ts';
import { checkManifest } from '../database/manifest.ts';
import { modelsWithSessions } from '../database/session-filters.ts';
import type { Reader } from '../database/database.ts';
import { withSnapshot } from '../database/snapshot.ts';
import { staleModelDays } from '../database/stale.ts';
import {
  addTo,
  type AuditReport,
  emptyReport,
  MAX_LISTED,
  replayLedger,
  type ReplayOptions,
} from './replay.ts';

export interface AuditOptions extends ReplayOptions {
  /**
   * Whether the file is opened for reading only, so that nothing beside it changes either; SQLite
   * then skips CHECK constraints.
   */
  isReadOnly?: boolean;
  /** How the model-days are replayed: here, unless in a thread. */
  readLedger?: typeof auditLedger;
}

/**
 * Verifies a database as it is now, while others may write to it: the file, its manifest if it is a
 * package, the references between its rows, and every model-day, which is played again. Reads only.
 * The signal aborts it; the audit then rejects.
 */
export async function audit(
  path: string,
  { isReadOnly = false, readLedger = auditLedger, ...options }: AuditOptions = {},
): Promise<AuditReport> {
  return withSnapshot(path, async (snapshot) => {
    options.signal?.throwIfAborted();
    const [{ damage, misfits }, report] = await together(options.signal, (signal) => [
      examineDatabase(snapshot, signal, { isReadOnly }),
      readLedger(snapshot, { ...options, signal }),
    ]);
    report.damage.unshift(...damage);
    const { jobId, model } = options.filters ?? {};
    for (const { problem, jobId: ownJob, ...modelDay } of misfits)
      if ((jobId ?? ownJob) === ownJob && (model ?? modelDay.model) === modelDay.model)
        addTo(report.problems, { ...modelDay, sentences: [problem] });
    return report;
  });
}

/**
 * Runs both at the same time. When one fails, or the signal comes, the other is ended; nothing is
 * left running when it settles.
 */
async function together<One, Other>(
  signal: AbortSignal | undefined,
  start: (ended: AbortSignal) => [Promise<One>, Promise<Other>],
): Promise<[One, Other]> {
  const failed = new AbortController();
  const work = start(AbortSignal.any([failed.signal, ...(signal === undefined ? [] : [signal])]));
  try {
    return await Promise.all(work);
  } catch (error) {
    failed.abort();
    await Promise.allSettled(work);
    throw error;
  }
}

/** The part of an audit that reads model-days and, of a package, its manifest. */
export async function auditLedger(reader: Reader, options: ReplayOptions): Promise<AuditReport> {
  const report = emptyReport();
  await readToTheEnd(reader, report, options);
  report.damage.push(...checkManifest(reader));
  return report;
}

/** What cannot be read to the end is reported as damage. */
async function readToTheEnd(
  reader: Reader,
  report: AuditReport,
  options: ReplayOptions,
): Promise<void> {
  try {
    await replayLedger(reader, report, options);
    const { jobId, model } = options.filters ?? {};
    const models = model === undefined ? modelsWithSessions(reader) : [model];
    report.stale = staleModelDays(reader, models, { most: MAX_LISTED, jobId });
  } catch (error) {
    const fault = storageFaultOf(error);
    if (fault === null) throw error;
    report.damage.push(`the ledger cannot be read to the end: ${fault}`);
  }
}

/** Whether nothing is wrong. Stale and unverifiable model-days are not wrong. */
export function isSound({ damage, problems }: AuditReport): boolean {
  return damage.length === 0 && problems.total === 0;
}
