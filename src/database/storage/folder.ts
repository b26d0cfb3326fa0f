import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../domain.ts';

/**
 * Creates a folder and its missing parents. Node's own recursive option reports a read-only file
 * system as a missing folder.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error; // another process created it first
  }
}
