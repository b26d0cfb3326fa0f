import { calibrationPid } from './calibration.ts';
import { availableMb } from './memory.ts';
import { type BenchOptions, type Measurement, run } from './support.ts';
import { endAfter } from './time-limit.ts';
import { measureWaitingChildren } from './waiting-children.ts';

/** How many children; `CHILDREN=200 npm run bench -- thousand` for a smaller machine. */
const CHILDREN = Number(process.env['CHILDREN'] ?? 1_000);
const THINKING_MS = 20_000;
/**
 * What each child takes at its most, and what the machine must keep besides; the bench itself
 * measures the first.
 */
const NEEDED_MB_PER_CHILD = 14;
const KEPT_FREE_MB = 2_000;
const LOOK_MS = 500;
/** The bench ends by itself after this time, whatever still runs. */
const MAX_MS = 9 * 60_000;

/**
 * A thousand children side by side that wait for a slow model, each for half a minute and more: how
 * long status takes meanwhile, and what they cost in memory and descriptors.
 */
export async function* measureThousand(options: BenchOptions): AsyncGenerator<Measurement> {
  const neededMb = CHILDREN * NEEDED_MB_PER_CHILD + KEPT_FREE_MB;
  if (availableMb() < neededMb) {
    const how = `it needs ${neededMb} MB of available memory; there are ${availableMb().toFixed(0)}`;
    yield { what: `${CHILDREN} children side by side`, ours: `not measured: ${how}` };
    return;
  }
  const limit = endAfter(MAX_MS, 'thousand');
  const watch = setInterval(() => {
    if (availableMb() > KEPT_FREE_MB / 2) return;
    console.log('Memory is short: the bench ends');
    process.exit(1);
  }, LOOK_MS).unref();
  const onStart = process.env['PRECEDENCE'] ? takePrecedence : async () => {};
  yield* measureWaitingChildren({
    children: CHILDREN,
    thinkingMs: THINKING_MS,
    tls: false,
    onStart,
    ...options,
  });
  clearInterval(watch);
  clearTimeout(limit);
}

/**
 * Puts the bench, its peers and the service before all other programs on the machine, the service's
 * children not included, if the system allows it: what else runs there is then not in the figures.
 */
async function takePrecedence(pids: readonly number[]): Promise<void> {
  try {
    for (const pid of [process.pid, await calibrationPid(), ...pids])
      await run('chrt', ['--all-tasks', '--reset-on-fork', '--rr', '--pid', '1', String(pid)]);
  } catch {
    console.log('Cannot take precedence over other programs: their load is in the figures');
  }
}
