import { hash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The names of everything in a folder, those of files with hashes of their contents. */
export function contentOf(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => `${name} ${statSync(join(folder, name)).isFile() ? hash('sha256', readFileSync(join(folder, name))) : ''}`);
}
