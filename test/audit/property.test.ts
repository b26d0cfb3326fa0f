import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays } from '../../src/calendar.ts';
import { type Books, type Order, SYMBOLS, auditOf, createBooks } from '../support/books.ts';
import { runs } from '../support/long.ts';

const FIRST = '2025-01-01';
const DAYS = 12;
const RUNS = Number(process.env['AUDIT_RUNS'] ?? runs(60, 200));

const anyDate = fc.integer({ min: 0, max: DAYS }).map((days) => addDays(FIRST, days));
const anySymbol = fc.constantFrom(...SYMBOLS);
const anyDollars = fc.integer({ min: 100_000, max: 5_000_000 }).map((units) => units / 10_000);
const anyOrder: fc.Arbitrary<Order> = fc.tuple(
  fc.constantFrom('buy', 'sell'),
  anySymbol,
  fc.integer({ min: -1, max: 60 }),
);
const anyPart = fc.integer({ min: 1, max: 20 });

const anyBar = fc.record({
  type: fc.constant('bar' as const),
  symbol: anySymbol,
  date: anyDate,
  open: anyDollars,
  close: fc.option(anyDollars, { freq: 6 }),
});
const anySplit = fc
  .record({
    type: fc.constant('split' as const),
    symbol: anySymbol,
    date: anyDate,
    numerator: anyPart,
    denominator: anyPart,
  })
  .filter(({ numerator, denominator }) => numerator !== denominator);
const anyRemoval = fc.record({
  type: fc.constant('removal' as const),
  table: fc.constantFrom('price_data', 'stock_splits'),
  symbol: anySymbol,
  date: anyDate.filter((date) => date > FIRST), // what is held has at least one price
});
const anyPause = fc.record({ type: fc.constant('pause' as const), seconds: fc.integer({ min: 1, max: 300 }) });
const anyDay = fc.record({
  type: fc.constant('day' as const),
  date: anyDate,
  model: fc.constantFrom('model-a', 'model-b'),
  orders: fc.array(anyOrder, { maxLength: 5 }),
  /** What happens to the prices while the session runs. */
  meanwhile: fc.array(fc.oneof(anyBar, anySplit, anyPause), { maxLength: 3 }),
});
const anyEvent = fc.oneof(
  { weight: 5, arbitrary: anyDay },
  { weight: 3, arbitrary: anyBar },
  { weight: 2, arbitrary: anySplit },
  { weight: 1, arbitrary: anyRemoval },
  { weight: 2, arbitrary: anyPause },
);
type Event = typeof anyEvent extends fc.Arbitrary<infer Type> ? Type : never;

async function happen(books: Books, event: Event): Promise<void> {
  switch (event.type) {
    case 'bar':
      return books.setBar(event.symbol, event.date, event);
    case 'split':
      return books.setSplit(event.symbol, event.date, event.numerator, event.denominator);
    case 'removal':
      return books.remove(event.table, event.symbol, event.date);
    case 'pause':
      return books.wait(event.seconds);
    case 'day': {
      const session = await books.open(event.date, event.model);
      for (const change of event.meanwhile) await happen(books, change);
      await books.complete(session, event.orders);
    }
  }
}

/** Books after a random past. */
async function booksOf(bars: readonly Event[], events: readonly Event[]): Promise<Books> {
  const books = createBooks();
  for (const symbol of SYMBOLS) books.setBar(symbol, FIRST, { open: 100, close: 101 });
  for (const event of [...bars, ...events]) await happen(books, event);
  return books;
}

const anyBars = fc.array(anyBar, { minLength: 25, maxLength: 40 });
const anyEvents = fc.array(anyEvent, { minLength: 5, maxLength: 25 });

test('whatever is traded, replaced, split and revised: the books add up', async () => {
  await fc.assert(
    fc.asyncProperty(anyBars, anyEvents, async (bars, events) => {
      const { database } = await booksOf(bars, events);
      const { problems, unverifiable } = await auditOf(database);
      assert.deepEqual({ problems, unverifiable }, { problems: [], unverifiable: [] });
      database.close();
    }),
    { numRuns: RUNS },
  );
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
  'UPDATE holdings SET quantity = quantity + 1 WHERE position_id = ?',
  'DELETE FROM holdings WHERE position_id = ?',
  'DELETE FROM positions WHERE position_id = ?',
];

test('whatever figure is changed in them, the audit finds it', async () => {
  await fc.assert(
    fc.asyncProperty(anyBars, anyEvents, fc.nat(), fc.constantFrom(...changes), async (bars, events, place, change) => {
      const { database } = await booksOf(bars, events);
      const positions = database
        .statement(
          `SELECT position_id AS id FROM positions JOIN trading_sessions USING (session_id) WHERE status = 'active'`,
        )
        .all();
      const chosen = positions[place % Math.max(1, positions.length)]?.['id'];
      database.statement('PRAGMA foreign_keys = OFF').run();
      const { changes: count } = database.statement(change).run(Number(chosen ?? 0));
      const { problems, unverifiable } = await auditOf(database);
      const found = [...problems, ...unverifiable];
      assert.equal(found.length > 0, Number(count) > 0, `position ${chosen}: ${found.join('; ')}`);
      database.close();
    }),
    { numRuns: RUNS },
  );
});
