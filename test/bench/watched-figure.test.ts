import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureWatched } from '../../bench/watched-figure.ts';
import type { WatchedServer } from '../../bench/watched.ts';

/** Figures of a server that is watched, without a server: what each round found is made up. */

const ROUNDS = [
  { turnMs: 12.4, peakMb: 90, longest: { ours: 10, peer: 5 } },
  { turnMs: 49.6, peakMb: 150, longest: { ours: 60, peer: 20 } },
  { turnMs: 3, peakMb: 120, longest: { ours: 20, peer: 4 } },
];

/** Watches work as a server would, and finds each round in turn. */
function watchedInTurn(events: string[]): Pick<WatchedServer, 'watch'> {
  const rounds = ROUNDS.values();
  return {
    async watch(work) {
      events.push('watch');
      const result = await work();
      events.push('look');
      const { value } = rounds.next();
      assert(value !== undefined);
      return { result, ...value };
    },
  };
}

const BOUNDS = { minPairs: 3, maxPairs: 3 };

test('the longest /health of all rounds counts, and so do the longest turn and the highest peak, each against its own aim', async () => {
  const work = async () => 'a response';
  const describe = (results: readonly string[]) => `; ${results.length} of ${results.at(-1)}`;
  const watching = { work, bounds: BOUNDS, describe, self: false };
  const calibrations = [20, 40, 30].values();
  const calibrate = async () => calibrations.next().value ?? NaN;
  assert.deepEqual(await measureWatched('some work', watchedInTurn([]), watching, calibrate), {
    what: 'some work: longest /health, ms',
    ours: '20.0 where the calibration takes 30.0; 3 of a response',
    peer: '5.00 (bare node:http, same bytes, asked in turn)',
    ratio: 'median 3.00, min 2.00, max 5.00, 3 pairs, too few for an interval',
    aims: [
      { aim: '< 50 ms more than the peer; it is 16.0 ms', isMet: true },
      { aim: '< 50 ms here and now; it is 60.0 ms', isMet: false },
      { aim: 'turns < 50 ms of processor time; the longest takes 50', isMet: true },
      { aim: 'peak memory < 200 MB; it is 150', isMet: true },
    ],
  });
  const stricter = await measureWatched(
    'some work',
    watchedInTurn([]),
    { ...watching, memoryAimMb: 150 },
    async () => 20,
  );
  assert.deepEqual(stricter.aims?.at(-1), { aim: 'peak memory < 150 MB; it is 150', isMet: false });
});

test('the same build beside itself has one aim for the longest /health, and turns and memory are judged as ever', async () => {
  const { peer, aims } = await measureWatched(
    'some work',
    watchedInTurn([]),
    { work: async () => {}, bounds: BOUNDS, self: true },
    async () => 20,
  );
  assert.equal(peer, '5.00 (the same build)');
  assert.deepEqual(
    aims?.map(({ isMet }) => isMet),
    [false, true, true],
  );
});

test('what prepares a round and what ends it is not watched, and neither is the calibration', async () => {
  const events: string[] = [];
  const note = (event: string) => async () => void events.push(event);
  const watching = {
    before: note('before'),
    work: note('work'),
    after: note('after'),
    bounds: { maxPairs: 2 },
    self: false,
  };
  await measureWatched(
    'some work',
    watchedInTurn(events),
    watching,
    async () => (events.push('calibrate'), 20),
  );
  const round = ['before', 'watch', 'work', 'look', 'after', 'calibrate'];
  assert.deepEqual(events, [...round, ...round]);
});
