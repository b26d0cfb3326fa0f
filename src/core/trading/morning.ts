import assert from 'node:assert/strict';
import { byDate, type CalendarDate } from '#time/calendar.ts';
import type { Split } from '#database/market-queries.ts';
import type { StoredExchange } from '#database/exchanges.ts';
import type { StoredDividend } from '#database/splits-and-dividends.ts';
import {
  dividedHalfEven,
  dividedHalfUp,
  LEAST_PRICE,
  type Money,
  money,
  toDollars,
  TooLarge,
} from '#money/money.ts';
import type { KnownEvents, Mark } from '#database/evidence.ts';
import { type Market, splitFactors } from './market.ts';
import {
  type Action,
  applySplit,
  changeHolding,
  convertShares,
  heldQuantity,
  type Portfolio,
} from './portfolio.ts';

/** What happened to the holdings since the close of the day that a session starts from. */
export interface MorningLedger {
  readonly actions: Action[];
  /** Which dividends were paid, a line each. */
  readonly received: string[];
  /** What became of the holdings that were exchanged, a sentence each. */
  readonly exchanged: string[];
  /** What a job warns of: fractions of received shares that had no price. */
  readonly lost: string[];
  /**
   * What a received share without a price is worth by that of the old one: (close − cash) × old ÷ new
   * where it took its place, 0 beside it.
   */
  readonly stated: Map<string, Mark>;
  /** Shares that came by exchanges; a rename brings those that came under the old name. */
  readonly arrived: Map<string, number>;
  /** Portfolio after all of them. */
  portfolio: Portfolio;
}

/**
 * Pays dividends, applies splits and exchanges holdings, in order, of what was held at the close: on
 * one date dividends come before splits, and exchanges last.
 */
export function applyCorporateActions(
  portfolio: Portfolio,
  { splits, dividends, exchanges }: KnownEvents,
  market: Market,
): MorningLedger {
  const nothing = { actions: [], received: [], exchanged: [], lost: [] };
  const ledger = { ...nothing, stated: new Map(), arrived: new Map(), portfolio };
  const events = [
    ...dividends.map((own) => ({ ...own, date: own.exDate, apply: () => payHolding(ledger, own) })),
    ...splits.map((own) => ({ ...own, apply: () => splitHolding(ledger, own, market) })),
    ...groupExchanges(exchanges).map((own) => {
      return { ...own, apply: () => exchangeHolding(ledger, own, market) };
    }),
  ].sort(byDate);
  for (const { symbol, apply } of events) if (heldQuantity(ledger.portfolio, symbol) > 0) apply();
  return ledger;
}

function enter(ledger: MorningLedger, action: Omit<Action, 'cash'>, after: Portfolio): void {
  ledger.actions.push({ ...action, cash: after.cash });
  ledger.portfolio = after;
}

function payHolding(
  ledger: MorningLedger,
  { symbol, exDate, paid: perShare }: KnownEvents['dividends'][number],
): void {
  const { portfolio, shares: amount, cash } = payDividend(ledger.portfolio, { symbol, perShare });
  const price = dividendOn(1, perShare);
  enter(ledger, { actionType: 'dividend', symbol, amount, price }, portfolio);
  ledger.received.push(
    `${symbol}: ${toDollars(cash)}, which is ${perShare / MILLIONTHS} on each of ${amount} shares (ex-date ${exDate})`,
  );
}

function splitHolding(ledger: MorningLedger, split: Split, market: Market): void {
  const { symbol, date } = split;
  // What an exchange brought may have no price that is known before a hidden open.
  const price = market.knownMark(symbol, date)?.price ?? LEAST_PRICE;
  const { portfolio, added: amount } = applySplit(ledger.portfolio, { ...split, price });
  enter(ledger, { actionType: 'split', symbol, amount, price }, portfolio);
}

/** What becomes of a symbol on a date: the old share leaves once, whatever it brings. */
export interface HoldingExchange {
  symbol: string;
  date: CalendarDate;
  /** Whether the old share stays. */
  remains: boolean;
  rows: readonly StoredExchange[];
}

/** All rows of a symbol and a date as one exchange, in the order of their first rows. */
export function groupExchanges(stored: readonly StoredExchange[]): HoldingExchange[] {
  const groups = Map.groupBy(stored, ({ symbol, date }) => `${date} ${symbol}`).values();
  return Array.from(groups, (rows) => {
    const [{ symbol, date } = assert.fail('a group has a row')] = rows;
    return { symbol, date, remains: rows.every(({ remains }) => remains === 1), rows };
  });
}

