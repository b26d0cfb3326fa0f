import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { intended } from './intended.ts';
import type { Entry, Side } from './side.ts';

/** Makes what must differ between two programs equal, and says what else does. */

/**
 * In this order. Each is what comes from the clock, from chance or from the machine, and from
 * nothing that the program computes.
 */
const made: readonly [pattern: RegExp, to: string][] = [
  [/\d{4}-\d\d-\d\dT\d\d[:-]?\d\d[:-]?\d\d(\.\d+|-\d{3})?Z/g, '<time>'],
  [/("total_duration_seconds": ?|"\w*[sS]econds": ?|"\w*[mM]s": ?)\d+(\.\d+)?/g, '$1<duration>'],
  [/(<time>,<time>,<time>,)[\d.]+/g, '$1<duration>'], // of a job as CSV
  [/(127\.0\.0\.1|localhost):\d+/g, '$1:<port>'],
  [/"port":\d+/g, '"port":<port>'],
  [/\breaches port \d+/g, 'reaches port <port>'],
  [/\bafter \d+(\.\d+)? s\b/g, 'after <duration>'],
  // The size of a database depends on its schema and on how SQLite fills its pages, and neither is
  // a promise.
  [/\b\d[\d,.]* (kB|MB)\b/g, '<size>'],
];

/** All entries with ids as numbers, in the order in which they appear first. */
function normalise({ entries, root }: Side): Map<string, string> {
  const ids = new Map<string, number>();
  const numbered = (id: string) => `<id ${ids.get(id) ?? (ids.set(id, ids.size + 1), ids.size)}>`;
  const equal = (text: string) =>
    made
      .reduce((rest, [pattern, to]) => rest.replace(pattern, to), text.replaceAll(root, '<folder>'))
      .replace(/(?<![0-9a-f])[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, numbered);
  const counts = new Map<string, number>();
  return new Map(
    entries.map(({ where, text }: Entry) => {
      const name = equal(where);
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return [count === 1 ? name : `${name} (${count})`, equal(text)];
    }),
  );
}

/** Lines of a difference that are shown for one entry. */
const SHOWN_LINES = 40;
const NOTHING = '(not asked of this program)';

/**
 * Prints every difference; returns whether all of them are intended, and all that is intended was
 * found.
 */
export function compare(old: Side, next: Side): boolean {
  const [before, after] = [normalise(old), normalise(next)];
  const all = [...new Set([...before.keys(), ...after.keys()])];
  const different = all.filter((where) => before.get(where) !== after.get(where));
  const isIntended = (where: string) =>
    intended.some(({ where: places, part }) => {
      if (!places.test(where) || part === undefined) return places.test(where);
      const [one, other] = [before, after].map((all) => all.get(where)?.replace(part, ''));
      return one === other;
    });
  const wrong = different.filter((where) => !isIntended(where));
  const idle = intended.filter((row) => !different.some((where) => row.where.test(where)));
  for (const where of wrong) {
    const lines = diff(old.root, before.get(where) ?? NOTHING, after.get(where) ?? NOTHING);
    const more = lines.length > SHOWN_LINES ? [`... ${lines.length - SHOWN_LINES} more lines`] : [];
    console.log([`\n=== ${where}`, ...lines.slice(0, SHOWN_LINES), ...more].join('\n'));
  }
  for (const { where, why } of idle)
    console.log(`\nIntended, but nothing differs: ${where} (${why})`);
  const sizes = [...before.values()].reduce((sum, text) => sum + text.length, 0);
  const counts = `${wrong.length} differ, ${different.length - wrong.length} more as intended`;
  console.log(`\n${all.length} answers of ${(sizes / 1e6).toFixed(1)} MB compared: ${counts}`);
  return wrong.length + idle.length === 0;
}

/** The lines that differ, with their neighbours. JSON is unfolded, unless only its form differs. */
function diff(folder: string, one: string, other: string): string[] {
  const unfolded = [one, other].map(unfold);
  const texts = unfolded[0] === unfolded[1] ? [one, other] : unfolded;
  const files = texts.map((text, index) => {
    const path = join(folder, index === 0 ? 'old.txt' : 'new.txt');
    writeFileSync(path, `${text}\n`);
    return path;
  });
  const { stdout } = spawnSync('diff', ['-U2', ...files], { encoding: 'utf8', maxBuffer: 1e9 });
  return stdout.split('\n').slice(2, -1);
}

/** The body of an answer, and every line of a log, one field per line. */
function unfold(text: string): string {
  return text
    .split('\n')
    .map((line) => (/^[[{]/.test(line) ? pretty(line) : line))
    .join('\n');
}

function pretty(line: string): string {
  try {
    // The marks that stand where numbers were are no JSON.
    return JSON.stringify(JSON.parse(line.replace(/:<(\w+)>/g, ':"<$1>"')), null, 1);
  } catch {
    return line;
  }
}
