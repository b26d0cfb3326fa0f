/**
 * Long work is cut into slices, and the event loop runs once between any two slices, so that no
 * request waits for more than about one slice, however many long responses are being made.
 */

/** How long one slice may take. */
export const SLICE_MS = 5;
/**
 * After which no further short work begins in a round: one piece takes up to three milliseconds
 * already.
 */
const SHORT_SLICE_MS = 1;

const waiting: (() => void)[] = [];

/** Resolves when the caller may work for a slice: one caller per round of the event loop, in order. */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.length === 0) setImmediate(giveTurn);
  waiting.push(resolve);
  return promise;
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

const dueSoon: (() => void)[] = [];

/**
 * Starts short work of many callers in the order in which they ask: as much of it per round of the
 * event loop as fits into a millisecond, so that what a thousand children send at once does not
 * hold up other requests. Work that waits for something lets the next begin. Resolves to what the
 * work returns, and rejects with what it throws.
 */
export function inShortTurn<Result>(work: () => Result | PromiseLike<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  dueSoon.push(() => {
    try {
      resolve(work());
    } catch (error) {
      reject(error);
    }
  });
  if (dueSoon.length === 1) setImmediate(workForSlice);
  return promise;
}

function workForSlice(): void {
  const end = performance.now() + SHORT_SLICE_MS;
  const workOne = () => {
    dueSoon[0]?.();
    // A tick that a microtask asks for comes after all other microtasks: then the work is over, or
    // waits for something.
    queueMicrotask(() => process.nextTick(next));
  };
  const next = () => {
    dueSoon.shift();
    if (dueSoon.length === 0) return;
    if (performance.now() < end) workOne();
    else setImmediate(workForSlice);
  };
  workOne();
}
