import { createProgressLine } from './progress.ts';

/** The exit code of a command stopped by SIGINT, as shells number it. */
const STOPPED = 130;

/**
 * What the work uses: the signal aborts when it must stop, and the share of it that is done is
 * drawn.
 */
interface Watched {
  signal: AbortSignal;
  onProgress: (share: number) => void;
}

/**
 * Does work that writes `target`, with a progress line, and prints its result. Returns the exit
 * code: 0, or 130 when SIGINT or SIGTERM stopped the work. Throws what the work throws for other
 * reasons.
 */
export async function writeStoppably(
  target: string,
  work: (watched: Watched) => Promise<string>,
): Promise<number> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const line = createProgressLine(process.stderr);
  try {
    const result = await work({
      signal: stopping.signal,
      onProgress: (share) => line.draw(share, 1, target),
    });
    line.clear();
    process.stdout.write(result);
    return 0;
  } catch (error) {
    line.clear();
    if (stopping.signal.aborted) return STOPPED;
    throw error;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
