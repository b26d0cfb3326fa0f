import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  auditOf,
  type Books,
  callIn,
  createBooks,
  fourDays,
  replayOf,
  setBars,
  SOUND,
  tell,
  tradeAlong,
} from '../support/books.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { readDeeds, undone } from '../support/tables.ts';

const POSITION =
  `INTO positions (position_id, session_id, action_id, action_type, symbol, amount, price_e4,
  cash_e4, portfolio_value_e4, daily_profit_e4, daily_return_pct) VALUES`.replace(/\s+/g, ' ');
const BAR = 'INTO price_data (symbol, date, open, close, source) VALUES';
const SPLIT = 'INTO stock_splits (symbol, date, numerator, denominator) VALUES';
const DIVIDEND = 'INTO dividends (symbol, ex_date, cash_e6) VALUES';
const ON_7 = `symbol = 'AAPL' AND date = '2025-01-07'`;

/** A test for each deed, on books that are as before after each, and all that the audit says. */
function testForgeries(books: Promise<Books>, text: string): void {
  for (const { name, statements, said } of readDeeds(text))
    test(`the audit: ${name}`, async () => {
      const { database } = await books;
      await undone(database, statements, async () => {
        const { problems, unverifiable, stale } = await auditOf(database);
        const lost = unverifiable.map((line) => `lost: ${line}`);
        const found = [...problems, ...lost, ...stale.map((day) => `stale: ${day}`)];
        assert.deepEqual(
          found.map((line) => line.replace('model-a ', '')),
          said,
        );
      });
    });
}

