import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performanceResponse } from '../../src/features/performance/response.ts';
import { weekdays } from '../../src/core/time/calendar.ts';
import type { ModelReturns } from '../../src/features/comparison/participants.ts';
import { activeDaysWithReturns } from '../../src/features/performance/queries.ts';
import { sharedDays } from '../../src/features/experiments/counted-days.ts';
import { insertReturns } from '../support/returns.ts';
import { startTestService } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';

/**
 * A model with returns on these days, each from the day before, or from the given one: `[6, 3]`; 0
 * is the initial cash.
 */
const model = (name: string, ...days: (number | [day: number, start: number])[]): ModelReturns => {
  const returns = days.map((own) => {
    const [day, start] = typeof own === 'number' ? [own, own - 1] : own;
    return [day, 0.01, start === 0 ? null : start] as const;
  });
  return { model: name, runs: [{ run: name, returns }], isDeterministic: false, unusable: null };
};
const many = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const leftOutOf = (models: readonly ModelReturns[]) =>
  sharedDays(models, [])
    .leftOut.map(({ day, runs }) => [day, ...runs].join(' '))
    .join(', ');

test('a model with twenty days does not lose any to one with fewer; without such a model all count', () => {
  const [long, short] = [model('long', ...many(1, 25)), model('short', ...many(24, 30))];
  const { days, own, reasons, leftOut } = sharedDays([long, short], [model('other', 1, 2)]);
  assert.deepEqual([days, leftOut], [many(1, 25), []]);
  assert.deepEqual(own.get('short'), many(24, 30), 'as by itself');
  assert.deepEqual(Object.fromEntries(reasons), {
    short: 'Needs 20 days with a return; it has 7',
    other: 'It missed 23 of the 25 days compared, or a day before one of them',
  });
  const few = sharedDays([model('a', 1, 2, 3), model('b', 2, 3, 4)], []);
  assert.deepEqual([few.days, [...few.reasons]], [[2, 3], []]);
  assert.deepEqual(sharedDays([], []).days, []);
});

test('days on which a model has no return are left out by name', () => {
  const models = [model('a', 1, 2, 3, 6, 7), model('b', 1, 3, 6, 7), model('c', 1, 3, 7, 8)];
  assert.deepEqual(sharedDays(models, []).days, [1, 3, 7]);
  assert.equal(leftOutOf(models), '2 b c, 6 c, 8 a b');
});

test('a day counts only if every model started it from the same close: of several that of most, of equally many the latest', () => {
  const models = [model('a', 1, 2, 3, 6), model('b', 1, [3, 1], 6), model('c', 1, 2, 3, [6, 4])];
  assert.deepEqual(sharedDays(models, []).days, [1]);
  assert.equal(leftOutOf(models), '2 b, 3 b, 6 c');
  assert.equal(leftOutOf([model('one', [3, 1]), model('two', [3, 2])]), '3 one');
  const [early, late] = [model('early', 1, 2, 3), model('late', [2, 0], 3)];
  const { days } = sharedDays([early, late], []);
  assert.deepEqual(days, [3], 'the first day of a model is measured from the open');
  assert.equal(leftOutOf([early, late]), '1 late, 2 late');
});

test('by run a late run costs no other a day, by entry its entry is left out; a return is that of the last record', async (t) => {
  const service = await startTestService(t, { isForged: true });
  const dates = weekdays('2025-09-01', '2025-10-10');
  const returns = dates.map((_, day) => (day % 3) / 100);
  const late = returns.map((own, day) => (day < 20 ? null : own));
  insertReturns(service.database, {
    dates,
    runs: { one: { returns }, 'one#2': { returns: late, family: 'one' }, other: { returns } },
  });
  const daysOf = async (by: string) => {
    const path = `/performance?common=true&by=${by}`;
    const { models, common } = await validBody<any>(service, path, performanceResponse);
    return [
      models.map(({ model, model_days }: any) => `${model} ${model_days}`),
      common.left_out.map(({ model: name }: any) => name),
    ];
  };
  assert.deepEqual(await daysOf('run'), [['one 30', 'other 30'], ['one#2']]);
  assert.deepEqual(await daysOf('entry'), [['other 30'], ['one']]);
  const [second] = service.database
    .statement(`SELECT session_id AS id FROM trading_sessions WHERE model = 'other' AND date = ?`)
    .all(dates[1] as string);
  service.database
    .statement(
      `INSERT INTO positions (session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4)
       VALUES (?, 9, 'no_trade', 0, 150, 50)`,
    )
    .run(Number(second?.['id']));
  assert.equal(
    activeDaysWithReturns(service.database, ['other'], {}).get('other')?.[1]?.dailyReturn,
    0.5,
  );
});
