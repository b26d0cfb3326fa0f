import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { storeExchanges } from '../../src/core/database/exchanges.ts';
import type { CalendarDate } from '../../src/core/time/calendar.ts';
import { callIn, createBooks, replayOf } from '../support/books.ts';
import {
  ledgerOfWorld,
  type OracleExchange,
  type OracleOrder,
  type OracleTerms,
  type OracleWorld,
} from '../support/ledger-oracle.ts';
import { runs } from '../support/long.ts';
import { rowsAsText } from '../support/tables.ts';

/** Whole ledgers of random worlds, compared with those of an oracle outside the program. */

const UNIVERSE = ['A', 'B', 'C'];
const SYMBOLS = [...UNIVERSE, 'NEW', 'NEWER'];
const DATES = ['08', '09', '10', '13', '14', '15'].map((day) => `2025-01-${day}`);
/** On which something happens: also days of a weekend, whose morning is that of the Monday. */
const MORNINGS = [...DATES.slice(1), '2025-01-11', '2025-01-12'].toSorted();
/** Minimum, step and limit in percent of each symbol in lots. */
const LOTS: Record<string, [bigint, bigint, bigint | null]> = {
  A: [10n, 10n, 10n],
  B: [20n, 1n, 20n],
  C: [1n, 1n, 30n],
  NEW: [10n, 10n, 10n],
  NEWER: [5n, 5n, null],
};

const anySymbol = fc.constantFrom(...UNIVERSE, ...SYMBOLS);
const anyMorning = fc.constantFrom(...MORNINGS);
const anyPart = fc.integer({ min: 1, max: 7 }).map(BigInt);
/** Cash per share in 1/1,000,000. */
const anyCash = fc.oneof(
  fc.integer({ min: 1, max: 3_000_000 }),
  fc.integer({ min: 1, max: 300 }).map((cents) => cents * 10_000),
);

/** How an open and a close move from the close before, in percent, some exactly to a limit. */
const anyMove = fc.constantFrom(70, 80, 90, 91, 97, 100, 100, 103, 109, 110, 120, 130);
/** Parts of a cent in 1/10000. */
const anyRest = fc.constantFrom(0n, 0n, 0n, 1n, 33n, 50n, 99n);
const anySeries = fc.record({
  /** Before this date there is no bar; of the universe always the first. */
  from: fc.constantFrom(0, 0, 1, 2, 3),
  price: fc.integer({ min: 200, max: 8_000 }),
  moves: fc.array(fc.tuple(anyMove, anyMove, fc.integer({ min: 0, max: 15 }), anyRest), {
    minLength: DATES.length,
    maxLength: DATES.length,
  }),
});
type Series = typeof anySeries extends fc.Arbitrary<infer Type> ? Type : never;

function barsOf(symbol: string, { from, price, moves }: Series) {
  let cents = price;
  return moves.flatMap(([overnight, daily, presence, rest], place) => {
    const start = UNIVERSE.includes(symbol) ? 0 : from;
    const open = Math.max(1, Math.round((cents * overnight) / 100));
    const close = Math.max(1, Math.round((open * daily) / 100));
    if (place < start || (place > start && presence < 2)) return [];
    cents = close;
    const hasClose = place === start || presence > 2;
    const inUnits = {
      open: BigInt(open) * 100n + rest,
      close: hasClose ? BigInt(close) * 100n + rest : null,
    };
    return [{ symbol, date: DATES[place] as string, ...inUnits }];
  });
}
type Bars = ReturnType<typeof barsOf>;

const anyDividend = fc.record({ symbol: anySymbol, date: anyMorning, cash: anyCash.map(BigInt) });
const anySplit = fc.record({
  symbol: anySymbol,
  date: fc.constantFrom(...DATES.slice(1)),
  numerator: anyPart,
  denominator: anyPart,
});
const anyExchange = fc.record({
  symbol: anySymbol,
  date: anyMorning,
  into: anySymbol,
  kind: fc.constantFrom('cash', 'worthless', 'rename', 'stock', 'both', 'spin-off', 'two'),
  second: anySymbol,
  cash: anyCash.map((cash) => BigInt(cash) * 5n),
  numerator: anyPart,
  denominator: anyPart,
});
type AnyExchange = typeof anyExchange extends fc.Arbitrary<infer Type> ? Type : never;

