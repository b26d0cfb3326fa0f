import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  styleDaysText,
  entryStyles,
} from '../../src/features/pages/browser/pages/model-figures.ts';
import { styleText } from '../../src/features/pages/browser/pages/model-page.ts';
import { storeFactors } from '../../src/features/style/queries.ts';
import { createNormals } from '../../src/features/statistics/random.ts';
import { addDays, weekdays } from '../../src/core/time/calendar.ts';
import { reportStyle } from '../../src/features/style/style.ts';
import { insertReturns } from '../support/returns.ts';
import { startTestService } from '../support/service.ts';

test('/performance tells returns apart into the stored factors, and lists those that it has', async (t) => {
  const service = await startTestService(t);
  const { database } = service;
  const dates = weekdays('2025-01-06', '2025-05-30').slice(0, 80);
  const normal = createNormals('factors');
  const factors = dates.flatMap((date) => [
    { factor: 'market', date, value: 0.01 * normal() },
    { factor: 'momentum', date, value: 0.01 * normal() },
  ]);
  const returnsOf = (share: number) =>
    dates.map((_date, index) => share * (factors[2 * index]?.value ?? 0) + 0.001 * normal());
  const run = (share: number, family: string) => ({ returns: returnsOf(share), family });
  const runs = {
    alpha: run(1, 'alpha'),
    beta: run(0.5, 'beta'),
    'beta#2': run(1.5, 'beta'),
  };
  insertReturns(database, { dates, runs });
  const ask = async (query: string) => (await service.get(`/performance?${query}`)).body;
  const none = await ask('details=true');
  assert.equal(none.models[0].details.style, null);
  assert.deepEqual(none.conventions.factors, []);
  database.transaction(() => storeFactors(database, factors, { source: 'f.csv', recordedAt: 't' }));
  const { models, families, conventions } = await ask('details=true&by=entry');
  assert.deepEqual(conventions.factors, ['market', 'momentum']);
  const [style] = models.map(({ details }: any) => details.style);
  assert.deepEqual([style.days, style.unavailable], [80, null]);
  assert.ok(Math.abs(style.factors[0].beta - 1) < 0.1, JSON.stringify(style));
  assert.match(
    styleText(style),
    /^Of [+−]\d+\.\d\d %, [+−]\d+\.\d\d % is the market, [+−]?\d.* momentum; .* \(±\d.* %\) is left\.$/,
  );
  const part = { ...style, days: 60, left_out_days: { ...style.left_out_days, count: 5 } };
  assert.match(styleText(part), /^Of \S+ % over 60 of 65 days, /);
  const beta = families.find(({ family }: any) => family === 'beta');
  assert.ok(Math.abs(beta.details.style.factors[0].beta - 1) < 0.1, JSON.stringify(beta.details));
  // Exactly that of the mean run, as a user computes it from the returns that were inserted.
  const [one = [], other = []] = [runs.beta.returns, runs['beta#2'].returns];
  const days = new Map(
    dates.map((date, day) => [
      date,
      new Map([
        [factors[2 * day]!.factor, factors[2 * day]!.value],
        [factors[2 * day + 1]!.factor, factors[2 * day + 1]!.value],
      ]),
    ]),
  );
  const meanRun = dates.map((date, day) => ({
    date,
    startDate: dates[day - 1] ?? null,
    dailyReturn: Math.sqrt((1 + (one[day] ?? NaN)) * (1 + (other[day] ?? NaN))) - 1,
  }));
  const exact = reportStyle(meanRun, { wanted: ['market', 'momentum'], isPicked: true, days }, 0);
  for (const [index, own] of exact.factors.entries()) {
    const found = beta.details.style.factors[index];
    for (const name of ['beta', 'standard_error', 'contribution'] as const)
      assert.ok(Math.abs(found[name] - own[name]) < 1e-9, `${own.factor} ${name}`);
  }
  assert.ok(Math.abs(beta.details.style.alpha - (exact.alpha ?? NaN)) < 1e-9);
  const picked = await ask('details=true&factors=market');
  const names = picked.models[0].details.style.factors.map(({ factor }: any) => factor);
  assert.deepEqual(names, ['market']);
  const stray = [{ factor: 'stray', date: dates[9] ?? '', value: 0.01 }];
  // Of days between model-days, which would cost the others the return over them.
  const weekends = dates.map((date) => ({ factor: 'daily', date: addDays(date, 1), value: 0.01 }));
  const more = [...stray, ...weekends];
  database.transaction(() => storeFactors(database, more, { source: 'g.csv', recordedAt: 't' }));
  const [after] = (await ask('details=true&by=entry')).models;
  assert.deepEqual(after.details.style, { ...style, left_out_factors: ['daily', 'stray'] });
  const { unavailable, left_out_factors: none_left } = (await ask('details=true&factors=stray'))
    .models[0].details.style;
  const few = 'Needs 60 days with a return and every factor; it has 1';
  assert.deepEqual([unavailable, none_left], [few, []]);
  assert.equal(styleDaysText({ ...part, unavailable }), '', 'without an alpha it is over no days');
  const { status, body } = await service.get('/performance?factors=carry');
  assert.equal(status, 422);
  assert.equal(
    body.detail,
    'factors: "carry" is not stored; stored factors: daily, market, momentum, stray',
  );
  const csv = await fetch(`${service.url}/performance?table=style&format=csv`);
  const lines = (await csv.text()).replace('\ufeff', '').split('\r\n');
  assert.equal(lines[0], 'model,factor,beta,standard_error,p_value,contribution,days,study');
  const first = lines.slice(1, 4).map((line) => line.split(',', 2).join(' '));
  assert.deepEqual(first, ['alpha market', 'alpha momentum', 'alpha alpha']);
  const byEntry = await fetch(`${service.url}/performance?table=style&format=csv&by=entry`);
  const rows = (await byEntry.text())
    .trim()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(','));
  const entries = ['alpha', 'beta'].flatMap((name) => [name, name, name]);
  assert.deepEqual(
    rows.map(([name]) => name),
    entries,
  );
  assert.ok(Math.abs(Number(rows[3]?.[2]) - beta.details.style.factors[0].beta) < 1e-9);
});

test('the leaderboard leaves out an alpha over other factors than most have', () => {
  const styled = (family: string, names: string[], alpha: number | null): any => {
    const factors = names.map((factor) => ({ factor }));
    return { family, details: { style: { factors, alpha, unavailable: alpha && null } } };
  };
  const styles = entryStyles([
    styled('late', ['market'], 0.3),
    styled('a', ['market', 'size'], 0.1),
    styled('b', ['market', 'size'], 0.2),
    styled('short', [], null),
    styled('shorter', [], null),
    styled('shortest', [], null),
    { family: 'bare', details: null } as any, // any: without details no more is read
  ]);
  assert.deepEqual(
    [...styles].map(([family, own]) => [family, own?.alpha, own?.unavailable]),
    [
      ['late', null, 'Its factors are market; those of the other models are market, size'],
      ['a', 0.1, null],
      ['b', 0.2, null],
      ['short', null, null],
      ['shorter', null, null],
      ['shortest', null, null],
      ['bare', undefined, undefined],
    ],
  );
});
