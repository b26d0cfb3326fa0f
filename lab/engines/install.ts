import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/** Where Debian puts programs; daemons lie in the folders of the superuser. */
export const ENGINE_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
const env = {
  PATH: ENGINE_PATH,
  HOME: process.env['HOME'] ?? '/',
  DEBIAN_FRONTEND: 'noninteractive',
};

interface Tools {
  programs: string[];
  /** Debian's packages with these programs. */
  packages: string[];
}

/** Whether programs are there, installed where apt allows it; else skips the test and names them. */
export function hasEngine(t: TestContext, tools: Tools): boolean {
  const reason = installTools(tools);
  if (reason !== null) t.skip(reason);
  return reason === null;
}

/** Installs programs that are missing; returns why that failed, or null when all are there. */
export function installTools({ programs, packages }: Tools): string | null {
  const missing = () => programs.filter((name) => spawnSync('which', [name], { env }).status !== 0);
  if (process.getuid?.() !== 0)
    return `${packages.join(', ')} can be installed and started only by root`;
  if (missing().length > 0) {
    spawnSync('apt-get', ['update'], { env });
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { env });
  }
  if (missing().length === 0) return null;
  return `${packages.join(', ')} cannot be installed here: ${missing().join(', ')} missing`;
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
