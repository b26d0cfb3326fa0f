import type { CalendarDate } from '../calendar.ts';
import type { KnownDividend } from '../database/evidence.ts';
import type { Split } from '../database/market.ts';
import { LEAST_PRICE, type Money, money } from '../money.ts';
import { dividendOn, payDividend } from './dividends.ts';
import type { Market } from './market.ts';
import { type Action, applySplit, type Portfolio, quantityOf } from './portfolio.ts';

/** A dividend as it was paid. */
export interface ReceivedDividend {
  readonly symbol: string;
  readonly exDate: CalendarDate;
  readonly shares: number;
  /** In 1/1,000,000 dollar. */
  readonly perShare: number;
  readonly cash: Money;
}

/** What happened to the holdings since the close of the day that a session starts from. */
export interface Morning {
  readonly actions: readonly Action[];
  readonly received: readonly ReceivedDividend[];
}

/** Pays dividends and applies splits, in order, to what was held at the close. */
export function morningOf(
  start: Portfolio,
  { splits, dividends }: { splits: readonly Split[]; dividends: readonly KnownDividend[] },
  market: Market,
): Morning {
  const actions: Action[] = [];
  const received: ReceivedDividend[] = [];
  for (const { dividend, split } of inOrder(splits, dividends)) {
    const before = actions.at(-1)?.portfolio ?? start;
    const { symbol } = dividend ?? split;
    if (quantityOf(before, symbol) === 0) continue;
    if (split !== undefined) {
      actions.push(splitAction(before, split, { splits, market }));
      continue;
    }
    const { exDate, paid: perShare } = dividend;
    const { portfolio, shares, cash } = payDividend(before, { symbol, perShare });
    actions.push({
      actionType: 'dividend',
      symbol,
      amount: shares,
      price: dividendOn(1, perShare),
      portfolio,
    });
    received.push({ symbol, exDate, shares, perShare, cash });
  }
  return { actions, received };
}

/** One thing that happened to a holding before a session. */
export type MorningEvent<Split, Dividend> =
  | { split: Split; dividend?: never }
  | { dividend: Dividend; split?: never };

/**
 * Splits and dividends, each in order of their dates, as one list: on one day, dividends come
 * before splits.
 */
export function inOrder<
  Split extends { date: CalendarDate },
  Dividend extends { exDate: CalendarDate },
>(splits: readonly Split[], dividends: readonly Dividend[]): MorningEvent<Split, Dividend>[] {
  const events = [
    ...dividends.map((dividend) => ({ dividend })),
    ...splits.map((split) => ({ split })),
  ];
  const dateOf = (event: MorningEvent<Split, Dividend>) =>
    event.dividend?.exDate ?? event.split?.date ?? '';
  return events.sort((one, other) =>
    dateOf(one) < dateOf(other) ? -1 : dateOf(one) > dateOf(other) ? 1 : 0,
  );
}

/**
 * Fractions are paid at the session's mark, converted to the shares of this split where others
 * follow it.
 */
function splitAction(
  before: Portfolio,
  split: Split,
  { splits, market }: { splits: readonly Split[]; market: Market },
): Action {
  const { symbol, numerator, denominator } = split;
  const later = splits.slice(splits.indexOf(split) + 1).filter((other) => other.symbol === symbol);
  const ratio = later.reduce(
    (product, other) => product * (other.numerator / other.denominator),
    1,
  );
  const price = inEarlierShares(market.mark(symbol), ratio);
  const { portfolio, added } = applySplit(before, { symbol, numerator, denominator, price });
  return { actionType: 'split', symbol, amount: added, price, portfolio };
}

/** A price in the shares of before later splits, which make `ratio` shares of one. */
export function inEarlierShares(price: Money, ratio: number): Money {
  return money(Math.round(price * ratio) || LEAST_PRICE);
}
