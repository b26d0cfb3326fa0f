import { once } from 'node:events';
import { type BareServer, startSameBytes } from './bare-server.ts';
import { type Client, startClient } from './client.ts';
import { peakMemoryMb, resetPeakMemory } from './memory.ts';
import type { Pair } from './paired.ts';
import { startHealthChecks } from './responses.ts';
import {
  type BenchOptions,
  type Server,
  type ServerOptions,
  pidOf,
  startServer,
} from './support.ts';

/**
 * A server that is watched while it serves requests: from outside by health checks, from inside by
 * a probe.
 */

/**
 * Loaded into the server before its program. A message asks for the longest turn since the last
 * message.
 */
const PROBE = `
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
    process.send({ longest });
    longest = 0;
  });
  process.channel.unref();`;

/** What the server did while some work ran. */
export interface Watched<Result> {
  result: Result;
  /**
   * The most processor time that its thread used in one turn of its event loop, in milliseconds, to
   * about one: what another request waits on a machine that does nothing else. Other work adds next
   * to nothing to it.
   */
  turnMs: number;
  /** The longest /health of the server and of its peer. */
  longest: Pair;
  peakMb: number;
}

export interface WatchedServer {
  server: Server;
  bare: BareServer;
  client: Client;
  watch<Result>(work: () => Promise<Result>): Promise<Watched<Result>>;
  stop(): Promise<void>;
}

export async function startWatched(
  folder: string,
  options: BenchOptions,
  {
    models = ['model-0'],
    ...own
  }: { models?: readonly string[] } & Omit<ServerOptions, 'folder' | 'probe'> = {},
): Promise<WatchedServer> {
  const server = await startServer(models, {
    ...own,
    folder,
    probe: `data:text/javascript,${encodeURIComponent(PROBE)}`,
  });
  const bare = await startSameBytes(`${server.url}/health`);
  const client = startClient();
  const checks = startHealthChecks({ server, bare, ...options });
  const pid = pidOf(server.process);
  return {
    server,
    bare,
    client,
    async watch(work) {
      await longestTurn(server);
      resetPeakMemory(pid);
      const { result, longest } = await checks.beside(work);
      return { result, longest, turnMs: await longestTurn(server), peakMb: peakMemoryMb(pid) };
    },
    async stop() {
      checks.stop();
      client.stop();
      bare.stop();
      await server.stop();
    },
  };
}

async function longestTurn({ process: child }: Server): Promise<number> {
  const answered = once(child, 'message') as Promise<[{ longest: number }]>;
  child.send('look');
  return (await answered)[0].longest;
}
