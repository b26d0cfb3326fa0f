import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { commands } from '../src/commands.ts';
import { parseConfiguration } from '../src/core/settings/configuration.ts';
import { comparisonResponse } from '../src/features/comparison/route.ts';
import { makers } from '../src/core/settings/makers.ts';
import { additions } from '../src/core/wire/protocol.ts';
import { tableOf } from './support/text-table.ts';

/**
 * What documents promise: paths that exist, links that lead somewhere, one word for one thing.
 * test/prose.ts checks their style.
 */

const ROOT = new URL('..', import.meta.url).pathname;

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap(
  (name) => (name.endsWith('.md') ? [`docs/${name}`] : []),
);
const outside = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'RELEASING.md', 'bench/README.md'];
const documents = [...outside, ...pages];
const texts = [...documents, '.env.example', 'compose.yaml', 'Dockerfile'];
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).flatMap(
  (name) => (name.endsWith('.ts') ? [`src/${name}`] : []),
);

test('every page says first whom it is for', () => {
  assert.ok(pages.length > 5);
  const silent = pages.filter(
    (page) => !/^(<!-- Generated [^\n]* -->\n)?# .+\n\nFor /.test(textOf(page)),
  );
  assert.deepEqual(silent, []);
});

test('what a safe start needs is named where a reader looks for it', () => {
  const named: Record<string, string[]> = {
    'README.md': ['API_HOST', 'API_TOKEN', 'RUNTIME_CONFIG_PATH', 'max_cost_usd', 'WSL'],
    'docs/explain/security.md': ['API_HOST=127.0.0.1', 'API_TOKEN', 'V8', '#bubblewrap'],
    'RELEASING.md': ['npm sbom', 'lab/release/verify-actions.sh'],
  };
  for (const [document, names] of Object.entries(named))
    for (const name of names) assert.ok(textOf(document).includes(name), `${document}: ${name}`);
});

