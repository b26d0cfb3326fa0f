import { wordsOf } from '../agent/prompt.ts';
import type { Evidence, Mark } from '../database/evidence.ts';
import type { PositionRow } from '../database/sessions.ts';
import { formatDollars, fromDollars } from '../money.ts';
import type { RecordedStep } from '../trading/reasoning-log.ts';
import type { Comparison } from './differences.ts';
import type { DayRecord } from './record.ts';

/** The columns of a position in the database, and what the program calls them. */
const COLUMNS = {
  action_id: 'actionId',
  action_type: 'actionType',
  symbol: 'symbol',
  amount: 'amount',
  price_e4: 'price',
  cash_e4: 'cash',
  portfolio_value_e4: 'portfolioValue',
  daily_profit_e4: 'dailyProfit',
  daily_return_pct: 'dailyReturnPct',
} as const;

/** Compares every column of the positions, to the last digit. */
export function comparePositions(
  stored: readonly PositionRow[],
  made: readonly PositionRow[],
  { compare }: Comparison,
): void {
  compare('positions', { kind: 'books', stored: stored.length, replayed: made.length });
  for (const [index, position] of made.entries()) {
    const was = stored[index];
    if (was === undefined) continue;
    const symbols = [...new Set([...was.holdings.keys(), ...position.holdings.keys()])];
    for (const [column, name] of Object.entries(COLUMNS))
      compare(`position ${index + 1}, ${column}`, {
        kind: 'books',
        stored: was[name],
        replayed: position[name],
        symbols,
      });
    const holdings = { stored: holdingsOf(was), replayed: holdingsOf(position) };
    compare(`position ${index + 1}, holdings`, { kind: 'books', ...holdings, symbols });
  }
}

function holdingsOf({ holdings }: PositionRow): string {
  return (
    [...holdings]
      .map(([symbol, quantity]) => `${quantity} ${symbol}`)
      .sort()
      .join(', ') || 'none'
  );
}

/**
 * Compares the prices, splits and dividends that were used. What a session from before evidence
 * does not have is unknown.
 */
export function compareEvidence(
  { session, evidence: stored }: DayRecord,
  made: Evidence,
  { compare }: Comparison,
): void {
  const isOld = session.wording === null;
  const known = new Map(stored.prices.map((price) => [price.symbol, price]));
  const symbolsOf = ({ prices }: Evidence) =>
    prices
      .map(({ symbol }) => symbol)
      .sort()
      .join(', ') || 'none';
  compare('the symbols whose prices it used', {
    kind: 'books',
    stored: symbolsOf(stored),
    replayed: symbolsOf(made),
  });
  for (const { symbol, heldSince, open, close } of made.prices) {
    const was = known.get(symbol);
    if (was === undefined) continue;
    const compareMark = (name: string, used: Mark | null, mark: Mark | null) => {
      if (used === null && isOld) return;
      compare(`the ${name} of ${symbol} that it used`, {
        kind: 'books',
        stored: textOf(used),
        replayed: textOf(mark),
        symbols: [symbol],
      });
    };
    compare(`since when it held ${symbol}`, {
      kind: 'books',
      stored: was.heldSince,
      replayed: heldSince,
    });
    compareMark('open', was.open, open);
    compareMark('close', was.close, close);
  }
  compareEvents(
    'splits',
    stored.splits.filter(({ numerator }) => numerator !== null),
    { made: made.splits, compare },
  );
  compareEvents('dividends', stored.dividends, { made: made.dividends, compare });
}

function textOf(mark: Mark | null): string {
  return mark === null ? 'none' : `${formatDollars(mark.price)} of ${mark.date}`;
}

function compareEvents(
  what: string,
  stored: readonly object[],
  { made, compare }: { made: readonly object[]; compare: Comparison['compare'] },
): void {
  const listOf = (events: readonly object[]) =>
    events
      .map((event) => JSON.stringify(sorted(event)))
      .sort()
      .join(' ');
  const symbols = [...stored, ...made].flatMap((event) =>
    'symbol' in event ? [String(event.symbol)] : [],
  );
  compare(`the ${what} that it knew`, {
    kind: 'books',
    stored: listOf(stored) || 'none',
    replayed: listOf(made) || 'none',
    symbols,
  });
}

function sorted(event: object): object {
  return Object.fromEntries(Object.entries(event).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Compares how often each tool was called, and how often it refused. */
export function compareToolUsage(
  stored: DayRecord['toolUsage'],
  made: readonly DayRecord['toolUsage'][number][],
  { compare }: Comparison,
): void {
  const listOf = (usage: readonly DayRecord['toolUsage'][number][]) =>
    usage
      .map(({ toolName, calls, refused }) => `${toolName} ${calls}, ${refused} refused`)
      .sort()
      .join('; ') || 'none';
  compare('tool usage', { kind: 'books', stored: listOf(stored), replayed: listOf(made) });
}

/**
 * Compares the columns of the session's row. `messages` is the number of messages before the first
 * answer.
 */
export function compareSession(
  { session, terms, conversation }: DayRecord,
  {
    steps,
    messages,
    note,
  }: { steps: readonly RecordedStep[]; messages: number; note: string | null },
  { compare }: Comparison,
): void {
  const { agentConfig, wording } = terms;
  const ofAnswers = steps.map(
    ({ answer }) => 1 + answer.toolCalls.length + (answer.note === null ? 0 : 1),
  );
  const totalMessages = ofAnswers.reduce((sum, count) => sum + count, messages);
  const last = steps.at(-1)?.answer;
  const words = wordsOf(wording);
  const hasEnded = last?.toolCalls.length === 0;
  const isAtLimit = !hasEnded && steps.length === agentConfig.max_steps;
  const columns = {
    steps: [session.steps, steps.length],
    total_messages: [session.totalMessages, totalMessages],
    session_summary: [
      session.summary,
      hasEnded ? words.summary(last) : isAtLimit ? words.stepLimit(steps.length) : null,
    ],
    note: [session.note, note],
    initial_cash_e4: [
      session.initialCash,
      session.startedFrom === null ? fromDollars(agentConfig.initial_cash) : null,
    ],
    pays_dividends: [session.paysDividends, agentConfig.dividends ? 1 : 0],
  };
  for (const [column, [stored, replayed]] of Object.entries(columns))
    compare(column, { kind: 'books', stored, replayed });
  compare('messages', { kind: 'answers', stored: conversation.length, replayed: totalMessages });
  const numbers = conversation.map(({ messageIndex }) => messageIndex).join(' ');
  compare('numbers of its messages', {
    kind: 'answers',
    stored: numbers,
    replayed: [...conversation.keys()].join(' '),
  });
}
