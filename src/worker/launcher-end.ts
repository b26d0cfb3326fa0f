import type { ChildProcess } from 'node:child_process';

/**
 * A launcher: the command of MODEL_DAY_COMMAND, which runs a model-day somewhere else and carries
 * its stdin and stdout.
 */
export interface Launcher {
  /** What errors call it: its program without the folder. */
  name: string;
  times: LauncherTimes;
}

/**
 * How long a launcher may take to end. Together they stay below the time in which the service shuts
 * down (`commands/serve.ts`).
 */
export interface LauncherTimes {
  /**
   * From the end of its stdin to TERM. The child exits at the end of stdin, and the launcher cleans
   * up behind it.
   */
  termAfterMs: number;
  /** From TERM to KILL. */
  killAfterMs: number;
  /**
   * From KILL until nothing is expected of it any more: a process that waits in the kernel cannot
   * be killed.
   */
  giveUpAfterMs: number;
  /**
   * From its exit to the end of its output, which a process that it left in the background can hold
   * open.
   */
  drainMs: number;
}

/** The times of the service; tests have shorter ones. */
export const launcherTimes: LauncherTimes = {
  termAfterMs: 3_000,
  killAfterMs: 3_000,
  giveUpAfterMs: 2_000,
  drainMs: 1_000,
};

/**
 * Ends a launcher, after a success too: closes its stdin, then sends TERM, then KILL. Its output is
 * read until it exits, because a launcher that may not write any more would die before it has
 * cleaned up. Calls `onGivenUp` when not even KILL ends it.
 */
export function endLauncher(
  child: ChildProcess,
  times: LauncherTimes,
  onGivenUp: () => void,
): void {
  if (child.exitCode !== null || child.signalCode !== null) return closeOutput(child);
  child.stdin?.destroy(); // what the launcher has not read yet must not delay the end
  const steps: [afterMs: number, step: () => void][] = [
    [times.termAfterMs, () => child.kill('SIGTERM')],
    [times.killAfterMs, () => child.kill('SIGKILL')],
    [times.giveUpAfterMs, () => (closeOutput(child), onGivenUp())],
  ];
  let timer: NodeJS.Timeout;
  const next = () => {
    const [afterMs, step] = steps.shift() ?? [];
    if (step !== undefined) timer = setTimeout(() => (step(), next()), afterMs);
  };
  next();
  child.once('exit', () => {
    clearTimeout(timer);
    closeOutput(child);
  });
}

/**
 * Bounds the time from a launcher's exit to the end of its output, whose last lines may be the
 * outcome.
 */
export function boundOutput(child: ChildProcess, { drainMs }: LauncherTimes): void {
  child.once('exit', () => {
    const timer = setTimeout(() => closeOutput(child), drainMs);
    child.once('close', () => clearTimeout(timer));
  });
}

function closeOutput({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}
