import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { cleanText } from '../../src/core/text/text.ts';

/** Options with which npm installs the packages that follow, and nothing else. */
export const NPM_INSTALL = 'install --no-audit --no-fund --ignore-scripts --save-exact'.split(' ');

export interface RunOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  timeout?: number;
}

/** Runs a program to its end. Throws with what it wrote when it fails. */
export function run(command: string, args: readonly string[], options: RunOptions): string {
  const ended = spawnSync(command, args, { ...options, encoding: 'utf8' });
  const { status, stdout, stderr, error } = ended;
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`);
  return stdout;
}

/**
 * Installs third-party programs from their registries. Where that fails, the test is skipped, and
 * the reason names the programs and the error.
 */
export function canInstall(t: TestContext, tools: string, install: () => void): boolean {
  try {
    install();
    return true;
  } catch (error) {
    t.skip(`${tools} cannot be had: ${cleanText((error as Error).message).slice(-300)}`);
    return false;
  }
}