/** What somebody could do to the books; a changed figure alone is in the property test. */
testForgeries(
  fourDays(),
  `
  cash
    UPDATE positions SET cash_e4 = 80010000 WHERE position_id = 2
    => 2025-01-03: positions 2, cash_e4: stored 80010000, replayed 80000000
    => 2025-01-06: its morning report, line 3: stored "Cash: 8000", replayed "Cash: 8001"
  a quantity
    UPDATE holdings SET quantity = 11 WHERE session_id = 2 AND symbol = 'AAPL'
    => 2025-01-06: holdings AAPL, quantity: stored 11, replayed 10
    => 2025-01-07: its morning report, line 4: stored "…alue at today's open: 10041", replayed "…alue at today's open: 10145"
  a holding, taken away
    DELETE FROM holdings WHERE session_id = 3 AND symbol = 'ORLY'
    => 2025-01-07: holdings ORLY: replayed, but not stored
    => 2025-01-08: its morning report, line 3: stored "Cash: 8780", replayed "Cash: 8770"
  a holding, added
    INSERT INTO holdings VALUES (3, 'MSFT', 1)
    => 2025-01-07: holdings MSFT: stored, but not replayed
    => 2025-01-08: its morning report, line 4: stored "…alue at today's open: 10040", replayed "…alue at today's open: 10234"
  the first position of a day, taken away
    DELETE FROM positions WHERE position_id = 1
    => 2025-01-03: positions 1: replayed, but not stored
  the last position of a day, taken away
    DELETE FROM positions WHERE position_id = 4
    => 2025-01-06: positions 2: replayed, but not stored
    => 2025-01-07: its morning report, line 3: stored "Cash: 8770", replayed "Cash: 8980"
  the only position of a day, taken away
    DELETE FROM positions WHERE position_id = 5
    => 2025-01-07: positions 1: replayed, but not stored
    => 2025-01-08: it cannot be read: it started from session 3, which is not an earlier close of its model
  the split, taken away
    DELETE FROM positions WHERE position_id = 6
    => 2025-01-08: positions 1: replayed, but not stored
  the split, taken away and the next put in its place
    DELETE FROM positions WHERE position_id = 6
    UPDATE positions SET action_id = 1 WHERE position_id = 7
    => 2025-01-08: positions 1, action_type: stored "buy", replayed "split"
  a purchase, added
    INSERT ${POSITION} (99, 4, 3, 'buy', 'AAPL', 1, 1060000, 85680000, 100720000, 210000, 0.2089)
    INSERT OR REPLACE INTO holdings VALUES (4, 'AAPL', 12), (4, 'ORLY', 10)
    => 2025-01-08: holdings AAPL, quantity: stored 12, replayed 11
  an added purchase without an order
    INSERT ${POSITION} (99, 3, 2, 'buy', 'AAPL', 1, 1040000, 1, 1, 0, 0)
    => 2025-01-07: positions 2: stored, but not replayed
    => 2025-01-08: its morning report, line 3: stored "Cash: 8780", replayed "Cash: 10.0001"
  a no_trade record, added
    INSERT ${POSITION} (99, 4, 3, 'no_trade', NULL, NULL, NULL, 86740000, 100710000, 200000, 0.199)
    INSERT OR REPLACE INTO holdings VALUES (4, 'AAPL', 11), (4, 'ORLY', 10)
    => 2025-01-08: positions 3: stored, but not replayed
  an added split that never happened
    INSERT ${POSITION} (99, 3, 2, 'split', 'AAPL', 10, 1040000, 87700000, 100510000, 200000, 0.1994)
    INSERT OR REPLACE INTO holdings VALUES (3, 'AAPL', 20), (3, 'ORLY', 7)
    => 2025-01-07: holdings AAPL, quantity: stored 20, replayed 10
    => 2025-01-08: its morning report, line 4: stored "…value at today's open: 10040", replayed "…value at today's open: 11100"
  the day it started from
    UPDATE trading_sessions SET started_from_session_id = 1 WHERE session_id = 3
    => 2025-01-07: its morning report, line 3: stored "Cash: 8770", replayed "Cash: 8000"
    => stale: 2025-01-07
  the day it started from, to a later one
    UPDATE trading_sessions SET started_from_session_id = 4 WHERE session_id = 3
    => 2025-01-07: it cannot be read: it started from session 4, which is not an earlier close of its model
    => stale: 2025-01-07
  the day it started from, to none
    UPDATE trading_sessions SET started_from_session_id = NULL, initial_cash_e4 = 100000000 WHERE session_id = 3
    => 2025-01-07: its morning report, line 3: stored "Cash: 8770", replayed "Cash: 10000"
    => stale: 2025-01-07
  a close, to an earlier one
    UPDATE session_prices SET close_e4 = 1030000, close_date = '2025-01-06' WHERE session_id = 3 AND symbol = 'AAPL'
    => 2025-01-07: session_prices AAPL, close_e4: stored 1030000, replayed 1050000
    => stale: 2025-01-07
  the prices of a symbol, taken away
    DELETE FROM session_prices WHERE session_id = 3 AND symbol = 'ORLY'
    => 2025-01-07: session_prices ORLY: replayed, but not stored
  a split that was known, to another date
    UPDATE session_splits SET date = '2025-01-07'
    => 2025-01-08: session_splits ORLY 2025-01-08: replayed, but not stored
    => stale: 2025-01-08
  figures beyond all bounds
    UPDATE positions SET portfolio_value_e4 = 9007199254740993 WHERE position_id = 5
    => 2025-01-07: it cannot be read: Value is too large to be represented as a JavaScript number: 9007199254740993
    => 2025-01-08: it cannot be read: Value is too large to be represented as a JavaScript number: 9007199254740993`,
);

