import { readFileSync } from 'node:fs';
import { isExecutable, readAsset } from '../executable.ts';

/**
 * The licence texts of this program and everything in it: the comment at the top of the built file. The executable contains
 * Node too.
 */
export function licences(): string {
  const program = isExecutable ? readAsset('server.js') : readFileSync(import.meta.filename, 'utf8');
  const [, texts = ''] = /^\/\*!\n(.*?)\n\*\/\n/s.exec(program) ?? [];
  const node = isExecutable ? ['Node.js, included here under this licence:', readAsset('NODE-LICENSE').trim()] : [];
  return `${[texts, ...node].join('\n\n')}\n`;
}
