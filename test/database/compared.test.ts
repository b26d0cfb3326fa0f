import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { staleNow } from '../support/stale.ts';

/**
 * After each possible change of a split or a dividend, those sessions are stale that are so by
 * definition, which is written here a second time.
 */

const DATES = [1, 2, 3, 4, 5].map((day) => `2025-01-0${day}`);
const SYMBOL = 'AAPL';

interface Session {
  id: number;
  date: string;
  heldSince: string | null;
  paysDividends: boolean;
  /**
   * What it knew on commit: splits as `date numerator`, dividends as `exDate cash basis splits`.
   */
  splits: string[];
  dividends: string[];
}

interface Market {
  isAdjusted: boolean;
  /** The numerators by date. */
  splits: Map<string, number>;
  dividends: Map<string, { cash: number; basis: string }>;
}

const START: Pick<Market, 'splits' | 'dividends'> = {
  splits: new Map([[DATES[3]!, 2]]),
  dividends: new Map([
    [DATES[1]!, { cash: 5, basis: 'as_paid' }],
    [DATES[2]!, { cash: 7, basis: 'split_adjusted' }],
    [DATES[4]!, { cash: 7, basis: 'split_adjusted' }],
  ]),
};

/**
 * Every pair of a morning and a date; each knows all that START has, or of splits or dividends
 * nothing; some are not paid dividends.
 */
function sessionsIn(market: Market): Session[] {
  const pairs = DATES.flatMap((date) =>
    [null, ...DATES.filter((earlier) => earlier < date)].map((heldSince) => ({ date, heldSince })),
  );
  const kinds = [
    { paysDividends: true, knowsSplits: true, knowsDividends: true },
    { paysDividends: true, knowsSplits: true, knowsDividends: false },
    { paysDividends: false, knowsSplits: true, knowsDividends: true },
    { paysDividends: false, knowsSplits: false, knowsDividends: false },
  ];
  return pairs.flatMap(({ date, heldSince }, pair) =>
    kinds.map(({ paysDividends, knowsSplits, knowsDividends }, kind) => {
      const isHeldOver = (day: string) => heldSince !== null && heldSince < day && day <= date;
      return {
        id: kinds.length * pair + kind + 1,
        date,
        heldSince,
        paysDividends,
        splits: [...market.splits]
          .filter(([day]) => knowsSplits && isHeldOver(day))
          .map((split) => split.join(' ')),
        dividends: [...market.dividends.keys()]
          .filter((day) => knowsDividends && isHeldOver(day))
          .map((day) => dividendAt(market, day)),
      };
    }),
  );
}

/** A dividend as sessions know it, with the splits from its ex-date on if it is converted. */
function dividendAt({ isAdjusted, splits, dividends }: Market, day: string): string {
  const { cash, basis } = dividends.get(day)!;
  const later = [...splits].sort().filter(([date]) => date >= day);
  const converting =
    (basis === 'split_adjusted') !== isAdjusted
      ? later.map(([date, numerator]) => `${date} ${numerator}:1`).join(', ')
      : '';
  return `${day} ${cash} ${basis} ${converting}`;
}

/** The stale sessions by definition, as `model date`. */
function staleBy(market: Market, sessions: readonly Session[]): string[] {
  const stale = sessions.filter(({ date, heldSince, paysDividends, splits, dividends }) => {
    const isHeldOver = (day: string) => heldSince !== null && heldSince < day && day <= date;
    const hasNewSplit = [...market.splits].some(
      ([day, numerator]) => isHeldOver(day) && !splits.includes(`${day} ${numerator}`),
    );
    const hasNewDividend = [...market.dividends.keys()].some(
      (day) => isHeldOver(day) && !dividends.includes(dividendAt(market, day)),
    );
    const lacksOneOf = (known: readonly string[], stored: ReadonlyMap<string, unknown>) =>
      known.some((event) => !stored.has(event.slice(0, 10)));
    return (
      (!market.isAdjusted && (hasNewSplit || lacksOneOf(splits, market.splits))) ||
      (paysDividends && (hasNewDividend || lacksOneOf(dividends, market.dividends)))
    );
  });
  return stale.map(({ id, date }) => `${modelOf(id)} ${date}`);
}

/** Each session is the only one of its model, so that none has another start. */
function modelOf(id: number): string {
  return `model-${String(id).padStart(3, '0')}`;
}

