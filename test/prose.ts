import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Finds structures in the documents that are hard to read. CONTRIBUTING.md has the rules of style.
 * It looks at structures rather than at words, so that no sentence is fixed by a check. Prints what
 * it finds and exits with 1. Takes paths of pages; the default is all of them.
 */

const ROOT = new URL('..', import.meta.url).pathname;
const MAX_CELL_WORDS = 25;
const MAX_PARAGRAPH_LINKS = 3;
const MAX_WORDS = { 'README.md': 450, all: 24_000 };

/** Made by `npm run docs`, so they cannot drift; they do not count against the words. */
const GENERATED = /^<!-- Generated /;

const structures: [pattern: RegExp, better: string][] = [
  [/\b(What|Where|Who) [^.?]{3,40} (is|are) (never|not|refused|left)\b/, 'name the thing'],
  [/\b(by|with|for|of|in) which\b/, 'two short sentences'],
  [/\bone (below|above|of|written)\b/, 'repeat the noun'],
  [/\b(has|have) (every|the) (reason|command|sentence)\b/, 'lists, returns, prints'],
  [/\bbeside\b/, 'next to, together with'],
  [/\bcounts? as\b/, 'is treated as, is'],
];

const countWords = (text: string) => text.split(/\s+/).filter(Boolean).length;
const countLinks = (text: string) => text.match(/\]\([^)]+\)/g)?.length ?? 0;

/** What a reader reads: without comments and code blocks, code and targets of links as one word. */
function proseOf(text: string): string {
  return text.replaceAll(/<!--[^]*?-->/g, '').replaceAll(/^( *)```[^]*?^\1```$/gm, '');
}

function findIn(path: string, text: string): string[] {
  const prose = proseOf(text);
  const plain = prose.replaceAll(/`[^`\n]+`/g, 'code');
  const blocks = prose.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|#+) )/);
  const cells = plain
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => line.split(/(?<!\\)\|/));
  return [
    ...structures.flatMap(([pattern, better]) =>
      [...plain.matchAll(new RegExp(pattern, 'g'))].map(([found]) => `"${found}": ${better}`),
    ),
    ...cells
      .filter((cell) => countWords(cell) > MAX_CELL_WORDS)
      .map((cell) => `a cell of ${countWords(cell)} words: "${cell.trim().slice(0, 60)}…"`),
    ...blocks
      .filter((block) => !block.startsWith('|') && countLinks(block) > MAX_PARAGRAPH_LINKS)
      .map((block) => `${countLinks(block)} links in "${block.trim().slice(0, 60)}…"`),
  ].map((problem) => `${path}: ${problem}`);
}

const everyPage = ['*.md', 'bench/*.md', 'docs/**/*.md', 'examples/**/*.md'];
const paths = process.argv.length > 2 ? process.argv.slice(2) : globSync(everyPage, { cwd: ROOT });
const pages = paths.sort().map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
const written = pages.filter(({ text }) => !GENERATED.test(text));
const words = new Map(written.map(({ path, text }) => [path, countWords(text)]));
const all = [...words.values()].reduce((sum, one) => sum + one, 0);
const problems = pages.flatMap(({ path, text }) => findIn(path, text));
for (const [path, count] of [...words, ['all', all] as const]) {
  const most = MAX_WORDS[path as keyof typeof MAX_WORDS] ?? Infinity;
  if (count > most) problems.push(`${path}: ${count} words, at most ${most}`);
}
console.log(
  process.argv.length > 2
    ? [...words].map((one) => one.join(': ')).join('\n')
    : `documents: ${all} words`,
);
for (const problem of problems) console.log(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
