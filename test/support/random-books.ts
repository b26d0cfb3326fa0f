import fc from 'fast-check';
import { addDays } from '../../src/core/time/calendar.ts';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import { type Books, createBooks, type Order, SYMBOLS } from './books.ts';

/**
 * Random pasts of books: days that trade, bars, splits, dividends and removals, also while sessions
 * run.
 */

const FIRST = '2025-01-01';
const DAYS = 12;

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
const anyDividend = fc.record({
  type: fc.constant('dividend' as const),
  symbol: anySymbol,
  date: anyDate,
  cash: fc.integer({ min: 1, max: 3_000_000 }).map((millionths) => millionths / 1_000_000),
  basis: fc.constantFrom('as_paid' as const, 'as_paid' as const, 'split_adjusted' as const),
});
/** Of a symbol into one after it, so that there is no circle. */
const anyExchange = fc.record({
  type: fc.constant('exchange' as const),
  symbols: fc.subarray(SYMBOLS, { minLength: 2, maxLength: 2 }),
  date: anyDate,
  ratio: fc.tuple(anyPart, anyPart),
  cash: fc.constantFrom(0, 0, 2.5, 54.2),
  remains: fc.boolean(),
});
const anyRemoval = fc.record({
  type: fc.constant('removal' as const),
  table: fc.constantFrom('price_data', 'stock_splits', 'dividends', 'exchanges'),
  symbol: anySymbol,
  date: anyDate.filter((date) => date > FIRST), // what is held has at least one price
});
const anyPause = fc.record({
  type: fc.constant('pause' as const),
  seconds: fc.integer({ min: 1, max: 300 }),
});
const anyWriter = fc.record({
  type: fc.constant('writer' as const),
  writer: fc.constantFrom('import' as const, 'another program' as const),
});
const anyDay = fc.record({
  type: fc.constant('day' as const),
  date: anyDate,
  model: fc.constantFrom('model-a', 'model-b'),
  orders: fc.array(anyOrder, { maxLength: 5 }),
  /** What happens to prices, splits and dividends while the session runs. */
  meanwhile: fc.array(fc.oneof(anyBar, anySplit, anyDividend, anyExchange, anyPause, anyWriter), {
    maxLength: 3,
  }),
});
const anyEvent = fc.oneof(
  { weight: 5, arbitrary: anyDay },
  { weight: 3, arbitrary: anyBar },
  { weight: 2, arbitrary: anySplit },
  { weight: 3, arbitrary: anyDividend },
  { weight: 2, arbitrary: anyExchange },
  { weight: 1, arbitrary: anyRemoval },
  { weight: 2, arbitrary: anyPause },
  { weight: 2, arbitrary: anyWriter },
);
type Event = typeof anyEvent extends fc.Arbitrary<infer Type> ? Type : never;

async function happen(books: Books, event: Event): Promise<void> {
  switch (event.type) {
    case 'bar':
      return books.setBar(event.symbol, event.date, event);
    case 'split':
      return books.setSplit(event.symbol, event.date, event.numerator, event.denominator);
    case 'dividend':
      return books.setDividend(event.symbol, event.date, event.cash, event.basis);
    case 'exchange': {
      const [symbol = '', into = ''] = event.symbols;
      return books.setExchange(symbol, event.date, into, event.ratio, event);
    }
    case 'removal':
      return books.remove(event.table, event.symbol, event.date);
    case 'writer':
      books.writer = event.writer;
      return;
    case 'pause':
      return books.wait(event.seconds);
    case 'day': {
      const session = await books.open(event.date, event.model);
      for (const change of event.meanwhile) await happen(books, change);
      await books.complete(session, event.orders);
    }
  }
}

/** Books after a random past, in a database that is emptied first. */
export async function booksIn(
  database: CommandDatabase,
  bars: readonly Event[],
  events: readonly Event[],
  options?: { paysDividends?: boolean },
): Promise<Books> {
  const books = createBooks(database, options);
  for (const symbol of SYMBOLS) books.setBar(symbol, FIRST, { open: 100, close: 101 });
  for (const event of [...bars, ...events]) await happen(books, event);
  return books;
}

export const anyBars = fc.array(anyBar, { minLength: 25, maxLength: 40 });
export const anyEvents = fc.array(anyEvent, { minLength: 5, maxLength: 25 });
