import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CostDay, reportCosts } from '../../src/features/performance/report.ts';
import { within } from '../support/near.ts';

const assertNear = within({ absolute: 1e-10 });

const day = (profit: number, traded: number, benchmark: number | null = 0): CostDay => ({
  ...{ startValue: 1000, profit, traded, benchmark },
});

test('the total return with more expensive orders, by hand', () => {
  const { cost_sensitivity: found } = reportCosts([day(10, 2000), day(-5, 0), day(20, 1000)]);
  const after = (cost: number) =>
    (1 + (10 - 2000 * cost) / 1000) * 0.995 * (1 + (20 - 1000 * cost) / 1000) - 1;
  assert.equal(found.map(({ basis_points: bps }) => bps).join(), '0,5,10,25,50');
  for (const { basis_points: bps, total_return: total } of found)
    assertNear(total, after(bps / 10_000), `${bps}`);
});

const SHARED = 'on the days it shares with the benchmark';
const NO_DAY = 'There is no day on which both have a return';
const ways: [name: string, days: CostDay[], breakEven: number | string][] = [
  ['one day: 10 of 1,000 ahead, on 2,000 traded', [day(10, 2000)], 50],
  ['against a benchmark that rises too', [day(10, 2000, 0.004)], 30],
  ['exactly level', [day(10, 2000, 0.01)], 0],
  [
    'two days: (1.01 - 2c)(1.02 - c) = 1',
    [day(10, 2000), day(20, 1000)],
    10_000 * ((3.05 - Math.sqrt(3.05 ** 2 - 8 * 0.0302)) / 4),
  ],
  ['days without a benchmark do not count', [day(10, 2000), day(500, 9, null)], 50],
  ['behind', [day(-1, 2000)], 'It is already behind the benchmark'],
  ['no orders', [day(10, 0)], `It did not trade ${SHARED}`],
  ['orders only elsewhere', [day(10, 0), day(1, 50, null)], `It did not trade ${SHARED}`],
  ['no day', [day(10, 5, null)], NO_DAY],
  ['nothing', [], NO_DAY],
  ['worth nothing', [{ ...day(0, 0), startValue: 0 }], NO_DAY],
  ['a benchmark that lost all', [day(10, 5, -1)], 'No trading cost would take its lead away'],
];

test('the cost at which the lead over the benchmark is gone', () => {
  for (const [name, days, wanted] of ways) {
    const { break_even_bps: found, unavailable } = reportCosts(days);
    if (typeof wanted === 'number') assertNear(found, wanted, name);
    else assert.deepEqual([found, unavailable], [null, { break_even_bps: wanted }], name);
  }
});
