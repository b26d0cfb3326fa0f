import { findStorageFault } from '#database/storage/faults.ts';
import { examineDatabase } from '#database/integrity.ts';
import { checkManifest } from '#database/manifest.ts';
import { modelsWithSessions } from '#database/session-filters.ts';
import type { Address, Reader } from '#database/database.ts';
import { withSnapshot } from '#database/snapshot.ts';
import { staleModelDays } from '#database/stale.ts';
import {
  addListed,
  type AuditReport,
  emptyAuditReport,
  MAX_LISTED_FINDINGS,
  replayLedger,
  type ReplayOptions,
} from './replay.ts';
import { workerData } from 'node:worker_threads';
import { parentThread, startThread } from '#process/program.ts';
import type { ReplayFilters } from '#database/replay-queries.ts';

export interface AuditOptions extends ReplayOptions {
  /** How the model-days are replayed: here, unless in a thread. */
  readLedger?: typeof auditLedger;
}

/**
 * Verifies a database as it is now, while others may write to it: the file, its manifest if it is a
 * package, the references between its rows, and every model-day, which is played again. Reads only;
 * of a file that is shown nothing beside it changes either, and SQLite skips CHECK constraints. A
 * process that has the database open gives its address, any other its path. The signal aborts it;
 * the audit then rejects.
 */
export async function auditDatabase(
  database: string | Address,
  { readLedger = auditLedger, ...options }: AuditOptions = {},
): Promise<AuditReport> {
  return withSnapshot(database, async (snapshot) => {
    options.signal?.throwIfAborted();
    const [{ damage, misfits }, report] = await allOrAbort(options.signal, (signal) => [
      examineDatabase(snapshot, signal),
      readLedger(snapshot, { ...options, signal }),
    ]);
    report.damage.unshift(...damage);
    const { jobId, models } = options.filters ?? {};
    for (const { problem, jobId: ownJob, ...modelDay } of misfits)
      if ((jobId ?? ownJob) === ownJob && (models?.includes(modelDay.model) ?? true))
        addListed(report.problems, { ...modelDay, sentences: [problem] });
    return report;
  });
}

/**
 * Runs both at the same time. When one fails, or the signal comes, the other is ended; nothing is
 * left running when it settles.
 */
async function allOrAbort<One, Other>(
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
async function auditLedger(reader: Reader, options: ReplayOptions): Promise<AuditReport> {
  const report = emptyAuditReport();
  try {
    await replayLedger(reader, report, options);
    const { jobId, models = modelsWithSessions(reader) } = options.filters ?? {};
    report.stale = staleModelDays(reader, models, { most: MAX_LISTED_FINDINGS, jobId });
  } catch (error) {
    const fault = findStorageFault(error);
    if (fault === null) throw error;
    report.damage.push(`the ledger cannot be read to the end: ${fault}`);
  }
  report.damage.push(...checkManifest(reader));
  return report;
}

/** Whether nothing is wrong. Stale and unverifiable model-days are not wrong. */
export function isSound({ damage, problems }: AuditReport): boolean {
  return damage.length === 0 && problems.total === 0;
}

interface AuditRequest {
  audit: { address: Address; filters: ReplayFilters };
}

type AuditMessage = { done: number; total: number } | { report: AuditReport };

/**
 * As `auditLedger`, in a thread of its own, which may take as long as it needs: this one keeps
 * serving. The signal ends the thread.
 */
export async function auditInThread(
  address: Address,
  { filters = {}, onProgress = () => {}, signal }: Omit<ReplayOptions, 'firstMessagesOf'>,
): Promise<AuditReport> {
  signal?.throwIfAborted();
  const order: AuditRequest = { audit: { address, filters } };
  const worker = startThread(order);
  const { promise, resolve, reject } = Promise.withResolvers<AuditReport>();
  worker.on('message', (delivery: AuditMessage) => {
    if ('done' in delivery) onProgress(delivery.done, delivery.total);
    else resolve(delivery.report);
  });
  worker.on('error', reject);
  worker.on('exit', () => reject(new Error('The thread of the audit has ended')));
  const stop = () => reject(signal?.reason);
  signal?.addEventListener('abort', stop);
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

export function isAuditThread(): boolean {
  return Object.hasOwn(workerData, 'audit');
}

/** What that thread does; what it throws ends it. */
export async function runAuditWorker(): Promise<void> {
  const port = parentThread();
  const send = (delivery: AuditMessage) => port.postMessage(delivery);
  const { audit }: AuditRequest = workerData;
  const { address, filters } = audit;
  const onProgress = (done: number, total: number) => send({ done, total });
  const report = await withSnapshot(address, (reader) =>
    auditLedger(reader, { filters, onProgress }),
  );
  send({ report });
}
