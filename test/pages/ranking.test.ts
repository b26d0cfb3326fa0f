import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineLook } from '../../src/features/pages/browser/look.ts';
import { meanFigure, valueColumns } from '../../src/features/pages/browser/pages/model-figures.ts';
import {
  type CurvesInput,
  curvesFromStart,
} from '../../src/features/pages/browser/pages/equity-curves.ts';
import { rowMarks, describeRanking } from '../../src/features/pages/browser/pages/leaderboard.ts';
import { daysBesideBenchmark } from '../../src/features/pages/browser/pages/model-curves.ts';
import { spreadLabels } from '../../src/features/pages/browser/plot/legend.ts';
import { benchmarkNotes } from '../../src/features/pages/browser/plot/lines.ts';
import type { ModelReport } from '../../src/features/pages/responses.ts';

const common = {
  start_date: '2025-10-01',
  end_date: '2025-10-07',
  days: 4,
  left_out: [],
  left_out_days: [],
};
const nothing = {
  common: null,
  clean_after: null,
  without_clean_days: [],
  without_completed_days: [],
};
const [one, three] = [[{}], [{}, {}, {}]];

test('a ranking names its days, and the days and models that it leaves out, with the reasons', () => {
  const left_out_days = [
    { date: '2025-10-02', missing: 1, models: ['b'] },
    { date: '2025-10-03', missing: 7, models: ['a', 'b'] },
  ];
  const left_out = [{ model: 'late', reason: 'It has 1 day' }];
  const ranked = describeRanking({
    families: three,
    common: { ...common, left_out, left_out_days },
    clean_after: '2025-09-30',
    without_clean_days: [{ model: 'old', reason: 'None is clean' }],
    without_completed_days: [{ model: 'broken', reason: 'All failed' }],
  });
  assert.equal(
    ranked.words,
    'Ranked over the 4 days that all 3 models completed without a gap, from Wed 1 Oct 2025 to Tue 7 Oct 2025. ' +
      'Only days after Tue 30 Sep 2025, the latest knowledge cutoff, count.',
  );
  const names = ranked.models.map(({ name }) => name);
  assert.deepEqual(names, ['late', 'old', 'broken']);
  assert.deepEqual(ranked.days, [
    { name: 'Thu 2 Oct 2025', reason: 'not shared by b' },
    { name: 'Fri 3 Oct 2025', reason: 'not shared by a, b and 5 more models' },
  ]);
});

test('the values of a ranking say their currency: in the heading, or beside each where there are several', () => {
  const shown = (...currencies: string[]) => {
    const models = currencies.map((currency) => ({ currency }) as ModelReport);
    const columns = valueColumns<{ entry: { runs: ModelReport[] } | null }>(models, () => 1_013.04);
    const rows = [...models.map((run) => ({ runs: [run] })), null];
    const cells = rows.map((entry) => columns.map(({ cell }) => cell({ entry }) ?? ''));
    return [columns.map(({ title }) => title), ...cells].map((words) => words.join(' ').trim());
  };
  assert.deepEqual(shown('USD', 'USD'), ['Value', '1,013.04', '1,013.04', '1,013.04']);
  assert.deepEqual(shown('CNY'), ['Value (CNY)', '1,013.04', '1,013.04']);
  const mixed = ['Value Currency', '1,013.04 CNY', '1,013.04 USD', '1,013.04'];
  assert.deepEqual(shown('CNY', 'USD'), mixed);
});

test('a figure of an entry is the mean of its runs; without that of one run there is none', () => {
  // Of a report only what `read` reads.
  const run = (trades: number | null) => ({ trading: { trades } }) as unknown as ModelReport;
  const read = ({ trading }: ModelReport) => trading.trades;
  const mean = (...trades: (number | null)[]) => meanFigure({ runs: trades.map(run) }, read);
  assert.deepEqual([mean(3), mean(3, 6), mean(3, null), mean()], [3, 4.5, null, null]);
});

