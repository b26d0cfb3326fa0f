import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Prints how large the house is: the figures that a maintainer keeps small. */

const ROOT = new URL('..', import.meta.url).pathname;
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const files = (pattern: string) => globSync(pattern, { cwd: ROOT }).sort();
const sources = files('src/**/*.{ts,css,html,svg}');

/** Characters of code: comments, blank lines and indentation left out. */
function charactersOf(text: string): number {
  const code = text
    .replaceAll(/^[ \t]*\/\*[^]*?\*\/[ \t]*$/gm, '')
    .split('\n')
    .map((line) => line.trim());
  return sum(code.filter((line) => !line.startsWith('//')).map(({ length }) => length));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

const linesOf = (pattern: string) =>
  sum(files(pattern).map((path) => textOf(path).split('\n').length));
const wordsOf = (paths: readonly string[]) =>
  sum(paths.map((path) => textOf(path).split(/\s+/).filter(Boolean).length));
const countOf = (pattern: RegExp) =>
  sum(sources.map((path) => textOf(path).match(pattern)?.length ?? 0));

/** How many files of src/ a reader may pass from one of them: its imports and theirs, without those of types only. */
function filesBehind(path: string): number {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const imports = textOf(file).matchAll(/^(?:import|export) (?!type )[^;]*?'([.#][^']+\.ts)'/gm);
    for (const [, target = ''] of imports)
      visit(target.startsWith('#') ? `src/core/${target.slice(1)}` : join(file, '..', target));
  };
  visit(path);
  return seen.size;
}

const perFolder = Map.groupBy(sources, (path) => path.split('/').slice(0, -1).join('/'));
const program = join(ROOT, 'dist/server.js');

const figures: [name: string, value: number | string][] = [
  ['characters of code in src', sum(sources.map((path) => charactersOf(textOf(path))))],
  ['files in src', sources.length],
  ['files beside the folders of src', perFolder.get('src')?.length ?? 0],
  ['most files in a folder', Math.max(...[...perFolder].map(([, inside]) => inside.length))],
  ['bytes of dist/server.js', existsSync(program) ? statSync(program).size : 'not built'],
  ['lines of test', linesOf('test/**/*.ts')],
  ['lines of lab', linesOf('lab/**/*.ts')],
  ['lines of bench', linesOf('bench/**/*.ts')],
  ['words of README, docs, CHANGELOG', wordsOf([...files('*.md'), ...files('docs/*.md')])],
  ['yield null', countOf(/\byield null\b/g)],
  ['files behind GET /performance', filesBehind('src/features/performance/route.ts')],
  ['files behind a buy', filesBehind('src/core/trading/tools.ts')],
  ['files behind a trigger', filesBehind('src/core/jobs/queue.ts')],
];
for (const [name, value] of figures)
  process.stdout.write(`${name.padEnd(36)}${value.toLocaleString('en').padStart(12)}\n`);
