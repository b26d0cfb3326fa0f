import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Program, type RunOptions, followProgram } from './program.ts';

/** In a name space of their own, users may mount; on some systems not even there. */
const NAMESPACE = ['--user', '--map-root-user', '--mount'];

/** Why no disk of a chosen size can be had here, or false. */
export const noDisk: string | false = (() => {
  try {
    execFileSync('unshare', [...NAMESPACE, 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], {
      stdio: 'ignore',
    });
    return false;
  } catch {
    return 'this system lets no user mount a disk';
  }
})();

/** Why the size of files cannot be limited here, or false. */
export const noLimits: string | false =
  spawnSync('prlimit', ['--version']).error === undefined ? false : 'there is no prlimit here';

export interface DiskProgram extends Program {
  /** Runs a shell command where the disk is; its folder is `data`. */
  shell(command: string): Promise<void>;
  fill(): Promise<void>;
  free(): Promise<void>;
}

/**
 * Starts the program in a folder whose `data` is a disk of its own: so many kilobytes, in memory,
 * gone with it. Shell commands can be run there before it and after it.
 */
export function startOnDisk(
  t: TestContext,
  args: readonly string[],
  {
    cwd,
    env = {},
    kb,
    before = 'true',
    after = 'true',
  }: RunOptions & { kb: number; before?: string; after?: string },
): DiskProgram {
  mkdirSync(join(cwd, 'data'));
  const script = `
    mount -t tmpfs -o size=${kb}k tmpfs data && ${before} || exit 99
    program="${process.execPath} server.js"
    $program ${args.join(' ')} &
    server=$!
    ( run=0; while read -r command; do eval "$command"; run=$((run + 1)); echo "shell-done $run."; done; kill -KILL $server ) <&3 &
    reader=$!
    wait $server
    code=$?
    { kill -KILL $reader; wait $reader; } 2>/dev/null
    ${after}
    exit $code`;
  const child = spawn('unshare', [...NAMESPACE, 'bash', '-c', script], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true, // a process group, which ends as one
  });
  t.after(() => void (child.exitCode ?? process.kill(-(child.pid as number), 'SIGKILL')));
  const program = followProgram(child);
  let runs = 0;
  const commands = child.stdio[3] as NodeJS.WritableStream;
  const shell = async (command: string) => {
    runs += 1;
    commands.write(`${command}\n`);
    await program.waitFor(new RegExp(`shell-done ${runs}\\.`));
  };
  return {
    ...program,
    shell,
    // Most of it in large pieces, which take a tenth of the time, and the rest to the last
    // kilobyte.
    fill: () =>
      shell(
        '{ dd if=/dev/zero of=data/ballast bs=1M; dd if=/dev/zero of=data/ballast bs=1k oflag=append conv=notrunc; } 2>/dev/null',
      ),
    free: () => shell('rm data/ballast'),
  };
}