test('names at the ends of lines stay apart and within the plot, in their order', () => {
  const spread = (...wanted: number[]) => spreadLabels(wanted, { gap: 20, height: 100 });
  assert.deepEqual(spread(10, 50, 90), [10, 50, 90]);
  assert.deepEqual(spread(50, 51, 52), [50, 70, 90]);
  assert.deepEqual(spread(90, 95, 99), [60, 80, 100]);
  assert.deepEqual(spread(-5, 0), [0, 20]);
});

test('a ranking over all days warns that its order may mislead; one without common days says that there are none', () => {
  const all = describeRanking({ ...nothing, families: three });
  assert.match(
    all.words,
    /^Each model is measured over all its own days\. .*which model is better\.$/,
  );
  assert.deepEqual([all.models, all.days], [[], []]);
  const single = describeRanking({ ...nothing, families: one, common: { ...common, days: 1 } });
  assert.equal(
    single.words,
    'Ranked over the 1 day that the model completed without a gap, from Wed 1 Oct 2025 to Tue 7 Oct 2025.',
  );
  const none = { ...common, start_date: null, end_date: null, days: 0 };
  const empty = describeRanking({ ...nothing, families: [], common: none });
  assert.equal(empty.words, 'The models have no day in common.');
});

const calm: Partial<ModelReport> = {
  incomparable: [],
  failed_model_days: 0,
  outside: [],
  days_before_cutoff: 0,
  knowledge_cutoff: null,
};
const late = { kind: 'period', reason: 'Its period' } as const;
const few = { kind: 'missing_days', reason: 'It has 3 days' } as const;
const early = { days_before_cutoff: 2, knowledge_cutoff: '2025-10-13' };
const severalRuns = [
  {},
  { incomparable: [late], failed_model_days: 1 },
  { incomparable: [late, few], failed_model_days: 2 },
];
/** What is marked, of which runs: the words of each mark and, after `=`, its reason. */
const marks: [name: string, runs: Partial<ModelReport>[], marks: string[]][] = [
  ['nothing', [{}, {}], []],
  ['what makes it incomparable', [{ incomparable: [late] }], ['not comparable: period=Its period']],
  [
    'a baseline that holds only part of its universe, by the part that it holds',
    [{ incomparable: [{ kind: 'part_of_universe', reason: 'It holds 2 of 3 symbols: cash' }] }],
    ['holds 2 of 3 symbols=It holds 2 of 3 symbols: cash'],
  ],
  [
    'failed days, and days that its model may remember',
    [{ failed_model_days: 1, ...early }],
    [
      '1 failed day=1 model-day failed and has not been completed since',
      '2 days on or before its knowledge cutoff=2 model-days are not after its knowledge cutoff, Mon 13 Oct 2025: it may remember those prices',
    ],
  ],
  [
    'an agent',
    [{ outside: ['agent'] }],
    [
      'outside agent=It has a network connection of its own, so this service cannot keep it from looking up the future',
    ],
  ],
  [
    'several runs: each respect once, and the days of all',
    severalRuns,
    [
      'not comparable: period, missing days=Its period. It has 3 days',
      '3 failed days=3 model-days failed and have not been completed since',
    ],
  ],
];

test('a row of the leaderboard is marked with what a reader should know of its runs', () => {
  for (const [name, runs, expected] of marks) {
    const found = rowMarks(runs.map((own) => ({ ...calm, ...own }) as ModelReport));
    assert.deepEqual(
      found.map(({ words, reason }) => `${words}=${reason}`),
      expected,
      name,
    );
  }
});

type Points = [date: string, growth: number][];

/** Curves of models: what each started from, and its growth on its days. */
function performanceOf(
  models: Record<string, [start: number, points: Points]>,
  cash: (start: number) => number | null = (start) => start,
) {
  const own = Object.entries(models).map(([model, [start, points]]) => {
    const curve = points.map(([date, growth]) => ({ date, growth, value: start * growth }));
    return { model, start_value: start, initial_cash: cash(start), currency: 'USD', curve };
  });
  const curve = [
    { date: '2025-10-07', value: 1.1 },
    { date: '2025-10-08', value: 1.2 },
  ];
  const families: CurvesInput['families'][number][] = own.map(({ model, curve }) => ({
    family: model,
    runs: [{ model, model_days: curve.length, total_return: null }],
  }));
  return { models: own, families, benchmark: { name: 'QQQ', curve } };
}

