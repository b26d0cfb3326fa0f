import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfiguration } from '../../src/core/settings/configuration.ts';
import { expandModels } from '../../src/core/jobs/chosen-models.ts';
import { newRunWarnings } from '../../src/core/jobs/plan.ts';
import { assertLike, like, tableOf } from '../support/text-table.ts';

const configuration = parseConfiguration(
  {
    models: [
      { signature: 'a', repeats: 3, enabled: true },
      { signature: 'b', enabled: true },
      { signature: 'off', repeats: 2 },
      { signature: 'b#4' },
    ],
  },
  'test',
);

const expanded = tableOf<[name: string, requested: string, runs: string]>(`
  no names: the enabled entries                   |                 | a/a/1 a#2/a/2 a#3/a/3 b/b/1
  a signature: all its runs                       | off             | off/off/1 off#2/off/2
  a run's own name: that run                      | a#2             | a#2/a/2
  a run and its entry: each run once, in the order of the names | b a#3 a b | b/b/1 a#3/a/3 a/a/1 a#2/a/2
  names that the configuration does not list      | x x#2 a#02 #2 a# | x/x/1 x#2/x#2/1 a#02/a#02/1 #2/#2/1 a#/a#/1
  a listed signature that looks like a run        | b#4             | b#4/b#4/1
`);
for (const [name, requested, runs] of expanded) {
  test(`a trigger means by ${name}`, () => {
    const found = expandModels(requested.split(' ').filter(Boolean), configuration).map(
      ({ model, family, run }) => `${model}/${family}/${run}`,
    );
    assert.equal(found.join(' '), runs);
  });
}

const refused = tableOf<[name: string, requested: string, message: string]>(`
  a run above the repeats            | a#4 | Cannot run 'a#4': 'a' has 3 runs: 'a', 'a#2', 'a#3'
  run 1 under a number               | a#1 | Cannot run 'a#1': 'a' has 3 runs: 'a', 'a#2', 'a#3'
  a repeat of an entry without any   | b#2 | Cannot run 'b#2': 'b' has 1 run: 'b'
`);
test('a trigger cannot name a run that the configuration has not', () => {
  for (const [name, requested, message] of refused) {
    const expected = { code: 'invalid_models', message };
    assert.throws(() => expandModels([requested], configuration), expected, name);
  }
});

const studied = parseConfiguration(
  {
    models: [
      { signature: 'gpt', repeats: 3, enabled: true },
      { signature: 'claude@2025', repeats: 2 },
    ],
    studies: { x: {}, y: {}, 2025: {} },
  },
  'test',
);

const inStudies = tableOf<[name: string, study: string, requested: string, runs: string]>(`
  no names: the enabled entries                     | x | ${''}       | gpt@x/gpt/1 gpt@x#2/gpt/2 gpt@x#3/gpt/3
  a signature: all its runs                         | x | gpt         | gpt@x/gpt/1 gpt@x#2/gpt/2 gpt@x#3/gpt/3
  a run of an entry                                 | x | gpt#2       | gpt@x#2/gpt/2
  the name in the study: all its runs               | x | gpt@x       | gpt@x/gpt/1 gpt@x#2/gpt/2 gpt@x#3/gpt/3
  the name of a run in the study                    | x | gpt@x#2     | gpt@x#2/gpt/2
  the name that no study has, without one           | - | gpt@        | gpt/gpt/1 gpt#2/gpt/2 gpt#3/gpt/3
  that of a run, without a study                    | - | gpt@#2      | gpt#2/gpt/2
  several names of one run: it once                 | y | gpt@y#3 gpt#3 | gpt@y#3/gpt/3
  a signature with @, without a study               | - | claude@2025 | claude@2025/claude@2025/1 claude@2025#2/claude@2025/2
  a signature with @, in a study                    | x | claude@2025 | claude@2025@x/claude@2025/1 claude@2025@x#2/claude@2025/2
  a run of it                                       | x | claude@2025#2 | claude@2025@x#2/claude@2025/2
  its whole name in the study                       | x | claude@2025@x#2 | claude@2025@x#2/claude@2025/2
  a name with @ that nothing has                    | x | b@z         | b@z@x/b@z/1
`);
test('in a study a name is of an entry, or of its ledger there; a signature with @ comes first', () => {
  for (const [name, study, requested, runs] of inStudies) {
    const inStudy = study === '-' ? null : study;
    const found = expandModels(requested.split(' ').filter(Boolean), studied, inStudy);
    const named = found.map(({ model, signature, run }) => `${model}/${signature}/${run}`);
    assert.equal(named.join(' '), runs, name);
    for (const { family, signature } of found)
      assert.equal(family, inStudy === null ? signature : `${signature}@${inStudy}`, name);
  }
});

