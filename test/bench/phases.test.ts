import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Course, type Phase, followPhases } from '../../bench/phases.ts';

/**
 * The phases of children that wait for a model, without children: each sample takes 100
 * milliseconds of a time that the test sets.
 */

const SAMPLE_MS = 100;
const LOOK_MS = 7_000;

interface Script {
  /** How many children have begun after so many samples. */
  begunAfter: (samples: number) => number;
  /** How many have ended so many samples after the model answers. */
  completedAfter: (samples: number) => number;
  /** The sample with which the job ends whatever the children do. */
  endsAt?: number;
}

async function follow({ begunAfter, completedAfter, endsAt = Infinity }: Script) {
  const taken: Phase[] = [];
  const events: string[] = [];
  let [now, answeredAt] = [0, Infinity];
  const note = (event: string) => events.push(`${event} at ${taken.length}`);
  const course: Course = {
    children: 3,
    waitMs: 2_000,
    async sample(phase) {
      taken.push(phase);
      now += SAMPLE_MS;
      const completed = taken.length > answeredAt ? completedAfter(taken.length - answeredAt) : 0;
      return { completed, hasEnded: completed === 3 || taken.length >= endsAt };
    },
    begun: async () => begunAfter(taken.length),
    onAllWait() {
      note('all wait');
      now += LOOK_MS; // to read the memory of a thousand children takes time
    },
    async answer() {
      note('answered');
      answeredAt = taken.length;
    },
  };
  await followPhases(course, () => now);
  const counts = Object.fromEntries(
    Map.groupBy(taken, (phase) => phase)
      .entries()
      .map(([phase, own]) => [phase, own.length]),
  );
  return { counts, events };
}

test('each sample belongs to one phase, and no request is answered before all children have waited together for the whole time', async () => {
  const { counts, events } = await follow({
    begunAfter: (samples) => (samples < 25 ? 2 : 3), // which is seen at the next look, with every tenth sample
    completedAfter: (samples) => (samples < 5 ? 0 : samples < 12 ? 1 : 3),
  });
  assert.deepEqual(counts, { spawn: 30, wait: 20, trade: 5, end: 7 });
  assert.deepEqual(events, ['all wait at 30', 'answered at 50']);
});

test('children that end all at once after they trade leave no sample of the end', async () => {
  const { counts } = await follow({
    begunAfter: () => 3,
    completedAfter: (samples) => (samples < 5 ? 0 : 3),
  });
  assert.deepEqual(counts, { spawn: 10, wait: 20, trade: 5 });
});

test('a job that ends while children spawn or wait measures nothing', async () => {
  for (const endsAt of [5, 15])
    await assert.rejects(
      follow({ begunAfter: () => 3, completedAfter: () => 0, endsAt }),
      /ended before 3 children had waited/,
    );
});
