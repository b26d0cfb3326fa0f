import assert from 'node:assert/strict';
import type { CalendarDate } from '#time/calendar.ts';
import type { StoredExchange } from '#database/exchanges.ts';
import type { StoredDividend } from '#database/splits-and-dividends.ts';
import type { Split } from '#database/market-queries.ts';
import { dividedHalfEven, LEAST_PRICE, type Money, money, TooLarge } from '#money/money.ts';
import type { KnownDividend, Mark } from '#database/evidence.ts';
import type { Market } from './market.ts';
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
  /** What exchanges did to holdings. */
  readonly exchanged: readonly ExchangedHolding[];
  /**
   * What a received share without a price is worth by that of the old one: (close − cash) × old ÷ new
   * where it took its place, 0 beside it.
   */
  readonly stated: ReadonlyMap<string, Mark>;
  /** Portfolio after all of them. */
  readonly portfolio: Portfolio;
}

/** What happened since the close of the day that a session starts from. */
export interface CorporateActions {
  splits: readonly Split[];
  dividends: readonly KnownDividend[];
  exchanges: readonly StoredExchange[];
}

/** Pays dividends, applies splits and exchanges holdings, in order, of what was held at the close. */
export function applyCorporateActions(
  start: Portfolio,
  { splits, dividends, exchanges }: CorporateActions,
  market: Market,
): MorningLedger {
  const actions: Action[] = [];
  const received: ReceivedDividend[] = [];
  const exchanged: ExchangedHolding[] = [];
  let before = start;
  for (const { dividend, split, exchange } of mergeMorningEvents(splits, dividends, exchanges)) {
    const { symbol } = dividend ?? split ?? exchange;
    if (heldQuantity(before, symbol) === 0) continue;
    if (exchange !== undefined) {
      // All rows of a symbol and a date are one exchange: its share leaves once.
      const rows = exchanges.filter((own) => own.symbol === symbol && own.date === exchange.date);
      if (rows[0] !== exchange) continue;
      const made = exchangeHolding(before, rows, market);
      before = made.portfolio;
      actions.push(...made.actions);
      exchanged.push(made.exchanged);
    } else if (split !== undefined) {
      const { price, portfolio, added: amount } = splitHolding(before, split, market);
      before = portfolio;
      actions.push({ actionType: 'split', symbol, amount, price, cash: before.cash });
    } else {
      const { exDate, paid: perShare } = dividend;
      const { portfolio, shares, cash } = payDividend(before, { symbol, perShare });
      before = portfolio;
      const price = dividendOn(1, perShare);
      actions.push({ actionType: 'dividend', symbol, amount: shares, price, cash: before.cash });
      received.push({ symbol, exDate, shares, perShare, cash });
    }
  }
  return { actions, received, exchanged, stated: stateMarks(exchanged, market), portfolio: before };
}

/** One thing that happened to a holding before a session. */
export type MorningEvent<Split, Dividend, Exchange = never> =
  | { split: Split; dividend?: never; exchange?: never }
  | { dividend: Dividend; split?: never; exchange?: never }
  | { exchange: Exchange; split?: never; dividend?: never };

/**
 * Splits, dividends and exchanges, each in order of their dates, as one list: on one day, dividends
 * come before splits, and exchanges last.
 */
export function mergeMorningEvents<
  Split extends { date: CalendarDate },
  Dividend extends { exDate: CalendarDate },
  Exchange extends { date: CalendarDate } = never,
>(
  splits: readonly Split[],
  dividends: readonly Dividend[],
  exchanges: readonly Exchange[] = [],
): MorningEvent<Split, Dividend, Exchange>[] {
  const events = [
    ...dividends.map((dividend) => ({ date: dividend.exDate, dividend })),
    ...splits.map((split) => ({ date: split.date, split })),
    ...exchanges.map((exchange) => ({ date: exchange.date, exchange })),
  ];
  return events.sort((one, other) => (one.date < other.date ? -1 : one.date > other.date ? 1 : 0));
}

/** Fractions are paid at the session's mark, in the shares of this split where others follow it. */
function splitHolding(before: Portfolio, split: Split, market: Market) {
  const { symbol, date, numerator, denominator } = split;
  // What an exchange brought may have no price that is known before a hidden open.
  const price = market.knownMark(symbol, date)?.price ?? LEAST_PRICE;
  return { price, ...applySplit(before, { symbol, numerator, denominator, price }) };
}

/** What became of a holding on the date of an exchange. */
export interface ExchangedHolding {
  readonly symbol: string;
  readonly date: CalendarDate;
  readonly shares: number;
  /** Whether the old shares are still held. */
  readonly remains: boolean;
  /** Per old share, in 1/1,000,000 dollar, and for all of them; fractions of shares come on top. */
  readonly perShare: number;
  readonly cash: Money;
  readonly brought: readonly BroughtShares[];
}

