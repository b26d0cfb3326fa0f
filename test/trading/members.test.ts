import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfiguration } from '../../src/basics/configuration.ts';
import { leftBetween, membersBetween, membersOn, readMembers } from '../../src/basics/members.ts';
import { memberLevels } from '../../src/performance/member-benchmark.ts';
import { symbolLevels } from '../../src/performance/benchmark.ts';
import { temporaryFolder } from '../support/service.ts';

const FILE = `symbol,from,to
AAPL,2020-01-01,
msft,2020-01-01,2025-01-06
NVDA,2025-01-07,2025-01-08

MSFT,2025-01-09,
`;

function write(folder: string, text: string): string {
  const path = join(folder, 'members.csv');
  writeFileSync(path, text);
  return path;
}

test('members are those of a date, both ends included', (t) => {
  const members = readMembers(write(temporaryFolder(t), FILE));
  const on: [date: string, symbols: string][] = [
    ['2019-12-31', ''],
    ['2025-01-06', 'AAPL MSFT'],
    ['2025-01-07', 'AAPL NVDA'],
    ['2025-01-08', 'AAPL NVDA'],
    ['2025-01-09', 'AAPL MSFT'],
  ];
  for (const [date, symbols] of on) assert.equal(membersOn(members, date).join(' '), symbols, date);
  assert.equal(
    membersBetween(members, { from: '2025-01-07', to: '2025-01-08' }).join(),
    'AAPL,NVDA',
  );
  assert.equal(leftBetween(members, { from: '2025-01-06', to: '2025-01-07' }).join(), 'MSFT');
  assert.equal(leftBetween(members, { from: '2025-01-07', to: '2025-01-08' }).join(), '');
  assert.equal(leftBetween(members, { from: '2025-01-06', to: '2025-01-09' }).join(), '');
});

const errors: [text: string, words: string][] = [
  ['symbol,from\nA,2020-01-01\n', ':1: its columns are symbol, from; expected symbol, from, to'],
  ['symbol,from,to,why\n', ':1: its columns are symbol, from, to, why; expected symbol, from, to'],
  ['symbol,from,to\n', ' has no members'],
  ['', ':1: its columns are none; expected symbol, from, to'],
  ['symbol,from,to\nA,2020-01-01,\n?,2020-01-01,\n', ':3: "?" is not a ticker symbol'],
  ['symbol,from,to\nA,2020-1-1,\n', ':2: "2020-1-1" is not a date YYYY-MM-DD'],
  ['symbol,from,to\nA,2020-01-02,2020-01-01\n', ':2: to 2020-01-01 is before from 2020-01-02'],
  [
    'symbol,from,to\nA,2020-01-02,\nB,2020-01-01,\nA,2021-01-01,\n',
    ':4: the span of A overlaps that of line 2',
  ],
  [
    'symbol,from,to\nA,2021-01-01,\nA,2020-01-01,2021-01-01\n',
    ':3: the span of A overlaps that of line 2',
  ],
  ['symbol,from,to\nA,2020-01-01\n', ':2: it has 2 columns, not 3'],
];
for (const [text, words] of errors)
  test(`a file of members ${words}`, (t) => {
    const folder = temporaryFolder(t);
    const path = write(folder, text);
    const configuration = join(folder, 'config.json');
    const universes = { ndx: { members: 'members.csv' } };
    writeFileSync(configuration, JSON.stringify({ models: [], universes }));
    const expected = `Cannot use the server configuration ${configuration}: universes.ndx.members: ${path}${words}`;
    assert.throws(() => readConfiguration(configuration), {
      message: expected,
      code: 'broken_configuration',
    });
  });

test('a file of members that is missing, and one that has changed', (t) => {
  const folder = temporaryFolder(t);
  const configuration = join(folder, 'config.json');
  writeFileSync(
    configuration,
    JSON.stringify({ models: [], universes: { a: { members: 'members.csv' } } }),
  );
  assert.throws(
    () => readConfiguration(configuration),
    /universes\.a\.members: cannot read .*members\.csv/,
  );
  write(folder, FILE);
  assert.equal(Object(readConfiguration(configuration).universes['a']).members.length, 4);
  write(folder, 'symbol,from,to\nB,2020-01-01,\n');
  assert.equal(Object(readConfiguration(configuration).universes['a']).members.length, 1);
  mkdirSync(join(folder, 'x'));
  writeFileSync(
    configuration,
    JSON.stringify({ models: [], universes: { a: { members: 'x', more: 1 } } }),
  );
  assert.throws(() => readConfiguration(configuration), /universes\.a/);
});

test('the benchmark holds equal amounts of the members of each morning', () => {
  const bars = (prices: readonly [date: string, open: number, close: number][]) =>
    symbolLevels(prices.map(([date, open, close]) => ({ date, open, close })));
  const symbols = [
    {
      symbol: 'A',
      levels: bars([
        ['2025-01-06', 100, 110],
        ['2025-01-07', 110, 121],
        ['2025-01-08', 121, 121],
      ]),
    },
    {
      symbol: 'B',
      levels: bars([
        ['2025-01-06', 100, 90],
        ['2025-01-07', 90, 180],
        ['2025-01-08', 180, 90],
      ]),
    },
    {
      symbol: 'C',
      levels: bars([
        ['2025-01-07', 50, 60],
        ['2025-01-08', 60, 66],
      ]),
    },
  ];
  const members = [
    { symbol: 'A', from: '2020-01-01', to: null },
    { symbol: 'B', from: '2020-01-01', to: '2025-01-06' },
    { symbol: 'C', from: '2025-01-07', to: null },
  ];
  const levels = memberLevels(symbols, members);
  const returns = levels.map(
    ({ close }, index) => close / (levels[index - 1]?.close ?? levels[0]?.open ?? 1) - 1,
  );
  const rounded = returns.map((value) => Math.round(value * 1e6) / 1e6);
  // The first day from the open: (+10 % − 10 %) / 2. Then A alone, as C has no close before; then A and C.
  assert.deepEqual(rounded, [0, 0.1, 0.05]);
});
