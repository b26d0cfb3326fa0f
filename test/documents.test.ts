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
 * What documents promise: paths that exist, links that lead somewhere, one word for one thing,
 * plain English.
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
  const silent = pages.filter((page) => !/^# .+\n\nFor /.test(textOf(page)));
  assert.deepEqual(silent, []);
});

test('documents say what the program cannot do, and what a release needs', () => {
  const promised: Record<string, RegExp[]> = {
    'README.md': [
      /Windows is not supported, use WSL/,
      /\(docs\/guides\/deploy\.md#security\)/,
      /Without `API_HOST` the service listens on all interfaces/,
      /\(docs\/reference\/metrics\.md#what-can-mislead\)/,
    ],
    'docs/guides/deploy.md': [
      /The service listens on all interfaces; `API_HOST=127\.0\.0\.1` limits it/,
      /\| Windows \| none \| Not supported: use \[WSL\]/,
      /can\salways\ssignal[^]*?bubblewrap\swith\sits\sown\sprocess\sand\snetwork\snamespaces/,
    ],
    'RELEASING.md': [/\(`npm sbom`\)/, /^ +grep -rhoE 'uses: /m],
  };
  for (const [document, patterns] of Object.entries(promised))
    for (const pattern of patterns) assert.match(textOf(document), pattern, document);
});

test('the places to start from exist', () => {
  const places = [
    ...textOf('CONTRIBUTING.md').matchAll(/\ban? [a-z -]+: `(\w+)` in `(\S+\.ts)`/g),
  ].map(([, name = '', file = '']) => ({ name, file }));
  assert.equal(places.length, 18);
  const missing = places.filter(({ file, name }) => {
    const declared = new RegExp(`^(export )?(async )?(function\\*?|const) ${name}\\b`, 'm');
    return !declared.test(textOf(`src/${file}`));
  });
  assert.deepEqual(missing, []);
});

test('every source file that a document names exists, from the root or in src/', () => {
  const missing = ['README.md', ...pages].flatMap((page) =>
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

test('the table of makers in docs/reference/configuration.md is that of the program, and .env.example has the key of each', () => {
  const [, table = ''] =
    /## Makers and dialects\n[^]*?\|---\|.*\n([^]*?)\n\n/.exec(
      textOf('docs/reference/configuration.md'),
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

test('docs/reference/configuration.md names all that the service adds to requests', () => {
  const [, section = ''] =
    /## What the service adds\n([^]*?)\n## /.exec(textOf('docs/reference/configuration.md')) ?? [];
  const missing = additions.filter((addition) => !section.includes(`\`${addition}\``));
  assert.deepEqual(missing, []);
});

test('docs/reference/commands.md describes every command', () => {
  const page = textOf('docs/reference/commands.md');
  const missing = Object.keys(commands).filter((name) => !page.includes(`\`${name}\``));
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
  for (const page of ['docs/start/first-comparison.md', 'docs/guides/studies.md']) {
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
  const glossary = textOf('docs/reference/api.md').split('## Words')[1] ?? '';
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

/** Phrases that are not plain English. */
const phrases: Rule[] = [
  [/\bwho (may )?asks?\b/i, 'clients, access'],
  [/\b(go|goes|going|went|gone) on\b/i, 'continue, keep'],
  [/\b(of|as of) then\b/i, 'at the time'],
  [/\b(no|every|some)body\b/i, 'no one, anyone, unknown'],
  [/\bwhoever\b/i, 'name who'],
  [/\b(is|are|was|were|be|been) told\b/i, 'reads, receives, is shown, is reported'],
  [/\b(stands?|stood) (in|beside|for)\b/i, 'is in, is beside, replaces, means'],
  [/\bas (it|they) (stands?|stood)\b/i, 'as it is, as it was'],
  [/\bnow and then\b/i, 'from time to time, occasionally'],
  [/\bof (more|which) the number\b/i, 'the rest are counted'],
  [/\bgives? others? (their|a) turn/i, 'let other work run'],
  [/\bgoes? back to\b/i, 'depends on, leads back to'],
  [/\bseldom\b/i, 'less often'],
  [/(?<!\b(left|leave) )\balone\b/i, 'only'],
  [/\b(?<!there )is no (?!longer|more|less)/i, 'is not a'],
  [/\bdear(er|est)?\b/i, 'expensive'],
  [/\bwithout network\b/i, 'air-gapped'],
  [/\bcould be read in two ways\b/i, 'ambiguous'],
  [/\bwhat does not come out\b/i, 'secrets'],
  [/\breturns? from the same close\b/i, 'returns that start from the same close'],
  [/\b(this|it),? more runs can\b/i, 'more runs would'],
  [/\bat least this wide\b/i, 'wider than shown'],
  [/\bwho looks\b/i, 'if you look'],
];

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

test('documents use the words of the glossary and plain English', () => {
  const wrong = texts.flatMap((path) => findBanned(path, textOf(path), [...phrases, ...synonyms]));
  assert.deepEqual(wrong, []);
});

test('messages, help, labels and comments use the words of the glossary and plain English', () => {
  const rules = [...phrases, ...synonyms];
  const wrong = sources.flatMap((path) => findBanned(path, textOf(path), rules));
  assert.deepEqual(wrong, []);
});

test('the names of tests and of their rows, in tables too, are in plain English', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts'),
  );
  const names = files.flatMap((name) =>
    textOf(`test/${name}`)
      .split('\n')
      .flatMap((line, index) => {
        const said = /^\s*(?:(?:await )?(?:t\.)?test\(|\[)?(['"`].*)|^ .* \| .*/.exec(line);
        return said === null ? [] : [{ place: `test/${name}:${index + 1}`, said: said[0] }];
      }),
  );
  assert.ok(names.length > 500);
  const wrong = names.flatMap(({ place, said }) => findBanned(place, said, phrases));
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
