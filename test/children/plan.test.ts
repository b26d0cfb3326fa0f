import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays } from '../../src/basics/calendar.ts';
import type { Availability } from '../../src/prices/needs.ts';
import {
  datesToRun,
  type Plan,
  planModelDays,
  skipUnpricedDates,
  skipWarnings,
} from '../../src/jobs/plan.ts';
import { runs } from '../support/long.ts';

const START = '2025-01-06';

/** A plan without its dates: one model-day an entry. */
function flat(plan: Plan) {
  const skips = plan.flatMap((day) =>
    day.skips.flatMap(({ reason, modelDays }) =>
      modelDays.map((modelDay) => ({ modelDay, reason })),
    ),
  );
  return { run: plan.flatMap(({ run }) => run), skips };
}

test('a model-day is skipped because it is completed, early or without prices', () => {
  const modelDays = ['2025-01-06', '2025-01-07', '2025-01-08'].flatMap((date) =>
    ['a', 'b'].map((model) => ({ jobId: 'j', date, model })),
  );
  const runs = [
    { model: 'a', startDate: '2025-01-07' },
    { model: 'b', startDate: '2025-01-06' },
  ];
  const plan = planModelDays(modelDays, {
    runs,
    completed: [
      { date: '2025-01-07', model: 'a' },
      { date: '2025-01-07', model: 'b' },
    ],
    replaceExisting: false,
  });
  const priced = skipUnpricedDates(plan, [
    { date: '2025-01-06', availability: 'available', missing: [], partial: [] },
    { date: '2025-01-08', availability: 'no_trading', missing: [], partial: [] },
  ]);
  assert.deepEqual(
    datesToRun(plan),
    ['2025-01-06', '2025-01-08'],
    'no prices are needed for the others',
  );
  assert.deepEqual(
    priced.map((day) => day.skips.length),
    [1, 1, 1],
    'each date has one reason',
  );
  const { run, skips } = flat(priced);
  assert.deepEqual(run, [{ jobId: 'j', date: '2025-01-06', model: 'b' }]);
  assert.deepEqual(
    skips.map(({ modelDay: { date, model }, reason }) => `${date} ${model} ${reason}`),
    [
      "2025-01-06 a Before the model's resume date",
      '2025-01-07 a Already completed',
      '2025-01-07 b Already completed',
      '2025-01-08 a No price data',
      '2025-01-08 b No price data',
    ],
  );
});

test('warnings name in sentences, with counts, what was skipped', () => {
  const skipped = [
    { date: '2025-01-06', reason: "Before the model's resume date", modelDays: 1 },
    { date: '2025-01-07', reason: 'Already completed', modelDays: 2 },
    { date: '2025-01-08', reason: 'No price data', modelDays: 2 },
  ];
  assert.deepEqual(skipWarnings(skipped), [
    'Skipped 2 model-days already completed',
    "Skipped 1 model-day before the model's resume date",
    'Skipped 1 date without price data: 2025-01-08',
  ]);
});

test('every model-day is either run or skipped for the first reason that applies', () => {
  const dates = Array.from({ length: 6 }, (_, day) => addDays(START, day));
  const models = ['a', 'b', 'c'];
  const anyCase = fc.record({
    starts: fc.array(fc.integer({ min: -2, max: 8 }), { minLength: 3, maxLength: 3 }),
    completed: fc.array(
      fc.record({ date: fc.constantFrom(...dates), model: fc.constantFrom(...models) }),
    ),
    availability: fc.array(fc.constantFrom<Availability>('available', 'no_trading', 'missing'), {
      minLength: 6,
      maxLength: 6,
    }),
    replaceExisting: fc.boolean(),
  });
  fc.assert(
    fc.property(anyCase, ({ starts, completed, availability, replaceExisting }) => {
      const modelDays = dates.flatMap((date) =>
        models.map((model) => ({ jobId: 'j', date, model })),
      );
      const runs = models.map((model, index) => ({
        model,
        startDate: addDays(START, starts[index] as number),
      }));
      const plan = planModelDays(modelDays, { runs, completed, replaceExisting });
      const prices = dates.map((date, index) => ({
        date,
        availability: availability[index] as Availability,
        missing: [],
        partial: [],
      }));
      const { run, skips } = flat(skipUnpricedDates(plan, prices));
      assert.equal(run.length + skips.length, modelDays.length);
      for (const { date, model } of modelDays) {
        const isCompleted = completed.some((one) => one.date === date && one.model === model);
        const isEarly = date < (runs.find((one) => one.model === model)?.startDate ?? '');
        const isPriced = availability[dates.indexOf(date)] === 'available';
        const expected =
          isCompleted && !replaceExisting
            ? 'Already completed'
            : isEarly
              ? "Before the model's resume date"
              : isPriced
                ? null
                : 'No price data';
        const skip = skips.find(
          ({ modelDay }) => modelDay.date === date && modelDay.model === model,
        );
        assert.equal(skip?.reason ?? null, expected);
        assert.equal(
          run.some((one) => one.date === date && one.model === model),
          expected === null,
        );
      }
    }),
    { numRuns: runs(300, 1_000) },
  );
});
