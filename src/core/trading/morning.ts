import type { StoredEvents } from '#database/exchanges.ts';
import type { Mark } from '#database/evidence.ts';
import { sharesAdded } from '#database/sessions.ts';
import {
  dividedHalfEven,
  dividedHalfUp,
  type Money,
  money,
  toDollars,
  TooLarge,
} from '#money/money.ts';
import { list } from '#text/sentences.ts';
import type { Market } from './market.ts';
import { type Action, changeHolding, heldQuantity, type Portfolio } from './portfolio.ts';
import {
  exactCash,
  MILLIONTHS,
  MILLIONTHS_PER_UNIT,
  type ShareEvent,
  type ShareRatio,
  shareEvents,
  sharesPerOld,
} from './share-events.ts';

/** What happened to the holdings since the close of the day that a session starts from. */
export interface MorningLedger {
  readonly actions: Action[];
  /** Which dividends were paid, a line each. */
  readonly received: string[];
  /** What became of the holdings that were exchanged, a sentence each. */
  readonly exchanged: string[];
  /** What a job warns of: fractions of shares that had no price. */
  readonly lost: string[];
  /**
   * What a received share without a price is worth by that of the old one: (close − cash) × old ÷ new
   * where it took its place, 0 beside it.
   */
  readonly stated: Map<string, Mark>;
  /** Shares that came by exchanges of today; a rename brings those that came under the old name. */
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
  const nothing = { actions: [], received: [], exchanged: [], lost: [] };
  const ledger = { ...nothing, stated: new Map(), arrived: new Map(), portfolio };
  for (const event of shareEvents(known)) {
    const { type, symbol, date, itself } = event;
    const shares = heldQuantity(ledger.portfolio, symbol);
    if (shares === 0) continue;
    if (type === 'split') {
      // What an exchange brought may have no price that is known before a hidden open.
      const price = market.knownMark(symbol, date)?.price ?? null;
      const deed = `split ${shares} ${symbol} by ${itself.join(':')}`;
      const cause = `its split on ${date} left`;
      bring(ledger, { actionType: type, symbol, price }, { shares, ratio: itself, deed, cause });
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
 * share), a half rounded up to 1/10000 dollar; without a price it is lost, and the job warns. A split
 * replaces the old ones. `deed` is what is done, in words, and `cause` where the fraction is from.
 */
function bring(
  ledger: MorningLedger,
  action: Pick<Action, 'actionType' | 'symbol' | 'price'>,
  { shares, ratio, ...words }: { shares: number; ratio: ShareRatio; deed: string; cause: string },
): { shares: number; isLost: boolean } {
  const [newShares, oldShares] = ratio;
  const parts = BigInt(shares) * newShares;
  const [whole, rest] = [Number(parts / oldShares), parts % oldShares];
  if (!Number.isSafeInteger(whole)) throw new TooLarge(`Cannot ${words.deed}: too many shares`);
  const isLost = action.price === null && rest > 0n;
  if (isLost)
    ledger.lost.push(
      `Fractions of ${action.symbol} that ${words.cause} had no price, and are lost: ` +
        `import the prices of ${action.symbol} from before it, and run its model-days again`,
    );
  const amount = action.actionType === 'split' ? whole - shares : whole;
  const paid = dividedHalfUp(rest * BigInt(action.price ?? 0), oldShares);
  enter(ledger, { ...action, amount }, Number(paid));
  return { shares: whole, isLost };
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
  const perShare = cash / MILLIONTHS;
  if (actionType === 'dividend')
    return void ledger.received.push(
      `${symbol}: ${toDollars(paid)}, which is ${perShare} on each of ${shares} shares (ex-date ${date})`,
    );
  const { brought, came, lost } = receiveShares(ledger, event, market);
  const parts = [...(cash > 0 ? [`${perShare} in cash`] : []), ...brought];
  const what = parts.join(' and ') || 'nothing: it is worthless';
  const fractions =
    lost.length === 0
      ? 'fractions of shares were paid in cash'
      : lost.length === came.length
        ? 'the fraction of a share has no price and is lost'
        : `the fraction of ${list(lost)} has no price and is lost, others were paid in cash`;
  const rest = came.length === 0 ? '' : ` You have received ${came.join(', ')}; ${fractions}.`;
  ledger.exchanged.push(
    `Each ${symbol} you held ${remains ? 'also brought' : 'became'} ${what}. You held ${shares}.${rest}`,
  );
}

/** What an exchange brought, in words: for each old share, in all, and of which the fraction is lost. */
type Received = Record<'brought' | 'came' | 'lost', string[]>;

function receiveShares(
  ledger: MorningLedger,
  { symbol, date, shares, cash, itself, received, isRename }: HoldingEvent,
  market: Market,
): Received {
  const { stated, arrived } = ledger;
  const told: Received = { brought: [], came: [], lost: [] };
  const remains = itself[0] > 0n;
  const before = market.knownMark(symbol) ?? stated.get(symbol);
  for (const { symbol: into, ratio } of received) {
    const [newShares, oldShares] = ratio;
    const price = market.knownMark(into, date)?.price ?? null;
    const deed = `exchange ${shares} ${symbol} into ${into}`;
    const cause = `the exchange of ${symbol} on ${date} brought`;
    const action = { actionType: 'received', symbol: into, price } as const;
    const { isLost, shares: whole } = bring(ledger, action, { shares, ratio, deed, cause });
    told.brought.push(`${Number(sharesPerOld(ratio).toPrecision(12))} ${into}`);
    told.came.push(`${whole} ${into}`);
    const earlier = BigInt(arrived.get(symbol) ?? 0);
    const came = isRename ? Number((earlier * newShares) / oldShares) : whole;
    if (date === market.date && came > 0) arrived.set(into, (arrived.get(into) ?? 0) + came);
    if (price === null && before !== undefined) {
      const left = remains ? 0 : Math.max(0, before.price - dividendOn(1, cash));
      const worth = money(Number(dividedHalfUp(BigInt(left) * oldShares, newShares)));
      stated.set(into, { ...before, price: worth });
    }
    if (isLost) told.lost.push(into);
  }
  if (!remains) arrived.delete(symbol);
  return told;
}

/**
 * What a dividend pays on whole shares, rounded half to even; `perShare` is in 1/1,000,000 dollar.
 */
export function dividendOn(shares: number, perShare: number): Money {
  const paid = BigInt(shares) * BigInt(exactCash(perShare));
  return money(Number(dividedHalfEven(paid, MILLIONTHS_PER_UNIT)));
}
