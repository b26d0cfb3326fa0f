import { resolve } from 'node:path';
import { compare } from './goldens/equal.ts';
import { openSide } from './goldens/side.ts';
import { play } from './goldens/story.ts';

/**
 * `node lab/goldens.ts OLD.js NEW.js` plays one story through two builds of the program, and
 * compares every answer and every command's output byte for byte, after what comes from the clock,
 * from chance and from the machine is made equal. Exit code 0 if nothing differs but what
 * goldens/intended.ts names.
 */

const LONGEST_MS = 30 * 60_000;

const [old = '', next = ''] = process.argv.slice(2);
if (process.argv.length !== 4) {
  console.error('Usage: node lab/goldens.ts OLD.js NEW.js');
  process.exit(2);
}
const start = performance.now();
const sides = [old, next].map((program) => openSide(resolve(program)));
const end = () => sides.forEach((side) => side.end());
process.once('exit', end);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
setTimeout(() => {
  console.error(`Not done after ${LONGEST_MS / 60_000} minutes`);
  process.exit(1);
}, LONGEST_MS).unref();
await Promise.all(sides.map(play));
const [one, other] = sides;
const isEqual = one !== undefined && other !== undefined && compare(one, other);
console.log(`The story took ${((performance.now() - start) / 1000).toFixed(0)} s`);
process.exit(isEqual ? 0 : 1);