/** Cash is that of a dividend; shares are whole, their fraction in cash at the session's mark. */
function exchangeHolding(
  ledger: MorningLedger,
  { symbol, date, remains, rows }: HoldingExchange,
  market: Market,
): void {
  const shares = heldQuantity(ledger.portfolio, symbol);
  const perShare = rows
    .map((row) => cashPerShare({ ...row, basis: 'as_paid' }))
    .reduce((sum, own) => sum + own);
  const [cash, price] = [dividendOn(shares, perShare), dividendOn(1, perShare)];
  const left = remains ? 0 : shares;
  const after = changeHolding(ledger.portfolio, symbol, -left, cash);
  enter(ledger, { actionType: 'exchange', symbol, amount: left, price }, after);
  const { stated, arrived } = ledger;
  const before = market.knownMark(symbol) ?? stated.get(symbol);
  const parts = perShare > 0 ? [`${perShare / MILLIONTHS} in cash`] : [];
  const received: string[] = [];
  let fractions = 'fractions of shares were paid in cash';
  const bringing = rows.filter(({ into }) => into !== '');
  for (const row of bringing) {
    const { into } = row;
    const ratio = exchangeRatio(row);
    const own = market.knownMark(into, date)?.price ?? null;
    const deed = `exchange ${shares} ${symbol} into ${into}`;
    const { whole, paid, hasRest } = convertShares(shares, ratio, { price: own, deed });
    const holding = changeHolding(ledger.portfolio, into, whole, paid);
    enter(ledger, { actionType: 'received', symbol: into, amount: whole, price: own }, holding);
    parts.push(`${Number(sharesPerOld(row).toPrecision(12))} ${into}`);
    received.push(`${whole} ${into}`);
    if (own === null && hasRest) {
      fractions = 'the fraction of a share has no price and is lost';
      ledger.lost.push(
        `Fractions of ${into} that the exchange of ${symbol} on ${date} brought had no price, and are lost: ` +
          `import the prices of ${into} from before it, and run its model-days again`,
      );
    }
    const isOneForOne = !remains && perShare === 0 && ratio[0] === ratio[1];
    const isRename = isOneForOne && bringing.length === 1;
    const came = isRename ? (arrived.get(symbol) ?? 0) : whole;
    arrived.set(into, (arrived.get(into) ?? 0) + came);
    if (own !== null || before === undefined) continue;
    const rest = remains ? 0 : Math.max(0, before.price - price);
    const worth = money(Number(dividedHalfUp(BigInt(rest) * ratio[1], ratio[0])));
    stated.set(into, { ...before, price: worth });
  }
  if (!remains && arrived.has(symbol)) arrived.set(symbol, 0);
  const what = parts.join(' and ') || 'nothing: it is worthless';
  const rest =
    received.length === 0 ? '' : ` You have received ${received.join(', ')}; ${fractions}.`;
  ledger.exchanged.push(
    `Each ${symbol} you held ${remains ? 'also brought' : 'became'} ${what}. You held ${shares}.${rest}`,
  );
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
  const [oldTimes, oldBy] = convertingFactors(splits);
  const [newTimes, newBy] = convertingFactors(intoSplits);
  return [BigInt(numerator ?? 0) * newTimes * oldBy, BigInt(denominator ?? 1) * newBy * oldTimes];
}

/** New and old shares over splits as text. */
function convertingFactors(text: string): ReturnType<typeof splitFactors> {
  const splits = text.matchAll(/(\S+) (\d+):(\d+)/g);
  return splitFactors(
    Array.from(splits, ([, date = '', numerator, denominator]) => {
      return { date, numerator: Number(numerator), denominator: Number(denominator) };
    }),
  );
}

/** Cash per share comes in 1/1,000,000 dollar. */
const MILLIONTHS = 1_000_000;
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
      `Cash per share of ${perShare / MILLIONTHS} dollars exceeds what is counted exactly`,
    );
  return perShare;
}

/** Cash per share for reports: rounded where it is too large to be exact. */
export function approximateCashPerShare({ cash, basis, splits }: DividendTerms): number {
  const [newShares, oldShares] = convertingFactors(splits);
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
  return { portfolio: changeHolding(portfolio, symbol, 0, cash), shares, cash };
}