function databaseWith(market: Market, sessions: readonly Session[]): CommandDatabase {
  const database = openDatabase(':memory:');
  const run = (sql: string, ...values: (string | number | null)[]) =>
    database.statement(sql).run(...values);
  run('PRAGMA foreign_keys = OFF');
  run(
    `INSERT INTO price_data (symbol, date, open, source) VALUES (?, '2024-12-31', 1, ?)`,
    SYMBOL,
    market.isAdjusted ? 'yahoo' : 'manual',
  );
  for (const [day, numerator] of market.splits)
    run(
      'INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES (?, ?, ?, 1)',
      SYMBOL,
      day,
      numerator,
    );
  for (const [day, { cash, basis }] of market.dividends)
    run(
      'INSERT INTO dividends (symbol, ex_date, cash_e6, basis) VALUES (?, ?, ?, ?)',
      SYMBOL,
      day,
      cash,
      basis,
    );
  for (const { id, date, heldSince, paysDividends, splits, dividends } of sessions) {
    run(
      `INSERT INTO trading_sessions (session_id, job_id, date, model, status, initial_cash_e4, started_at, completed_at, wording, pays_dividends)
       VALUES (?, 'j', ?, ?, 'active', 0, 't', 't', 1, ?)`,
      id,
      date,
      modelOf(id),
      Number(paysDividends),
    );
    for (const [day = '', numerator = ''] of splits.map((split) => split.split(' ')))
      run('INSERT INTO session_splits VALUES (?, ?, ?, ?, 1)', id, SYMBOL, day, Number(numerator));
    for (const [day = '', cash = '', basis = '', ...converting] of dividends.map((dividend) =>
      dividend.split(' '),
    ))
      run(
        'INSERT INTO session_dividends VALUES (?, ?, ?, ?, ?, ?, 1)',
        id,
        SYMBOL,
        day,
        Number(cash),
        basis,
        converting.join(' '),
      );
    for (const symbol of [SYMBOL, 'MSFT'])
      run(
        'INSERT INTO session_prices (session_id, symbol, date, held_since) VALUES (?, ?, ?, ?)',
        id,
        symbol,
        date,
        heldSince,
      );
  }
  return database;
}

type Change = [name: string, sql: string, change: (market: Market) => unknown];

const put = (table: string, columns: string, values: string, update: string) =>
  `INSERT INTO ${table} (symbol, ${columns}) VALUES ('${SYMBOL}', ${values}) ON CONFLICT DO UPDATE SET ${update}`;

const writes: Change[] = DATES.flatMap((day): Change[] => [
  [
    `a split on ${day}`,
    put('stock_splits', 'date, numerator, denominator', `'${day}', 3, 1`, 'numerator = 3'),
    ({ splits }) => splits.set(day, 3),
  ],
  [
    `no split on ${day}`,
    `DELETE FROM stock_splits WHERE date = '${day}'`,
    ({ splits }) => splits.delete(day),
  ],
  ...['as_paid', 'split_adjusted'].map(
    (basis): Change => [
      `a dividend ${basis} on ${day}`,
      put(
        'dividends',
        'ex_date, cash_e6, basis',
        `'${day}', 5, '${basis}'`,
        'cash_e6 = 5, basis = excluded.basis',
      ),
      ({ dividends }) => dividends.set(day, { cash: 5, basis }),
    ],
  ),
  [
    `no dividend on ${day}`,
    `DELETE FROM dividends WHERE ex_date = '${day}'`,
    ({ dividends }) => dividends.delete(day),
  ],
]);

function move<Value>(values: Map<string, Value>, from: string, to: string): void {
  values.set(to, values.get(from) as Value);
  values.delete(from);
}

/** The only split, and a dividend, on other dates. */
const moves: Change[] = [
  ...[DATES[0]!, DATES[4]!].map(
    (day): Change => [
      `the split on ${day}`,
      `UPDATE stock_splits SET date = '${day}'`,
      ({ splits }) => move(splits, DATES[3]!, day),
    ],
  ),
  ...[DATES[0]!, DATES[3]!].map(
    (day): Change => [
      `the dividend on ${day}`,
      `UPDATE dividends SET ex_date = '${day}' WHERE ex_date = '${DATES[2]}'`,
      ({ dividends }) => move(dividends, DATES[2]!, day),
    ],
  ),
];
const sequences = [
  ...writes.flatMap((first) => writes.map((second) => [first, second])),
  ...moves.map((change) => [change]),
];

for (const isAdjusted of [false, true]) {
  test(`a session is stale if it knew other splits or dividends: ${isAdjusted ? 'a series adjusted for splits' : 'raw prices'}`, (t) => {
    const start = (): Market => ({
      isAdjusted,
      splits: new Map(START.splits),
      dividends: new Map(START.dividends),
    });
    const sessions = sessionsIn(start());
    const database = databaseWith(start(), sessions);
    t.after(() => database.close());
    assert.deepEqual(staleNow(database), staleBy(start(), sessions), 'as committed');
    for (const sequence of sequences) {
      const market = start();
      database.statement('SAVEPOINT changes').run();
      for (const [, sql, change] of sequence) {
        change(market);
        database.statement(sql).run();
      }
      assert.deepEqual(
        staleNow(database),
        staleBy(market, sessions),
        sequence.map(([name]) => name).join(', then '),
      );
      database.statement('ROLLBACK TO changes').run();
      database.statement('RELEASE changes').run();
    }
  });
}
