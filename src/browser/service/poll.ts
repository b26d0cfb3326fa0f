import { viewedFile } from '../parts/viewed.ts';

/** The wait while things change; while nothing does, or requests fail, it doubles up to the longest. */
const SHORTEST_MS = 500;
const LONGEST_MS = 20_000;

/**
 * Repeats the work until the signal aborts. The work says whether anything has changed: if so, it is repeated soon,
 * otherwise less and less often. In a hidden tab it pauses; once the tab is visible, the work is repeated at once.
 */
export async function poll(work: () => Promise<'moving' | 'still'>, signal: AbortSignal): Promise<void> {
  // A view changes only where a service runs on its file, and no model works for it.
  const shortest = viewedFile() === null ? SHORTEST_MS : LONGEST_MS;
  let delay = shortest;
  while (!signal.aborted) {
    const pace = await work().catch((): 'still' => 'still');
    delay = pace === 'moving' ? shortest : Math.min(delay * 2, LONGEST_MS);
    await wait(delay, signal);
    while (document.hidden && !signal.aborted) await wait(Infinity, signal);
  }
}

/** Resolves after the time, or sooner: on `pollSoon`, when the tab is hidden or shown, when the signal aborts. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = ms === Infinity ? undefined : setTimeout(resolve, ms);
  for (const name of ['visibilitychange', 'pollsoon'])
    document.addEventListener(name, () => resolve(), { signal: over.signal });
  signal.addEventListener('abort', () => resolve(), { signal: over.signal });
  return promise.finally(() => {
    clearTimeout(timer);
    over.abort();
  });
}

/** Repeats all polled work at once, because something was just started or stopped here. */
export function pollSoon(): void {
  document.dispatchEvent(new Event('pollsoon'));
}