const refusedInStudies = tableOf<[study: string, requested: string, message: string]>(`
  - | gpt@x     | 'gpt@x'…study to x
  - | gpt@x#2   | 'gpt@x#2'…study to x
  x | gpt@y     | 'gpt@y'…study to y
  x | gpt@      | 'gpt@'…leave study out
  x | b@2025    | 'b@2025'…study to 2025
  x | gpt@x#4   | 'gpt#4': 'gpt' has 3 runs: 'gpt', 'gpt#2', 'gpt#3'
`);
test('a name of another study says which one to send', () => {
  for (const [study, requested, message] of refusedInStudies)
    assert.throws(() => expandModels([requested], studied, study === '-' ? null : study), {
      ...{ code: 'invalid_models', message: like(`Cannot run ${message}`) },
    });
});

test('a name that ran without a study is whole there, although a study has its end', () => {
  const known = new Map([['b@2025', null]]);
  const [whole] = expandModels(['b@2025'], studied, null, known);
  assert.deepEqual([whole?.model, whole?.signature], ['b@2025', 'b@2025']);
  const [inStudy] = expandModels(['b@2025'], studied, '2025');
  assert.deepEqual([inStudy?.model, inStudy?.signature], ['b@2025', 'b']);
  assert.throws(() => expandModels(['b@2025'], studied, '2025', known), {
    message: /a model of that name ran without a study; rename its entry or the study$/,
  });
});

test('a name with its study has at most 200 characters', () => {
  const names = ['m'.repeat(196), 'm'.repeat(197)];
  const [fitting] = expandModels(names.slice(0, 1), studied, 'x26');
  assert.equal(fitting?.model.length, 200);
  assert.throws(() => expandModels(names, studied, 'x26'), {
    code: 'invalid_models',
    message: /'m{197}@x26'.* too long$/,
  });
});

test('a job has at most 2,000 runs', () => {
  const models = Array.from({ length: 21 }, (_, index) => ({
    signature: `m${index}`,
    repeats: 100,
  }));
  const many = parseConfiguration({ models }, 'test');
  const names = models.map(({ signature }) => signature);
  assert.equal(expandModels(names.slice(1), many).length, 2_000);
  assert.throws(() => expandModels(names, many), {
    message: /2100 runs .* 2000;/,
  });
});

test('resuming warns of runs without a completed day where others have some, and names the date to start from', () => {
  const first: Record<string, string> = { a: '2025-10-06', 'a#3': '2025-10-01', c: '2025-09-01' };
  const warn = (names: string[], endDate = '2025-10-20') =>
    newRunWarnings(expandModels(names, configuration), endDate, (model) => first[model] ?? null);
  const said = (who: string, them: string, from: string) =>
    `${who} new, …only 2025-10-20 for ${them}. …start_date ${from}`;
  assertLike(warn(['a', 'b', 'off', 'c']), [
    said('a#2 is', 'it', '2025-10-01'),
    said('b, off, off#2 are', 'them', '2025-09-01'),
  ]);
  assertLike(warn(['a#2']), [said('a#2 is', 'it', '2025-10-06')]);
  assert.deepEqual(warn(['b', 'off']), []);
  assert.deepEqual(warn(['b', 'c'], '2025-09-01'), [], 'there are no days before');
});
