import type { Status } from '../responses.ts';
import { isViewFixed, errorText, viewedFile } from './ui.ts';

/**
 * The wait while things change; while nothing does, or requests fail, it doubles up to the longest.
 */
const SHORTEST_MS = 500;
const LONGEST_MS = 20_000;

/** What ends a wait: `pollSoon`, and that the tab is hidden or shown. */
const WAKE_EVENTS = ['visibilitychange', 'pollsoon'] as const;

/**
 * Repeats the work until the signal aborts. The work says whether anything has changed: if so, it
 * is repeated soon, otherwise less and less often. In a hidden tab it pauses; once the tab is
 * visible, the work is repeated at once, and so it is when `pollSoon` was called while it was being
 * done. In a view of a file that cannot change, the work ends when it has succeeded once.
 */
export async function poll(
  work: () => Promise<'moving' | 'still'>,
  signal: AbortSignal,
): Promise<void> {
  // A view changes only where a service runs on its file, and no model works for it.
  const shortest = viewedFile() === null ? SHORTEST_MS : LONGEST_MS;
  let delay = shortest;
  let isAsked = false;
  for (const name of WAKE_EVENTS)
    document.addEventListener(name, () => (isAsked = true), { signal });
  while (!signal.aborted) {
    isAsked = false;
    const pace = await work().catch((error: unknown): 'failed' => {
      if (!signal.aborted) reportPoll(errorText(error));
      return 'failed';
    });
    if (pace !== 'failed') reportPoll(null);
    if (isViewFixed() && pace !== 'failed') return;
    delay = pace === 'moving' ? shortest : Math.min(delay * 2, LONGEST_MS);
    await wait(isAsked ? 0 : delay, signal);
  }
  reportPoll(null);
}

/** Fired on the document after each round: its detail is why it failed, or null. */
export const POLLED = 'polled';

function reportPoll(detail: string | null): void {
  document.dispatchEvent(new CustomEvent(POLLED, { detail }));
}

/** Resolves when work that has failed so many times in a row is due again. */
export async function waitForRetry(failures: number, signal: AbortSignal): Promise<void> {
  await wait(Math.min(SHORTEST_MS * 2 ** failures, LONGEST_MS), signal);
}

/**
 * Resolves after the time, or sooner on what wakes; in a hidden tab only once it is shown again.
 */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await waitForWake(signal, ms);
  while (document.hidden && !signal.aborted) await waitForWake(signal);
}

function waitForWake(signal: AbortSignal, ms?: number): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const listening = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
  for (const name of WAKE_EVENTS)
    document.addEventListener(name, () => resolve(), { signal: listening.signal });
  signal.addEventListener('abort', () => resolve(), { signal: listening.signal });
  return promise.finally(() => {
    clearTimeout(timer);
    listening.abort();
  });
}

/** Repeats all polled work at once, because something was just started or stopped here. */
export function pollSoon(): void {
  document.dispatchEvent(new Event('pollsoon'));
}

/** While a job runs, its figures are computed again at most this often. */
const RECOMPUTE_AFTER_MS = 5_000;

/**
 * Keeps figures up to date with a job, but does not compute them again for each of its model-days.
 * The function returned refreshes them if the job has added something since the last time, and
 * resolves to whether it did.
 */
export function throttleRefresh(refresh: (status: Status) => Promise<void>) {
  let lastRefresh = { what: '', at: -Infinity };
  return async (status: Status): Promise<boolean> => {
    const what = `${status.job_id} ${status.status} ${status.progress.completed}`;
    const isDue =
      status.completed_at !== null || performance.now() - lastRefresh.at > RECOMPUTE_AFTER_MS;
    if (what === lastRefresh.what || !isDue) return false;
    const at = performance.now();
    await refresh(status);
    lastRefresh = { what, at }; // only now: what could not be requested is requested again
    return true;
  };
}
