import { keep } from './kept.ts';

/** Browsers limit how often the history may be written. */
const SAVE_EVERY_MS = 150;
/** What a reader does to scroll. */
const MOVES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/**
 * Starts a page at the top and keeps how far the reader scrolls. Returns a function to call once its content is there: it
 * scrolls to where the entry was left, as soon as the page is long enough, unless the reader has moved since.
 */
export function startScroll(host: HTMLElement, signal: AbortSignal): () => void {
  const kept = keep('scroll');
  const read = kept.read();
  const wanted = typeof read === 'number' ? read : 0;
  let isReady = false;
  let isSettled = wanted === 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const save = () => {
    timer = undefined;
    kept.write(Math.round(scrollY));
  };
  const settle = () => {
    if (!isReady || isSettled) return;
    scrollTo(0, wanted);
    isSettled = Math.abs(scrollY - wanted) <= 1;
  };
  const growth = new ResizeObserver(settle);
  const stop = () => {
    clearTimeout(timer);
    growth.disconnect();
  };
  const onScroll = () => {
    if (isReady && isSettled) timer ??= setTimeout(save, SAVE_EVERY_MS);
  };
  scrollTo(0, 0);
  addEventListener('scroll', onScroll, { signal, passive: true });
  for (const name of MOVES) addEventListener(name, () => (isSettled = true), { signal, passive: true, once: true });
  signal.addEventListener('abort', stop);
  growth.observe(host);
  return () => {
    isReady = true;
    settle();
  };
}
