import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveRange } from '../../src/core/jobs/plan.ts';

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

/** `name | request: from, or - in resume mode, to: models | starts | first and last date, and how many`. */
const accepted = `
  explicit: all models start together | 11-24 11-28: new old | 11-24 11-24 | 11-24 11-28 5
  today is not in the future | 12-01 12-01: new | 12-01 | 12-01 12-01 1
  exactly the maximum of days | 11-01 11-30: new | 11-01 | 11-03 11-28 20
  weekends are left out | 11-28 12-01: new | 11-28 | 11-28 12-01 2
  resume: each model on the day after its last | - 11-28: old recent | 11-21 11-27 | 11-21 11-28 6
  resume: a cold start is one day | - 11-28: new | 11-28 | 11-28 11-28 1
  resume: a cold start beside an old model | - 11-28: new recent | 11-28 11-27 | 11-27 11-28 2
  resume: models past the end stay in the job | - 11-27: done recent | 11-29 11-27 | 11-27 11-27 1`;

const refused: [name: string, request: string, detail: RegExp][] = [
  ['start after end', '11-28 11-27: new', /start_date 2025-11-28 is after end_date 2025-11-27/],
  ['the future', '11-28 12-02: new', /2025-12-02 is in the future \(today is 2025-12-01 in UTC\)/],
  ['31 days', '10-30 11-29: new', /is 31 days, the maximum is 30 \(MAX_SIMULATION_DAYS\)/],
  ['no weekday', '11-29 11-30: new', /has no weekday/],
  ['resume over too long a gap', '- 11-28: ancient', /is 331 days, the maximum is 30/],
  [
    'resume with every model past the end',
    '- 11-25: recent done',
    /up to 2025-11-25: every model is complete up to 2025-11-26/,
  ],
  ['resume onto only a weekend', '- 11-30: done', /2025-11-29 to 2025-11-30 has no weekday/],
  ['resume into the future', '- 12-02: recent', /in the future/],
];

const dated = (day: string) => `2025-${day}`;
const modelsOf = (request: string) => (request.split(': ')[1] ?? '').split(' ');

function resolve(request: string) {
  const [from = '', to = ''] = request.split(/[ :]/);
  const models = modelsOf(request).map((model) => ({ model }));
  const range = { startDate: from === '-' ? null : dated(from), endDate: dated(to), models };
  return resolveRange(range, facts);
}

for (const row of accepted.trim().split('\n')) {
  const [name = '', request = '', from = '', range = ''] = row.trim().split(' | ');
  test(name, () => {
    const { runs, dates, startDate } = resolve(request);
    const starts = from.split(' ').map(dated);
    assert.deepEqual(
      runs,
      modelsOf(request).map((model, index) => ({ model, startDate: starts[index] })),
    );
    const [first = '', last = '', count] = range.split(' ');
    assert.deepEqual([dates[0], dates.at(-1)], [dated(first), dated(last)]);
    assert.equal(dates.length, Number(count));
    assert.equal(startDate, starts.sort()[0]);
  });
}

for (const [name, request, message] of refused)
  test(`refused: ${name}`, () => {
    const code = name.includes('past the end') ? 'nothing_to_resume' : 'invalid_dates';
    assert.throws(() => resolve(request), { code, message });
  });

test('an assertion stops a range without a model', () => {
  const request = { startDate: '2025-11-24', endDate: '2025-11-28', models: [] };
  assert.throws(() => resolveRange(request, facts), {
    name: 'AssertionError',
    message: /at least one model/,
  });
});
