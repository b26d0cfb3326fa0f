import { readFileSync } from 'node:fs';

/** The licence texts of this program and of everything inside it: the comment with which the built file begins. */
export function licences(): string {
  const [, texts = ''] = /^\/\*!\n(.*?)\n\*\/\n/s.exec(readFileSync(import.meta.filename, 'utf8')) ?? [];
  return `${texts}\n`;
}
