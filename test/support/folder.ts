import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The names of everything in a folder, those of files with hashes of their contents. */
export function contentOf(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.map(
    (name) =>
      `${name} ${statSync(join(folder, name)).isFile() ? hash('sha256', readFileSync(join(folder, name))) : ''}`,
  );
}

const made: string[] = [];

/**
 * A folder that is removed at the end of this process, also when Ctrl-C or the runner's time limit
 * ends it. That includes a folder that was removed before and came back, because a service that
 * still ran opened its database again.
 */
export function folderOfProcess(prefix = 'tss-'): string {
  if (made.length === 0) {
    process.once('exit', () => made.forEach(remove));
    for (const [signal, number] of [
      ['SIGINT', 2],
      ['SIGTERM', 15],
    ] as const)
      process.once(signal, () => process.exit(128 + number));
  }
  const folder = mkdtempSync(join(tmpdir(), prefix));
  made.push(folder);
  return folder;
}

/** Removes a folder with all that is in it; one that is not there is no error. */
export function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
