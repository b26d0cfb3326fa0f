/**
 * The phases of children that wait for a slow model. They spawn until each has sent its first
 * request, and wait while the provider holds all answers back; then it answers, and they trade;
 * from the first that has ended on, they end.
 */
export const phases = ['spawn', 'wait', 'trade', 'end'] as const;
export type Phase = (typeof phases)[number];

/**
 * While children spawn, the provider is asked once every this many samples how many of them have
 * begun.
 */
const SAMPLES_PER_LOOK = 10;

/** What is done to a job and to its provider. */
export interface Course {
  children: number;
  /** How long they all wait, in milliseconds. */
  waitMs: number;
  /** Takes a sample of a phase. Resolves to what is known of the job afterwards. */
  sample(phase: Phase): Promise<{ completed: number; hasEnded: boolean }>;
  /** Resolves to how many children have sent their first request. */
  begun(): Promise<number>;
  /** Called once, when all of them wait; the time that it takes is not part of the wait. */
  onAllWait(): void;
  /** From now on the provider answers. */
  answer(): Promise<void>;
}

/**
 * Takes samples from phase to phase until the job has ended. Rejects if it ends before all children
 * have waited.
 */
export async function followPhases(course: Course, now = () => performance.now()): Promise<void> {
  const { children, waitMs, sample, begun, onAllWait, answer } = course;
  let phase: Phase = 'spawn';
  let allWaitSince = 0;
  for (let samples = 1; ; samples += 1) {
    const { completed, hasEnded } = await sample(phase);
    if (hasEnded && (phase === 'spawn' || phase === 'wait'))
      throw new Error(`The job ended before ${children} children had waited`);
    if (hasEnded) return;
    if (phase === 'spawn' && samples % SAMPLES_PER_LOOK === 0 && (await begun()) >= children) {
      onAllWait();
      [phase, allWaitSince] = ['wait', now()];
    } else if (phase === 'wait' && now() - allWaitSince >= waitMs) {
      await answer();
      phase = 'trade';
    } else if (phase === 'trade' && completed > 0) phase = 'end';
  }
}
