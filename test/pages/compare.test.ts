import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  comparePath,
  readChoice,
  choiceText,
  performanceQuery,
  comparisonQuery,
} from '../../src/features/pages/browser/pages/compare-options.ts';
import {
  putLeaderFirst,
  leftOutModels,
  addReturns,
} from '../../src/features/pages/browser/pages/compare.ts';
import { forestScale } from '../../src/features/pages/browser/pages/forest.ts';
import {
  chooseRuns,
  differenceLines,
  fitsSideBySide,
} from '../../src/features/pages/browser/pages/side-by-side.ts';
import { cutoffMarks, cutoffText } from '../../src/features/pages/browser/plot/lines.ts';
import { comparedModel, comparedPair, modelWithout } from '../support/comparison-answer.ts';
import { tableOf } from '../support/text-table.ts';

test('the address has the choice; unknown parameters and defaults are dropped', () => {
  for (const [search, again] of tableOf<[search: string, again: string]>(`
                                                              |
    ?models=a,b                                               | ?models=a,b
    ?models=a%2Cb                                             | ?models=a,b
    ?models=a, ,b,                                            | ?models=a,b
    ?models=gpt-5%232&against=x%26y%3D%22                     | ?models=gpt-5%232&against=x%26y%3D%22
    ?days=all&align=date&confidence=0.95                      |
    ?confidence=0.9&days=clean&align=number                   | ?days=clean&align=number&confidence=0.9
    ?start_date=2025-06-03&end_date=&models=&unknown=1        | ?start_date=2025-06-03
    ?date=2025-06-03&against=a&benchmark=SPY&job_id=j         | ?job_id=j&benchmark=SPY&against=a&date=2025-06-03`))
    assert.equal(comparePath(readChoice(search)), `/compare${again}`, search);
});

test('a request has the part of the choice that its path takes', () => {
  const choice = readChoice(
    '?models=a,b%232&benchmark=SPY&days=clean&job_id=j&against=c&confidence=0.9&date=2025-06-03',
  );
  const filters = 'job_id=j&benchmark=SPY&days=clean';
  const compared = `?models=a,b%232&${filters}&against=c&confidence=0.9&curves=true`;
  assert.equal(comparisonQuery(choice, { curves: true }), compared);
  assert.equal(comparisonQuery(readChoice(''), { curves: false }), '');
  assert.equal(comparisonQuery(readChoice(''), { curves: true }), '?curves=true');
  const figures = `${filters}&common=true&by=entry`;
  assert.equal(performanceQuery(choice, ['a', 'b#2']), `?models=a,b%232&${figures}`);
  assert.equal(performanceQuery(choice, []), `?${figures}`);
});

test('two to four models are side by side; of their decisions each run has a column as far as there is room', () => {
  const fits = [1, 2, 4, 5].map((count) => fitsSideBySide(Array.from({ length: count })));
  assert.deepEqual(fits, [false, true, true, false]);
  const models: [string, number[]][] = [
    ['a', [0, 0]],
    ['b', [0]],
    ['a#2', [0]],
  ];
  const all = chooseRuns(models.map(([name, returns]) => comparedModel(name, returns)));
  assert.deepEqual([all.runs, all.note], [['a', 'a#2', 'b'], null]);
  assert.deepEqual(all.runs.map(all.nameOf), ['a#1', 'a#2', 'b'], 'a is the mean of its runs');
  const { runs, note } = chooseRuns([comparedModel('a', [0, 0, 0]), comparedModel('b', [0, 0])]);
  assert.deepEqual(runs, ['a', 'b']);
  assert.match(note ?? '', /^Only the first run of each model is shown/);
});

test('what is compared is said in a line', () => {
  const several = '?models=a,b%232&against=c&days=clean&confidence=0.999&date=2025-06-03';
  const many =
    '?models=a,b,c,d&start_date=2025-06-03&end_date=2025-12-24&align=number&job_id=0123456789';
  const inWords = ['', several, many].map((search) => choiceText(readChoice(search)));
  assert.deepEqual(inWords, [
    'Every entry with 20 days, all dates, 95 % intervals',
    'a, b#2, all dates, after the knowledge cutoff, against c, 99.9 % intervals',
    'a, b, c and 1 more, from Tue 3 Jun 2025 to Wed 24 Dec 2025, job 01234567, days matched by number, 95 % intervals',
  ]);
});

