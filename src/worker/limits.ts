/** How patient the worker is with a machine that is slow, or short of processes or memory. */
export interface WorkerLimits {
  /** A life of the process that found no progress counts as an idle restart when it lasted this long. */
  lifeCountsAfterMs: number;
  /** A shorter life counts too when it ended while a child of the job had been running for this long. */
  childCountsAfterMs: number;
  /** A child that has not sent its first line within this time is ended; each next try gets twice as much. */
  firstLineMs: number;
  /** The first line is waited for at least this many times as long as the slowest of the latest children took. */
  firstLineFactor: number;
  /** A model-day whose child never sends a line fails after so many tries. */
  maxStarts: number;
  /** A model-day whose child is killed by the system is resumed this often, each time where its reasoning log ends. */
  maxResumptions: number;
  /** The pause before a lost child is started again; it doubles with each loss in a row. */
  restartPauseMs: number;
  /** After so many children in a row that were not lost, one more may run side by side; after a loss, twice as many. */
  goodEndsToGrow: number;
}

export const workerLimits: WorkerLimits = {
  lifeCountsAfterMs: 30_000,
  childCountsAfterMs: 10_000,
  firstLineMs: 5_000,
  firstLineFactor: 10,
  maxStarts: 6,
  maxResumptions: 5,
  restartPauseMs: 500,
  goodEndsToGrow: 10,
};
