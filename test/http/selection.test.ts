import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { performanceResponse } from '../../src/api/performance-response.ts';
import { within } from '../support/near.ts';
import { weekdays } from '../../src/basics/calendar.ts';
import { insertReturns } from '../support/returns.ts';
import { startTestService } from '../support/service.ts';
import { fillWithTrackRecords, modelNames } from '../support/track-records.ts';
import { validBody } from '../support/valid-body.ts';
import { temporaryFolder } from '../support/folder.ts';

/** What `selection` reads; the test itself is tested in test/performance/permutation.test.ts. */

test('the names that a model held, at the weights of each close, make the return that is compared', async (t) => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  fillWithTrackRecords(path, { models: modelNames(2), days: 45, datesPerJob: 45, failures: 0 });
  const service = await startTestService(t, { folder, isForged: true });
  const splits = service.database.statement('SELECT count(*) AS count FROM stock_splits').get();
  assert.equal(splits?.['count'], 0, 'so a return is a ratio of closes');
  const closes = new Map(
    service.database
      .statement('SELECT symbol, date, close FROM price_data')
      .all()
      .map(({ symbol, date, close }) => [`${symbol} ${date}`, Number(close)]),
  );
  // The day before the last was missed and run later: two days start from the same close.
  const late = 44;
  service.database
    .statement(
      `UPDATE trading_sessions AS own SET started_from_session_id = (
         SELECT past.started_from_session_id FROM trading_sessions AS past
         WHERE past.session_id = own.started_from_session_id)
       WHERE date = (SELECT DISTINCT date FROM trading_sessions ORDER BY date LIMIT 1 OFFSET ?)`,
    )
    .run(late);
  const body = await validBody<any>(service, '/performance?details=true', performanceResponse);
  assert.equal(body.models.length, 2);
  for (const { model, curve, details } of body.models) {
    const { days } = (await service.get(`/holdings?model=${model}`)).body;
    let growth = 1;
    for (const [index, { date }] of curve.entries()) {
      if (index === 0) continue; // it started from cash
      const before = days[index === late ? index - 2 : index - 1];
      let change = 0;
      const ratioOf = (symbol: string) =>
        (closes.get(`${symbol} ${date}`) ?? NaN) / (closes.get(`${symbol} ${before.date}`) ?? NaN);
      for (const { symbol, weight } of before.holdings) change += weight * (ratioOf(symbol) - 1);
      growth *= 1 + change;
    }
    const { selection } = details;
    within({ absolute: 1e-7 })(selection.return, growth - 1, model);
    assert.deepEqual([selection.days, selection.unavailable], [44, {}], model);
    assert.ok(selection.symbols >= 60 && selection.percentile >= 0 && selection.percentile <= 1);
    assert.ok(
      selection.interval_90.low < selection.median && selection.median < selection.interval_90.high,
    );
    assert.ok(selection.p_value > 0 && selection.p_value <= 1, model);
  }
  const again = await validBody(service, '/performance?details=true', performanceResponse);
  assert.deepEqual(again, body, 'the same every time');
  const { models } = await validBody<any>(service, '/performance', performanceResponse);
  assert.deepEqual(models[0].details, null);
});

const dates = weekdays('2025-01-06', '2025-02-14');
const symbols = Array.from({ length: 12 }, (_, index) => `S${String.fromCharCode(65 + index)}`);

const reasons: [name: string, stock: string[], days: number, held: string | null, why: string][] = [
  ['cash', symbols, 30, null, 'It held nothing at the start of any day'],
  ['few', symbols, 15, 'SA', 'Needs 20 days with a return, has 14'],
  ['outsider', symbols, 30, 'ELSE', 'It held ELSE, which is not in the universe of every job'],
  [
    'unpriced',
    [...symbols, 'NONE'],
    30,
    'NONE',
    'It held NONE, which has no price on some of these days',
  ],
  [
    'small',
    symbols.slice(0, 9),
    30,
    'SA',
    'Needs 10 symbols of the universe with a price on every day; there are 9',
  ],
  ['unknown', symbols, 30, 'SA', 'The weight of SA at the close of 2025-01-06 is unknown'],
];

test('without a selection there is a reason', async (t) => {
  const service = await startTestService(t, { isForged: true });
  const { database } = service;
  for (const symbol of symbols)
    for (const date of dates)
      database
        .statement('INSERT INTO price_data (symbol, date, open, close) VALUES (?, ?, 10, 11)')
        .run(symbol, date);
  for (const [name, stock, days, held] of reasons) {
    const returns = Array.from({ length: days }, (_, day) => (day % 3) / 100);
    insertReturns(database, {
      dates: dates.slice(0, days),
      agentConfig: { stock_symbols: stock },
      runs: { [name]: { returns } },
    });
    if (held !== null)
      database
        .statement(
          `INSERT INTO holdings (session_id, symbol, quantity)
           SELECT session_id, ?, 5 FROM trading_sessions WHERE model = ? ORDER BY session_id LIMIT 1`,
        )
        .run(held, name);
  }
  const path = '/performance?details=true';
  const { models } = await validBody<any>(service, path, performanceResponse);
  for (const [name, , , , why] of reasons) {
    const { selection } = models.find(({ model }: any) => model === name).details;
    for (const figure of ['return', 'percentile', 'p_value', 'median', 'interval_90']) {
      assert.equal(selection[figure], null, name);
      assert.equal(selection.unavailable[figure], why, name);
    }
  }
});
