import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveRange } from '../../src/jobs/plan.ts';

const TODAY = '2025-12-01';

/** What the models are simulated through. */
const history: Record<string, string | undefined> = {
  old: '2025-11-20',
  recent: '2025-11-26',
  done: '2025-11-28',
  ancient: '2025-01-01',
};
const facts = {
  simulatedThrough: (model: string) => history[model] ?? null,
  today: TODAY,
  maxSimulationDays: 30,
};

const named = (models: string[]) => models.map((model) => ({ model }));

const accepted: [
  name: string,
  start: string | null,
  end: string,
  models: string[],
  starts: string[],
  dates: [first: string, last: string, count: number],
][] = [
  [
    'explicit: all models start together',
    '2025-11-24',
    '2025-11-28',
    ['new', 'old'],
    ['2025-11-24', '2025-11-24'],
    ['2025-11-24', '2025-11-28', 5],
  ],
  [
    'today is not in the future',
    '2025-12-01',
    '2025-12-01',
    ['new'],
    ['2025-12-01'],
    ['2025-12-01', '2025-12-01', 1],
  ],
  [
    'exactly the maximum of days',
    '2025-11-01',
    '2025-11-30',
    ['new'],
    ['2025-11-01'],
    ['2025-11-03', '2025-11-28', 20],
  ],
  [
    'weekends are left out',
    '2025-11-28',
    '2025-12-01',
    ['new'],
    ['2025-11-28'],
    ['2025-11-28', '2025-12-01', 2],
  ],
  [
    'resume: each model on the day after its last',
    null,
    '2025-11-28',
    ['old', 'recent'],
    ['2025-11-21', '2025-11-27'],
    ['2025-11-21', '2025-11-28', 6],
  ],
  [
    'resume: a cold start is one day',
    null,
    '2025-11-28',
    ['new'],
    ['2025-11-28'],
    ['2025-11-28', '2025-11-28', 1],
  ],
  [
    'resume: a cold start beside an old model',
    null,
    '2025-11-28',
    ['new', 'recent'],
    ['2025-11-28', '2025-11-27'],
    ['2025-11-27', '2025-11-28', 2],
  ],
  [
    'resume: models past the end stay in the job',
    null,
    '2025-11-27',
    ['done', 'recent'],
    ['2025-11-29', '2025-11-27'],
    ['2025-11-27', '2025-11-27', 1],
  ],
];
for (const [name, startDate, endDate, models, starts, [first, last, count]] of accepted) {
  test(name, () => {
    const range = resolveRange({ startDate, endDate, models: named(models) }, facts);
    assert.deepEqual(
      range.runs,
      models.map((model, index) => ({ model, startDate: starts[index] })),
    );
    assert.deepEqual(
      [range.dates[0], range.dates.at(-1), range.dates.length],
      [first, last, count],
    );
    assert.equal(range.startDate, [...starts].sort()[0]);
  });
}

const refused: [
  name: string,
  start: string | null,
  end: string,
  models: string[],
  detail: RegExp,
][] = [
  [
    'start after end',
    '2025-11-28',
    '2025-11-27',
    ['new'],
    /start_date 2025-11-28 is after end_date 2025-11-27/,
  ],
  [
    'the future',
    '2025-11-28',
    '2025-12-02',
    ['new'],
    /2025-12-02 is in the future \(today is 2025-12-01 in UTC\)/,
  ],
  [
    '31 days',
    '2025-10-30',
    '2025-11-29',
    ['new'],
    /is 31 days, the maximum is 30 \(MAX_SIMULATION_DAYS\)/,
  ],
  ['no weekday', '2025-11-29', '2025-11-30', ['new'], /has no weekday/],
  ['resume over too long a gap', null, '2025-11-28', ['ancient'], /is 331 days, the maximum is 30/],
  [
    'resume with every model past the end',
    null,
    '2025-11-25',
    ['recent', 'done'],
    /Nothing to resume up to 2025-11-25: every model has already run through 2025-11-26/,
  ],
  [
    'resume onto only a weekend',
    null,
    '2025-11-30',
    ['done'],
    /2025-11-29 to 2025-11-30 has no weekday/,
  ],
  ['resume into the future', null, '2025-12-02', ['recent'], /in the future/],
];
for (const [name, startDate, endDate, models, detail] of refused) {
  test(`refused: ${name}`, () => {
    assert.throws(() => resolveRange({ startDate, endDate, models: named(models) }, facts), {
      code: 'invalid_dates',
      message: detail,
    });
  });
}

test('an assertion stops a range without a model', () => {
  const request = { startDate: '2025-11-24', endDate: '2025-11-28', models: [] };
  assert.throws(() => resolveRange(request, facts), {
    name: 'AssertionError',
    message: /at least one model/,
  });
});
