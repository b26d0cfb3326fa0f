import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { dividendBases } from '../../src/core/database/splits-and-dividends.ts';
import { money } from '../../src/core/money/money.ts';
import type { Market } from '../../src/core/trading/market.ts';
import { applyCorporateActions, dividendOn } from '../../src/core/trading/morning.ts';
import { cashPerShare } from '../../src/core/trading/share-events.ts';
import {
  auditOf,
  type Books,
  callIn,
  createBooks,
  setBars,
  SOUND,
  tell,
  tradeAlong,
} from '../support/books.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { runs } from '../support/long.ts';
import { anyBars, anyEvents, booksIn } from '../support/random-books.ts';
import { staleNow } from '../support/stale.ts';
import { tableOf } from '../support/text-table.ts';

/** 2025-01-09 is a holiday. AAPL does not move; ORLY halves on the morning of 2025-01-06. */
const PRICES = [
  ...[2, 3, 6, 7, 8, 10].map((day) => `AAPL ${dateOf(day)} 100 100`),
  ...[2, 3].map((day) => `ORLY ${dateOf(day)} 40 40`),
  ...[6, 7].map((day) => `ORLY ${dateOf(day)} 20 20`),
].join('\n');

function dateOf(day: number): string {
  return `2025-01-${String(day).padStart(2, '0')}`;
}

const STALE = { ...SOUND, stale: ['model-a 2025-01-03'] };

interface Case {
  source?: string;
  paysDividends?: boolean;
}

/** Books in which everything was known before the first day; a ledger says what was ordered. */
async function booksOf(known: string, table: string, done: Case = {}): Promise<Books> {
  const books = createBooks(':memory:', done);
  setBars(books, PRICES, done.source);
  tell(books, known);
  books.wait(3600);
  await tradeAlong(books, table);
  return books;
}

const BOUGHT = '2025-01-02 buy AAPL 10 100 => 9000 10000 0 AAPL:10';
const UNPAID = `${BOUGHT}
  2025-01-03 no_trade => 9000 10000 0 AAPL:10`;
