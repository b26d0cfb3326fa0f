import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forestScale } from '../../src/browser/pages/forest.ts';
import {
  addressOf,
  choiceIn,
  choiceInWords,
  performanceRequest,
  requestOf,
} from '../../src/browser/pages/compare-options.ts';
import {
  columnsOf,
  differenceLines,
  fitsSideBySide,
} from '../../src/browser/pages/side-by-side.ts';
import { leftOutModels, withReturns } from '../../src/browser/pages/compare.ts';
import { cutoffMarks, cutoffWords } from '../../src/browser/plot/lines.ts';
import { comparedModel, comparedPair, modelWithout } from '../support/comparison-answer.ts';

const queries: [search: string, again: string][] = [
  ['', ''],
  ['?models=a,b', '?models=a,b'],
  ['?models=a%2Cb', '?models=a,b'],
  ['?models=a, ,b,', '?models=a,b'],
  ['?models=gpt-5%232&against=x%26y%3D%22', '?models=gpt-5%232&against=x%26y%3D%22'],
  ['?days=all&align=date&confidence=0.95', ''],
  ['?confidence=0.9&days=clean&align=number', '?days=clean&align=number&confidence=0.9'],
  ['?start_date=2025-06-03&end_date=&models=&unknown=1', '?start_date=2025-06-03'],
  [
    '?date=2025-06-03&against=a&benchmark=SPY&job_id=j',
    '?job_id=j&benchmark=SPY&against=a&date=2025-06-03',
  ],
];

test('the address has the choice; unknown parameters and defaults are dropped', () => {
  assert.deepEqual(
    queries.map(([search]) => [search, addressOf(choiceIn(search)).replace('/compare', '')]),
    queries,
  );
});

test('a request has the part of the choice that its path takes', () => {
  const choice = choiceIn(
    '?models=a,b%232&benchmark=SPY&days=clean&job_id=j&against=c&confidence=0.9&date=2025-06-03',
  );
  assert.equal(
    requestOf(choice, { curves: true }),
    '?models=a,b%232&job_id=j&benchmark=SPY&days=clean&against=c&confidence=0.9&curves=true',
  );
  assert.equal(requestOf(choiceIn(''), { curves: false }), '');
  assert.equal(requestOf(choiceIn(''), { curves: true }), '?curves=true');
  const figures = '?models=a,b%232&job_id=j&benchmark=SPY&days=clean&common=true&by=entry';
  assert.equal(performanceRequest(choice, ['a', 'b#2']), figures);
  assert.equal(
    performanceRequest(choice, []),
    '?job_id=j&benchmark=SPY&days=clean&common=true&by=entry',
  );
});

test('two to four models are side by side; of their decisions each run has a column as far as there is room', () => {
  const named = (...names: string[]) => names.map((model) => comparedModel(model, [0]));
  assert.deepEqual(
    [1, 2, 4, 5].map((count) => fitsSideBySide(Array.from({ length: count }))),
    [false, true, true, false],
  );
  const all = columnsOf([comparedModel('a', [0, 0]), ...named('b', 'a#2')]);
  assert.deepEqual([all.runs, all.note], [['a', 'a#2', 'b'], null]);
  assert.deepEqual(all.runs.map(all.nameOf), ['a#1', 'a#2', 'b'], 'a is the mean of its runs');
  const { runs, note } = columnsOf([comparedModel('a', [0, 0, 0]), comparedModel('b', [0, 0])]);
  assert.deepEqual(runs, ['a', 'b']);
  assert.match(note ?? '', /^Only the first run of each model is shown/);
});

const lines: [search: string, words: string][] = [
  ['', 'Every entry with 20 days, all dates, 95 % intervals'],
  [
    '?models=a,b%232&against=c&days=clean&confidence=0.999&date=2025-06-03',
    'a, b#2, all dates, after the knowledge cutoff, against c, 99.9 % intervals',
  ],
  [
    '?models=a,b,c,d&start_date=2025-06-03&end_date=2025-12-24&align=number&job_id=0123456789',
    'a, b, c and 1 more, from Tue 3 Jun 2025 to Wed 24 Dec 2025, job 01234567, days matched by number, 95 % intervals',
  ],
];

test('what is compared is said in a line', () => {
  assert.deepEqual(
    lines.map(([search]) => [search, choiceInWords(choiceIn(search))]),
    lines,
  );
});

test('models that cannot be compared yet have the returns that there are, the highest first', () => {
  const family = (
    name: string,
    mean_total_return: number | null,
    ...returns: (number | null)[]
  ) => ({
    ...{ family: name, mean_total_return, total_return_deviation: null },
    ...{ lowest_total_return: null, highest_total_return: null, unavailable: {} },
    runs: returns.map((total_return, index) => ({
      ...{ model: index === 0 ? name : `${name}#${index + 1}`, model_days: 3, total_return },
    })),
  });
  const families = [
    family('a', Math.sqrt(1.1 * 1.21) - 1, 0.1, 0.21),
    family('b', 0.4, 0.4, null),
    family('c', null, null),
  ];
  const rows = withReturns(
    [modelWithout('c', 'Few'), comparedModel('a', [0, 0]), comparedModel('b', [0, 0])],
    { families },
  );
  assert.deepEqual(
    rows.map(({ model, run_returns: own, total_return }) => [model, own, total_return?.toFixed(6)]),
    [
      ['b', [0.4, null], '0.400000'],
      ['a', [0.1, 0.21], (Math.sqrt(1.1 * 1.21) - 1).toFixed(6)],
    ],
  );
  assert.deepEqual(withReturns([comparedModel('a', [0])], null), []);
});

