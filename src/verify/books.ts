import { isLastAnswer } from '../agent/model.ts';
import { wordsOf } from '../agent/prompt.ts';
import type { Evidence, KnownDividend, KnownSplit, Mark } from '../database/evidence.ts';
import type { PositionRow } from '../database/sessions.ts';
import { formatDollars, fromDollars } from '../basics/money.ts';
import type { RecordedStep } from '../trading/reasoning-log.ts';
import type { DayRecord } from './record.ts';
import type { LedgerRecord, StoredMessage } from '../database/replay.ts';

/** Characters shown of two texts, before and after the place where they begin to differ. */
const BEFORE = 24;
const AFTER = 56;

/**
 * Where a difference is: in `words`, which the model read; in `books`, which were committed; or in
 * `answers`, the record itself, which must be whole.
 */
type Kind = 'words' | 'books' | 'answers';

/** Something that is stored of a model-day and that replay makes differently. */
export interface Difference {
  kind: Kind;
  sentence: string;
  /** Whose prices it comes from; empty when it may be any. */
  symbols: readonly string[];
}

/** What is stored, and what replay makes of it. */
interface Pair {
  /** `books` by default. */
  kind?: Kind;
  stored: unknown;
  replayed: unknown;
  symbols?: readonly string[];
  /** The end of the sentence. */
  more?: string;
}

/** Collects the differences of one model-day. */
export interface Comparison {
  readonly differences: Difference[];
  note(kind: Kind, sentence: string, symbols?: readonly string[]): void;
  /** Notes two values that are not the same. */
  compare(what: string, pair: Pair): void;
}

/** A comparison without differences yet. */
export function createComparison(): Comparison {
  const differences: Difference[] = [];
  const note: Comparison['note'] = (kind, sentence, symbols = []) =>
    void differences.push({ kind, sentence, symbols });
  return {
    differences,
    note,
    compare(what, { kind = 'books', stored, replayed, symbols, more = '' }) {
      if (stored === asStored(replayed)) return;
      const [was, is] = excerpts(stored, asStored(replayed));
      note(kind, `${what}: stored ${was}, replayed ${is}${more}`, symbols);
    },
  };
}

/** As the database keeps it: half a character becomes another one. */
function asStored(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/**
 * Two values; of two texts, an excerpt from shortly before the place where they begin to differ.
 */
function excerpts(one: unknown, other: unknown): [string, string] {
  if (typeof one !== 'string' || typeof other !== 'string') return [shown(one), shown(other)];
  let place = 0;
  while (place < one.length && one[place] === other[place]) place += 1;
  const start = Math.max(0, place - BEFORE);
  const excerpt = (text: string) =>
    shown(
      `${start > 0 ? '…' : ''}${text.slice(start, place + AFTER)}${text.length > place + AFTER ? '…' : ''}`,
    );
  return [excerpt(one), excerpt(other)];
}

function shown(value: unknown): string {
  if (typeof value !== 'string')
    return value === null || value === undefined ? 'nothing' : String(value);
  return `"${value.length > 2 * AFTER ? `${value.slice(0, AFTER)}…` : value}"`;
}

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
  stored: readonly LedgerRecord[],
  made: readonly PositionRow[],
  { compare }: Comparison,
): void {
  compare('positions', { stored: stored.length, replayed: made.length });
  for (const [index, position] of made.entries()) {
    const was = stored[index];
    if (was === undefined) continue;
    const symbols = [...new Set([...(was.holdings?.keys() ?? []), ...position.holdings.keys()])];
    for (const [column, name] of Object.entries(COLUMNS))
      compare(`position ${index + 1}, ${column}`, {
        stored: was[name],
        replayed: position[name],
        symbols,
      });
    if (was.holdings === null) continue; // only those at the close are stored
    compare(`position ${index + 1}, holdings`, {
      stored: listOf(was.holdings, holdingText),
      replayed: listOf(position.holdings, holdingText),
      symbols,
    });
  }
}

/** Items in an order of their own, as a text. */
function listOf<Item>(
  items: Iterable<Item>,
  textOf: (item: Item) => string,
  between = ', ',
): string {
  return Array.from(items, textOf).sort().join(between) || 'none';
}

const holdingText = ([symbol, quantity]: readonly [string, number]) => `${quantity} ${symbol}`;

/** Compares the prices, splits and dividends that were used. */
export function compareEvidence(
  { evidence: stored }: DayRecord,
  made: Evidence,
  { compare }: Comparison,
): void {
  const known = new Map(stored.prices.map((price) => [price.symbol, price]));
  const symbolsOf = ({ prices }: Evidence) => listOf(prices, ({ symbol }) => symbol);
  compare('the symbols whose prices it used', {
    stored: symbolsOf(stored),
    replayed: symbolsOf(made),
  });
  for (const { symbol, heldSince, open, close } of made.prices) {
    const was = known.get(symbol);
    if (was === undefined) continue;
    const compareMark = (name: string, used: Mark | null, mark: Mark | null) =>
      compare(`the ${name} of ${symbol} that it used`, {
        stored: textOf(used),
        replayed: textOf(mark),
        symbols: [symbol],
      });
    compare(`since when it held ${symbol}`, { stored: was.heldSince, replayed: heldSince });
    compareMark('open', was.open, open);
    compareMark('close', was.close, close);
  }
  compareEvents('splits', stored.splits, { made: made.splits, compare });
  compareEvents('dividends', stored.dividends, { made: made.dividends, compare });
}

