import { readFileSync } from 'node:fs';
import { isExecutable, readAsset } from '../executable.ts';

/**
 * The licence texts of this program and everything in it: the comment at the top of the built file.
 * The executable, which contains Node too, has them as an asset.
 */
export function licences(): string {
  if (isExecutable) return readAsset('LICENCES');
  const [, texts = ''] =
    /^\/\*!\n(.*?)\n\*\/\n/s.exec(readFileSync(import.meta.filename, 'utf8')) ?? [];
  return `${texts}\n`;
}
