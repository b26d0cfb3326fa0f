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
 * ends it. The end of a test would be too early: a service that the test has started may still
 * answer, and then its database would be missing.
 */
export function temporaryFolder(prefix = 'tss-'): string {
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

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
