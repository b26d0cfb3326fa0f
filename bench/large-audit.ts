import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { millisecondsOfAudit } from './audit.ts';
import { describePairs } from './figure.ts';
import { HUNDRED_THOUSAND, LARGE, type Size, folderWith, positionsOf } from './large-database.ts';
import { mean } from './paired.ts';
import type { BenchOptions, Measurement } from './support.ts';
import { endAfter } from './time-limit.ts';
import { type WatchedServer, startWatched } from './watched.ts';
import { measureWatched } from './watched-figure.ts';

/**
 * The client leaves after LONGEST_MS, and the bench ends by itself after MAX_MS. Making the
 * databases does not count.
 */
const LONGEST_MS = 7 * 60_000;
const MAX_MS = 9 * 60_000;
/** An audit that takes longer logs its progress, every five seconds. */
const LOGS_AFTER_MS = 12_000;
/** Audits of the small database before the large one, and as many after it. */
const SMALL_AUDITS = 3;
/**
 * The time per position may grow by this factor: more of a small database is in the processor's own
 * memory.
 */
const AIMS = [{ below: 1.2 }];

/**
 * An audit of ten million positions to its end: its time per position against that of a small one,
 * its progress, and who waits for it.
 */
export async function* measureLargeAudit(options: BenchOptions): AsyncGenerator<Measurement> {
  const what = `/audit of ${positionsOf(LARGE).toLocaleString('en-US')} positions`;
  if (options.self)
    return yield {
      what,
      ours: 'not measured against itself: `audit` is, in a fraction of the time',
    };
  const folders = { small: folderWith(HUNDRED_THOUSAND), large: folderWith(LARGE) };
  const limit = endAfter(MAX_MS, 'large-audit');
  const small = await startWatched(folders.small, options);
  const watched = await startWatched(folders.large, options);
  const progress = watchProgress(watched.server.process);
  await auditOften(small, 1); // programs become faster while they are new
  const before = await auditOften(small, SMALL_AUDITS);
  let ms: number | null = null;
  const work = async () => {
    ms = await millisecondsOfAudit(
      watched.server,
      positionsOf(LARGE),
      AbortSignal.timeout(LONGEST_MS),
    ).catch(nullIfTimeout);
  };
  yield await measureWatched(what, watched, { work, bounds: { maxPairs: 1 }, ...options });
  const after = await auditOften(small, SMALL_AUDITS);
  yield describeTime(what, { ms, small: mean([...before, ...after]) });
  yield describeProgress(what, progress, ms);
  clearTimeout(limit);
  await small.stop();
  await watched.stop();
}

function nullIfTimeout(error: Error): null {
  if (error.name === 'TimeoutError') return null;
  throw error;
}

/**
 * Audits the small database, beside the same health checks as the large one. Resolves to the
 * milliseconds that each audit took.
 */
async function auditOften({ server, watch }: WatchedServer, times: number): Promise<number[]> {
  const audit = () => millisecondsOfAudit(server, positionsOf(HUNDRED_THOUSAND));
  const taken: number[] = [];
  while (taken.length < times) taken.push((await watch(audit)).result);
  return taken;
}

/** Null for an audit that did not end in its time. */
function describeTime(
  what: string,
  { ms, small }: { ms: number | null; small: number },
): Measurement {
  if (ms === null)
    return {
      what,
      ours: `did not end within ${LONGEST_MS / 1000} s`,
      aims: [{ aim: 'to its end', isMet: false }],
    };
  const microsecondsEach = (time: number, size: Size) => (time / positionsOf(size)) * 1_000;
  const pair = {
    ours: microsecondsEach(ms, LARGE),
    peer: microsecondsEach(small, HUNDRED_THOUSAND),
  };
  const peer = `of ${positionsOf(HUNDRED_THOUSAND).toLocaleString('en-US')}, mean of ${2 * SMALL_AUDITS}`;
  return describePairs(
    {
      what: `${what} to its end in ${(ms / 1000).toFixed(0)} s: time of one`,
      unit: 'µs',
      peer,
      aims: AIMS,
    },
    [pair],
  );
}

/**
 * Collects the progress that the server logs during an audit: how many model-days it has
 * recomputed, and of how many.
 */
function watchProgress({ stderr }: ChildProcess): { done: number; total: number }[] {
  const seen: { done: number; total: number }[] = [];
  if (stderr === null) return seen;
  createInterface({ input: stderr }).on('line', (line) => {
    const [, done, total] = /"the audit [^"]*".*?"done":(\d+),"total":(\d+)/.exec(line) ?? [];
    if (done !== undefined) seen.push({ done: Number(done), total: Number(total) });
  });
  return seen;
}

/**
 * Progress is seen when it grows from line to line, up to all model-days of an audit that has
 * ended. A short one logs none.
 */
function describeProgress(
  what: string,
  seen: readonly { done: number; total: number }[],
  ms: number | null,
): Measurement {
  const grows = seen.every(({ done }, index) => done > (seen[index - 1]?.done ?? 0));
  const last = seen.at(-1);
  const isWhole = ms === null || last?.done === last?.total;
  const ours = `${seen.length} lines of the log, the last at ${last?.done ?? 0} of ${last?.total ?? 0} model-days`;
  const isShort = ms !== null && ms < LOGS_AFTER_MS;
  const aims = isShort
    ? []
    : [{ aim: 'it grows up to the end', isMet: seen.length > 0 && grows && isWhole }];
  return { what: `${what}: progress`, ours, aims };
}
