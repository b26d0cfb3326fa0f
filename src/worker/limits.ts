/** How patient the worker is with a machine that is slow or short of processes and memory. */
export interface WorkerLimits {
  /** A life of the process that found no progress counts as an idle restart when it lasted this long. */
  lifeCountsAfterMs: number;
  /** A shorter life counts too when it ended while a child of the job had been running for this long. */
  childCountsAfterMs: number;
}

export const workerLimits: WorkerLimits = {
  lifeCountsAfterMs: 30_000,
  childCountsAfterMs: 10_000,
};
