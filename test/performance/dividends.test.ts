import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays, type CalendarDate, weekdays } from '../../src/core/time/calendar.ts';
import type { Database } from '../../src/core/database/database.ts';
import { activeDays } from '../../src/features/performance/queries.ts';
import { storeDividends } from '../../src/core/database/splits-and-dividends.ts';
import { reportRun, prepareReports } from '../../src/features/performance/model-reports.ts';
import { type Books, createBooks, type Order } from '../support/books.ts';
import { runs } from '../support/long.ts';

/** The figures of model-a beside a benchmark, as GET /performance has them. */
function reportOf(database: Database, wanted = 'AAPL') {
  const runs = [...activeDays(database, ['model-a'], {})].map(([model, days]) => ({
    ...{ model, family: model, knowledgeCutoff: null, study: null, basemodel: null, days },
  }));
  const request = {
    ...{ database, runs, failed: new Map(), wanted, riskFree: 0, withDetails: false },
  };
  const basis = prepareReports(request);
  const [run] = runs;
  assert.ok(run !== undefined);
  return { report: reportRun(request, basis, run), benchmark: basis.benchmarkReport };
}

const units = (dollars: number | null) => Math.round((dollars ?? NaN) * 10_000);

/** A year of 2024 whose market was closed on one weekday. */
const DATES = weekdays('2024-01-02', '2024-12-31');
const HOLIDAY = 60;
const OPEN_DATES = DATES.filter((_, day) => day !== HOLIDAY);

/**
 * Dividends in dollars per share and splits, by day of the year. AAPL also pays on the day of its
 * split.
 */
interface Share {
  symbol: string;
  start: number;
  dividends: Record<number, number>;
  split: { day: number; numerator: number; denominator: number } | null;
}
const SHARES: Share[] = [
  {
    symbol: 'AAPL',
    start: 2,
    dividends: { 30: 0.01, 92: 0.011111, 120: 0.025, 185: 0.003, 250: 0.004 },
    split: { day: 120, numerator: 4, denominator: 1 },
  },
  {
    symbol: 'MSFT',
    start: 3,
    dividends: { 20: 0.02, 60: 0.015, 61: 0.0125, 104: 0.02, 170: 0.040001, 230: 0.05 },
    split: { day: 150, numerator: 1, denominator: 2 },
  },
  { symbol: 'ORLY', start: 1.5, dividends: {}, split: null },
];

interface Day {
  date: CalendarDate;
  open: number;
  close: number;
  /**
   * What one dollar has become whose dividends bought further shares: at the open of the ex-date,
   * and at its close.
   */
  atOpen: number;
  atClose: number;
}

/**
 * Raw prices that open each ex-date lower by the dividend, and the growth by which they would be
 * adjusted.
 */
function yearOf({ symbol, start, dividends, split }: Share): Day[] {
  const days: Day[] = [];
  const toTicks = (dollars: number) => Math.round(dollars * 10_000) / 10_000;
  let due = 0;
  DATES.forEach((date, day) => {
    due += dividends[day] ?? 0;
    if (day === HOLIDAY) return;
    const ratio = split?.day === day ? split.numerator / split.denominator : 1;
    const last = days.at(-1);
    const open = toTicks(last === undefined ? start : (last.close - due) / ratio);
    const close =
      last === undefined
        ? open
        : toTicks(open * (1.0005 + 0.01 * Math.sin(day * (0.7 + symbol.charCodeAt(0) / 100))));
    const atOpen = last === undefined ? 1 : (last.atOpen * ratio * close) / (last.close - due);
    const atClose = last === undefined ? 1 : (last.atClose * (ratio * close + due)) / last.close;
    days.push({ date, open, close, atOpen, atClose });
    due = 0;
  });
  return days;
}

function recordEvents(books: Books): void {
  for (const { symbol, dividends, split } of SHARES) {
    for (const [day, cash] of Object.entries(dividends))
      books.setDividend(symbol, DATES[Number(day)] as CalendarDate, cash);
    if (split !== null)
      books.setSplit(symbol, DATES[split.day] as CalendarDate, split.numerator, split.denominator);
  }
}

/** Days on which the ledger changes; in the long form all of them. */
const EVENT_DAYS = new Set(
  SHARES.flatMap(({ dividends, split }) => [
    ...Object.keys(dividends).map(Number),
    split?.day ?? 0,
  ]),
);
const SESSIONS = OPEN_DATES.filter((date) => {
  const day = DATES.indexOf(date);
  return (
    runs(0, 1) === 1 ||
    day % 50 === 0 ||
    EVENT_DAYS.has(day) ||
    EVENT_DAYS.has(day - 1) ||
    date === OPEN_DATES.at(-1)
  );
});

/**
 * Buys equal amounts on the first day, and on each ex-date further shares for what was received.
 */
