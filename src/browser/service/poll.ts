/** While things move; doubled up to the longest while nothing does, or the server does not answer. */
const SHORTEST_MS = 500;
const LONGEST_MS = 20_000;

/**
 * Repeats a question until the signal ends it. The work says whether anything moved: then it is repeated soon, else later
 * and later. A hidden tab asks nothing; it asks at once when it is seen again.
 */
export async function poll(work: () => Promise<'moving' | 'still'>, signal: AbortSignal): Promise<void> {
  let delay = SHORTEST_MS;
  while (!signal.aborted) {
    const pace = await work().catch((): 'still' => 'still');
    delay = pace === 'moving' ? SHORTEST_MS : Math.min(delay * 2, LONGEST_MS);
    await wait(delay, signal);
    if (document.hidden) await untilVisible(signal);
  }
}

/** Ends after the time, or sooner: when asked to, when the tab is seen again, when the signal ends it all. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const once = { once: true, signal: over.signal };
  signal.addEventListener('abort', () => resolve(), once);
  document.addEventListener('visibilitychange', () => resolve(), once);
  document.addEventListener('pollsoon', () => resolve(), once);
  return promise.finally(() => {
    clearTimeout(timer);
    over.abort();
  });
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!document.hidden || signal.aborted) resolve();
    };
    document.addEventListener('visibilitychange', check, { signal });
    signal.addEventListener('abort', check, { once: true });
    check();
  });
}

/** Has all questions asked again at once: something was just started or stopped here. */
export function pollSoon(): void {
  document.dispatchEvent(new Event('pollsoon'));
}