const [PAID, TAKEN_BACK] = ['AAPL 2025-01-03 1', '-dividends AAPL 2025-01-03'];
const cases: [name: string, known: string, table: string, done?: Case][] = [
  [
    'what was held at the close before is paid, whatever is traded on the ex-date',
    'AAPL 2025-01-03 0.26',
    `${BOUGHT}
     2025-01-03 dividend AAPL 10 0.26 => 9002.6 10002.6 2.6 AAPL:10
     2025-01-03 sell AAPL 10 100      => 10002.6 10002.6 2.6`,
  ],
  [
    'what is bought at the open of the ex-date gets nothing, then or later',
    PAID,
    `${BOUGHT}
     2025-01-03 dividend AAPL 10 1 => 9010 10010 10 AAPL:10
     2025-01-03 buy AAPL 10 100    => 8010 10010 10 AAPL:20
     2025-01-06 no_trade           => 8010 10010 0 AAPL:20`,
  ],
  [
    'what was sold the day before gets nothing',
    'AAPL 2025-01-06 1',
    `${BOUGHT}
     2025-01-03 sell AAPL 10 100 => 10000 10000 0
     2025-01-06 no_trade         => 10000 10000 0`,
  ],
  [
    'an ex-date on a holiday counts on the next day',
    'AAPL 2025-01-09 0.5',
    `2025-01-08 buy AAPL 10 100      => 9000 10000 0 AAPL:10
     2025-01-10 dividend AAPL 10 0.5 => 9005 10005 5 AAPL:10
     2025-01-10 no_trade             => 9005 10005 5 AAPL:10`,
  ],
  [
    'two ex-dates between two days leave two records, in order; those of the first day and after the second do not count',
    'AAPL 2025-01-08 2, AAPL 2025-01-03 8, AAPL 2025-01-06 1, AAPL 2025-01-11 4',
    `2025-01-03 buy AAPL 10 100    => 9000 10000 0 AAPL:10
     2025-01-10 dividend AAPL 10 1 => 9010 10010 10 AAPL:10
     2025-01-10 dividend AAPL 10 2 => 9030 10030 30 AAPL:10
     2025-01-10 no_trade           => 9030 10030 30 AAPL:10`,
  ],
  [
    'on one day the dividend comes before the split',
    'ORLY 2025-01-06 1, ORLY 2025-01-06 2:1',
    `2025-01-03 buy ORLY 10 40     => 9600 10000 0 ORLY:10
     2025-01-06 dividend ORLY 10 1 => 9610 9810 -190 ORLY:10
     2025-01-06 split ORLY 10 20   => 9610 10010 10 ORLY:20
     2025-01-06 no_trade           => 9610 10010 10 ORLY:20`,
  ],
  [
    'a dividend after a split is paid on the new shares',
    'ORLY 2025-01-07 1, ORLY 2025-01-06 2:1',
    `2025-01-03 buy ORLY 10 40     => 9600 10000 0 ORLY:10
     2025-01-07 split ORLY 10 20   => 9600 10000 0 ORLY:20
     2025-01-07 dividend ORLY 20 1 => 9620 10020 20 ORLY:20
     2025-01-07 no_trade           => 9620 10020 20 ORLY:20`,
  ],
  [
    'a holding that a reverse split paid out gets nothing',
    'AAPL 2025-01-07 1, AAPL 2025-01-06 1:20',
    `${BOUGHT}
     2025-01-07 split AAPL -10 100 => 9050 9050 -950
     2025-01-07 no_trade           => 9050 9050 -950`,
  ],
  [
    'half a unit is rounded to the even one, up and down, and a payment of nothing leaves its record',
    'AAPL 2025-01-03 0.00005, ORLY 2025-01-03 0.00015',
    `2025-01-02 buy AAPL 1 100           => 9900 10000 0 AAPL:1
     2025-01-02 buy ORLY 1 40            => 9860 10000 0 AAPL:1 ORLY:1
     2025-01-03 dividend AAPL 1 0        => 9860 10000 0 AAPL:1 ORLY:1
     2025-01-03 dividend ORLY 1 0.0002   => 9860.0002 10000.0002 0.0002 AAPL:1 ORLY:1
     2025-01-03 no_trade                 => 9860.0002 10000.0002 0.0002 AAPL:1 ORLY:1`,
  ],
  [
    'on split-adjusted prices, cash as paid is divided by the splits from the ex-date on',
    `${PAID}, AAPL 2025-01-02 7:1, AAPL 2025-01-03 2:1, AAPL 2025-06-02 2:1`,
    `${BOUGHT}
     2025-01-03 dividend AAPL 10 0.25 => 9002.5 10002.5 2.5 AAPL:10
     2025-01-03 no_trade              => 9002.5 10002.5 2.5 AAPL:10`,
    { source: 'yahoo' },
  ],
  [
    'on raw prices, a split-adjusted amount is multiplied by the splits from the ex-date on',
    'AAPL 2025-01-03 0.25 split_adjusted, AAPL 2025-01-02 7:1, AAPL 2025-06-02 4:1',
    `${BOUGHT}
     2025-01-03 dividend AAPL 10 1 => 9010 10010 10 AAPL:10
     2025-01-03 no_trade           => 9010 10010 10 AAPL:10`,
  ],
  [
    'a split-adjusted amount is paid as it is on split-adjusted prices',
    'AAPL 2025-01-03 0.25 split_adjusted, AAPL 2025-06-02 4:1',
    `${BOUGHT}
     2025-01-03 dividend AAPL 10 0.25 => 9002.5 10002.5 2.5 AAPL:10
     2025-01-03 no_trade              => 9002.5 10002.5 2.5 AAPL:10`,
    { source: 'disguise' },
  ],
  ['prices of Stooq contain dividends, so none is paid', PAID, UNPAID, { source: 'stooq' }],
  ['synthetic prices have no dividends', PAID, UNPAID, { source: 'synthetic' }],
  ['a job without dividends pays none', PAID, UNPAID, { paysDividends: false }],
];
for (const [name, known, table, done] of cases) {
  test(`dividends: ${name}`, async () => {
    const { database } = await booksOf(known, table, done);
    assert.deepEqual(ledgerOf(database, 'model-a'), ledger(table));
    assert.deepEqual(await auditOf(database), SOUND);
    database.close();
  });
}