function textOf(mark: Mark | null): string {
  return mark === null ? 'none' : `${formatDollars(mark.price)} of ${mark.date}`;
}

function compareEvents<Event extends KnownSplit | KnownDividend>(
  what: string,
  stored: readonly Event[],
  { made, compare }: { made: readonly Event[]; compare: Comparison['compare'] },
): void {
  const textOf = (event: Event) => JSON.stringify(event, Object.keys(event).sort());
  compare(`the ${what} that it knew`, {
    stored: listOf(stored, textOf, ' '),
    replayed: listOf(made, textOf, ' '),
    symbols: [...stored, ...made].map(({ symbol }) => symbol),
  });
}

/** Compares how often each tool was called, and how often it refused. */
export function compareToolUsage(
  stored: DayRecord['toolUsage'],
  made: readonly DayRecord['toolUsage'][number][],
  { compare }: Comparison,
): void {
  const textOf = ({ toolName, calls, refused }: DayRecord['toolUsage'][number]) =>
    `${toolName} ${calls}, ${refused} refused`;
  compare('tool usage', {
    stored: listOf(stored, textOf, '; '),
    replayed: listOf(made, textOf, '; '),
  });
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
  const hasEnded = last !== undefined && isLastAnswer(last);
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
    compare(column, { stored, replayed });
  compare('messages', { kind: 'answers', stored: conversation.length, replayed: totalMessages });
  const numbers = conversation.map(({ messageIndex }) => messageIndex).join(' ');
  compare('numbers of its messages', {
    kind: 'answers',
    stored: numbers,
    replayed: [...conversation.keys()].join(' '),
  });
}

/**
 * Compares the prompt and the morning report of the record with those that replay makes. A message
 * that differs is one difference: the first line that is not the same, and how many more there are.
 */
export function compareFirstMessages(
  stored: readonly Pick<StoredMessage, 'role' | 'content'>[],
  made: readonly Pick<StoredMessage, 'role' | 'content'>[],
  { compare }: Comparison,
): void {
  compare('the messages before its first answer', {
    kind: 'answers',
    stored: rolesOf(stored),
    replayed: rolesOf(made),
  });
  for (const [index, { role, content }] of made.entries()) {
    const message = stored[index];
    if (message === undefined) continue;
    const lines = changedLines(message.content.split('\n'), content.toWellFormed().split('\n'));
    const first = lines.find(({ was = '', is = '' }) => was !== is) ?? lines[0]; // one more empty line says little
    if (first === undefined) continue;
    const { number, was, is } = first;
    const what = `${role === 'system' ? 'its prompt' : 'its morning report'}, line ${number}`;
    compare(what, {
      kind: 'words',
      stored: was,
      replayed: is,
      symbols: symbolsIn(was, is),
      more: moreLines(lines.length - 1),
    });
  }
}

function moreLines(number: number): string {
  if (number === 0) return '';
  return number === 1 ? '; 1 more line differs' : `; ${number} more lines differ`;
}

/** A line that is not the same in two texts; undefined in the one that lacks it. */
interface ChangedLine {
  /** From 1. */
  number: number;
  was: string | undefined;
  is: string | undefined;
}

/**
 * The lines of two texts in pairs, without those that are the same, and without the lines that both
 * end with.
 */
function changedLines(stored: readonly string[], made: readonly string[]): ChangedLine[] {
  const least = Math.min(stored.length, made.length);
  let start = 0;
  while (start < least && stored[start] === made[start]) start += 1;
  let end = 0;
  while (end < least - start && stored.at(-1 - end) === made.at(-1 - end)) end += 1;
  const [was, is] = [
    stored.slice(start, stored.length - end),
    made.slice(start, made.length - end),
  ];
  const length = Math.max(was.length, is.length);
  const pairs = Array.from({ length }, (_, line) => ({
    number: start + line + 1,
    was: was[line],
    is: is[line],
  }));
  return pairs.filter((pair) => pair.was !== pair.is);
}

function rolesOf(messages: readonly Pick<StoredMessage, 'role'>[]): string {
  return messages.map(({ role }) => role).join(', ') || 'none';
}

/** The symbols with which lines of prices and holdings begin. */
function symbolsIn(...lines: (string | undefined)[]): string[] {
  return lines.flatMap((line) => /^[A-Z0-9.-]+(?=[: ])/.exec(line ?? '') ?? []);
}
