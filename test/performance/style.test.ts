import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays } from '../../src/core/time/calendar.ts';
import { type DayReturn, reportStyle } from '../../src/features/style/style.ts';
import { createNormals } from '../../src/features/statistics/random.ts';

/** Returns that follow the market and momentum, over days of which the file has factors. */
function series(count: number) {
  const normal = createNormals('style');
  const days = new Map<string, Map<string, number>>();
  const returns: DayReturn[] = [];
  for (let index = 0; index < count; index += 1) {
    const date = addDays('2025-01-01', index);
    const [market, momentum] = [0.01 * normal(), 0.005 * normal()];
    days.set(date, new Map(Object.entries({ market, momentum, risk_free: 0.0001 })));
    const dailyReturn = 0.0001 + market + 0.5 * momentum + 0.0005 + 0.001 * normal();
    returns.push({ date, startDate: index === 0 ? null : addDays(date, -1), dailyReturn });
  }
  return { factors: { wanted: ['market', 'momentum'], isPicked: true, days }, returns };
}

test('contributions add up to the sum of the returns above the risk-free one', () => {
  const { factors, returns } = series(120);
  const style = reportStyle(returns, factors, 0);
  assert.equal(style.unavailable, null);
  const parts = style.factors.map(({ contribution }) => contribution);
  const sum = [...parts, style.alpha_contribution ?? NaN].reduce((total, one) => total + one, 0);
  const all = returns.reduce((total, { dailyReturn }) => total + dailyReturn - 0.0001, 0);
  assert.ok(Math.abs(sum - all) < 1e-12, `${sum} ${all}`);
  assert.ok(Math.abs((style.alpha ?? 0) - 0.0005 * 252) < 0.06);
  assert.ok(Math.abs(((style.alpha ?? 0) / 252) * 120 - (style.alpha_contribution ?? 0)) < 1e-7);
  assert.deepEqual([style.days, style.left_out_days], [120, { count: 0, first: null, last: null }]);
});

test('days without a factor are left out and counted; a return over several days meets compounded factors', () => {
  const { factors, returns } = series(100);
  const lost = returns[10]?.date ?? '';
  factors.days.get(lost)?.delete('momentum');
  const skipping = returns.filter((_day, index) => index !== 20);
  const over = returns[21] as DayReturn;
  const both = { ...over, startDate: returns[19]?.date ?? null };
  const rows = skipping.map((day) => (day.date === over.date ? both : day));
  const style = reportStyle(rows, factors, 0);
  assert.deepEqual([style.days, style.left_out_days], [98, { count: 1, first: lost, last: lost }]);
  // Where one of its days has no factor, the return over both is left out.
  factors.days.get(returns[20]?.date ?? '')?.delete('market');
  assert.equal(reportStyle(rows, factors, 0).days, 97);
});

test('a day without a risk-free return uses the rate of the service', () => {
  const { factors, returns } = series(60);
  const { alpha } = reportStyle(returns, factors, 0);
  for (const day of factors.days.values()) day.delete('risk_free');
  const without = reportStyle(returns, factors, 0.0002);
  assert.ok(Math.abs((without.alpha ?? 0) - ((alpha ?? 0) - 0.0001 * 252)) < 1e-9);
});

test('too few days, and factors that do not vary or repeat each other, are reasons', () => {
  const { factors, returns } = series(70);
  const whyOf = (own: DayReturn[], names: string[]) =>
    reportStyle(own, { ...factors, wanted: names }, 0).unavailable;
  const few = 'Needs 60 days with a return and every factor; it has 59';
  assert.equal(whyOf(returns.slice(0, 59), ['market']), few);
  for (const day of factors.days.values()) {
    day.set('still', 0.01);
    day.set('twice', 2 * (day.get('market') ?? 0));
    for (let more = 0; more < 7; more += 1) day.set(`more-${more}`, 0.01);
  }
  assert.equal(whyOf(returns, ['market', 'still']), 'The factor still does not vary');
  const repeated = 'The factors market, twice depend on each other';
  assert.equal(whyOf(returns, ['market', 'twice']), repeated);
  const many = ['market', ...Array.from({ length: 6 }, (_none, index) => `more-${index}`)];
  assert.match(String(whyOf(returns, many)), /^Needs 80 days/);
  const { alpha, factors: none, r_squared } = reportStyle(returns.slice(0, 9), factors, 0);
  assert.deepEqual([alpha, none, r_squared], [null, [], null]);
});

test('unless factors are picked, one that does not vary is left out and named', () => {
  const { factors, returns } = series(120);
  const plain = reportStyle(returns, factors, 0);
  for (const day of factors.days.values()) {
    day.set('a-still', 0.01);
    day.set('still', 0);
  }
  const wanted = ['a-still', 'market', 'momentum', 'still'];
  const style = reportStyle(returns, { ...factors, wanted, isPicked: false }, 0);
  assert.deepEqual(style, { ...plain, left_out_factors: ['a-still', 'still'] });
  const none = reportStyle(returns, { ...factors, wanted: ['still'], isPicked: false }, 0);
  assert.equal(none.unavailable, 'The factor still does not vary');
  const picked = reportStyle(returns, { ...factors, wanted: ['market', 'still'] }, 0);
  assert.equal(picked.unavailable, 'The factor still does not vary');
});

test('unless factors are picked, each record leaves out those that lack too many of its own days', () => {
  const { factors, returns } = series(200);
  const all = { ...factors, isPicked: false };
  for (const { date } of returns.slice(-9)) factors.days.get(date)?.delete('momentum');
  const leftOut = (own: DayReturn[], some = all) => {
    const { left_out_factors, days } = reportStyle(own, some, 0);
    return [left_out_factors, days];
  };
  assert.deepEqual(leftOut(returns), [[], 191], '9 of 200 days are not too many');
  assert.deepEqual(leftOut(returns.slice(-100)), [['momentum'], 100], '9 of 100 are');
  assert.deepEqual(leftOut(returns.slice(-100), factors), [[], 91]);
});
