/** What happened to holdings before a session, as its model reads it. */

/** A dividend that was paid this morning; cash per share has up to six decimals. */
export interface PaidDividend {
  symbol: string;
  exDate: string;
  shares: number;
  cashPerShare: number;
  cash: number;
}

/** A holding that was exchanged this morning, per old share for cash and shares of other symbols. */
export interface ExchangedShares extends Omit<PaidDividend, 'exDate'> {
  date: string;
  /** Whether the old shares are still held. */
  remains: boolean;
  received: { symbol: string; perShare: number; shares: number; isFractionLost: boolean }[];
}