/** What happens after a day that paid 1 dollar on 10 shares of AAPL, and whether it is stale. */
const changes = tableOf<
  [name: string, news: string, stale: string, known: string, source: string, pays: string]
>(`
  learned late                               | ${PAID}                    | stale |         | | yes
  revised                                    | AAPL 2025-01-03 1.01       | stale | ${PAID} | | yes
  revised to the same cash, but split-adjusted | ${PAID} split_adjusted   | stale | ${PAID} | | yes
  revised, and back                          | AAPL 2025-01-03 2, ${PAID} |       | ${PAID} | | yes
  removed                                    | ${TAKEN_BACK}              | stale | ${PAID} | | yes
  removed, and told again                    | ${TAKEN_BACK}, ${PAID}     |       | ${PAID} | | yes
  moved to a later date                      | ${TAKEN_BACK}, AAPL 2025-01-06 1 | stale | ${PAID} | | yes
  another, of the day it started from        | AAPL 2025-01-02 1          |       | ${PAID} | | yes
  another, of a later date                   | AAPL 2025-01-06 1          |       | ${PAID} | | yes
  another, of something not held             | ORLY 2025-01-03 1          |       | ${PAID} | | yes
  learned late, by a job without any         | ${PAID}                    |       |         | | no
  learned late, in prices that contain it    | ${PAID}                    |       |         | stooq | yes
  a later split of raw prices                | AAPL 2025-06-02 4:1        |       | ${PAID} | | yes
  a later split of adjusted prices           | AAPL 2025-06-02 4:1        | stale | ${PAID} | yahoo | yes
  a later split removed, of adjusted prices  | -stock_splits AAPL 2025-06-02 | stale | ${PAID}, AAPL 2025-06-02 4:1 | yahoo | yes
  a later split corrected, of adjusted prices | AAPL 2025-06-02 5:1       | stale | ${PAID}, AAPL 2025-06-02 4:1 | yahoo | yes
  an earlier split of adjusted prices        | AAPL 2025-01-02 4:1        |       | ${PAID} | yahoo | yes
`);
for (const [name, news, stale, known, source, pays] of changes) {
  test(`a dividend, ${name}: the day is ${stale || 'not stale'}, and adds up as of its commit`, async () => {
    const done = { paysDividends: pays === 'yes', ...(source !== '' && { source }) };
    const books = await booksOf(known, UNPAID, done);
    books.wait(3600);
    tell(books, news);
    assert.deepEqual(await auditOf(books.database), stale === '' ? SOUND : STALE);
    books.database.close();
  });
}

/** What is known of two holdings over several days, and what of it changes. */
const besides = tableOf<[name: string, known: string, news: string]>(`
  the same dividend on another date         | AAPL 2025-01-06 1     | AAPL 2025-01-07 1
  the same dividend of another symbol       | AAPL 2025-01-06 1     | ORLY 2025-01-06 1
  of two dividends of a date one is removed | AAPL 2025-01-06 1, ORLY 2025-01-06 1 | -dividends AAPL 2025-01-06
  the same split on another date            | AAPL 2025-01-06 2:1   | AAPL 2025-01-07 2:1
  the same split of another symbol          | AAPL 2025-01-06 2:1   | ORLY 2025-01-06 2:1
  of two splits of a date one is removed    | AAPL 2025-01-06 2:1, ORLY 2025-01-06 2:1 | -stock_splits AAPL 2025-01-06
  of two splits of a symbol one is removed  | AAPL 2025-01-06 2:1, AAPL 2025-01-07 2:1 | -stock_splits AAPL 2025-01-06
`);
test('a split or a dividend is known by its symbol and its date', async () => {
  for (const [name, known, news] of besides) {
    const books = createBooks();
    setBars(books, PRICES);
    tell(books, known);
    await books.day('2025-01-03', [
      ['buy', 'AAPL', 10],
      ['buy', 'ORLY', 1],
    ]);
    await books.day('2025-01-08');
    assert.deepEqual(staleNow(books.database), [], name);
    tell(books, news);
    assert.deepEqual(staleNow(books.database), ['model-a 2025-01-08'], name);
    books.database.close();
  }
});

