import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/** Where Debian puts programs; daemons lie in the folders of the superuser. */
export const ENGINE_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
const env = {
  PATH: ENGINE_PATH,
  HOME: process.env['HOME'] ?? '/',
  DEBIAN_FRONTEND: 'noninteractive',
};

/**
 * Whether programs are there, installed from Debian's packages where apt allows it; else skips the
 * test and names them.
 */
export function hasEngine(
  t: TestContext,
  { programs, packages }: { programs: string[]; packages: string[] },
): boolean {
  const missing = () => programs.filter((name) => spawnSync('which', [name], { env }).status !== 0);
  if (process.getuid?.() !== 0) {
    t.skip(`${packages.join(', ')} can be installed and started only by root`);
    return false;
  }
  if (missing().length > 0) {
    spawnSync('apt-get', ['update'], { env });
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { env });
  }
  if (missing().length === 0) return true;
  t.skip(`${packages.join(', ')} cannot be installed here: ${missing().join(', ')} missing`);
  return false;
}

/**
 * Runs a command of an engine to its end; returns what it printed. Throws with what it wrote when
 * it fails.
 */
export function engine(
  command: string,
  args: readonly string[],
  more: Record<string, string> = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    env: { ...env, ...more },
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`);
  return stdout.trim();
}
