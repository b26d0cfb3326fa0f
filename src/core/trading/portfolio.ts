import assert from 'node:assert/strict';
import { type Board, type TradingCosts, wholeLots } from '#domain/market-rules.ts';
import type { Side } from '#database/decisions.ts';
import type { ActionType } from '#domain/vocabulary.ts';
import { formatDollars, fromDollars, type Money, money } from '#money/money.ts';

/** Cash and whole shares. Never negative; holdings of zero are not listed. Immutable. */
export interface Portfolio {
  readonly cash: Money;
  readonly holdings: ReadonlyMap<string, number>;
}

/**
 * One entry of a day's ledger. What is held after it follows from the entries before, so that a day
 * of many orders takes little memory.
 */
export interface Action {
  readonly actionType: Exclude<ActionType, 'no_trade'>;
  readonly symbol: string;
  /**
   * Shares; for a split, how many were added (negative in a reverse split); for a dividend, how
   * many it was paid on; for an exchange, how many left.
   */
  readonly amount: number;
  /**
   * Per share; for a dividend and an exchange, the cash; of shares that a split or an exchange
   * brought, that of their fraction, null where none is known.
   */
  readonly price: Money | null;
  /** Cash after the action. */
  readonly cash: Money;
}

/** An order for whole shares at a fill price that the service, never the model, supplies. */
interface PricedOrder {
  side: Side;
  symbol: string;
  amount: number;
  price: Money;
  costs: TradingCosts;
  /** Single shares where it is left out. */
  board?: Board;
}

/** The result of an order: the portfolio after it, or why it was refused (then nothing changed). */
type Execution = { portfolio: Portfolio; refusal?: never } | { refusal: string; portfolio?: never };

export function trade(portfolio: Portfolio, order: PricedOrder): Execution {
  const { side, symbol, amount, price, costs } = order;
  const refused = (words: string) => ({ refusal: `Cannot ${side} ${words}` });
  if (!isAmount(amount))
    return {
      refusal: `Cannot trade ${amount} shares: the amount must be a whole number of at least 1`,
    };
  const { cash } = portfolio;
  const held = heldQuantity(portfolio, symbol);
  if (side === 'sell' && amount > held)
    return refused(`${amount} ${symbol}: ${held === 0 ? 'none is' : `${held} are`} held`);
  // Compared by division, so that no order, however large, exceeds exact integers.
  if (side === 'buy' && amount > Math.floor(cash / price))
    return refused(unaffordableReason(cash, order, null));
  const commission = commissionOn(money(amount * price), side, costs);
  const added = side === 'buy' ? amount : -amount;
  const paid = -added * price - commission;
  if (cash + paid >= 0) return { portfolio: changeHolding(portfolio, symbol, added, paid) };
  if (side === 'buy') return refused(unaffordableReason(cash, order, commission));
  const problem = `cash and proceeds do not pay the commission of ${formatDollars(commission)}`;
  return refused(`${amount} ${symbol} at ${formatDollars(price)}: ${problem}`);
}

/**
 * Why a purchase is refused, and for how many shares the cash is enough. `commission` is that of
 * the order, if it fits a number.
 */
function unaffordableReason(cash: Money, order: PricedOrder, commission: Money | null): string {
  const { symbol, amount, price, costs, board } = order;
  const paid = affordableShares(cash, price, costs);
  const shares = `${amount} ${symbol} at ${formatDollars(price)}`;
  const withCommission =
    commission === null ? shares : `${shares} and a commission of ${formatDollars(commission)}`;
  return `${withCommission}: cash is ${formatDollars(cash)}, enough for ${board ? wholeLots(board, paid) : paid}`;
}

export function affordableShares(cash: Money, price: Money, costs: TradingCosts): number {
  const isPaid = (shares: number) =>
    shares * price + commissionOn(money(shares * price), 'buy', costs) <= cash;
  let [least, most] = [0, Math.floor(cash / price)];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (isPaid(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}

/** A portfolio with more shares of a symbol, or fewer, and more cash, or less. */
export function changeHolding(
  portfolio: Portfolio,
  symbol: string,
  added: number,
  paid: number,
): Portfolio {
  const holdings = new Map(portfolio.holdings);
  const quantity = heldQuantity(portfolio, symbol) + added;
  if (quantity === 0) holdings.delete(symbol);
  else holdings.set(symbol, quantity);
  return { cash: money(portfolio.cash + paid), holdings };
}

/**
 * Asserts what everything that reads a ledger relies on. Only a bug in the accounting could break
 * it.
 */
export function assertSoundPortfolio({ cash, holdings }: Portfolio): void {
  assert(Number.isSafeInteger(cash) && cash >= 0, `cash is ${cash}`);
  for (const [symbol, quantity] of holdings)
    if (!isAmount(quantity)) assert.fail(`the holding of ${symbol} is ${quantity}`);
}

/**
 * Cash plus every holding at its mark. Throws when a mark is missing: no holding may drop out of
 * the value.
 */
export function valuePortfolio(
  { cash, holdings }: Portfolio,
  marks: ReadonlyMap<string, Money>,
): Money {
  let value: Money = cash;
  for (const [symbol, quantity] of holdings)
    value = money(value + quantity * requireMark(symbol, marks), () => "The portfolio's value");
  return value;
}

export function requireMark(symbol: string, marks: ReadonlyMap<string, Money>): Money {
  const mark = marks.get(symbol);
  if (mark === undefined) throw new Error(`Cannot value the portfolio: no mark for ${symbol}`);
  return mark;
}

export function heldQuantity({ holdings }: Portfolio, symbol: string): number {
  return holdings.get(symbol) ?? 0;
}

function isAmount(amount: number): boolean {
  return Number.isSafeInteger(amount) && amount >= 1;
}

/** Basis points have at most four decimals. */
const PARTS_PER_BASIS_POINT = 10_000n;
const BASIS_POINTS = 10_000n;

/**
 * The price at which an order fills: the open with slippage, rounded to 1/10000 dollar against the
 * trader.
 */
export function fillPrice(
  open: Money,
  side: Side,
  { slippage_bps: basisPoints }: TradingCosts,
): Money {
  const slippage = shareRoundedUp(open, basisPoints);
  return money(side === 'buy' ? open + slippage : Math.max(1, open - slippage));
}

/**
 * The commission on an order and the tax on a sale, each part rounded up to 1/10000. `traded` is
 * shares times fill price.
 */
export function commissionOn(traded: Money, side: Side, costs: TradingCosts): Money {
  const commission =
    fromDollars(costs.commission_per_trade) + shareRoundedUp(traded, costs.commission_bps);
  const tax = side === 'sell' ? shareRoundedUp(traded, costs.sell_tax_bps) : 0;
  return money(Math.max(fromDollars(costs.min_commission), commission) + tax);
}

/** Share of an amount, in integers: floating-point numbers would round. */
function shareRoundedUp(amount: Money, basisPoints: number): number {
  if (basisPoints === 0) return 0;
  const parts = BigInt(amount) * BigInt(Math.round(basisPoints * Number(PARTS_PER_BASIS_POINT)));
  const whole = PARTS_PER_BASIS_POINT * BASIS_POINTS;
  return Number((parts + whole - 1n) / whole);
}
