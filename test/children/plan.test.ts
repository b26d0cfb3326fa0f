import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays, type CalendarDate } from '../../src/core/time/calendar.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { endJob } from '../../src/core/database/job-queries.ts';
import { datesToRun, pendingModelDays, skipModelDays } from '../../src/core/database/model-days.ts';
import { insertTestJob } from '../support/jobs.ts';
import { runs } from '../support/long.ts';
import { rowsAsText } from '../support/tables.ts';

const START = '2025-01-06';
const AT = '2025-12-01T00:00:00.000Z';

interface Case {
  dates: readonly CalendarDate[];
  /** Where each model starts. */
  starts: Record<string, CalendarDate>;
  completed: readonly (readonly [date: CalendarDate, model: string])[];
  replaceExisting?: boolean;
}

/** Inserts a job `j` after one that completed some of its model-days. */
function insertCase(
  database: CommandDatabase,
  { dates, starts, completed, replaceExisting = false }: Case,
): void {
  const others = { agentConfig: {}, createdAt: AT, warnings: [], dates };
  const range = { startDate: dates[0]!, endDate: dates.at(-1)! };
  const models = Object.keys(starts);
  const before = models.map((model) => ({ model, startDate: range.startDate }));
  insertTestJob(database, {
    ...{ ...others, ...range, jobId: 'earlier', runs: before },
    replaceExisting: false,
  });
  const complete = database.statement(
    `INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, started_at, completed_at, wording)
     VALUES ('earlier', ?, ?, 'active', 1, ?3, ?3, 1)`,
  );
  for (const [date, model] of completed) complete.run(date, model, AT);
  endJob(database, 'earlier', { status: 'failed', error: null, at: AT });
  const own = models.map((model) => ({ model, startDate: starts[model]! }));
  insertTestJob(database, { ...others, ...range, jobId: 'j', runs: own, replaceExisting });
}

/** What becomes of each model-day of the job, by date and model: `run`, or why it is skipped. */
function fates(
  database: CommandDatabase,
  dates: readonly CalendarDate[],
  priced: readonly CalendarDate[],
): string[] {
  skipModelDays(database, 'j', { priced, at: AT });
  const pending = dates.flatMap((date) => pendingModelDays(database, 'j', date));
  const isPending = new Set(pending.map(({ date, model }) => `${date} ${model}`));
  return database
    .statement(`SELECT date, model, error FROM job_details WHERE job_id = 'j'`)
    .all()
    .map(({ date, model, error }) => {
      const modelDay = `${date} ${model}`;
      assert.equal(isPending.has(modelDay), error === null);
      return `${modelDay} ${error ?? 'run'}`;
    });
}

test('model-days that run are in the order of the job, and what had ended stays as it was', (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const dates = ['2025-01-06', '2025-01-07'];
  const completed = [['2025-01-06', 'a']] as const;
  insertCase(database, { dates, starts: { b: '2025-01-06', a: '2025-01-06' }, completed });
  const inOrder = pendingModelDays(database, 'j', '2025-01-07').map(({ model }) => model);
  assert.deepEqual(inOrder, ['b', 'a']);
  skipModelDays(database, 'j', { priced: ['2025-01-06'], at: AT });
  skipModelDays(database, 'j', { priced: [], at: 'later' });
  const later = `SELECT date, model, error FROM job_details WHERE job_id = 'j' AND completed_at = 'later'`;
  assert.deepEqual(rowsAsText(database, later), ['2025-01-06 b No price data']);
});

test('every model-day is either run or skipped for the first reason that applies', (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const dates = Array.from({ length: 6 }, (_, day) => addDays(START, day));
  const models = ['a', 'b', 'c'];
  const anyCase = fc.record({
    starts: fc.array(fc.integer({ min: -2, max: 8 }), { minLength: 3, maxLength: 3 }),
    completed: fc.uniqueArray(fc.tuple(fc.constantFrom(...dates), fc.constantFrom(...models)), {
      selector: String,
    }),
    priced: fc.subarray(dates),
    replaceExisting: fc.boolean(),
  });
  fc.assert(
    fc.property(anyCase, ({ starts, completed, priced, replaceExisting }) => {
      database.statement('SAVEPOINT before').run();
      const startOf = Object.fromEntries(
        models.map((model, index) => [model, addDays(START, starts[index]!)]),
      );
      insertCase(database, { dates, starts: startOf, completed, replaceExisting });
      const reasonOf = (date: CalendarDate, model: string) =>
        !replaceExisting && completed.some((one) => String(one) === `${date},${model}`)
          ? 'Already completed'
          : date < startOf[model]!
            ? "Before the model's resume date"
            : null;
      assert.deepEqual(
        datesToRun(database, 'j'),
        dates.filter((date) => models.some((model) => reasonOf(date, model) === null)),
      );
      const expected = dates.flatMap((date) =>
        models.map((model) => {
          const other = priced.includes(date) ? 'run' : 'No price data';
          return `${date} ${model} ${reasonOf(date, model) ?? other}`;
        }),
      );
      assert.deepEqual(fates(database, dates, priced), expected);
      database.statement('ROLLBACK TO before').run();
      database.statement('RELEASE before').run();
    }),
    { numRuns: runs(60, 1_000) },
  );
});
