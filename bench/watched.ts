import { once } from 'node:events';
import { type Builds, measure, rowOf } from './figure.ts';
import type { Checks } from './health-checks.ts';
import { startHelper } from './helper.ts';
import { type Bounds, type Pair, type Slice, inTurn } from './paired.ts';
import { BARE_SERVER, serveSameBytes } from './peers.ts';
import { peakMemoryMb } from './proc.ts';
import { type Server, type ServerOptions, startServer } from './support.ts';

/** A service that is watched: from outside by health checks, from inside by a probe. */

/** Loaded before the program. Answers a message with the longest turn of the event loop since. */
const PROBE = `if (process.channel) { // and not in a reader thread
  let longest = 0;
  const processorNow = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let before = processorNow();
  const look = () => {
    const now = processorNow();
    longest = Math.max(longest, now - before);
    before = now;
  };
  setInterval(look, 1).unref();
  process.on('message', () => {
    look();
    process.send(longest);
    longest = 0;
  });
  process.channel.unref();
}`;
const AIM_MS = 50;
const MEMORY_AIM_MB = 200;

export interface Watched {
  server: Server;
  /**
   * Works; resolves to the longest /health of the server and of a bare one, and the longest turn.
   */
  watch(work: () => Promise<unknown>): Promise<Pair & { turnMs: number }>;
  stop(): Promise<void>;
}

/** A service, and that of the build before. */
export interface Sides {
  ours: Watched;
  before?: Watched | undefined;
}

export async function startWatched(build: string, options: ServerOptions): Promise<Watched> {
  const probe = `data:text/javascript,${encodeURIComponent(PROBE)}`;
  const server = await startServer(build, { ...options, probe });
  const ours = `${server.url}/health`;
  const bare = await serveSameBytes(ours);
  const checks = startHelper<Checks>('./health-checks.ts');
  const longestTurn = async () => {
    const told = once(server.process, 'message');
    server.process.send('look');
    return (await told)[0] as number;
  };
  return {
    server,
    async watch(work) {
      await longestTurn();
      await checks.ask({ urls: { ours, peer: bare.url } });
      await work();
      const longest: Pair = await checks.ask({});
      return { ...longest, turnMs: await longestTurn() };
    },
    async stop() {
      checks.stop();
      await bare.stop();
      await server.stop();
    },
  };
}

/**
 * What is measured round by round; what the work resolves to are further figures, in these units.
 */
export interface Rounds {
  what: string;
  prepare?(watched: Watched): Promise<void>;
  work(watched: Watched): Promise<number[]>;
  units?: readonly string[];
  bounds: Partial<Bounds>;
}

/** The longest /health and the longest turn beside some work. */
export async function* measureWatched(
  builds: Builds,
  { ours, before }: Sides,
  { what, prepare, work, units = [], bounds }: Rounds,
): AsyncGenerator<string> {
  let bareMs = NaN;
  const sliceOf =
    (watched: Watched): Slice =>
    async () => {
      let found: number[] = [];
      await prepare?.(watched);
      const longest = await watched.watch(async () => (found = await work(watched)));
      bareMs = longest.peer;
      return [longest.ours, longest.turnMs, ...found];
    };
  const bare = async () => [bareMs]; // of the same round
  const alone = (slice: Slice) => () => inTurn(slice, bare)(0);
  const slice = sliceOf(ours);
  const take = before === undefined ? alone(slice) : inTurn(slice, sliceOf(before));
  const health = `${what}: longest \`/health\``;
  const figures = [
    { what: health, unit: 'ms', peer: BARE_SERVER, aim: { above: AIM_MS } },
    { what: `${what}: longest turn`, unit: 'ms of processor time', aim: { atMost: AIM_MS } },
    ...units.map((unit) => ({ what, unit })),
  ];
  yield* measure(builds, figures, { take, bounds });
}

/** A row with the most memory that a service has had so far. */
export function peakMemoryOf(builds: Builds, { ours, before }: Sides): string {
  const mbOf = (one?: Watched) => (one === undefined ? NaN : peakMemoryMb(one.server.pid));
  const figure = { what: 'peak memory of all this', unit: 'MB', aim: { atMost: MEMORY_AIM_MB } };
  return rowOf(figure, [{ ours: mbOf(ours), peer: mbOf(before) }], builds);
}
