import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyReport, type DownloadReport } from '../../src/core/prices/download.ts';
import type { DatePrices } from '../../src/core/prices/needs.ts';
import {
  downloadWarnings,
  gapWarnings,
  mixWarnings,
  waitWarnings,
} from '../../src/core/prices/warnings.ts';
import { describeImport } from '../../src/features/price-files/import-prices.ts';
import { assertLike } from '../support/text-table.ts';

/** The warnings about prices, and the summary of an import, with none, one and two of a thing. */

const SYMBOLS = ['A', 'B'];
const DATES = ['2025-11-17', '2025-11-18'];
const UNIVERSE = ['A', 'B', 'C', 'D'];
const refused = (symbol: string) => ({ symbol, date: '2025-11-17', reason: 'no open' });
const some = <Item>(items: readonly Item[], number: number) => items.slice(0, number);

/** What a report of downloads has of each number of things, and what its warning says of 1 and 2. */
const reports: [of: (number: number) => Partial<DownloadReport>, one: string, two: string][] = [
  [(n) => ({ unknown: some(SYMBOLS, n) }), '…1 symbol: A', '…2 symbols: A, B'],
  [
    (n) => ({ revisions: new Map(n === 0 ? [] : [['A', n]]) }),
    '… 1 daily price (A)…',
    '… 2 daily prices (A)…',
  ],
  [
    (n) => ({ refusedBars: some(SYMBOLS, n).map(refused) }),
    '…1 implausible daily price: A (no open)',
    '…2 implausible daily prices: A (no open), B (no open)',
  ],
  [
    (n) => ({ refusedActions: some(SYMBOLS, n).map(refused) }),
    'Rejected 1 …splits and dividends: A (no open)',
    'Rejected 2 …splits and dividends: A (no open), B (no open)',
  ],
  [
    (n) => ({ skippedActions: n }),
    'Skipped 1 …splits and dividends: unreadable…',
    'Skipped 2 …splits and dividends: unreadable…',
  ],
  [(n) => ({ syntheticReplaced: some(SYMBOLS, n) }), '…1 symbol: A', '…2 symbols: A, B'],
  [
    (n) => ({ unpublished: some(DATES, n) }),
    '…1 date yet; …: 2025-11-17',
    '…2 dates yet; …: 2025-11-17, 2025-11-18',
  ],
  [
    (n) => ({ beyond: { dates: some(DATES, n), message: 'upgrade' } }),
    '…1 date (upgrade): 2025-11-17',
    '…2 dates (upgrade): 2025-11-17, 2025-11-18',
  ],
];

test('the warnings about downloads agree with their numbers', () => {
  const missing = DATES.map((date) => ({ date, availability: 'missing' }) as DatePrices);
  for (const [of, ...facts] of reports)
    for (const number of [0, 1, 2]) {
      const report = { ...emptyReport('symbol', 'KEY'), ...of(number) };
      const said = downloadWarnings(report, missing).map((one) =>
        typeof one === 'string' ? one : one.message,
      );
      assertLike(said, number === 0 ? [] : [facts[number - 1] ?? '']);
    }
});

test('the warning about the price history agrees with its numbers', () => {
  const said = (found: number, wanted: number) => {
    const history = { before: '2025-11-17', found, wanted };
    return downloadWarnings({ ...emptyReport('day', 'KEY'), history }, []);
  };
  for (const [found, wanted, fact] of [
    [0, 10, 'None of the 10 trading days before 2025-11-17 has prices…'],
    [0, 1, 'None of the 1 trading day before 2025-11-17 has prices…'],
    [1, 10, 'Only 1 of the 10 trading days before 2025-11-17 has prices…'],
    [2, 10, 'Only 2 of the 10 trading days before 2025-11-17 have prices…'],
  ] as const)
    assertLike(said(found, wanted), [fact]);
});

test('the warnings about symbols without prices, or with synthetic ones, agree with their numbers', () => {
  const gaps = (missing: string[]) => {
    const date = { date: '2025-11-17', availability: 'available', missing, unpriced: [] };
    return gapWarnings([date as unknown as DatePrices], { universe: UNIVERSE });
  };
  const mixed = (real: string[]) => mixWarnings(new Set(real), UNIVERSE).map((one) => one.message);
  for (const [warn, some, facts] of [
    [gaps, [], []],
    [gaps, ['B'], ['1 of 4 symbols has …: B']],
    [gaps, ['B', 'A'], ['2 of 4 symbols have …: A, B']],
    [mixed, [], []],
    [mixed, ['B'], ['Only 1 of 4 symbols has … (B)…']],
    [mixed, ['B', 'A'], ['Only 2 of 4 symbols have … (A, B)…']],
    [mixed, UNIVERSE, []],
  ] as const)
    assertLike(warn([...some]), facts);
  for (const [waitedMs, facts] of [
    [0, []],
    [1_000, ['Waited 1 second …']],
    [2_000, ['Waited 2 seconds …']],
  ] as const)
    assertLike(waitWarnings(waitedMs), facts);
});

test('the summary of an import agrees with its numbers', () => {
  const said = (number: number) => {
    const symbols = some(SYMBOLS, number);
    const taken = { meaning: 'raw', by: 'said', night: null } as const;
    const counts = { bars: number, changed: number, dates: number };
    const none = { dividends: 0, splits: 0, syntheticReplaced: 0, contradicted: [] };
    const refused = new Map(number === 0 ? [] : [['no open', number]]);
    const span = { firstDate: DATES[0], lastDate: DATES[1] };
    const summary = { format: 'CSV', taken, symbols, ...counts, ...none, ...span, refused };
    return describeImport('f', summary as unknown as Parameters<typeof describeImport>[1]);
  };
  assert.match(said(0), /nothing imported/);
  assert.match(said(1), /imported 1 bar .* 1 symbol on 1 date, [^]*refused 1 row: no open/);
  assert.match(said(2), /imported 2 bars .* 2 symbols on 2 dates, [^]*refused 2 rows: no open/);
});
