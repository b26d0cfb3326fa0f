import { aimsFor } from './aims.ts';
import { calibrate } from './calibration.ts';
import { ITSELF, describePairs } from './figure.ts';
import { BOUNDS, type Bounds, takePairs } from './paired.ts';
import { BARE_HEALTH, LONGEST_HEALTH_MS } from './responses.ts';
import type { BenchOptions, Measurement } from './support.ts';
import type { Watched, WatchedServer } from './watched.ts';

/** The longest turn of the server's event loop, in processor time. */
const TURN_AIM_MS = 50;
const MEMORY_AIM_MB = 200;

/** How a watched figure is taken. */
interface Watching<Result> extends Describing<Result> {
  work: () => Promise<Result>;
  /** Before and after the work of each round, without being watched. */
  before?: () => Promise<unknown>;
  after?: () => Promise<unknown>;
  bounds: Partial<Bounds>;
}

interface Describing<Result> extends BenchOptions {
  memoryAimMb?: number;
  /** What else the work found. */
  describe?: (results: readonly Result[]) => string;
}

/**
 * The longest /health beside some work, the longest turn and the peak of memory: all from the same
 * rounds, each of which is a pair.
 */
export async function measureWatched<Result>(
  what: string,
  { watch }: Pick<WatchedServer, 'watch'>,
  {
    work,
    before = async () => {},
    after = async () => {},
    bounds,
    ...describing
  }: Watching<Result>,
  run = calibrate,
): Promise<Measurement> {
  const rounds: Watched<Result>[] = [];
  const calibrations: number[] = [];
  const take = async () => {
    await before();
    const round = await watch(work);
    rounds.push(round);
    await after();
    calibrations.push(await run());
    return round.longest;
  };
  await takePairs(take, { ...BOUNDS, warmUpMs: 0, ...bounds });
  return describeWatched(what, rounds, { calibrations, ...describing });
}

function describeWatched<Result>(
  what: string,
  rounds: readonly Watched<Result>[],
  {
    calibrations,
    memoryAimMb = MEMORY_AIM_MB,
    describe = () => '',
    self,
  }: Describing<Result> & { calibrations: readonly number[] },
): Measurement {
  const peer = self ? ITSELF : BARE_HEALTH;
  const figure = {
    what: `${what}: longest /health`,
    unit: 'ms',
    peer,
    aims: aimsFor(LONGEST_HEALTH_MS),
    isLongest: true,
  };
  const pairs = rounds.map(({ longest }) => longest);
  const { ours, aims = [], ...measurement } = describePairs(figure, pairs, { calibrations });
  // Other work on the machine lengthens neither, so the most of all rounds counts.
  const turnMs = Math.max(...rounds.map((round) => round.turnMs));
  const peakMb = Math.max(...rounds.map((round) => round.peakMb));
  const turn = {
    aim: `turns < ${TURN_AIM_MS} ms of processor time; the longest takes ${turnMs.toFixed(0)}`,
    isMet: turnMs < TURN_AIM_MS,
  };
  const memory = {
    aim: `peak memory < ${memoryAimMb} MB; it is ${peakMb.toFixed(0)}`,
    isMet: peakMb < memoryAimMb,
  };
  return {
    ...measurement,
    ours: `${ours}${describe(rounds.map(({ result }) => result))}`,
    aims: [...aims, turn, memory],
  };
}