/** The rows of exchanges: one kind per symbol and date, and no circle, as shares go by an order. */
function rowsOfExchanges(all: readonly AnyExchange[], order: readonly string[]) {
  return all.flatMap((one): OracleExchange[] => {
    const { symbol, date, kind, numerator, denominator } = one;
    const equal = { numerator: 1n, denominator: 1n };
    const base = { symbol, date, cash: 0n, into: '', ...equal, remains: false };
    if (kind === 'cash') return [{ ...base, cash: one.cash }];
    if (kind === 'worthless') return [base];
    const targets = [...new Set(kind === 'two' ? [one.into, one.second] : [one.into])];
    if (targets.some((into) => order.indexOf(into) <= order.indexOf(symbol))) return [];
    // Where one of two received shares is exchanged again on that date, no document says which is first.
    if (targets.length > 1 && all.some((row) => row.date === date && targets.includes(row.symbol)))
      return [];
    return targets.map((into, place) => {
      if (kind === 'rename') return { ...base, into };
      const cash = kind === 'both' || (kind === 'two' && place === 0) ? one.cash : 0n;
      return { ...base, into, numerator, denominator, cash, remains: kind === 'spin-off' };
    });
  });
}

/**
 * Leaves out what would fail a model-day: shares of a symbol that has no price by the morning on
 * which they come, unless they go on to another symbol on the same date.
 */
function withPrices(rows: OracleExchange[], bars: Bars, days: readonly string[]): OracleExchange[] {
  const isPriced = ({ into, date }: OracleExchange) => {
    const morning = days.find((day) => day >= date) ?? date;
    const goesOn = (row: OracleExchange) => row.symbol === into && row.date === date;
    return (
      into === '' ||
      bars.some((bar) => bar.symbol === into && bar.date <= morning) ||
      rows.some((row) => goesOn(row) && !row.remains)
    );
  };
  const isWhole = ({ symbol, date }: OracleExchange) =>
    rows.every((row) => row.symbol !== symbol || row.date !== date || isPriced(row));
  const kept = rows.filter(isWhole);
  return kept.length === rows.length ? kept : withPrices(kept, bars, days);
}

const anyOrder: fc.Arbitrary<OracleOrder> = fc.record({
  side: fc.constantFrom('buy', 'sell'),
  symbol: anySymbol,
  amount: fc
    .oneof(
      { weight: 3, arbitrary: fc.constantFrom(10, 10, 20, 20, 40) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 60 }) },
    )
    .map(BigInt),
});

/** In tenths of a basis point. */
const anyBps = fc.constantFrom(0n, 25n, 30n, 107n, 250n);
const anyTerms = fc.record({
  initialCash: fc.constantFrom(3_000n, 10_000n, 10_000n).map((dollars) => dollars * 10_000n),
  commissionPerTrade: fc.constantFrom(0n, 0n, 15_000n),
  minCommission: fc.constantFrom(0n, 0n, 50_000n),
  commissionBps: anyBps,
  sellTaxBps: anyBps,
  slippageBps: anyBps,
  paysDividends: fc.constantFrom(true, true, false),
  isHidden: fc.boolean(),
  sellSameDay: fc.boolean(),
  hasLots: fc.boolean(),
});

const uniqueBy = {
  selector: ({ symbol, date }: { symbol: string; date: string }) => symbol + date,
};
const anyWorld = fc
  .record({
    series: fc.tuple(...SYMBOLS.map(() => anySeries)),
    dividends: fc.uniqueArray(anyDividend, { minLength: 2, maxLength: 7, ...uniqueBy }),
    splits: fc.uniqueArray(anySplit, { minLength: 1, maxLength: 5, ...uniqueBy }),
    exchanges: fc.uniqueArray(anyExchange, { minLength: 4, maxLength: 9, ...uniqueBy }),
    order: fc.shuffledSubarray(SYMBOLS, { minLength: SYMBOLS.length }),
    orders: fc.array(fc.array(anyOrder, { minLength: 4, maxLength: 10 }), {
      minLength: DATES.length,
      maxLength: DATES.length,
    }),
    days: fc.subarray(DATES, { minLength: 3 }),
    terms: anyTerms,
  })
  .map(({ series, dividends, splits, exchanges, order, orders, days, terms }): OracleWorld => {
    const bars = SYMBOLS.flatMap((symbol, place) => barsOf(symbol, series[place] as Series));
    const isOnBar = (one: { symbol: string; date: string }) =>
      bars.some(({ symbol, date }) => symbol === one.symbol && date === one.date);
    const isSplit = (one: (typeof splits)[number]) =>
      one.numerator !== one.denominator && isOnBar(one);
    const { hasLots, ...others } = terms;
    const rows = rowsOfExchanges(exchanges, order);
    const boardOf = (
      symbol: string,
    ): [string, { minimum: bigint; step: bigint; limit: bigint | null }] => {
      const [minimum, step, limit] = LOTS[symbol] as [bigint, bigint, bigint | null];
      return [symbol, { minimum, step, limit }];
    };
    return {
      universe: new Set(UNIVERSE),
      days: days.map((date, place) => ({ date, orders: orders[place] ?? [] })),
      bars,
      dividends,
      splits: splits.filter(isSplit),
      exchanges: withPrices(rows, bars, days),
      terms: { ...others, boards: new Map(hasLots ? SYMBOLS.map(boardOf) : []) },
    };
  });

