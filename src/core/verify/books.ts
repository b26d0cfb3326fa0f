import { isLastAnswer } from '#agent/model.ts';
import { conversationTexts } from '#agent/prompt.ts';
import { fromDollars } from '#money/money.ts';
import { quote } from '#text/text.ts';
import { evidenceRows } from '#database/evidence.ts';
import { unfilledJson } from '#database/sessions.ts';
import { type DecisionResult, resolveDecider } from '#trading/decision.ts';
import { isFillsMessage, type RecordedStep } from '#trading/reasoning-log.ts';
import type { DayEnd } from '#trading/running-day.ts';
import type { DayRecord } from './record.ts';
import { POSITION, type StoredMessage } from '#database/replay-queries.ts';
import { asColumns } from '#database/rows.ts';

/** A row of each of two sides with the same key; undefined where one side lacks it. */
type RowPair<Row> = [one: Row, other: Row | undefined] | [one: undefined, other: Row];

/** Joins the rows of two sides by a key, in the order of the first side, then of the other. */
export function joinRows<Row>(
  ones: readonly Row[],
  others: readonly Row[],
  keyOf: (row: Row) => string,
): RowPair<Row>[] {
  const byKey = new Map(others.map((row) => [keyOf(row), row]));
  const pairs = ones.map((row): RowPair<Row> => [row, byKey.get(keyOf(row))]);
  const found = new Set(pairs.map(([, other]) => other)); // not their keys, which could be forged to be the same
  const left = others.filter((row) => !found.has(row));
  return [...pairs, ...left.map((row): RowPair<Row> => [undefined, row])];
}

/** Characters shown of two texts, before and after the place where they begin to differ. */
const BEFORE = 24;
const AFTER = 56;

/**
 * Where a difference is: in `words`, which the model read; in `books`, which were committed; or in
 * `answers`, the record itself, which must be whole.
 */
type DifferenceKind = 'words' | 'books' | 'answers';

/** Something that is stored of a model-day and that replay makes differently. */
export interface Difference {
  kind: DifferenceKind;
  sentence: string;
  /** Whose prices it comes from; empty when it may be any. */
  symbols: readonly string[];
}

type Columns = Readonly<Record<string, unknown>>;

/** What is stored, and what replay makes of it. */
interface ComparedColumns {
  /** `books` by default. */
  kind?: DifferenceKind;
  stored: Columns;
  replayed: Columns;
  symbols?: readonly string[] | undefined;
}

/** Collects the differences of one model-day. */
export type RecordComparison = ReturnType<typeof createRecordComparison>;

export function createRecordComparison() {
  const differences: Difference[] = [];
  const note = (kind: DifferenceKind, sentence: string, symbols: readonly string[] = []) =>
    void differences.push({ kind, sentence, symbols });
  return {
    differences,
    note,
    /** Notes each column whose two values are not the same. */
    compare(what: string, { kind = 'books', stored, replayed, symbols }: ComparedColumns) {
      for (const [column, value] of Object.entries(replayed)) {
        // As the database keeps it: half a character becomes another one.
        const is = typeof value === 'string' ? value.toWellFormed() : value;
        const was = stored[column];
        if (was === is) continue;
        const place = differenceIndex(String(was ?? ''), String(is ?? ''));
        const values = `stored ${quoteExcerpt(was, place)}, replayed ${quoteExcerpt(is, place)}`;
        note(kind, `${what}, ${column}: ${values}`, symbols);
      }
    },
  };
}

/** Where two texts, or lists of them, begin to differ. */
function differenceIndex(one: ArrayLike<string>, other: ArrayLike<string>): number {
  let place = 0;
  while (place < one.length && one[place] === other[place]) place += 1;
  return place;
}

/** A value; of a text, an excerpt around a place. */
function quoteExcerpt(value: unknown, place: number): string {
  if (typeof value !== 'string') return String(value ?? 'nothing');
  const [start, end] = [Math.max(0, place - BEFORE), place + AFTER];
  const excerpt = value.slice(start, end);
  return `"${start > 0 ? '…' : ''}${excerpt}${value.length > end ? '…' : ''}"`;
}

/** A message as far as it is compared with one that replay makes. */
export type ComparedMessage = Pick<StoredMessage, 'role' | 'content'>;

/** What is committed of a model-day, as it is stored or as replay makes it. */
type Books = Pick<DayRecord, 'positions' | 'evidence' | 'documents' | 'toolUsage'>;

interface BookRow {
  name: string;
  columns: Columns;
  /** Left out where it may be any. */
  symbols?: readonly string[];
}

export function compareBooks(
  stored: Books,
  made: Books,
  { note, compare }: RecordComparison,
): void {
  for (const [is, was] of joinRows(bookRows(made), bookRows(stored), ({ name }) => name)) {
    const { name, symbols } = is ?? was;
    if (is === undefined) note('books', `${name}: stored, but not replayed`, symbols);
    else if (was === undefined) note('books', `${name}: replayed, but not stored`, symbols);
    else compare(name, { stored: was.columns, replayed: is.columns, symbols });
  }
}