/** What happens to prices and splits later; days are as of their commit. */
testForgeries(
  fourDays(),
  `
  another close
    UPDATE price_data SET close = 50 WHERE ${ON_7}
    => stale: 2025-01-07
  all bars, taken away
    DELETE FROM price_data
  a bar of a day that had none
    INSERT ${BAR} ('ORLY', '2025-01-07', 90, 91, 'csv')
    => stale: 2025-01-07
  a bar, replaced without a trace by another
    INSERT OR REPLACE ${BAR} ('AAPL', '2025-01-07', 90, 91, 'csv')
    => lost: 2025-01-07: its morning report, line 4: stored "…lue at today's open: 10041", replayed "…lue at today's open: 10031"
    => lost: 2025-01-08: its morning report, line 12: stored "AAPL 105 106", replayed "AAPL 103 106"
    => stale: 2025-01-07
  the bar of a trade, replaced without a trace by another
    INSERT OR REPLACE ${BAR} ('MSFT', '2025-01-06', 90, 194, 'csv')
    => lost: 2025-01-06: its morning report, line 4: stored "…lue at today's open: 10000", replayed "…lue at today's open: 10010"
    => lost: 2025-01-07: its morning report, line 13: stored "MSFT 194 -", replayed "MSFT 198 -"
    => lost: 2025-01-08: its morning report, line 13: stored "MSFT 194 -", replayed "MSFT 198 -"
    => stale: 2025-01-06
  a split that was not known then
    INSERT ${SPLIT} ('AAPL', '2025-01-07', 2, 1)
    => stale: 2025-01-07
  the split, taken away
    DELETE FROM stock_splits
    => stale: 2025-01-08
  the split, with another ratio
    UPDATE stock_splits SET numerator = 5
    => stale: 2025-01-08
  the split, with another denominator
    UPDATE stock_splits SET denominator = 1
    => stale: 2025-01-08
  the split, taken away from a series that became adjusted for splits
    DELETE FROM stock_splits
    UPDATE price_data SET source = 'yahoo' WHERE symbol = 'ORLY'
  a bar, replaced without a trace by another, and messages taken away, as if that excused everything
    INSERT OR REPLACE ${BAR} ('AAPL', '2025-01-07', 90, 91, 'csv')
    DELETE FROM reasoning_logs WHERE session_id = 3 AND message_index = 0
    => 2025-01-07: the messages before its first answer, role: stored "user", replayed "system, user"
    => lost: 2025-01-08: its morning report, line 12: stored "AAPL 105 106", replayed "AAPL 103 106"
    => stale: 2025-01-07
  the split, replaced without a trace by another
    INSERT OR REPLACE ${SPLIT} ('ORLY', '2025-01-08', 5, 2)
    => lost: 2025-01-08: its morning report, line 3: stored "Cash: 8780", replayed "Cash: 8770"
    => stale: 2025-01-08
  another close, and the old one again
    UPDATE price_data SET close = 50 WHERE ${ON_7}
    UPDATE price_data SET close = 105 WHERE ${ON_7}
  another close, and then the bar taken away
    UPDATE price_data SET close = 50 WHERE ${ON_7}
    DELETE FROM price_data WHERE ${ON_7}
  a split that was not known then, taken away again
    INSERT ${SPLIT} ('AAPL', '2025-01-07', 2, 1)
    DELETE FROM stock_splits WHERE symbol = 'AAPL'
  an earlier day, added by another program
    INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, wording, started_at, completed_at) VALUES ('job-1', '2025-01-02', 'model-a', 'active', 100000000, 1, 't', 't')
    => 2025-01-02: the messages before its first answer, role: stored "", replayed "system, user"
    => stale: 2025-01-03
  the day before, taken away by another program
    DELETE FROM trading_sessions WHERE session_id = 3
    => 2025-01-08: it cannot be read: it started from session 3, which is not an earlier close of its model
    => stale: 2025-01-08
  a close, taken away and put back
    DELETE FROM price_data WHERE ${ON_7}
    INSERT ${BAR} ('AAPL', '2025-01-07', 104, 105, 'csv')
  a split that was not known then, of a series that became adjusted for splits
    INSERT ${SPLIT} ('AAPL', '2025-01-07', 2, 1)
    UPDATE price_data SET source = 'yahoo' WHERE symbol = 'AAPL'
  a bar, replaced without a trace by another, and the old prices again
    INSERT OR REPLACE ${BAR} ('AAPL', '2025-01-07', 90, 91, 'csv')
    UPDATE price_data SET open = 104, close = 105 WHERE ${ON_7}
    => lost: 2025-01-07: its morning report, line 4: stored "…lue at today's open: 10041", replayed "…lue at today's open: 10031"
    => lost: 2025-01-08: its morning report, line 12: stored "AAPL 105 106", replayed "AAPL 103 106"
  the split, with another ratio and the old one again
    UPDATE stock_splits SET numerator = 5
    UPDATE stock_splits SET numerator = 3
  a split that was not known then, of what was sold before
    INSERT ${SPLIT} ('MSFT', '2025-01-07', 2, 1)
  another close, and a record that was made to fit it
    UPDATE price_data SET close = 106 WHERE ${ON_7}
    UPDATE positions SET portfolio_value_e4 = portfolio_value_e4 + 100000 WHERE position_id = 5
    => 2025-01-07: positions 1, portfolio_value_e4: stored 100610000, replayed 100510000
    => 2025-01-08: positions 1, daily_profit_e4: stored 190000, replayed 90000
    => stale: 2025-01-07`,
);