test('all curves start together before the first day, at the initial cash of most models', () => {
  const from = (tenth: number, ninth: number, last: number, cash?: () => number) => {
    const late: Points = [['2025-10-08', 0.5]];
    const both: Points = [
      ['2025-10-07', 2],
      ['2025-10-08', 3],
    ];
    const first: Points = [['2025-10-07', 1.5]];
    const models: Parameters<typeof performanceOf>[0] = {
      'run-10': [tenth, first],
      'run-9': [ninth, both],
      late: [last, late],
    };
    return curvesFromStart(performanceOf(models, cash));
  };
  const same = from(100, 100, 100);
  assert.equal(same.title, 'Growth of 100 dollars');
  assert.deepEqual(same.dates, ['2025-10-06', '2025-10-07', '2025-10-08']);
  assert.deepEqual(
    same.lines.map((line) => [line.label, ...line.values]),
    [
      ['late', null, 100, 50],
      ['run-9', 100, 200, 300],
      ['run-10', 100, 150, null],
      ['QQQ (benchmark)', 100, 110.00000000000001, 120],
    ],
  );
  for (const { label, colour, dash } of same.lines.slice(0, 3))
    assert.deepEqual({ colour, dash }, lineLook(label), label);
  assert.deepEqual(from(100, 250, 100).lines, same.lines);
  assert.equal(from(250, 100, 250).title, 'Growth of 250 dollars', 'most of them started from it');
  const part = from(104.2, 99.1, 101.5, () => 100);
  assert.equal(part.title, 'Growth of 100 dollars', 'over a part of their days too');
  const old = curvesFromStart(performanceOf({ late: [104.2, [['2025-10-08', 0.5]]] }, () => null));
  assert.equal(
    old.lines[0]?.values[0],
    104.2,
    'without a known cash, the value before the first day',
  );
});

test('the curve of an entry is the mean of its runs, with a band from the lowest to the highest', () => {
  const performance = performanceOf({ pair: [100, [['2025-10-07', 1.5]]] });
  Object.assign(performance.families[0]!, {
    curve: [{ date: '2025-10-07', growth: 2, low: 1, high: 4 }],
  });
  const { title, lines } = curvesFromStart(performance);
  assert.equal(title, 'Growth of 100 dollars');
  const { values, low, high } = lines[0]!;
  assert.deepEqual(
    [values, low, high],
    [
      [100, 200],
      [100, 100],
      [100, 400],
    ],
  );
});

test('a model beside the benchmark is drawn by its growth if some days do not count, as the benchmark is', () => {
  const days = [1.1, 1.21].map((growth, day) => {
    return { date: `2025-10-0${day + 7}`, growth, value: 100 * growth };
  });
  assert.deepEqual(daysBesideBenchmark(days, 100), { title: 'Portfolio value', days });
  const later = days.map((day, index) => ({ ...day, value: day.value + index * 5 }));
  const { title, days: drawn } = daysBesideBenchmark(later, 100);
  assert.equal(title, 'Growth of 100 dollars');
  assert.deepEqual(
    drawn.map(({ value }) => value),
    [110.00000000000001, 121],
  );
});

test('a note under the curves says where the prices of the benchmark end, and where its dividends are unknown', () => {
  const last = 'The last price of QQQ is that of 2025-10-07, before 1 of 3 dates';
  const some = 'The universe has a return on 3 of 4 dates';
  const unknown = 'Dividends of the universe are unknown on 2 of 3 dates.';
  const notes: [name: string, days: number, why: string | null, unknown: number, words: string][] =
    [
      ['QQQ', 3, null, 0, ''],
      ['QQQ', 3, last, 0, `${last}.`],
      ['universe', 3, some, 2, `${some}. ${unknown}`],
      ['universe', 0, 'The universe has no price', 0, 'The universe has no price.'],
    ];
  for (const [name, days, incomplete, days_with_unknown_dividends, words] of notes)
    assert.equal(benchmarkNotes({ name, days, incomplete, days_with_unknown_dividends }), words);
});