/** The terms as a configuration has them. */
function configurationOf(terms: OracleTerms): object {
  const inDollars = (units: bigint) => Number(units) / 10_000;
  const rows = [...terms.boards].map(
    ([symbol, { minimum, step, limit }]) =>
      `${symbol},${minimum},${step},${limit === null ? '' : Number(limit) / 100}`,
  );
  return {
    stock_symbols: UNIVERSE,
    initial_cash: inDollars(terms.initialCash),
    commission_per_trade: inDollars(terms.commissionPerTrade),
    min_commission: inDollars(terms.minCommission),
    commission_bps: Number(terms.commissionBps) / 10,
    sell_tax_bps: Number(terms.sellTaxBps) / 10,
    slippage_bps: Number(terms.slippageBps) / 10,
    open: terms.isHidden ? 'hidden' : 'shown',
    market: { base: 'us', sell_same_day: terms.sellSameDay, symbols: rows.join('\n') },
  };
}

/** The books of a world, before its first day. */
function booksOf(database: CommandDatabase, world: OracleWorld) {
  const { paysDividends } = world.terms;
  const books = createBooks(database, { paysDividends, terms: configurationOf(world.terms) });
  for (const { symbol, date, open, close } of world.bars)
    books.setBar(symbol, date, {
      open: Number(open) / 10_000,
      close: close === null ? null : Number(close) / 10_000,
    });
  for (const { symbol, date, numerator, denominator } of world.splits)
    books.setSplit(symbol, date, Number(numerator), Number(denominator));
  for (const { symbol, date, cash } of world.dividends)
    books.setDividend(symbol, date, Number(cash) / 1_000_000);
  const exchanges = world.exchanges.map(({ symbol, date, into, cash, ...ratio }) => ({
    ...{ symbol, date: date as CalendarDate, into, cash: Number(cash) },
    numerator: into === '' ? null : Number(ratio.numerator),
    denominator: into === '' ? null : Number(ratio.denominator),
    remains: ratio.remains ? (1 as const) : (0 as const),
  }));
  database.transaction(() => storeExchanges(database, exchanges, 'csv'));
  return books;
}

const RECORDS = `SELECT action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4
  FROM positions JOIN trading_sessions USING (session_id) WHERE date =`;
const HOLDINGS = `SELECT symbol || ':' || quantity FROM holdings JOIN trading_sessions USING (session_id) WHERE date =`;

/** Plays a day, and returns what is stored of it in the form of the oracle. */
async function played(books: ReturnType<typeof booksOf>, day: OracleWorld['days'][number]) {
  const session = await books.open(day.date, 'model-a', { universe: new Set(UNIVERSE) });
  const taken: boolean[] = [];
  for (const { side, symbol, amount } of day.orders) {
    const { results } = await callIn(session, side, { symbol, amount: Number(amount) });
    taken.push(JSON.parse(results[0]?.content ?? '').error === undefined);
  }
  await books.complete(session);
  const records = rowsAsText(books.database, `${RECORDS} '${day.date}' ORDER BY action_id`);
  const holdings = rowsAsText(books.database, `${HOLDINGS} '${day.date}'`).toSorted();
  return { date: day.date, records, holdings, taken };
}

test('every record of random worlds is that of an oracle outside the program, to 1/10000', async () => {
  const database = openDatabase(':memory:');
  await fc.assert(
    fc.asyncProperty(anyWorld, async (world) => {
      const expected = ledgerOfWorld(world);
      const books = booksOf(database, world);
      for (const [place, day] of world.days.entries()) {
        const { value: _value, ...own } = expected[place] as (typeof expected)[number];
        assert.deepEqual(await played(books, day), own);
      }
      const [least, profit] = (
        rowsAsText(
          database,
          `SELECT min(cash_e4), (SELECT sum(profit) FROM (SELECT max(action_id), daily_profit_e4 AS profit
             FROM positions GROUP BY session_id)) FROM positions`,
        )[0] ?? ''
      ).split(' ');
      assert.ok(Number(least) >= 0, `cash of ${least}`);
      assert.equal(BigInt(profit ?? ''), (expected.at(-1)?.value ?? 0n) - world.terms.initialCash);
      assert.deepEqual((await replayOf(database)).problems, []);
    }),
    { numRuns: Number(process.env['ORACLE_RUNS'] ?? runs(40, 500)) },
  );
  database.close();
});
