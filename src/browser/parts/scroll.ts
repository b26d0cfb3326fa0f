import { setAttributes } from './element.ts';
import { keep } from './kept.ts';

/** What a reader does to scroll. */
const MOVES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/**
 * Starts a page at the top and keeps how far the reader scrolls. Returns a function to call once
 * its content is there: it scrolls to where the entry was left, as soon as the page is long enough,
 * unless the reader has moved since.
 */
export function startScroll(host: HTMLElement, signal: AbortSignal): () => void {
  const kept = keep('scroll');
  const read = kept.read();
  const wanted = typeof read === 'number' ? read : 0;
  let isReady = false;
  let isSettled = wanted === 0;
  const settle = () => {
    if (!isReady || isSettled) return;
    scrollTo(0, wanted);
    isSettled = Math.abs(scrollY - wanted) <= 1;
  };
  const growth = new ResizeObserver(settle);
  const onScroll = () => {
    if (isReady && isSettled) kept.write(Math.round(scrollY));
  };
  // A page that was left further down needs all its heights to find the place.
  setAttributes(host, { 'data-top-first': wanted === 0 });
  scrollTo(0, 0);
  addEventListener('scroll', onScroll, { signal, passive: true });
  for (const name of MOVES)
    addEventListener(name, () => (isSettled = true), { signal, passive: true, once: true });
  signal.addEventListener('abort', () => growth.disconnect());
  growth.observe(host);
  return () => {
    isReady = true;
    settle();
    void layOutRest(host, signal);
  };
}

/**
 * Lays out what the style sheet has left out so far: part by part, so that the page reacts
 * meanwhile.
 */
async function layOutRest(host: HTMLElement, signal: AbortSignal): Promise<void> {
  for (const part of host.querySelectorAll(':scope > .stack > *')) {
    await painted();
    if (signal.aborted) return;
    setAttributes(part, { 'data-laid-out': true });
  }
  setAttributes(host, { 'data-top-first': null });
}

function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