test('every command in a document exists, with its options', () => {
  const lines = documents.flatMap((page) =>
    [
      ...textOf(page)
        .replaceAll(/\\\n\s*/g, '')
        .matchAll(/trading-simulation-service ([a-z][^`\n|>#&;]*)/g),
    ].map(([, line = '']) => ({ page, words: line.trim().split(/\s+/) })),
  );
  assert.ok(lines.length > 5);
  const wrong = lines.filter(({ words: [name = '', ...args] }) => {
    const options = Object.keys(commands[name]?.options ?? {}).map((option) => `--${option}`);
    const known = [...options, '--help'];
    return (
      !(name in commands) ||
      args.some((arg) => /^--\w/.test(arg) && !known.includes(arg.replace(/=.*/, '')))
    );
  });
  assert.deepEqual(
    wrong.map(({ page, words }) => `${page}: ${words.join(' ')}`),
    [],
  );
});

test('the functions that CONTRIBUTING.md names are in the files that it names', () => {
  const places = [...textOf('CONTRIBUTING.md').matchAll(/`(\w+)` in `(\S+\.ts)`/g)].map(
    ([, name = '', file = '']) => ({ name, file }),
  );
  assert.ok(places.length > 10);
  const missing = places.filter(({ file, name }) => {
    const declared = new RegExp(`^(export )?(async )?(function\\*?|const) ${name}\\b`, 'm');
    return !declared.test(textOf(`src/${file}`));
  });
  assert.deepEqual(missing, []);
});

test('every source file that a document names exists, from the root or in src/', () => {
  const missing = documents.flatMap((page) =>
    [...textOf(page).matchAll(/`([a-z0-9/.-]+\.ts)`/g)]
      .filter(
        ([, path = '']) => ![path, `src/${path}`].some((place) => existsSync(join(ROOT, place))),
      )
      .map(([, path]) => `${page}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

test('every link in a document leads to a file, and to a heading in it', () => {
  const broken = documents.flatMap((document) =>
    [...textOf(document).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
      ([link, path = '', anchor]) => {
        const target = path === '' ? document : join(dirname(document), path);
        if (!existsSync(join(ROOT, target))) return [`${document}: ${link}`];
        return anchor === undefined || anchorsOf(textOf(target)).includes(anchor)
          ? []
          : [`${document}: ${link}`];
      },
    ),
  );
  assert.deepEqual(broken, []);
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  const withoutCode = text.replaceAll(/^```[^]*?^```/gm, '');
  return [...withoutCode.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('the table of makers in docs/reference/providers.md is that of the program, and .env.example has the key of each', () => {
  const [, table = ''] =
    /## Makers and dialects\n[^]*?\|---\|.*\n([^]*?)\n\n/.exec(
      textOf('docs/reference/providers.md'),
    ) ?? [];
  const rows = tableOf(table).map((cells) => cells.slice(1, 5));
  const expected = makers.map(({ prefixes, url, api, keyVariable }, index) => {
    const written = prefixes.map((prefix) => `\`${prefix}/\``);
    const names = [...(index === 0 ? ['none'] : []), ...written].join(', ');
    return [names, ...[url, api, keyVariable].map((name) => `\`${name}\``)];
  });
  assert.deepEqual(rows, expected);
  const variables = textOf('.env.example').split('\n');
  const missing = makers.filter(({ keyVariable }) => !variables.includes(`${keyVariable}=`));
  assert.deepEqual(missing, []);
});

test('docs/reference/providers.md names all that the service adds to requests', () => {
  const [, section = ''] =
    /## Fields that the service adds\n([^]*?)\n## /.exec(textOf('docs/reference/providers.md')) ??
    [];
  const missing = additions.filter((addition) => !section.includes(`\`${addition}\``));
  assert.deepEqual(missing, []);
});

test('the program reads every configuration in a document, and knows its keys', () => {
  const blocks = documents.flatMap((path) => [...textOf(path).matchAll(/^```json\n([^]*?)^```/gm)]);
  assert.ok(blocks.length >= 2);
  for (const [, json = ''] of blocks) {
    assert.deepEqual(parseConfiguration(JSON.parse(json), 'in a document').unknownKeys, []);
  }
});

test('the configurations that the guides for researchers write have keys that the program knows', () => {
  for (const page of [
    'docs/start/first-comparison.md',
    ...['repeat-and-confirm', 'studies'].map((name) => `docs/guides/${name}.md`),
  ]) {
    const [, json = ''] = /^cat > \w+\.json <<'END'\n([^]*?)^END$/m.exec(textOf(page)) ?? [];
    assert.deepEqual(parseConfiguration(JSON.parse(json), page).unknownKeys, []);
  }
});

/** Pages whose commands a test of the long form runs. */
const research = [
  'docs/start/first-comparison.md',
  ...['repeat-and-confirm', 'studies', 'control-markets', 'why-a-beat-b'].map(
    (name) => `docs/guides/${name}.md`,
  ),
];

test('the commands, options and settings of the guides for researchers exist', () => {
  const text = research.map(textOf).join('\n');
  const lines = [...text.matchAll(/^ *npx trading-simulation-service ([a-z].*)/gm)].map(
    ([, line = '']) => line.split(' '),
  );
  assert.ok(lines.length > 7);
  const wrongOptions = lines.flatMap(([name = '', ...args]) => {
    const options = Object.keys(commands[name]?.options ?? {}).map((option) => `--${option}`);
    return args
      .filter((arg) => arg.startsWith('--') && !options.includes(arg))
      .concat(name in commands ? [] : [name]);
  });
  const exported = [...text.matchAll(/^export .*/gm)].flatMap(
    ([line]) => line.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [],
  );
  assert.ok(exported.length > 6);
  const known = textOf('src/core/settings/settings.ts');
  const wrongSettings = exported.filter((name) => !known.includes(`  ${name}: `));
  assert.deepEqual([...wrongOptions, ...wrongSettings], []);
});

test('the figures that the pages about comparisons name are in the response', () => {
  const { models, pairs, leader, ...rest } = comparisonResponse.entries;
  const known = { ...rest, ...models.item.entries, ...pairs.item.entries, ...leader.entries };
  const pages = [research[0] ?? '', research[1] ?? '', 'docs/explain/comparing-models.md'];
  const figures = pages.flatMap((page) =>
    [...textOf(page).matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = '']) => name),
  );
  assert.ok(figures.length > 15);
  const others = ['max_weight', 'knowledge_cutoff'];
  assert.deepEqual(
    figures.filter((name) => !(name in known) && !others.includes(name)),
    [],
  );
});

test('the words of the glossary are explained once, and the program uses them', () => {
  const glossary = textOf('docs/reference/glossary.md');
  const words = [...glossary.matchAll(/\*\*([^*]+)\*\*: /g)].map(([, word = '']) => word);
  assert.ok(words.length > 15);
  assert.equal(new Set(words).size, words.length);
  const program = sources.map((path) => `${path}\n${textOf(path)}`).join('\n');
  assert.deepEqual(
    words.filter((word) => !new RegExp(word.replaceAll(/[ -]/g, '[ _-]?'), 'i').test(program)),
    [],
  );
});

type Rule = [pattern: RegExp, better: string];

/**
 * Synonyms of words in the glossary. Code may still use them where they mean something else, such
 * as SQLite's journal.
 */
const synonyms: Rule[] = [
  [/\byardsticks?\b/i, 'baseline, benchmark'],
  [/(?<!-)\bjournal\b/, 'reasoning log'],
  [/\blineage\b/i, 'chain'],
  [/\bendings?\b(?! (in|the) )/i, 'outcome; of a file name: suffix'],
  [/\bstock list\b/i, 'universe'],
  [/\bmodel days?\b/i, 'model-day'],
];

test('documents, messages, help, labels and comments have one word for one thing', () => {
  const wrong = [...texts, ...sources].flatMap((path) => findBanned(path, textOf(path), synonyms));
  assert.deepEqual(wrong, []);
});

function findBanned(path: string, text: string, rules: readonly Rule[]): string[] {
  return text.split('\n').flatMap((line, index) =>
    rules.flatMap(([pattern, better]) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [`${path}:${index + 1}: "${found}", better: ${better}`];
    }),
  );
}
