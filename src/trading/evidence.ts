import type { CalendarDate } from '../calendar.ts';
import type { Reader } from '../database/database.ts';
import type { Evidence, KnownDividend } from '../database/evidence.ts';
import type { Split } from '../database/market.ts';
import { closingMark, type Market } from './market.ts';
import type { Action, Portfolio } from './portfolio.ts';

/** The parts of a session from which its commit is computed. */
interface Inputs {
  readonly market: Market;
  readonly startDate: CalendarDate | null;
  readonly startPortfolio: Portfolio;
  readonly knownSplits: readonly Split[];
  readonly knownDividends: readonly KnownDividend[];
  readonly actions: readonly Action[];
}

/**
 * The evidence of a session at its commit: opens as its market read them, closes as they are now.
 */
export function gatherEvidence(reader: Reader, session: Inputs): Evidence {
  const { market, startDate, startPortfolio, actions } = session;
  const held = new Set(startPortfolio.holdings.keys());
  const prices = [...held.union(new Set(actions.map(({ symbol }) => symbol)))].map((symbol) => ({
    symbol,
    heldSince: held.has(symbol) ? startDate : null,
    open: market.knownMark(symbol),
    close: closingMark(reader, market.date, symbol),
  }));
  return { prices, splits: session.knownSplits, dividends: session.knownDividends };
}
