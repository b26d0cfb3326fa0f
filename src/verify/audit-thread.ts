import { workerData } from 'node:worker_threads';
import { startingThread, startThread } from '../basics/program.ts';
import type { Reader } from '../database/database.ts';
import type { ReplayFilters } from '../database/replay.ts';
import { withSnapshot } from '../database/snapshot.ts';
import { auditLedger } from './audit.ts';
import type { AuditReport, ReplayOptions } from './replay.ts';

/**
 * The model-days of an audit in a thread of its own, which may take as long as it needs: this
 * thread keeps serving.
 */

/** What the thread starts with. */
interface Order {
  audit: { path: string; filters: ReplayFilters };
}

/** What it sends back. */
type Delivery = { done: number; total: number } | { report: AuditReport };

/** As `auditLedger`. The signal ends the thread. */
export async function auditInThread(
  { path }: Pick<Reader, 'path'>,
  { filters = {}, onProgress = () => {}, signal }: Omit<ReplayOptions, 'firstMessagesOf'>,
): Promise<AuditReport> {
  signal?.throwIfAborted();
  const order: Order = { audit: { path, filters } };
  const worker = startThread(order);
  const { promise, resolve, reject } = Promise.withResolvers<AuditReport>();
  worker.on('message', (delivery: Delivery) => {
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

/** Whether this is the thread of an audit. */
export function isAuditThread(): boolean {
  return Object.hasOwn(workerData, 'audit');
}

/** What that thread does; what it throws ends it. */
export async function auditHere(): Promise<void> {
  const port = startingThread();
  const send = (delivery: Delivery) => port.postMessage(delivery);
  const { audit }: Order = workerData;
  const { path, filters } = audit;
  const onProgress = (done: number, total: number) => send({ done, total });
  const report = await withSnapshot(path, (reader) => auditLedger(reader, { filters, onProgress }));
  send({ report });
}
