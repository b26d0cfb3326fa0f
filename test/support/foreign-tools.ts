import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { cleanText } from '../../src/core/text/text.ts';
import { temporaryFolder } from './folder.ts';
import { followProgram } from './program.ts';

/** Options with which npm installs the packages that follow, and nothing else. */
const NPM_INSTALL = 'install --no-audit --no-fund --ignore-scripts --save-exact'.split(' ');

/** pip and npm download and unpack about a hundred packages, on whatever line there is. */
const INSTALL_MS = 300_000;

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

/** The same for a program that asks a server of this process: the event loop turns. */
export async function runAsync(
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<string> {
  const { code, stdout, stderr } = await followProgram(spawn(command, args, options)).ended;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
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

/** The Python of a new environment with these packages; null, with the test skipped, without them. */
export function pythonWith(t: TestContext, packages: readonly string[]): string | null {
  const folder = temporaryFolder();
  const options = ['--quiet', '--disable-pip-version-check', '--retries', '1'];
  const limits = { cwd: folder, timeout: INSTALL_MS };
  const install = () => {
    run('python3', ['-m', 'venv', 'venv'], limits);
    run(join(folder, 'venv/bin/pip'), ['install', ...options, ...packages], limits);
  };
  return canInstall(t, packages.join(', '), install) ? join(folder, 'venv/bin/python') : null;
}

/** A new folder with these packages of npm; null, with the test skipped, without them. */
export function folderWith(t: TestContext, packages: readonly string[]): string | null {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const install = () =>
    run('npm', [...NPM_INSTALL, ...packages], { cwd: folder, timeout: INSTALL_MS });
  return canInstall(t, packages.join(', '), install) ? folder : null;
}