test('the curves of differences start together from zero; by number, or without figures, there is none', () => {
  const pair = (
    against: string,
    curve: { date?: string; number?: number; difference: number | null }[],
  ) => comparedPair('a', against, 0, { curve });
  const both = differenceLines([
    pair('b', [
      { date: '2025-06-02', difference: 0.1 },
      { date: '2025-06-03', difference: null },
    ]),
    pair('c', [
      { date: '2025-06-02', difference: -0.1 },
      { date: '2025-06-03', difference: -0.2 },
    ]),
    pair('none', []),
  ]);
  assert.deepEqual(both?.dates, ['2025-05-30', '2025-06-02', '2025-06-03']);
  assert.deepEqual(
    both?.lines.map(({ label, values }) => [label, ...values]),
    [
      ['a over b', 0, 0.1, null],
      ['a over c', 0, -0.1, -0.2],
    ],
  );
  assert.equal(differenceLines([pair('b', [{ number: 1, difference: 0.1 }])]), null);
  assert.equal(differenceLines([comparedPair('a', 'b', 0)]), null);
});

test('a forest plot has room for every interval, run and the benchmark, and shows zero', () => {
  const models = [
    comparedModel('a', [0.2, 0.5]),
    comparedModel('b', [0.3], { interval: { low: 0.1, high: 0.9 } }),
    modelWithout('c', 'Stale'),
  ];
  const { percent, ticks } = forestScale(models, -0.1);
  for (const value of [0, -0.1, 0.5, 0.9]) {
    const at = percent(value);
    assert.ok(at > 0 && at < 100, `${value} is at ${at}`);
  }
  assert.ok(percent(0.2) < percent(0.3));
  assert.ok(
    ticks.includes(0) &&
      ticks.length >= 3 &&
      ticks.every((tick) => percent(tick) >= 0 && percent(tick) <= 100),
  );
  assert.equal(forestScale([], null).percent(0), 50);
});

test('an interval that is far wider than the others is cut off in the plot, so that they stay readable', () => {
  const narrow = [0.01, 0.02, -0.03].map((own, place) =>
    comparedModel(`m${place}`, [own], { interval: { low: own - 0.05, high: own + 0.06 } }),
  );
  const wide = comparedModel('wide', [0.1], { interval: { low: -0.9, high: 7.5 } });
  const { percent, isBeyond, ticks } = forestScale([wide, ...narrow], 0.01);
  assert.deepEqual([-0.9, 7.5, 0.1, -0.08].map(isBeyond), [true, true, false, false]);
  for (const { interval } of narrow)
    assert.ok(percent(interval?.high ?? 0) - percent(interval?.low ?? 0) > 15);
  const [low, high] = [percent(-0.9), percent(7.5)];
  assert.ok(low > 0 && low < percent(-0.08) && high < 100 && high > percent(0.1));
  assert.ok(ticks.length >= 3);
  const alike = forestScale(narrow, null);
  assert.ok(narrow.every(({ interval }) => !alike.isBeyond(interval?.low ?? 0)));
  assert.equal(forestScale([wide], null).isBeyond(7.5), false, 'there are no others');
});

test('a model that was left out is named with its reason', () => {
  const models = [
    comparedModel('a', [0.1]),
    modelWithout('b', 'Needs 20 days with a return; it has 3'),
  ];
  assert.deepEqual(leftOutModels({ models, left_out_models: ['c'] }), [
    { model: 'b', reason: 'Needs 20 days with a return; it has 3' },
    {
      model: 'c',
      reason:
        'It has too few model-days in this range; choose it in the filters to compare it anyway',
    },
  ]);
});

test('knowledge cutoffs are marked by date, with the models that have them; without any there is nothing', () => {
  const runs = [
    { family: 'late', knowledge_cutoff: '2025-07-01' },
    ...['m-10', 'a', 'm-2', 'm-2', 'z'].map((family) => ({
      family,
      knowledge_cutoff: '2024-10-01',
    })),
    { family: 'unknown', knowledge_cutoff: null },
  ];
  const marks = cutoffMarks(runs);
  assert.deepEqual(marks, [
    { date: '2024-10-01', names: 'a, m-2, m-10 and 1 more' },
    { date: '2025-07-01', names: 'late' },
  ]);
  assert.match(
    cutoffWords(marks) ?? '',
    /^Knowledge cutoff: Tue\u00a01\u00a0Oct\u00a02024 \(a, m-2, m-10 and 1 more\), Tue\u00a01\u00a0Jul\u00a02025 \(late\)\./,
  );
  assert.deepEqual([cutoffMarks(runs.slice(-1)), cutoffWords([])], [[], null]);
});