/** A dividend and a split of ORLY on one day, and a dividend of AAPL since. */
const LEDGER = `
  2025-01-03 buy AAPL 10 100      => 9000 10000 0 AAPL:10
  2025-01-03 buy ORLY 3 40        => 8880 10000 0 AAPL:10 ORLY:3
  2025-01-07 dividend ORLY 3 1.5  => 8884.5 9944.5 -55.5 AAPL:10 ORLY:3
  2025-01-07 split ORLY 3 20      => 8884.5 10004.5 4.5 AAPL:10 ORLY:6
  2025-01-07 dividend AAPL 10 0.1 => 8885.5 10005.5 5.5 AAPL:10 ORLY:6
  2025-01-07 no_trade             => 8885.5 10005.5 5.5 AAPL:10 ORLY:6`;
async function twoDays(): Promise<Books> {
  const books = createBooks();
  const prices = `AAPL 2025-01-03 100 100
    AAPL 2025-01-07 100 100
    ORLY 2025-01-03 40 40
    ORLY 2025-01-07 20 20`;
  setBars(books, prices);
  tell(books, 'ORLY 2025-01-06 2:1, ORLY 2025-01-06 1.5, AAPL 2025-01-07 0.1 split_adjusted');
  books.wait(3600);
  await tradeAlong(books, LEDGER);
  books.wait(3600);
  return books;
}
const withDividends = twoDays();

test('a morning of dividends and splits adds up', async () => {
  const { database } = await withDividends;
  assert.deepEqual(ledgerOf(database, 'model-a'), ledger(LEDGER));
  assert.deepEqual(await auditOf(database), SOUND);
});

