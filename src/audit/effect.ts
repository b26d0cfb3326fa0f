import type { PositionRow } from '../database/sessions.ts';
import { type Money, formatDollars } from '../money.ts';
import type { Portfolio } from '../trading/portfolio.ts';
import type { Note } from './notes.ts';

/** A portfolio after an action, or why the action cannot have happened. */
type Effect = Portfolio | string;

export type Act = (portfolio: Portfolio) => Effect;

/** An action that is impossible whatever was held. */
export function refuse(sentence: string): Act {
  return () => sentence;
}

/** Notes that name the action they are about. */
export function atAction({ actionId }: PositionRow, note: Note): Note {
  return (sentence, known) => note(`action ${actionId}: ${sentence}`, known);
}

/**
 * A price from the evidence: null when there was none, `unknown` when the evidence does not have
 * it.
 */
export type RightPrice = Money | null | 'unknown';

/**
 * The price that a record should have, noting any difference; the record's own price where the
 * right one is unknown.
 */
export function checkPrice(
  { price: stored, symbol }: PositionRow,
  right: RightPrice,
  note: Note,
): Money | null {
  if (stored !== null && stored === right) return stored;
  const said = `price of ${symbol} is ${stored === null ? 'missing' : formatDollars(stored)}`;
  if (right === 'unknown')
    note(`${said}, and the price at the time is no longer known`, { isComplete: false });
  else
    note(
      right === null
        ? `${said}, and none was known at the time`
        : `${said}, should be ${formatDollars(right)}`,
    );
  return right === 'unknown' || right === null ? stored : right;
}

/**
 * The effects that match the record; if none does, notes that and returns the likeliest one and the
 * record itself.
 */
export function afterRecord(
  record: PositionRow,
  effects: readonly Effect[],
  note: Note,
): Portfolio[] {
  const portfolios = effects.filter((effect) => typeof effect !== 'string');
  const fitting = portfolios.filter(
    ({ cash, holdings }) => cash === record.cash && isSameHoldings(holdings, record.holdings),
  );
  if (fitting.length > 0) return fitting;
  const [likeliest = effects[0]] = portfolios;
  if (typeof likeliest === 'string') note(likeliest);
  if (likeliest === undefined || typeof likeliest === 'string') return [record];
  if (likeliest.cash !== record.cash)
    note(`cash is ${formatDollars(record.cash)}, should be ${formatDollars(likeliest.cash)}`);
  if (!isSameHoldings(likeliest.holdings, record.holdings))
    note(`holdings are ${list(record.holdings)}, should be ${list(likeliest.holdings)}`);
  return [likeliest, record];
}

function isSameHoldings(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): boolean {
  return (
    one.size === other.size &&
    [...one].every(([symbol, quantity]) => other.get(symbol) === quantity)
  );
}

function list(holdings: ReadonlyMap<string, number>): string {
  const entries = [...holdings].sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.length === 0
    ? 'none'
    : entries.map(([symbol, quantity]) => `${quantity} ${symbol}`).join(', ');
}
