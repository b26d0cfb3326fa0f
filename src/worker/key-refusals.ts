import type { ActiveJob } from './active-job.ts';

/**
 * So many model-days of a run in a row with a refused key are enough: it will be refused on the
 * next one too.
 */
const MAX_IN_A_ROW = 2;

/**
 * Counts a model-day whose provider refused the key (401 or 403); any other end starts the count
 * again.
 */
export function noteKeyRefusal(
  { keyRefusals }: Pick<ActiveJob, 'keyRefusals'>,
  run: string,
  outcome: { status: string; isKeyRefused?: true | undefined; error?: string },
): void {
  const { isKeyRefused, error = '' } = outcome;
  if (isKeyRefused)
    keyRefusals.set(run, { inARow: (keyRefusals.get(run)?.inARow ?? 0) + 1, error });
  else keyRefusals.delete(run);
}

/**
 * Why a run is not asked any more in this job; null while it is. The count is kept in memory: a job
 * that continues after a restart asks again, and so does the next job.
 */
export function keyRefusalOf(
  { keyRefusals }: Pick<ActiveJob, 'keyRefusals'>,
  run: string,
): string | null {
  const refusals = keyRefusals.get(run);
  if (refusals === undefined || refusals.inARow < MAX_IN_A_ROW) return null;
  return `Not asked: on the ${MAX_IN_A_ROW} model-days before, the key was refused. ${refusals.error}`;
}