test('a dividend learned or removed while its day runs makes the day stale', async () => {
  for (const [known, news] of [
    ['', PAID],
    [PAID, TAKEN_BACK],
  ] as const) {
    const books = await booksOf(known, BOUGHT);
    const session = await books.open('2025-01-03');
    tell(books, news);
    await books.complete(session);
    assert.deepEqual(await auditOf(books.database), STALE);
    books.database.close();
  }
});

test('the brief says which dividends were received, and the tools see the same cash', async () => {
  const books = await booksOf('AAPL 2025-01-03 0.260001, AAPL 2025-01-05 1', BOUGHT);
  const session = await books.open('2025-01-06');
  const { brief } = session;
  assert.deepEqual(brief.dividends, [
    'AAPL: 2.6, which is 0.260001 on each of 10 shares (ex-date 2025-01-03)',
    'AAPL: 10, which is 1 on each of 10 shares (ex-date 2025-01-05)',
  ]);
  const { results } = await callIn(session, 'get_portfolio', {});
  assert.equal(JSON.parse(results[0]?.content ?? '').cash, 9012.6);
  assert.equal(brief.cash, 9012.6);
  assert.match(
    String(firstMessages(brief)[1]?.content),
    /\n\nDividends received this morning:\nAAPL: 2.6, which is 0.260001 on each of 10 shares \(ex-date 2025-01-03\)\nAAPL: 10, /,
  );
  const none = await (await booksOf(PAID, '')).open('2025-01-03');
  assert.deepEqual(none.brief.dividends, []);
  assert.doesNotMatch(JSON.stringify(firstMessages(none.brief)), /ividend/);
});

test('a session interrupted before a dividend was learned continues with the prices of its morning, and is stale', async () => {
  const books = await booksOf('', BOUGHT);
  const first = await books.open('2025-01-03');
  first.leave();
  tell(books, PAID);
  const resumed = await books.reopen(first.modelDay);
  await resumed.resume();
  await resumed.prompt(firstMessages(resumed.brief));
  await books.complete(resumed);
  assert.deepEqual(ledgerOf(books.database, 'model-a'), ledger(UNPAID));
  assert.deepEqual(await auditOf(books.database), STALE);
});

const anyRatio = fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_000 }));
const anyCash = fc.integer({ min: 1, max: 1_000_000_000 });
const RUNS = runs(40, 5_000);

/**
 * Whether `rounded` is numerator / denominator, rounded to the nearest integer and halves to the
 * even one.
 */
function isRoundedHalfEven(rounded: bigint, numerator: bigint, denominator: bigint): boolean {
  const twice = 2n * (rounded * denominator - numerator);
  const isTie = twice === denominator || twice === -denominator;
  return isTie ? rounded % 2n === 0n : twice < denominator && twice > -denominator;
}

