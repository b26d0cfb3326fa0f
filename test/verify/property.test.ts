import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openDatabase } from '../../src/core/database/database.ts';
import { auditOf, MODELS } from '../support/books.ts';
import { runs } from '../support/long.ts';
import { anyBars, anyEvents, booksIn } from '../support/random-books.ts';
import { staleByNumbers } from '../support/stale.ts';
import { undone } from '../support/tables.ts';

const RUNS = Number(process.env['AUDIT_RUNS'] ?? runs(12, 200));
/** Books to which every change is done. */
const CHANGED_RUNS = Math.ceil(Number(process.env['AUDIT_RUNS'] ?? runs(40, 200)) / 10);

test('whatever is traded, replaced, split, paid and revised: the books add up and replay, and the stored staleness agrees with the time stamps', async () => {
  const database = openDatabase(':memory:');
  await fc.assert(
    fc.asyncProperty(anyBars, anyEvents, async (bars, events) => {
      await booksIn(database, bars, events);
      assert.deepEqual(await auditOf(database), {
        problems: [],
        unverifiable: [],
        stale: staleByNumbers(database, MODELS),
      });
    }),
    { numRuns: RUNS },
  );
  database.close();
});

/** One change of one figure, by SQL; `?` is the position. */
const changes = [
  'UPDATE positions SET cash_e4 = cash_e4 + 1, portfolio_value_e4 = portfolio_value_e4 + 1 WHERE position_id = ?',
  'UPDATE positions SET portfolio_value_e4 = portfolio_value_e4 + 1 WHERE position_id = ?',
  'UPDATE positions SET daily_profit_e4 = daily_profit_e4 - 1 WHERE position_id = ?',
  'UPDATE positions SET daily_return_pct = coalesce(daily_return_pct, 0) + 1 WHERE position_id = ?',
  'UPDATE positions SET price_e4 = price_e4 + 1 WHERE position_id = ? AND price_e4 IS NOT NULL',
  'UPDATE positions SET amount = amount + 1 WHERE position_id = ? AND amount IS NOT NULL',
  'UPDATE positions SET action_id = action_id + 1000 WHERE position_id = ?',
  'DELETE FROM positions WHERE position_id = ?',
];
/** As `changes`, of what the position's session was computed from. */
const OWN = 'session_id = (SELECT session_id FROM positions WHERE position_id = ?)';
const HELD = `symbol IN (SELECT symbol FROM holdings WHERE holdings.session_id = session_prices.session_id)`;
const evidenceChanges = [
  `UPDATE holdings SET quantity = quantity + 1 WHERE ${OWN}`,
  `DELETE FROM holdings WHERE ${OWN}`,
  `UPDATE session_prices SET open_e4 = open_e4 + 1 WHERE ${OWN}`,
  `UPDATE session_prices SET close_e4 = close_e4 + 1 WHERE ${OWN}`,
  `UPDATE session_prices SET open_e4 = NULL, open_date = NULL WHERE ${OWN} AND symbol IN (SELECT symbol FROM positions WHERE action_type IN ('buy', 'sell') AND positions.session_id = session_prices.session_id)`,
  `UPDATE session_prices SET close_e4 = NULL, close_date = NULL WHERE ${OWN} AND ${HELD}`,
  `DELETE FROM session_prices WHERE ${OWN} AND ${HELD}`,
  `UPDATE session_splits SET numerator = numerator + 100 WHERE ${OWN}`,
  `UPDATE session_splits SET date = date(date, '+10 years') WHERE ${OWN}`,
  `UPDATE session_dividends SET cash_e6 = cash_e6 + 1 WHERE ${OWN}`,
  `UPDATE session_dividends SET basis = CASE basis WHEN 'as_paid' THEN 'split_adjusted' ELSE 'as_paid' END WHERE ${OWN}`,
  `UPDATE session_dividends SET splits = splits || ' 2:1' WHERE ${OWN}`,
  `UPDATE session_dividends SET paid_e6 = paid_e6 + 1 WHERE ${OWN}`,
  `UPDATE session_dividends SET ex_date = date(ex_date, '+10 years') WHERE ${OWN}`,
  `DELETE FROM session_dividends WHERE ${OWN}`,
  `UPDATE trading_sessions SET pays_dividends = 0 WHERE ${OWN}`,
];

test('whatever figure is changed in them or in their evidence, the audit finds it', async () => {
  const database = openDatabase(':memory:');
  await fc.assert(
    fc.asyncProperty(anyBars, anyEvents, fc.nat(), async (bars, events, place) => {
      await booksIn(database, bars, events);
      const positions = database
        .statement(
          `SELECT position_id AS id FROM positions JOIN trading_sessions USING (session_id) WHERE status = 'active'`,
        )
        .all();
      for (const [index, change] of [...changes, ...evidenceChanges].entries()) {
        const chosen = positions[(place + index) % Math.max(1, positions.length)]?.['id'];
        await undone(database, [], async () => {
          const { changes: count } = database.statement(change).run(Number(chosen ?? 0));
          const { problems, unverifiable } = await auditOf(database);
          const found = [...problems, ...unverifiable];
          assert.equal(
            found.length > 0,
            Number(count) > 0,
            `position ${chosen}, ${change}: ${found.join('; ')}`,
          );
        });
      }
    }),
    { numRuns: CHANGED_RUNS },
  );
  database.close();
});