test('models that cannot be compared yet have the returns that there are, the highest first', () => {
  const family = (name: string, mean: number | null, ...returns: (number | null)[]) => ({
    family: name,
    mean_total_return: mean,
    total_return_deviation: null,
    lowest_total_return: null,
    highest_total_return: null,
    unavailable: {},
    runs: returns.map((total_return, index) => ({
      model: index === 0 ? name : `${name}#${index + 1}`,
      model_days: 3,
      total_return,
    })),
  });
  const families = [
    family('a', 0.15, 0.1, 0.21),
    family('b', 0.4, 0.4, null),
    family('c', null, null),
  ];
  const [a, b] = [comparedModel('a', [0, 0]), comparedModel('b', [0, 0])];
  const rows = addReturns([modelWithout('c', 'Few'), a, b], { families });
  assert.deepEqual(
    rows.map(({ model, run_returns: own, total_return }) => [model, own, total_return]),
    [
      ['b', [0.4, null], 0.4],
      ['a', [0.1, 0.21], 0.15],
    ],
  );
  assert.deepEqual(addReturns([a], null), []);
});

test('a pair is named in the order in which its models are ahead', () => {
  const curve = [
    { date: '2025-06-02', difference: 0.25 },
    { date: '2025-06-03', difference: -0.2 },
    { date: '2025-06-04', difference: null },
  ];
  const behind = putLeaderFirst(comparedPair('a', 'b', -0.2, { curve }));
  assert.deepEqual([behind.model, behind.against, behind.difference], ['b', 'a', 0.25]);
  const opposite = behind.curve?.map(({ difference }) => difference);
  assert.deepEqual(opposite, [1 / 1.25 - 1, 0.25, null]);
  for (const difference of [0, 0.1, null]) {
    const pair = { ...comparedPair('a', 'b', 0), difference };
    assert.equal(putLeaderFirst(pair), pair);
  }
});

test('the curves of differences start together from zero; by number, or without figures, there is none', () => {
  const pair = (against: string, ...differences: (number | null)[]) =>
    comparedPair('a', against, 0, {
      curve: differences.map((difference, day) => ({ date: `2025-06-0${day + 2}`, difference })),
    });
  const both = differenceLines([pair('b', 0.1, null), pair('c', -0.1, -0.2), pair('none')]);
  assert.deepEqual(both?.dates, ['2025-05-30', '2025-06-02', '2025-06-03']);
  const lines = both?.lines.map(({ label, values }) => [label, ...values]);
  assert.deepEqual(lines, [
    ['a over b', 0, 0.1, null],
    ['a over c', 0, -0.1, -0.2],
  ]);
  const byNumber = comparedPair('a', 'b', 0, { curve: [{ number: 1, difference: 0.1 }] });
  assert.equal(differenceLines([byNumber]), null);
  assert.equal(differenceLines([comparedPair('a', 'b', 0)]), null);
});

test('a forest plot has room for every interval, run and the benchmark, and shows zero', () => {
  const wide = comparedModel('b', [0.3], { interval: { low: 0.1, high: 0.9 } });
  const models = [comparedModel('a', [0.2, 0.5]), wide, modelWithout('c', 'Stale')];
  const { percent, ticks } = forestScale(models, -0.1);
  for (const value of [0, -0.1, 0.5, 0.9]) {
    const at = percent(value);
    assert.ok(at > 0 && at < 100, `${value} is at ${at}`);
  }
  assert.ok(percent(0.2) < percent(0.3));
  assert.ok(ticks.includes(0) && ticks.length >= 3);
  assert.ok(ticks.every((tick) => percent(tick) >= 0 && percent(tick) <= 100));
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
  const missing = 'Needs 20 days with a return; it has 3';
  const models = [comparedModel('a', [0.1]), modelWithout('b', missing)];
  const reason =
    'It has too few model-days in this range; choose it in the filters to compare it anyway';
  assert.deepEqual(leftOutModels({ models, left_out_models: ['c'] }), [
    { model: 'b', reason: missing },
    { model: 'c', reason },
  ]);
});

test('knowledge cutoffs are marked by date, with the models that have them; without any there is nothing', () => {
  const cutoffs: [family: string, cutoff: string | null][] = [
    ['late', '2025-07-01'],
    ...['m-10', 'a', 'm-2', 'm-2', 'z'].map((name): [string, string] => [name, '2024-10-01']),
    ['unknown', null],
  ];
  const runs = cutoffs.map(([family, knowledge_cutoff]) => ({ family, knowledge_cutoff }));
  const marks = cutoffMarks(runs);
  assert.deepEqual(marks, [
    { date: '2024-10-01', names: 'a, m-2, m-10 and 1 more' },
    { date: '2025-07-01', names: 'late' },
  ]);
  assert.match(
    (cutoffText(marks) ?? '').replaceAll('\u00a0', ' '),
    /^Knowledge cutoff: Tue 1 Oct 2024 \(a, m-2, m-10 and 1 more\), Tue 1 Jul 2025 \(late\)\./,
  );
  assert.deepEqual([cutoffMarks(runs.slice(-1)), cutoffText([])], [[], null]);
});
