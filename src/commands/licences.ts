import { readFileSync } from 'node:fs';

/** The licence texts of this program and everything in it: the comment at the top of the built file. */
export function licences(): string {
  const [, texts = ''] = /^\/\*!\n(.*?)\n\*\/\n/s.exec(readFileSync(import.meta.filename, 'utf8')) ?? [];
  return `${texts}\n`;
}
