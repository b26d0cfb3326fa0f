import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commands } from '../src/commands.ts';
import { firstMessages } from '../src/core/agent/prompt.ts';
import { openDatabase } from '../src/core/database/database.ts';
import { latestPrices } from '../src/core/database/price-writes.ts';
import { storeBars } from '../src/core/database/prices.ts';
import { fromDollars } from '../src/core/money/money.ts';
import { syntheticBars } from '../src/core/prices/synthetic.ts';
import { nasdaq100 } from '../src/core/settings/default-symbols.ts';
import { openMarket } from '../src/core/trading/market.ts';
import { toolDescriptions } from '../src/core/trading/tools.ts';
import { addDays } from '../src/core/time/calendar.ts';
import { description, type Json } from './support/json-schema.ts';
import { briefOf } from './support/play-day.ts';
import { tableOf } from './support/text-table.ts';
import { tradingDay } from './support/trading-day.ts';

/** Facts in documents that follow from the program: parameters, options, versions, sizes, sums. */

const ROOT = new URL('..', import.meta.url).pathname;
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap(
  (name) => (name.endsWith('.md') ? [`docs/${name}`] : []),
);

/** The text under a heading, up to the next one. */
function sectionOf(page: string, heading: string): string {
  const [, section = ''] = textOf(page).split(`\n${heading}\n`);
  assert.notEqual(section, '', `${page} has ${heading}`);
  return section.split(/^##+ /m)[0] as string;
}

/** Rows of the tables in a section, without their headers. */
function rowsOf(page: string, heading: string): string[][] {
  const lines = sectionOf(page, heading).split('\n');
  const rows = lines.filter((line) => line.startsWith('| `'));
  assert.ok(rows.length > 0);
  return tableOf(rows.join('\n')).map((cells) => cells.slice(1, -1));
}

/** What is in backticks. */
const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test('the tables of parameters in docs/reference/api.md name the paths that have each, and leave out none', () => {
  const section = sectionOf('docs/reference/api.md', '## Parameters');
  const reports = codes(/^\*Reports\* are ([^]*?)\./m.exec(section)?.[1] ?? '');
  assert.equal(reports.length, 7);
  const written = new Map<string, string[]>();
  const add = (cell: string, paths: readonly string[]) => {
    for (const name of codes(cell)) written.set(name, [...(written.get(name) ?? []), ...paths]);
  };
  for (const [names = '', of = ''] of rowsOf('docs/reference/api.md', '## Parameters')) {
    const [, but = '', others = of] = /^reports(?: but (.*?))?(?:, (.*))?$/.exec(of) ?? [];
    const isAll = of.startsWith('reports');
    const left = reports.filter((path) => !codes(but).includes(path));
    add(names, [...(isAll ? left : []), ...codes(isAll ? others.replace(/^reports$/, '') : of)]);
  }
  for (const [names = ''] of rowsOf('docs/reference/api.md', '## Comparing models'))
    add(names, ['/comparison']);
  const real = new Map<string, string[]>();
  for (const [path, { get }] of Object.entries<Json>(description['paths']))
    for (const { name, in: place } of get?.parameters ?? [])
      if (place === 'query') real.set(name, [...(real.get(name) ?? []), path]);
  // Other sections describe what only one path has.
  const elsewhere = ['q', 'as_of', 'version', 'include_full_conversation', 'status'];
  for (const name of elsewhere)
    assert.match(textOf('docs/reference/api.md'), new RegExp(`[\`?&]${name}\\b`));
  for (const name of elsewhere) real.delete(name);
  const sorted = (map: Map<string, string[]>) =>
    Object.fromEntries([...map].sort().map(([name, paths]) => [name, [...new Set(paths)].sort()]));
  assert.deepEqual(sorted(written), sorted(real));
});

test('docs/guides/your-own-agent.md names the fields of GET /day/tools', () => {
  const { schema } =
    description['paths']['/day/tools'].get.responses['200'].content['application/json'];
  const [line = ''] =
    /^\| `GET \/day\/tools` .*$/m.exec(textOf('docs/guides/your-own-agent.md')) ?? [];
  const fields = Object.keys(schema.properties.tools.items.properties);
  assert.ok(fields.length > 2);
  assert.deepEqual(
    fields.filter((field) => !codes(line).includes(field)),
    [],
  );
});

test('every option of every command is in a document', () => {
  const text = pages.map(textOf).join('\n');
  const options = Object.values(commands).flatMap(({ options }) => Object.keys(options ?? {}));
  assert.ok(options.length > 20);
  const missing = options.filter((option) => !new RegExp(`--${option}\\b`).test(text));
  assert.deepEqual(missing, []);
});

test('RELEASING.md names the libraries in the program, docs/reference/api.md the browsers that it is built for', () => {
  const [sentence = ''] = /The program contains only .*/.exec(textOf('RELEASING.md')) ?? [];
  assert.deepEqual(
    codes(sentence.split(' of it')[0] as string).sort(),
    [...textOf('dist/server.js').matchAll(/^(\S+) \S+, included here under/gm)]
      .map(([, name]) => name)
      .sort(),
  );
  const [, targets = ''] = /target: \[(.*)\]/.exec(textOf('build.mjs')) ?? [];
  const versions = [...targets.matchAll(/[a-z]+([\d.]+)'/g)].map(([, version]) => version);
  assert.equal(versions.length, 4);
  assert.ok(
    textOf('docs/reference/api.md').includes(`Safari (${versions.join(', ')}).`),
    `${versions}`,
  );
});

test('docs/guides/run-every-night.md has the size of the opening with 101 symbols, and the sums of its table of costs', () => {
  const section = sectionOf('docs/guides/run-every-night.md', '## What it costs a month');
  const date = '2025-09-15';
  const database = openDatabase(':memory:');
  const days = Array.from({ length: 10 }, (_, index) => addDays(date, index - 9));
  for (const symbol of nasdaq100)
    storeBars(database, syntheticBars(symbol, days, '2030-01-01'), { source: 'synthetic' });
  const universe = new Set(nasdaq100);
  assert.equal(universe.size, 101);
  const day = tradingDay({
    universe,
    portfolio: { cash: fromDollars(10_000), holdings: new Map() },
    market: openMarket(latestPrices(database), date, nasdaq100),
  });
  const messages = firstMessages(briefOf({ ...day, actions: [] }));
  const tools = toolDescriptions(day).map((tool) => ({ type: 'function', function: tool }));
  const size = messages.reduce(
    (sum, { content }) => sum + content.length,
    JSON.stringify(tools).length,
  );
  const number = (pattern: RegExp) => Number(pattern.exec(section)?.[1]?.replaceAll(',', ''));
  const written = number(/101 symbols is ([\d,]+) characters/);
  assert.ok(
    Math.abs(written / size - 1) < 0.05,
    `${written} in docs/guides/run-every-night.md, now ${size}`,
  );
  const [opening, step, answer] = [
    number(/about ([\d,]+) tokens/),
    number(/each step adds (\d+)/),
    number(/(\d+) of\sthem written/),
  ];
  const rows = [10, 30].map((steps) => {
    const read = opening * steps + (step * steps * (steps - 1)) / 2;
    return `| ${steps} | ${read.toLocaleString('en')} | ${(answer * steps).toLocaleString('en')} |`;
  });
  for (const row of rows) assert.ok(section.includes(row), row);
});

test('documents have no doubled blank lines, and no two points of a list of the changelog have one name', () => {
  const doubled = ['README.md', 'CHANGELOG.md', ...pages].filter((page) =>
    /\n\n\n/.test(textOf(page).replaceAll(/^```[^]*?^```/gm, 'code')),
  );
  assert.deepEqual(doubled, []);
  const names = [...textOf('CHANGELOG.md').matchAll(/^- \*\*([^*]+)\.\*\*/gm)].map(
    ([, name]) => name,
  );
  assert.ok(names.length > 10);
  assert.deepEqual(names.length, new Set(names).size);
});
