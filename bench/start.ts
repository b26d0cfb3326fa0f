import { statSync } from 'node:fs';
import { type Builds, measure, rowOf } from './figure.ts';
import { type Slice, inTurn } from './paired.ts';
import { runEmpty } from './peers.ts';
import { endedChildrenMs, processorMs } from './proc.ts';
import { ask, startServer } from './support.ts';

/** Starts of one slice: where a process has ended, the system counts its time in steps of 10 ms. */
const STARTS = 5;

/** To the first healthy response on an existing database, beside the whole life of `node -e 0`. */
export async function* measureStart(builds: Builds): AsyncGenerator<string> {
  const ours = await startsOf(builds.now);
  const rival = builds.before === undefined ? emptyStarts : await startsOf(builds.before);
  const what = 'start to first healthy response';
  const figure = { what, peer: '`node -e 0`', aim: { below: 2 } };
  const figures = [
    { ...figure, unit: 'ms' },
    { ...figure, unit: 'ms of processor time' },
  ];
  yield* measure(builds, figures, { take: inTurn(ours, rival), bounds: { maxMs: 60_000 } });
  const mbOf = (build?: string) => (build === undefined ? NaN : statSync(build).size / 1e6);
  const sizes = { ours: mbOf(builds.now), peer: mbOf(builds.before) };
  yield rowOf({ what: 'size of the program', unit: 'MB' }, [sizes], builds);
}

async function startsOf(build: string): Promise<Slice> {
  const { folder, stop } = await startServer(build); // makes the database
  await stop();
  return severalTimes(async () => {
    const startedAt = performance.now();
    const server = await startServer(build, { folder });
    await ask(`${server.url}/health`);
    const taken = [performance.now() - startedAt, processorMs(server.pid)];
    await server.stop();
    return taken;
  });
}

const emptyStarts = severalTimes(async () => {
  const startedAt = performance.now();
  const before = endedChildrenMs();
  await runEmpty();
  return [performance.now() - startedAt, endedChildrenMs() - before];
});

/** The means of several starts. */
function severalTimes(work: Slice): Slice {
  return async () => {
    const taken: number[][] = [];
    while (taken.length < STARTS) taken.push(await work());
    const sum = (figure: number) => taken.reduce((total, own) => total + (own[figure] ?? NaN), 0);
    return [sum(0) / STARTS, sum(1) / STARTS];
  };
}