interface BroughtShares {
  readonly symbol: string;
  readonly shares: number;
  /** New shares for one old share. */
  readonly ratio: number;
  /** That of its fraction; null where none is known. */
  readonly price: Money | null;
  /** Whether a fraction was left for which there is no price. */
  readonly isLost: boolean;
}

function stateMarks(
  exchanged: readonly ExchangedHolding[],
  market: Market,
): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { symbol: old, remains, perShare, brought } of exchanged) {
    const before = market.knownMark(old) ?? marks.get(old);
    for (const { symbol, ratio, price } of brought) {
      if (price !== null || before === undefined) continue;
      const left = remains ? 0 : Math.max(0, before.price - dividendOn(1, perShare));
      marks.set(symbol, { price: money(Math.round(left / ratio)), date: before.date });
    }
  }
  return marks;
}

/** Cash is that of a dividend; shares are whole, their fraction in cash at the session's mark. */
function exchangeHolding(before: Portfolio, rows: readonly StoredExchange[], market: Market) {
  const [{ symbol, date } = assert.fail('an exchange has a row')] = rows;
  const shares = heldQuantity(before, symbol);
  const remains = rows.every((row) => row.remains === 1);
  const perRow = rows.map(({ cash, splits: converting }) =>
    cashPerShare({ cash, basis: 'as_paid', splits: converting }),
  );
  const perShare = perRow.reduce((sum, own) => sum + own, 0);
  const cash = money(perRow.reduce((sum, own) => sum + dividendOn(shares, own), 0));
  const left = remains ? 0 : shares;
  let portfolio = addShares(before, symbol, -left, cash);
  const price = dividendOn(1, perShare);
  const actions: Action[] = [
    { actionType: 'exchange', symbol, amount: left, price, cash: portfolio.cash },
  ];
  const brought: BroughtShares[] = [];
  for (const row of rows) {
    if (row.into === '') continue;
    const [numerator, denominator] = exchangeRatio(row);
    const parts = BigInt(shares) * numerator;
    const whole = Number(parts / denominator);
    if (!Number.isSafeInteger(whole))
      throw new TooLarge(`Cannot exchange ${shares} ${symbol} into ${row.into}: too many shares`);
    const paid = market.knownMark(row.into, date)?.price ?? null;
    const rest = parts % denominator;
    const fraction =
      paid === null ? 0n : (2n * rest * BigInt(paid) + denominator) / (2n * denominator);
    portfolio = addShares(portfolio, row.into, whole, money(Number(fraction)));
    actions.push({
      ...{ actionType: 'received', symbol: row.into, amount: whole },
      ...{ price: paid, cash: portfolio.cash },
    });
    const ratio = sharesPerOld(row);
    const isLost = paid === null && rest > 0n;
    brought.push({ symbol: row.into, shares: whole, ratio, price: paid, isLost });
  }
  return {
    portfolio,
    actions,
    exchanged: { symbol, date, shares, remains, perShare, cash, brought },
  };
}

function addShares(
  { cash, holdings }: Portfolio,
  symbol: string,
  added: number,
  paid: Money,
): Portfolio {
  const changed = new Map(holdings);
  const quantity = (holdings.get(symbol) ?? 0) + added;
  if (quantity === 0) changed.delete(symbol);
  else changed.set(symbol, quantity);
  return { cash: money(cash + paid), holdings: changed };
}

/** New shares for an old one. */
export function sharesPerOld(row: StoredExchange): number {
  const [newShares, oldShares] = exchangeRatio(row);
  return Number(newShares) / Number(oldShares);
}

/** New shares for old ones, in the shares of both series: converted by the splits since. */
export function exchangeRatio({
  numerator,
  denominator,
  splits,
  intoSplits,
}: StoredExchange): [numerator: bigint, denominator: bigint] {
  const [oldTimes, oldBy] = splitFactors(splits);
  const [newTimes, newBy] = splitFactors(intoSplits);
  return [BigInt(numerator ?? 0) * newTimes * oldBy, BigInt(denominator ?? 1) * newBy * oldTimes];
}

/** New and old shares over some splits. */
function splitFactors(splits: string): [newShares: bigint, oldShares: bigint] {
  let [newShares, oldShares] = [1n, 1n];
  for (const [, numerator, denominator] of splits.matchAll(/(\d+):(\d+)/g)) {
    newShares *= BigInt(String(numerator));
    oldShares *= BigInt(String(denominator));
  }
  return [newShares, oldShares];
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
  const [newShares, oldShares] = splitFactors(splits);
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