test('cash per share is the amount times or over all splits, rounded once, halves to even', () => {
  fc.assert(
    fc.property(
      anyCash,
      fc.constantFrom(...dividendBases),
      fc.array(anyRatio, { maxLength: 3 }),
      (cash, basis, ratios) => {
        const splits = ratios
          .map(
            ([numerator, denominator], index) =>
              `2025-01-0${index + 1} ${numerator}:${denominator}`,
          )
          .join(', ');
        const product = (at: 0 | 1) => ratios.reduce((all, ratio) => all * BigInt(ratio[at]), 1n);
        const [times, by] =
          basis === 'as_paid' ? [product(1), product(0)] : [product(0), product(1)];
        if (BigInt(cash) * times > BigInt(Number.MAX_SAFE_INTEGER) * by) {
          assert.throws(() => cashPerShare({ cash, basis, splits }), RangeError);
          return;
        }
        const perShare = BigInt(cashPerShare({ cash, basis, splits }));
        assert.ok(isRoundedHalfEven(perShare, BigInt(cash) * times, by), `${perShare}`);
      },
    ),
    { numRuns: RUNS },
  );
});

test('a payment is shares times cash per share, rounded once, halves to even; nothing else changes', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000_000 }),
      anyCash,
      fc.integer({ min: 0, max: 1_000_000_000 }),
      (shares, perShare, cash) => {
        const holdings = new Map([
          ['MSFT', 3],
          ...(shares === 0 ? [] : [['AAPL', shares] as const]),
        ]);
        const own = { symbol: 'AAPL', exDate: '2025-01-03', cash: perShare, splits: '' };
        const dividends = [{ ...own, basis: 'as_paid' as const }];
        const events = { splits: [], dividends, exchanges: [] };
        const before = { cash: money(cash), holdings };
        const { portfolio, received } = applyCorporateActions(before, events, {} as Market);
        const paid = portfolio.cash - cash;
        assert.ok(isRoundedHalfEven(BigInt(paid), BigInt(shares) * BigInt(perShare), 100n));
        assert.equal(paid, dividendOn(shares, perShare));
        assert.deepEqual(portfolio, { cash: cash + paid, holdings });
        assert.equal(received.length, shares === 0 ? 0 : 1);
        for (const line of received) assert.match(line, RegExp(` on each of ${shares} shares `));
      },
    ),
    { numRuns: RUNS },
  );
});

test('cash per share that no number holds exactly is refused, not rounded', () => {
  const [basis, splits] = ['split_adjusted', '2025-01-01 1000000:1'] as const;
  assert.throws(
    () => cashPerShare({ cash: 1_000_000_000_000, basis, splits }),
    /^RangeError: Cash per share of 1000000000000 dollars exceeds what is counted exactly$/,
  );
});

/** All that a session leaves, without its time stamps. */
function leftBy({ database }: Books): unknown[] {
  const columns =
    'session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4, daily_return_pct';
  return [
    `SELECT ${columns} FROM positions ORDER BY position_id`,
    'SELECT * FROM holdings',
    'SELECT * FROM session_prices',
    'SELECT * FROM session_splits',
    'SELECT * FROM session_dividends',
    'SELECT session_id, model, date, status, started_from_session_id, initial_cash_e4, pays_dividends FROM trading_sessions',
  ].map((sql) => database.statement(sql).all());
}

test('without dividends, whatever is known of them changes neither what a session leaves nor its brief', async () => {
  const [database, other] = [openDatabase(':memory:'), openDatabase(':memory:')];
  await fc.assert(
    fc.asyncProperty(anyBars, anyEvents, async (bars, events) => {
      const silent = events
        .filter(({ type }) => type !== 'dividend')
        .map((event) =>
          event.type === 'day'
            ? { ...event, meanwhile: event.meanwhile.filter(({ type }) => type !== 'dividend') }
            : event,
        );
      const without = await booksIn(database, bars, silent, { paysDividends: false });
      const told = await booksIn(other, bars, events, { paysDividends: false });
      assert.deepEqual(leftBy(told), leftBy(without));
      const brief = async (books: Books) => (await books.open('2025-02-03')).brief;
      assert.deepEqual(await brief(told), await brief(without));
    }),
    { numRuns: runs(8, 200) },
  );
  database.close();
  other.close();
});
