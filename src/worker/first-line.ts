import { readFileSync } from 'node:fs';
import { type EventLoop, eventLoop } from '../event-loop.ts';

/** A child's time limit is counted in this many parts. */
const PARTS = 10;
/** A part in which the child was running counts only this much: it is slow, not stuck. */
const SHARE_AT_WORK = 0.1;

/**
 * Calls `onSilent` when a child's time limit is used up; the function it returns ends the watch.
 * Only time in which the child could have sent a line counts in full: not the time in which this
 * process was too busy to read (each part counts once, however late it ends), and only a tenth of
 * the time in which the child was running.
 */
export function watchSilence(
  pid: number | undefined,
  {
    patienceMs,
    onSilent,
    loop = eventLoop,
  }: { patienceMs: number; onSilent: () => void; loop?: Pick<EventLoop, 'after' | 'round'> },
): () => void {
  const isAtWork = workOf(pid);
  let left = PARTS;
  let isOver = false;
  const watch = async () => {
    left -= isAtWork() ? SHARE_AT_WORK : 1;
    if (left > 0) stop = loop.after(patienceMs / PARTS, watch);
    else {
      await loop.round(); // first read what the child has already written
      if (!isOver) onSilent();
    }
  };
  let stop = loop.after(patienceMs / PARTS, watch);
  return () => {
    isOver = true;
    stop();
  };
}

/**
 * Whether a process is on a processor, waits for one or for the disk, or has been on one since the
 * last call. Always false on systems other than Linux, which do not show it.
 */
function workOf(pid: number | undefined): () => boolean {
  let last = '';
  return () => {
    const [, state, user = '', system = ''] =
      /.*\) (\S)(?: \S+){10} (\d+) (\d+)/s.exec(statOf(pid)) ?? [];
    const spent = `${user} ${system}`;
    const hasMoved = state !== undefined && spent !== last;
    last = spent;
    return hasMoved || state === 'R' || state === 'D';
  };
}

function statOf(pid: number | undefined): string {
  try {
    return pid === undefined ? '' : readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
