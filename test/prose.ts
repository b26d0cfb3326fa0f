import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { literalsOf } from './support/literals.ts';

/**
 * Finds structures in the documents and in the program's messages that are hard to read.
 * CONTRIBUTING.md has the rules of style. It looks at structures rather than at words, so that no
 * sentence is fixed by a check. Prints what it finds and exits with 1. Takes paths of pages; the
 * default is all of them, and the string literals of src.
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
  [/\bone (of|below|above|written)\b/, 'repeat the noun'],
  [/\b(has|have) (every|the) (reason|command|sentence)\b/, 'lists, returns, prints'],
  [/\bbeside\b/, 'next to, together with'],
  [/\bcounts? as\b/, 'is treated as, is'],
];

/** A message may well say "must be one of". */
const messageStructures = structures.map(
  ([pattern, better]) => [new RegExp(pattern.source.replace('of|', '')), better] as const,
);
/** Folders whose texts the models read; their words have versions (test/trading/wording.test.ts). */
const READ_BY_MODELS = /^src\/core\/(agent|trading)\//;
const SQL =
  /^[\s(]*(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|DROP|EXISTS|NOT EXISTS|AND|FROM|WHERE)\b/;

/** The structures in the string literals of a source that have a space. */
function findInSource(path: string): string[] {
  return literalsOf(readFileSync(join(ROOT, path), 'utf8')).flatMap(({ line, text }) =>
    !/\S\s+\S/.test(text) || SQL.test(text)
      ? []
      : messageStructures.flatMap(([pattern, better]) => {
          const found = pattern.exec(text)?.[0];
          return found === undefined ? [] : [`${path}:${line}: "${found}": ${better}`];
        }),
  );
}

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
const sources = process.argv.length > 2 ? [] : globSync('src/**/*.ts', { cwd: ROOT });
const problems = [
  ...pages.flatMap(({ path, text }) => findIn(path, text)),
  ...sources.filter((path) => !READ_BY_MODELS.test(path)).flatMap(findInSource),
];
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
