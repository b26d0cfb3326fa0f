import type { CalendarDate } from '#time/calendar.ts';
import type { StoredDividend } from '#database/splits-and-dividends.ts';
import type { KnownDividend } from '#database/evidence.ts';
import type { Split } from '#database/market-queries.ts';
import { dividedHalfEven, LEAST_PRICE, type Money, money, TooLarge } from '#money/money.ts';
import { currentMark, type Market, splitRatio } from './market.ts';
import { type Action, applySplit, type Portfolio, heldQuantity } from './portfolio.ts';

export interface ReceivedDividend {
  readonly symbol: string;
  readonly exDate: CalendarDate;
  readonly shares: number;
  /** In 1/1,000,000 dollar. */
  readonly perShare: number;
  readonly cash: Money;
}

/** What happened to the holdings since the close of the day that a session starts from. */
export interface MorningLedger {
  readonly actions: readonly Action[];
  readonly received: readonly ReceivedDividend[];
  /** Portfolio after splits and dividends. */
  readonly portfolio: Portfolio;
}

/** Pays dividends and applies splits, in order, to what was held at the close. */
export function applyCorporateActions(
  start: Portfolio,
  { splits, dividends }: { splits: readonly Split[]; dividends: readonly KnownDividend[] },
  market: Market,
): MorningLedger {
  const actions: Action[] = [];
  const received: ReceivedDividend[] = [];
  let before = start;
  for (const { dividend, split } of mergeMorningEvents(splits, dividends)) {
    const { symbol } = dividend ?? split;
    if (heldQuantity(before, symbol) === 0) continue;
    if (split !== undefined) {
      const { price, portfolio, added: amount } = splitHolding(before, split, { splits, market });
      before = portfolio;
      actions.push({ actionType: 'split', symbol, amount, price, cash: before.cash });
      continue;
    }
    const { exDate, paid: perShare } = dividend;
    const { portfolio, shares, cash } = payDividend(before, { symbol, perShare });
    before = portfolio;
    actions.push({
      actionType: 'dividend',
      symbol,
      amount: shares,
      price: dividendOn(1, perShare),
      cash: before.cash,
    });
    received.push({ symbol, exDate, shares, perShare, cash });
  }
  return { actions, received, portfolio: before };
}

/** One thing that happened to a holding before a session. */
export type MorningEvent<Split, Dividend> =
  | { split: Split; dividend?: never }
  | { dividend: Dividend; split?: never };

/**
 * Splits and dividends, each in order of their dates, as one list: on one day, dividends come
 * before splits.
 */
export function mergeMorningEvents<
  Split extends { date: CalendarDate },
  Dividend extends { exDate: CalendarDate },
>(splits: readonly Split[], dividends: readonly Dividend[]): MorningEvent<Split, Dividend>[] {
  const events = [
    ...dividends.map((dividend) => ({ date: dividend.exDate, dividend })),
    ...splits.map((split) => ({ date: split.date, split })),
  ];
  return events.sort((one, other) => (one.date < other.date ? -1 : one.date > other.date ? 1 : 0));
}

/**
 * Fractions are paid at the session's mark, converted to the shares of this split where others
 * follow it.
 */
function splitHolding(
  before: Portfolio,
  split: Split,
  { splits, market }: { splits: readonly Split[]; market: Market },
) {
  const { symbol, date, numerator, denominator } = split;
  const own = splits.filter((other) => other.symbol === symbol);
  const price = money(
    Math.round(currentMark(market, symbol) * splitRatio(own, date)) || LEAST_PRICE,
  );
  return { price, ...applySplit(before, { symbol, numerator, denominator, price }) };
}

/** 1/1,000,000 dollar in one unit of `Money`. */
const MILLIONTHS_PER_UNIT = 100n;

/**
 * The cash of a dividend as its source tells it, and the splits that convert it to the shares of
 * its series.
 */
type DividendTerms = Pick<StoredDividend, 'cash' | 'basis' | 'splits'>;

/**
 * What a dividend pays per share of its series, in 1/1,000,000 dollar, rounded half to even: an
 * amount as paid is divided by the splits since its ex-date where prices are too, and a
 * split-adjusted amount multiplied by them where prices are raw. Throws a `TooLarge` for an amount
 * that no number holds exactly.
 */
export function cashPerShare(terms: DividendTerms): number {
  const perShare = approximateCashPerShare(terms);
  if (!Number.isSafeInteger(perShare))
    throw new TooLarge(
      `Cash per share of ${perShare / 1_000_000} dollars exceeds what is counted exactly`,
    );
  return perShare;
}

/** Cash per share for reports: rounded where it is too large to be exact. */
export function approximateCashPerShare({ cash, basis, splits }: DividendTerms): number {
  let [newShares, oldShares] = [1n, 1n];
  for (const [, numerator, denominator] of splits.matchAll(/(\d+):(\d+)/g)) {
    newShares *= BigInt(String(numerator));
    oldShares *= BigInt(String(denominator));
  }
  const [times, by] = basis === 'split_adjusted' ? [newShares, oldShares] : [oldShares, newShares];
  return Number(dividedHalfEven(BigInt(cash) * times, by));
}

/**
 * What a dividend pays on whole shares, rounded half to even; `perShare` is in 1/1,000,000 dollar.
 */
export function dividendOn(shares: number, perShare: number): Money {
  return money(Number(dividedHalfEven(BigInt(shares) * BigInt(perShare), MILLIONTHS_PER_UNIT)));
}

/** Pays a dividend on a holding; `perShare` is in 1/1,000,000 dollar. */
export function payDividend(
  portfolio: Portfolio,
  { symbol, perShare }: { symbol: string; perShare: number },
): { portfolio: Portfolio; shares: number; cash: Money } {
  const shares = heldQuantity(portfolio, symbol);
  const cash = dividendOn(shares, perShare);
  return { portfolio: { ...portfolio, cash: money(portfolio.cash + cash) }, shares, cash };
}
