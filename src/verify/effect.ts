import type { LedgerRecord } from '../database/audit.ts';
import { formatDollars, type Money } from '../basics/money.ts';
import type { Portfolio } from '../trading/portfolio.ts';

/** Sentences listed for one model-day; the rest are only counted. */
const MAX_SENTENCES = 10;

/** Where a difference may have an innocent reason. */
export const LOST = 'what was known at the time has been replaced without a trace';

/** What was found in one model-day, as sentences. */
export interface Notes {
  /** What does not add up. */
  problems: string[];
  /** What does not match the known prices and splits, where some of these have been lost. */
  unverifiable: string[];
}

/** Takes a sentence; it is a problem only if everything it relies on is known. */
export type Note = (sentence: string, known?: { isComplete: boolean }) => void;

export function createNotes(): { note: Note; notes(): Notes } {
  const found: Notes = { problems: [], unverifiable: [] };
  return {
    note: (sentence, { isComplete } = { isComplete: true }) =>
      void (isComplete ? found.problems : found.unverifiable).push(sentence),
    notes: () => ({ problems: shorten(found.problems), unverifiable: shorten(found.unverifiable) }),
  };
}

function shorten(sentences: readonly string[]): string[] {
  const rest = sentences.length - MAX_SENTENCES;
  return rest <= 0 ? [...sentences] : [...sentences.slice(0, MAX_SENTENCES), `and ${rest} more`];
}

/** A portfolio after an action, or why the action cannot have happened. */
type Effect = Portfolio | string;

export type Act = (portfolio: Portfolio) => Effect;

/** An action that is impossible whatever was held. */
export function refuse(sentence: string): Act {
  return () => sentence;
}

/** Notes that name the action they are about. */
export function atAction({ actionId }: LedgerRecord, note: Note): Note {
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
  { price: stored, symbol }: LedgerRecord,
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
 * What an action makes of the portfolios before it, as far as that matches the record; if nothing
 * does, notes that and returns the likeliest and what the record says: its cash and, of the last
 * record, its holdings.
 */
export function afterRecord(
  record: LedgerRecord,
  { before, act }: { before: readonly Portfolio[]; act: Act },
  note: Note,
): Portfolio[] {
  const effects = before.map(act);
  const portfolios = effects.filter((effect) => typeof effect !== 'string');
  const isHeld = ({ holdings }: Portfolio) =>
    record.holdings === null || isSameHoldings(holdings, record.holdings);
  const fitting = portfolios.filter(
    (portfolio) => portfolio.cash === record.cash && isHeld(portfolio),
  );
  if (fitting.length > 0) return fitting;
  const [likeliest = effects[0]] = portfolios;
  if (typeof likeliest === 'string') note(likeliest);
  if (likeliest === undefined || typeof likeliest === 'string')
    return before
      .slice(0, 1)
      .map(({ holdings }) => ({ cash: record.cash, holdings: record.holdings ?? holdings }));
  if (likeliest.cash !== record.cash)
    note(`cash is ${formatDollars(record.cash)}, should be ${formatDollars(likeliest.cash)}`);
  if (!isHeld(likeliest))
    note(
      `holdings are ${list(record.holdings ?? new Map())}, should be ${list(likeliest.holdings)}`,
    );
  return [likeliest, { cash: record.cash, holdings: record.holdings ?? likeliest.holdings }];
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
