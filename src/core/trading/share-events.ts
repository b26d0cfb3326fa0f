import assert from 'node:assert/strict';
import type { StoredEvents, StoredExchange } from '#database/exchanges.ts';
import type { Split } from '#database/market-queries.ts';
import type { StoredDividend } from '#database/splits-and-dividends.ts';
import { dividedHalfEven, TooLarge, UNITS_PER_DOLLAR } from '#money/money.ts';
import { byDate, type CalendarDate } from '#time/calendar.ts';

/**
 * What becomes of a share: dividends, splits and exchanges in one form, for all that follow shares
 * over dates.
 */

/** Cash per share comes in 1/1,000,000 dollar. */
export const MILLIONTHS = 1_000_000;
/** Of those in one unit of `Money`. */
export const MILLIONTHS_PER_UNIT = BigInt(MILLIONTHS / UNITS_PER_DOLLAR);

/** New shares, and the old ones for which they came. */
export type ShareRatio = readonly [newShares: bigint, oldShares: bigint];

/** What a share becomes on a date: cash, so many shares of itself, and shares of others. */
export interface ShareEvent {
  type: 'dividend' | 'split' | 'exchange';
  symbol: string;
  date: CalendarDate;
  /** In 1/1,000,000 dollar, rounded where it is too large to be exact. */
  cash: number;
  /** Of a split its ratio; no shares where the old one leaves. */
  itself: ShareRatio;
  received: readonly { symbol: string; ratio: ShareRatio }[];
  /** Whether it only gives the share another name: 1:1 on its date, and nothing else. */
  isRename: boolean;
}

/**
 * Events in order: on one date dividends come before splits, and exchanges last, all of a symbol as
 * one, because the old share leaves once.
 */
export function shareEvents({ splits, dividends, exchanges }: StoredEvents): ShareEvent[] {
  const nothing = { cash: 0, itself: [1n, 1n], received: [], isRename: false } as const;
  const paid = dividends.map((own): ShareEvent => {
    const { symbol, exDate: date } = own;
    return { ...nothing, type: 'dividend', symbol, date, cash: approximateCashPerShare(own) };
  });
  const split = splits.map((own): ShareEvent => {
    const { symbol, date } = own;
    return { ...nothing, type: 'split', symbol, date, itself: splitFactors([own]) };
  });
  const groups = Map.groupBy(exchanges, ({ symbol, date }) => `${date} ${symbol}`).values();
  const exchanged = Array.from(groups, (rows): ShareEvent => {
    const [first = assert.fail('a group has a row')] = rows;
    const { symbol, date, into, cash, numerator, denominator, remains } = first;
    const isAlone = rows.length === 1 && into !== '' && cash === 0 && remains === 0;
    return {
      type: 'exchange',
      symbol,
      date,
      cash: rows.reduce((sum, row) => sum + approximateCashPerShare(row), 0),
      isRename: isAlone && numerator === denominator,
      itself: [rows.every(({ remains }) => remains === 1) ? 1n : 0n, 1n],
      received: rows
        .filter(({ into }) => into !== '')
        .map((row) => ({ symbol: row.into, ratio: exchangeRatio(row) })),
    };
  });
  return [...paid, ...split, ...exchanged].sort(byDate);
}

/** New shares for an old one. */
export function sharesPerOld([newShares, oldShares]: ShareRatio): number {
  return Number(newShares) / Number(oldShares);
}

/** New shares for old ones, in the shares of both series: converted by the splits since. */
export function exchangeRatio(exchange: StoredExchange): ShareRatio {
  const { numerator, denominator, splits, intoSplits } = exchange;
  const [oldTimes, oldBy] = convertingFactors(splits);
  const [newTimes, newBy] = convertingFactors(intoSplits);
  return [BigInt(numerator ?? 0) * newTimes * oldBy, BigInt(denominator ?? 1) * newBy * oldTimes];
}

/** New and old shares over splits as text. */
function convertingFactors(text: string): ShareRatio {
  const splits = text.matchAll(/(\S+) (\d+):(\d+)/g);
  return splitFactors(
    Array.from(splits, ([, date = '', numerator, denominator]) => {
      return { date, numerator: Number(numerator), denominator: Number(denominator) };
    }),
  );
}

/** New shares, and the old ones for which they came, over the splits after a date. */
export function splitFactors(
  splits: readonly Omit<Split, 'symbol'>[],
  after: CalendarDate = '',
): ShareRatio {
  let [newShares, oldShares] = [1n, 1n];
  for (const { date, numerator, denominator } of splits) {
    if (date <= after) continue;
    newShares *= BigInt(numerator);
    oldShares *= BigInt(denominator);
  }
  return [newShares, oldShares];
}

/**
 * Cash per share as its source tells it, and the splits that convert it to the shares of its series;
 * that of an exchange is as paid.
 */
type CashTerms = Pick<StoredDividend, 'cash' | 'splits'> & Partial<Pick<StoredDividend, 'basis'>>;

/**
 * What is paid per share of a series, in 1/1,000,000 dollar, rounded half to even: an amount as paid
 * is divided by the splits since its date where prices are too, and a split-adjusted amount
 * multiplied by them where prices are raw. Throws a `TooLarge` for an amount that no number holds
 * exactly.
 */
export function cashPerShare(terms: CashTerms): number {
  return exactCash(approximateCashPerShare(terms));
}

/** Cash per share for reports: rounded where it is too large to be exact. */
export function approximateCashPerShare({ cash, basis, splits }: CashTerms): number {
  const [newShares, oldShares] = convertingFactors(splits);
  const [times, by] = basis === 'split_adjusted' ? [newShares, oldShares] : [oldShares, newShares];
  return Number(dividedHalfEven(BigInt(cash) * times, by));
}

/** Throws a `TooLarge` unless cash per share is counted exactly. */
export function exactCash(perShare: number): number {
  if (Number.isSafeInteger(perShare)) return perShare;
  const dollars = perShare / MILLIONTHS;
  throw new TooLarge(`Cash per share of ${dollars} dollars exceeds what is counted exactly`);
}
