import type { Status } from '../service/responses.ts';

/** While a job runs, its figures are computed again at most this often. */
const RECOMPUTE_AFTER_MS = 5_000;

/**
 * Refreshes figures if a job has added something since the last time. Resolves to whether it has.
 */
export type RefreshFor = (status: Status, signal: AbortSignal) => Promise<boolean>;

/** Keeps figures up to date with a job, without computing them again for each of its model-days. */
export function recompute(
  refresh: (status: Status, signal: AbortSignal) => Promise<void>,
): RefreshFor {
  let computed = { what: '', at: -Infinity };
  return async (status, signal) => {
    const what = `${status.job_id} ${status.status} ${status.progress.completed}`;
    const isDue =
      status.completed_at !== null || performance.now() - computed.at > RECOMPUTE_AFTER_MS;
    if (what === computed.what || !isDue) return false;
    const at = performance.now();
    await refresh(status, signal);
    computed = { what, at }; // only now: what could not be requested is requested again
    return true;
  };
}