async function buyAndReinvest(
  books: Books,
  years: ReadonlyMap<string, readonly Day[]>,
): Promise<{ cash: number; bought: Map<string, number> }> {
  const held = new Map<string, number>();
  const bought = new Map<string, number>();
  let cash = 10_000;
  for (const date of SESSIONS) {
    const orders: Order[] = [];
    for (const { symbol, dividends, split } of SHARES) {
      const day = DATES.indexOf(date);
      const { open = NaN } = years.get(symbol)?.find((one) => one.date === date) ?? {};
      const before = held.get(symbol) ?? 0;
      const due = (dividends[day] ?? 0) + (day === HOLIDAY + 1 ? (dividends[HOLIDAY] ?? 0) : 0);
      const ratio = split?.day === day ? split.numerator / split.denominator : 1;
      const amount = Math.floor((before === 0 ? 3_333 : before * due) / open);
      if (amount > 0) orders.push(['buy', symbol, amount]);
      held.set(symbol, Math.floor(before * ratio) + amount);
      if (before === 0) {
        bought.set(symbol, amount);
        cash -= amount * open;
      }
    }
    await books.day(date, orders);
  }
  return { cash, bought };
}

test('a year on adjusted closes equals raw prices, splits and dividends, up to whole shares and cents', async () => {
  const years = new Map(SHARES.map((share) => [share.symbol, yearOf(share)]));
  const lastOf = (symbol: string) => years.get(symbol)?.at(-1) as Day;
  const raw = createBooks();
  for (const [symbol, days] of years)
    for (const { date, ...bar } of days) raw.setBar(symbol, date, bar);
  recordEvents(raw);
  const { cash, bought } = await buyAndReinvest(raw, years);
  const { report, benchmark } = reportOf(raw.database);

  // The total return of adjusted closes, as providers compute them: earlier prices times 1 -
  // dividend / previous close.
  const worth = [...bought].map(
    ([symbol, shares]) => shares * (years.get(symbol)?.[0]?.open ?? NaN) * lastOf(symbol).atOpen,
  );
  const expected = (cash + worth.reduce((sum, one) => sum + one, 0)) / 10_000 - 1;
  assert.ok(
    Math.abs((report.total_return ?? NaN) - expected) < 5e-4,
    `${report.total_return} and ${expected}`,
  );
  assert.ok(report.dividends > 200, `dividends of ${report.dividends} dollars make a difference`);
  const { realised_profit: realised, unrealised_profit: unrealised } = report.trading;
  assert.equal(units(realised) + units(unrealised) + units(report.dividends), units(report.profit));
  // The benchmark reinvests at the close of the ex-date.
  assert.ok(Math.abs((benchmark.total_return ?? NaN) - (lastOf('AAPL').atClose - 1)) < 1e-9);
});

const COVER = `INSERT INTO dividend_coverage (symbol, source, start_date, end_date)
  VALUES ('AAPL', ?, ?, ?)`;
const statusesOf = ({ curve }: { curve: readonly { dividend_status: string }[] }) =>
  curve.map((day) => day.dividend_status);

/** From Thursday 2025-06-05; `DAY` is a day of June 2025. */
interface Knowledge {
  source?: string;
  paysDividends?: boolean;
  spans?: string[];
  dividends?: string[];
}
const HELD_OVER_WEEKEND: [date: string, orders: Order[]][] = [
  ['05', [['buy', 'AAPL', 1]]],
  ['06', []],
  ['10', [['sell', 'AAPL', 1]]],
  ['11', [['buy', 'AAPL', 1]]],
];
/**
 * Of AAPL as a benchmark, the last day is another: it held the share over the morning on which the
 * model buys again.
 */
