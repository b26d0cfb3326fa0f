/**
 * How long the worker waits, and how often it retries, on a machine that is slow or short of
 * processes or memory.
 */
export interface WorkerLimits {
  /**
   * A process that made no progress counts as an idle restart when it ran for at least this long.
   */
  lifeCountsAfterMs: number;
  /**
   * A shorter run counts too when it ended while a child of the job had been running for this long.
   */
  childCountsAfterMs: number;
  /**
   * A child that has not sent its first line within this time is ended; each further try gets twice
   * as long.
   */
  firstLineMs: number;
  /**
   * The same for a child that a launcher starts, which may have to wait in a queue, or for an image
   * to be downloaded.
   */
  launcherFirstLineMs: number;
  /**
   * The time limit for the first line is at least this many times the slowest of the latest starts.
   */
  firstLineFactor: number;
  /** A model-day whose child never sends a line fails after this many tries. */
  maxStarts: number;
  /**
   * How often a model-day is resumed, from the end of its reasoning log, after the system killed
   * its child.
   */
  maxResumptions: number;
  /** The pause before a lost child is restarted; it doubles with each loss in a row. */
  restartPauseMs: number;
  /**
   * After this many children in a row without a loss, one more may run side by side; after each
   * loss, twice as many are needed.
   */
  goodEndsToGrow: number;
  /** From the start of a news search to the last byte of its response. */
  newsSearchMs: number;
}

export const workerLimits: WorkerLimits = {
  lifeCountsAfterMs: 30_000,
  childCountsAfterMs: 10_000,
  firstLineMs: 5_000,
  launcherFirstLineMs: 300_000,
  firstLineFactor: 10,
  maxStarts: 6,
  maxResumptions: 5,
  restartPauseMs: 500,
  goodEndsToGrow: 10,
  newsSearchMs: 20_000,
};
