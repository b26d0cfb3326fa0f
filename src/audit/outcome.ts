import type { LedgerRecord } from '../database/audit.ts';
import { type Money, formatDollars } from '../money.ts';
import type { Portfolio } from '../trading/portfolio.ts';
import type { AsOf } from './as-of.ts';
import type { Note } from './notes.ts';

/** What an action makes of a portfolio, or why it cannot have happened. */
export type Outcome = Portfolio | { sentence: string; isComplete: boolean };

export type Act = (portfolio: Portfolio) => Outcome;

/** An action that cannot have happened, whatever was held. */
export function refuse(sentence: string): Act {
  return () => ({ sentence, isComplete: true });
}

/** Notes that say which action they are about. */
export function atAction({ actionId }: LedgerRecord, note: Note): Note {
  return (sentence, known) => note(`action ${actionId}: ${sentence}`, known);
}

/**
 * The record's price when it may have been that; else, after a note, the one that it should be, so that the cash is
 * judged by what was right.
 */
export function priceOf(
  { price: stored, symbol }: LedgerRecord,
  { asOf, note }: { asOf: AsOf<Money | null>; note: Note },
): Money | null {
  if (stored !== null && stored === asOf.likeliest) return stored;
  let right: Money | null = null;
  for (const price of asOf.all()) {
    if (price !== null && price === stored) return stored;
    right ??= price;
  }
  const isComplete = asOf.isComplete();
  const said = `price of ${symbol} is ${stored === null ? 'missing' : formatDollars(stored)}`;
  note(right === null ? `${said}, and none was known then` : `${said}, should be ${formatDollars(right)}`, {
    isComplete,
  });
  return isComplete ? (right ?? stored) : (stored ?? right);
}

/** Those of the outcomes that fit the record; when none does, after a note, the likeliest one and the record itself. */
export function afterRecord(record: LedgerRecord, outcomes: readonly Outcome[], note: Note): Portfolio[] {
  const portfolios = outcomes.filter((outcome) => 'cash' in outcome);
  const fitting = portfolios.filter((portfolio) => isSame(portfolio, record));
  if (fitting.length > 0) return fitting;
  const [likeliest] = portfolios;
  if (likeliest === undefined) {
    for (const outcome of outcomes.slice(0, 1)) if ('sentence' in outcome) note(outcome.sentence, outcome);
    return [record];
  }
  if (likeliest.cash !== record.cash)
    note(`cash is ${formatDollars(record.cash)}, should be ${formatDollars(likeliest.cash)}`);
  if (!isSameHoldings(likeliest.holdings, record.holdings))
    note(`holdings are ${list(record.holdings)}, should be ${list(likeliest.holdings)}`);
  return [likeliest, record];
}

export function isSame(one: Portfolio, other: Portfolio): boolean {
  return one.cash === other.cash && isSameHoldings(one.holdings, other.holdings);
}

function isSameHoldings(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  return one.size === other.size && [...one].every(([symbol, quantity]) => other.get(symbol) === quantity);
}

function list(holdings: ReadonlyMap<string, number>): string {
  const entries = [...holdings].sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.length === 0 ? 'none' : entries.map(([symbol, quantity]) => `${quantity} ${symbol}`).join(', ');
}
