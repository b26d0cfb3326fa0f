/** Time slice before control returns to the event loop; one piece of work may take 3 ms. */
export const SLICE_MS = 1;

const pendingWork: (() => void)[] = [];

/**
 * Starts short work of many callers in the order in which they ask: as much of it per round of the
 * event loop as fits into a millisecond, so that what a thousand children send at once does not
 * hold up other requests. Work that waits for something lets the next begin. Resolves to what the
 * work returns, and rejects with what it throws.
 */
export function scheduleSliced<Result>(work: () => Result | PromiseLike<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  pendingWork.push(() => {
    try {
      resolve(work());
    } catch (error) {
      reject(error);
    }
  });
  if (pendingWork.length === 1) setImmediate(runSlice);
  return promise;
}

function runSlice(): void {
  const end = performance.now() + SLICE_MS;
  const workOne = () => {
    pendingWork[0]?.();
    // A tick that a microtask asks for comes after all other microtasks: then the work is over, or
    // waits for something.
    queueMicrotask(() => process.nextTick(next));
  };
  const next = () => {
    pendingWork.shift();
    if (pendingWork.length === 0) return;
    if (performance.now() < end) workOne();
    else setImmediate(runSlice);
  };
  workOne();
}