const UNKNOWN = 'known unknown unknown known';
const KNOWN = 'known known known known';
const THIRD = 'known known unknown known';
const NOT_PAID = 'not_paid not_paid not_paid not_paid';
const statuses: [name: string, known: Knowledge, expected: string, lastOfBenchmark: string][] = [
  ['nothing is known', {}, UNKNOWN, 'unknown'],
  ['all is covered', { spans: ['01 30'] }, KNOWN, 'known'],
  ['only the last morning is not covered', { spans: ['01 09'] }, THIRD, 'unknown'],
  ['the weekend is not covered', { spans: ['05 06', '09 10'] }, KNOWN, 'unknown'],
  ['a weekday without a session is not', { spans: ['05 06', '10 10'] }, THIRD, 'unknown'],
  [
    'a dividend is stored for the weekday that is not covered',
    { spans: ['05 06', '10 10'], dividends: ['09'] },
    KNOWN,
    'unknown',
  ],
  ['of another day', { spans: ['05 06'], dividends: ['09'] }, THIRD, 'unknown'],
  ['the prices contain the dividends', { source: 'stooq' }, KNOWN, 'known'],
  ['the prices are synthetic', { source: 'synthetic' }, KNOWN, 'known'],
  ['the prices are adjusted for splits only', { source: 'yahoo' }, UNKNOWN, 'unknown'],
  ['the job pays no dividends', { paysDividends: false }, NOT_PAID, 'not_paid'],
];
test('which model-days lie in unknown spans of dividends', async () => {
  for (const [name, known, text, lastOfBenchmark] of statuses) {
    const { source = 'csv', paysDividends = true, spans = [], dividends = [] } = known;
    const books = createBooks(':memory:', { paysDividends });
    const dateOf = (day = '') => `2025-06-${day}`;
    for (let date = dateOf('04'); date <= dateOf('12'); date = addDays(date, 1))
      books.setBar('AAPL', date, { open: 100, close: 100, source });
    for (const day of dividends) books.setDividend('AAPL', dateOf(day), 1);
    for (const [from, to] of spans.map((span) => span.split(' ')))
      books.database.statement(COVER).run('csv', dateOf(from), dateOf(to));
    for (const [day, orders] of HELD_OVER_WEEKEND) await books.day(dateOf(day), orders);
    const { report, benchmark } = reportOf(books.database);
    const expected = text.split(' ');
    const counts = (all: readonly string[]) =>
      ['unknown', 'not_paid'].map((status) => all.filter((one) => one === status).length);
    assert.deepEqual(statusesOf(report), expected, name);
    assert.deepEqual(
      [report.model_days_with_unknown_dividends, report.model_days_without_dividends],
      counts(expected),
    );
    const ofBenchmark = [...expected.slice(0, -1), lastOfBenchmark];
    assert.deepEqual(statusesOf(benchmark), ofBenchmark, name);
    assert.deepEqual(
      [benchmark.days_with_unknown_dividends, benchmark.days_without_dividends],
      counts(ofBenchmark),
    );
    assert.equal(report.dividends, paysDividends && source === 'csv' ? dividends.length : 0);
  }
});

test('a span that another program ended on a day that no month has', async () => {
  const books = createBooks();
  for (const date of ['2025-05-29', '2025-06-03'])
    books.setBar('AAPL', date, { open: 100, close: 100 });
  const cover = books.database.statement(COVER);
  cover.run('other', '2025-05-01', '2025-05-32');
  await books.day('2025-05-29', [['buy', 'AAPL', 1]]);
  await books.day('2025-06-03');
  assert.deepEqual(statusesOf(reportOf(books.database).report), ['known', 'unknown']);
  cover.run('csv', '2025-06-01', '2025-06-30');
  assert.deepEqual(statusesOf(reportOf(books.database).report), ['known', 'known']);
});

test('a symbol of several that are held is enough for a model-day to lie in an unknown span', async () => {
  const books = createBooks();
  for (const symbol of ['AAPL', 'MSFT'])
    for (const date of ['2025-06-05', '2025-06-06'])
      books.setBar(symbol, date, { open: 100, close: 100 });
  const spans = [{ symbol: 'AAPL', startDate: '2025-06-01', endDate: '2025-06-30' }];
  const stamp = { source: 'csv', recordedAt: '2025-07-01T00:00:00.000Z' };
  storeDividends(books.database, { dividends: [], spans, basis: 'as_paid' }, stamp);
  await books.day('2025-06-05', [
    ['buy', 'AAPL', 1],
    ['buy', 'MSFT', 1],
  ]);
  await books.day('2025-06-06');
  assert.deepEqual(statusesOf(reportOf(books.database).report), ['known', 'unknown']);
  const other = [{ ...spans[0]!, symbol: 'MSFT' }];
  storeDividends(books.database, { dividends: [], spans: other, basis: 'as_paid' }, stamp);
  assert.deepEqual(statusesOf(reportOf(books.database).report), ['known', 'known']);
});

test('a symbol of the universe with unknown dividends is enough, while it belongs to the universe', async () => {
  const books = createBooks();
  const dates = weekdays('2025-06-02', '2025-07-04');
  for (const date of dates) books.setBar('AAPL', date, { open: 100, close: 100 });
  for (const date of [...dates.slice(0, 3), ...dates.slice(20)])
    books.setBar('MSFT', date, { open: 100, close: 100 });
  const spans = [{ symbol: 'AAPL', startDate: '2025-06-01', endDate: '2025-07-31' }];
  const stamp = { source: 'csv', recordedAt: '2025-08-01T00:00:00.000Z' };
  storeDividends(books.database, { dividends: [], spans, basis: 'as_paid' }, stamp);
  for (const date of dates) await books.day(date);
  const { benchmark } = reportOf(books.database, 'universe');
  const { curve, days_with_unknown_dividends: unknown } = benchmark;
  const unknownDates = curve.flatMap((day) =>
    day.dividend_status === 'unknown' ? [day.date] : [],
  );
  // On the 20th it is a new member.
  assert.deepEqual(unknownDates, [...dates.slice(1, 3), ...dates.slice(21)]);
  assert.equal(unknown, unknownDates.length);
});
