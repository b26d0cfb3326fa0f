import type { StoredEvents } from '#database/exchanges.ts';
import type { Mark } from '#database/evidence.ts';
import { sharesAdded } from '#database/sessions.ts';
import {
  dividedHalfEven,
  dividedHalfUp,
  LEAST_PRICE,
  type Money,
  money,
  toDollars,
  TooLarge,
} from '#money/money.ts';
import type { ExchangedShares, PaidDividend } from '#wire/morning-events.ts';
import type { Market } from './market.ts';
import { type Action, changeHolding, heldQuantity, type Portfolio } from './portfolio.ts';
import {
  exactCash,
  MILLIONTHS,
  type ShareEvent,
  type ShareRatio,
  shareEvents,
  sharesPerOld,
} from './share-events.ts';

/** What happened to the holdings since the close of the day that a session starts from. */
export interface MorningLedger {
  readonly actions: Action[];
  readonly received: PaidDividend[];
  readonly exchanged: ExchangedShares[];
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

/** Pays dividends, applies splits and exchanges holdings, in order, of what was held at the close. */
export function applyCorporateActions(
  portfolio: Portfolio,
  known: StoredEvents,
  market: Market,
): MorningLedger {
  const nothing = { actions: [], received: [], exchanged: [] };
  const ledger = { ...nothing, stated: new Map(), arrived: new Map(), portfolio };
  for (const event of shareEvents(known)) {
    const { type, symbol, date, itself } = event;
    const shares = heldQuantity(ledger.portfolio, symbol);
    if (shares === 0) continue;
    if (type === 'split') {
      // What an exchange brought may have no price that is known before a hidden open.
      const price = market.knownMark(symbol, date)?.price ?? LEAST_PRICE;
      const deed = `split ${shares} ${symbol} by ${itself.join(':')}`;
      bring(ledger, { actionType: type, symbol, price }, { shares, ratio: itself, deed });
    } else payHolding(ledger, { ...event, shares }, market);
  }
  return ledger;
}

/** `paid` is what the action pays in cash. */
function enter(ledger: MorningLedger, action: Omit<Action, 'cash'>, paid: number): void {
  ledger.portfolio = changeHolding(ledger.portfolio, action.symbol, sharesAdded(action), paid);
  ledger.actions.push({ ...action, cash: ledger.portfolio.cash });
}

/**
 * Turns shares into whole new ones and a fraction, which is paid in cash at the price (per new
 * share), a half rounded up to 1/10000 dollar; without a price nothing is paid for it. A split
 * replaces the old ones. `deed` is what is done, in words.
 */
function bring(
  ledger: MorningLedger,
  action: Pick<Action, 'actionType' | 'symbol' | 'price'>,
  { shares, ratio, deed }: { shares: number; ratio: ShareRatio; deed: string },
): { shares: number; hasRest: boolean } {
  const [newShares, oldShares] = ratio;
  const parts = BigInt(shares) * newShares;
  const [whole, rest] = [Number(parts / oldShares), parts % oldShares];
  if (!Number.isSafeInteger(whole)) throw new TooLarge(`Cannot ${deed}: too many shares`);
  const amount = action.actionType === 'split' ? whole - shares : whole;
  const paid = dividedHalfUp(rest * BigInt(action.price ?? 0), oldShares);
  enter(ledger, { ...action, amount }, Number(paid));
  return { shares: whole, hasRest: rest > 0n };
}

/** An event of a symbol that is held. */
interface HoldingEvent extends ShareEvent {
  shares: number;
}

/** Pays a dividend or the cash of an exchange, and brings its shares. */
function payHolding(ledger: MorningLedger, event: HoldingEvent, market: Market): void {
  const { type: actionType, symbol, date, shares, cash, itself } = event;
  const remains = itself[0] > 0n;
  const amount = remains && actionType === 'exchange' ? 0 : shares;
  const paid = dividendOn(shares, cash);
  enter(ledger, { actionType, symbol, amount, price: dividendOn(1, cash) }, paid);
  const told = { symbol, shares, cashPerShare: cash / MILLIONTHS, cash: toDollars(paid) };
  if (actionType === 'dividend') ledger.received.push({ ...told, exDate: date });
  else {
    const received = receiveShares(ledger, event, market);
    ledger.exchanged.push({ ...told, date, remains, received });
  }
}

function receiveShares(
  ledger: MorningLedger,
  { symbol, date, shares, cash, itself, received }: HoldingEvent,
  market: Market,
): ExchangedShares['received'] {
  const { stated, arrived } = ledger;
  const remains = itself[0] > 0n;
  const before = market.knownMark(symbol) ?? stated.get(symbol);
  const told = received.map(({ symbol: into, ratio }) => {
    const [newShares, oldShares] = ratio;
    const price = market.knownMark(into, date)?.price ?? null;
    const deed = `exchange ${shares} ${symbol} into ${into}`;
    const action = { actionType: 'received', symbol: into, price } as const;
    const { hasRest, ...brought } = bring(ledger, action, { shares, ratio, deed });
    const isOneForOne = !remains && cash === 0 && newShares === oldShares;
    const isRename = isOneForOne && received.length === 1;
    const came = isRename ? (arrived.get(symbol) ?? 0) : brought.shares;
    arrived.set(into, (arrived.get(into) ?? 0) + came);
    if (price === null && before !== undefined) {
      const left = remains ? 0 : Math.max(0, before.price - dividendOn(1, cash));
      const worth = money(Number(dividedHalfUp(BigInt(left) * oldShares, newShares)));
      stated.set(into, { ...before, price: worth });
    }
    const isFractionLost = price === null && hasRest;
    return { symbol: into, perShare: sharesPerOld(ratio), ...brought, isFractionLost };
  });
  if (!remains) arrived.delete(symbol);
  return told;
}

/** 1/1,000,000 dollar in one unit of `Money`. */
const MILLIONTHS_PER_UNIT = 100n;

/**
 * What a dividend pays on whole shares, rounded half to even; `perShare` is in 1/1,000,000 dollar.
 */
export function dividendOn(shares: number, perShare: number): Money {
  const paid = BigInt(shares) * BigInt(exactCash(perShare));
  return money(Number(dividedHalfEven(paid, MILLIONTHS_PER_UNIT)));
}