testForgeries(
  withDividends,
  `
  a dividend, taken away
    DELETE FROM positions WHERE position_id = 3
    => 2025-01-07: positions 1: replayed, but not stored
  the last dividend of the morning, taken away
    DELETE FROM positions WHERE position_id = 5
    => 2025-01-07: positions 3: replayed, but not stored
  a dividend into one of another symbol
    UPDATE positions SET symbol = 'MSFT', amount = 1 WHERE position_id = 5
    => 2025-01-07: positions 3, symbol: stored "MSFT", replayed "AAPL"
  a dividend after the end of the day
    INSERT INTO positions SELECT 99, session_id, 5, 'dividend', 'AAPL', 10, 1000, cash_e4, portfolio_value_e4, daily_profit_e4, daily_return_pct FROM positions WHERE position_id = 6
    => 2025-01-07: positions 5: stored, but not replayed
  a dividend that was known, to another date
    UPDATE session_dividends SET ex_date = '2025-01-07' WHERE symbol = 'ORLY'
    => 2025-01-07: session_dividends ORLY 2025-01-06: replayed, but not stored
    => stale: 2025-01-07
  a dividend that was known, converted by a split that was not
    UPDATE session_dividends SET splits = '2025-06-02 2:1', paid_e6 = 200000 WHERE symbol = 'AAPL'
    => 2025-01-07: session_dividends AAPL 2025-01-07, splits: stored "2025-06-02 2:1", replayed ""
    => stale: 2025-01-07
  whether it pays dividends
    UPDATE trading_sessions SET pays_dividends = 0 WHERE session_id = 2
    => 2025-01-07: trading_sessions, pays_dividends: stored 0, replayed 1
  whether its job pays dividends
    UPDATE jobs SET agent_config = json_set(agent_config, '$.dividends', json('false')) WHERE job_id = 'job-2'
    => 2025-01-07: its morning report, line 3: stored "Cash: 8885.5", replayed "Cash: 8880"
  a dividend, replaced without a trace by another
    INSERT OR REPLACE ${DIVIDEND} ('ORLY', '2025-01-06', 7)
    => lost: 2025-01-07: its morning report, line 3: stored "Cash: 8885.5", replayed "Cash: 8881"
    => stale: 2025-01-07
  a dividend, replaced without a trace by the same
    INSERT OR REPLACE ${DIVIDEND} ('ORLY', '2025-01-06', 1500000)
    => lost: 2025-01-07: its morning report, line 3: stored "Cash: 8885.5", replayed "Cash: 8881"
  a dividend that was known for long, and was not used
    INSERT ${DIVIDEND} ('AAPL', '2025-01-06', 5)
    UPDATE dividends SET written = 1 WHERE ex_date = '2025-01-06'
    => 2025-01-07: its morning report, line 10: stored "ORLY: 4.5, which is 1.5 on each of 3 shares (ex-date 202…", replayed "AAPL: 0, which is 0.000005 on each of 10 shares (ex-date…"
    => stale: 2025-01-07
  dividends, taken away from series whose prices came to contain them
    DELETE FROM dividends
    UPDATE price_data SET source = 'stooq'
  dividends, taken away from a day that is not paid any more
    UPDATE trading_sessions SET pays_dividends = 0 WHERE session_id = 2
    DELETE FROM dividends
    => 2025-01-07: trading_sessions, pays_dividends: stored 0, replayed 1
  a series whose prices came to contain dividends
    INSERT ${DIVIDEND} ('AAPL', '2025-01-06', 5)
    UPDATE price_data SET source = 'stooq' WHERE symbol = 'AAPL'
  a series whose prices contained dividends all the time
    UPDATE price_data SET source = 'stooq' WHERE symbol = 'AAPL'
    DELETE FROM price_revisions
    UPDATE price_data SET written = 1
    => 2025-01-07: its morning report, line 3: stored "Cash: 8885.5", replayed "Cash: 8884.5"`,
);

test('a note is what the last call that was not refused wrote', async () => {
  const { database, open, complete, day } = createBooks();
  const session = await open('2025-01-03');
  for (const text of ['one', 'two', 'x'.repeat(4_001)])
    await callIn(session, 'write_note', { text });
  await complete(session);
  await day('2025-01-06');
  assert.deepEqual((await auditOf(database)).problems, []);
  database.statement(`UPDATE trading_sessions SET note = 'one'`).run();
  assert.deepEqual((await auditOf(database)).problems, [
    'model-a 2025-01-03: trading_sessions, note: stored "one", replayed "two"',
    'model-a 2025-01-06: its morning report, line 8: stored "two", replayed "one"',
  ]);
});

test('a price that splits make smaller than the unit of money is the unit in the ledger, its audit and its replay', async () => {
  const books = createBooks();
  const { database } = books;
  const prices = `ORLY 2025-01-03 1 1
    ORLY 2025-01-08 0.5 0.5
    AAPL 2025-01-03 0.002 0.002`;
  setBars(books, prices);
  tell(books, 'ORLY 2025-01-06 1:2, ORLY 2025-01-07 1:100000, AAPL 2025-01-07 100:1');
  books.wait(3600);
  await tradeAlong(books, '2025-01-03 buy ORLY 7\n2025-01-03 buy AAPL 1\n2025-01-08');
  assert.deepEqual(
    ledgerOf(database, 'model-a').slice(2, 5),
    ledger(`
      2025-01-08 split ORLY -4 0.0001 => 9992.9981 9994.4982 -5.5018 AAPL:1 ORLY:3
      2025-01-08 split AAPL 99 0.0001 => 9992.9981 9994.5081 -5.4919 AAPL:100 ORLY:3
      2025-01-08 split ORLY -3 0.5    => 9992.9981 9993.0081 -6.9919 AAPL:100`),
  );
  assert.deepEqual(await auditOf(database), SOUND);
  assert.equal((await replayOf(database)).same, '2 of 2');
});