function bookRows({ positions, evidence, documents, toolUsage }: Books): BookRow[] {
  const used = evidence.prices.map(({ symbol }) => symbol);
  return [
    ...evidenceRows(evidence).map(({ name, columns }) => {
      return { name, columns, symbols: [String(columns['symbol'])] };
    }),
    ...documents.map(({ id, digest }) => ({ name: `document ${quote(id)}`, columns: { digest } })),
    ...positions.map((position) => ({
      name: `positions ${position.actionId}`,
      columns: asColumns(POSITION, position),
      symbols: used,
    })),
    ...Array.from(positions.at(-1)?.holdings ?? [], ([symbol, quantity]) => ({
      name: `holdings ${symbol}`,
      columns: { quantity },
      symbols: [symbol],
    })),
    ...toolUsage.map(({ toolName, calls, refused }) => ({
      name: `tool_usage ${toolName}`,
      columns: { calls, refused },
    })),
  ];
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
    unfilled,
    fills,
    decided,
  }: Pick<DayEnd, 'unfilled' | 'fills'> & {
    steps: readonly RecordedStep[];
    messages: number;
    note: string | null;
    decided: DecisionResult | null;
  },
  { compare }: RecordComparison,
): void {
  const { agentConfig } = terms;
  // Decisions have limits of their own.
  const mostSteps = resolveDecider(terms.entry, '') === null ? agentConfig.max_steps : Infinity;
  const totalMessages = steps.reduce(
    (sum, { answer, hasSecond }) =>
      sum + 1 + answer.toolCalls.length + Number(answer.note !== null) + Number(hasSecond),
    messages + Number(fills !== null),
  );
  compare('trading_sessions', {
    stored: {
      steps: session.steps,
      total_messages: session.totalMessages,
      session_summary: session.summary,
      note: session.note,
      confidence: session.confidence,
      unread: session.unread,
      unfilled: session.unfilled,
      initial_cash_e4: session.initialCash,
      pays_dividends: session.paysDividends,
    },
    replayed: {
      steps: Math.min(steps.length, mostSteps),
      total_messages: totalMessages,
      ...expectedEnding(terms, steps, decided),
      unread: Number(decided?.isUnread ?? false),
      note,
      unfilled: unfilledJson(unfilled),
      initial_cash_e4: session.startedFrom === null ? fromDollars(agentConfig.initial_cash) : null,
      pays_dividends: Number(agentConfig.dividends),
    },
  });
  compare('the fills of its orders', {
    kind: 'words',
    stored: { content: conversation.find(isFillsMessage)?.content ?? null },
    replayed: { content: fills },
  });
  compare('reasoning_logs', {
    kind: 'answers',
    stored: { message_index: conversation.map(({ messageIndex }) => messageIndex).join(' ') },
    replayed: { message_index: [...Array(totalMessages).keys()].join(' ') },
  });
}

/** What a session says of how its day ended, by its last answer. */
function expectedEnding(
  { agentConfig, wording }: DayRecord['terms'],
  steps: readonly RecordedStep[],
  decided: DecisionResult | null,
) {
  const { end, confidence } = decided ?? {};
  if (end?.status === 'finished') return { session_summary: end.summary, confidence };
  const last = steps.at(-1)?.answer;
  const words = conversationTexts(wording);
  if (last !== undefined && decided === null && isLastAnswer(last))
    return { session_summary: words.summary(last), confidence: null };
  const isAtLimit = steps.length === agentConfig.max_steps;
  return { session_summary: isAtLimit ? words.stepLimit(steps.length) : null, confidence: null };
}

/**
 * Compares the prompt and the morning report of the record with those that replay makes: the first
 * line of each that is not the same.
 */
export function compareFirstMessages(
  stored: readonly ComparedMessage[],
  made: readonly ComparedMessage[],
  { compare }: RecordComparison,
): void {
  compare('the messages before its first answer', {
    kind: 'answers',
    stored: { role: listRoles(stored) },
    replayed: { role: listRoles(made) },
  });
  for (const [index, { role, content }] of made.entries()) {
    const was = stored[index]?.content.split('\n') ?? [];
    const is = content.toWellFormed().split('\n');
    const line = differenceIndex(was, is);
    if (was[line] === is[line]) continue;
    const column = `line ${line + 1}`;
    compare(role === 'system' ? 'its prompt' : 'its morning report', {
      kind: 'words',
      stored: { [column]: was[line] },
      replayed: { [column]: is[line] },
      symbols: leadingSymbols(was[line], is[line]),
    });
  }
}

function listRoles(messages: readonly ComparedMessage[]): string {
  return messages.map(({ role }) => role).join(', ');
}

/** The symbols with which lines of prices and holdings begin. */
function leadingSymbols(...lines: (string | undefined)[]): string[] {
  return lines.flatMap((line) => /^[A-Z0-9.-]+(?=[: ])/.exec(line ?? '') ?? []);
}
