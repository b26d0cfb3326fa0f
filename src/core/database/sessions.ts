import assert from 'node:assert/strict';
import type { CalendarDate } from '#time/calendar.ts';
import type { AnswerFault, MessageRole } from '#domain/vocabulary.ts';
import type { Money } from '#money/money.ts';
import type { Database } from './database.ts';
import { type DecisionRow, storeDecisions } from './decisions.ts';
import { type CountedDocuments, storeShown } from './document-queries.ts';
import { type Evidence, closingMarks, storeEvidence } from './evidence.ts';
import { indexMessages, newestRow } from './log-words.ts';
import { sessionMessages, type LedgerRecord, POSITION } from './replay-queries.ts';
import { asColumns, insertRow, integer, orNull, query, type RowOf, text } from './rows.ts';

/** One model on one date of one job. */
export interface ModelDay {
  jobId: string;
  date: CalendarDate;
  model: string;
}

export interface LogMessage {
  role: MessageRole;
  content: string;
  /** Of an assistant's message: its thoughts, where the provider returns them. */
  summary?: string | null;
  toolName?: string;
  toolInput?: string;
  toolCalls?: string;
  /**
   * Of an assistant's message: the fields its provider wants sent back with it, and what it said of
   * itself, as JSON.
   */
  carried?: string;
  served?: string;
  /** Of an assistant's message: what is wrong with it. */
  fault?: AnswerFault;
}

export interface ToolUsageRow {
  toolName: string;
  calls: number;
  refused: number;
  durationMs: number;
}

/** Starting state of a session. */
interface NewSession {
  startedFrom: number | null;
  initialCash: Money;
  paysDividends: boolean;
  /** Price write that its morning reads. */
  morningWrite: number;
  startedAt: string;
}

/**
 * Inserts the session of a model-day that starts now, from a closing state or the initial cash;
 * within the caller's transaction.
 */
export function insertSession(
  database: Database,
  { jobId, date, model }: ModelDay,
  { startedFrom, initialCash, paysDividends, morningWrite, startedAt }: NewSession,
): number {
  database
    .statement(
      `UPDATE job_details SET status = 'running', started_at = ? WHERE job_id = ? AND date = ? AND model = ?`,
    )
    .run(startedAt, jobId, date, model);
  const inserted = insertRow(database, 'trading_sessions', {
    ...{ jobId, date, model, morningWrite, startedAt },
    startedFromSessionId: startedFrom,
    initial_cash_e4: startedFrom === null ? initialCash : null,
    paysDividends: Number(paysDividends),
  });
  return Number(inserted.lastInsertRowid);
}

/**
 * Appends to the reasoning log, whose messages are counted from 0, and to its index of words;
 * within the caller's transaction.
 */
export function appendMessages(
  database: Database,
  sessionId: number,
  {
    firstIndex,
    messages,
    timestamp,
  }: { firstIndex: number; messages: readonly LogMessage[]; timestamp: string },
): void {
  const insert = database.statement(
    `INSERT INTO reasoning_logs
       (session_id, message_index, role, content, summary, tool_name, tool_input, tool_calls, carried, timestamp, served, fault)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
     WHERE ?2 = 0 OR EXISTS (SELECT 1 FROM reasoning_logs WHERE session_id = ?1 AND message_index = ?2 - 1)`,
  );
  const before = newestRow(database);
  messages.forEach((message, offset) => {
    const { changes } = insert.run(
      sessionId,
      firstIndex + offset,
      message.role,
      message.content,
      message.summary ?? null,
      message.toolName ?? null,
      message.toolInput ?? null,
      message.toolCalls ?? null,
      message.carried ?? null,
      timestamp,
      message.served ?? null,
      message.fault ?? null,
    );
    assert.equal(changes, 1, 'messages continue where the reasoning log ends');
  });
  indexMessages(database, before + 1);
}

/** What is committed at the end of a completed model-day. */
interface SessionResult {
  positions: readonly LedgerRecord[];
  decisions: readonly DecisionRow[];
  /** With the closing marks of everything that the positions hold. */
  evidence: Evidence;
  toolUsage: readonly ToolUsageRow[];
  summary: string;
  /** The model's note as it is at the end of the day; null without one. */
  note: string | null;
  /** How sure its decision is, 0 to 1; null where it does not say. */
  confidence: number | null;
  /** Whether none of its answers was a decision. */
  isUnread: boolean;
  /** What of its orders did not fill, a sentence each. */
  unfilled: readonly string[];
  /** What it could read, and the versions that it was shown. */
  documents?: (CountedDocuments & { shown: ReadonlyMap<number, object> }) | null | undefined;
  /** The version of the wording that the model read. */
  wording: number;
  /** Price write of its closing marks. */
  commitWrite: number;
  completedAt: string;
}

/** Sentences as JSON for their column; null without any. */
export function unfilledJson(sentences: readonly string[]): string | null {
  return sentences.length === 0 ? null : JSON.stringify(sentences);
}

/**
 * Commits a completed model-day within the caller's one transaction: positions, holdings, evidence,
 * tool usage, summary, note, status and decisions. The generation that was active for this model
 * and date before is superseded at the same time.
 */
export function commitSession(
  database: Database,
  session: ModelDay & { sessionId: number; steps: number; totalMessages: number },
  {
    positions,
    decisions,
    evidence,
    toolUsage,
    summary,
    note,
    confidence,
    isUnread,
    unfilled,
    documents,
    wording,
    commitWrite,
    completedAt,
  }: SessionResult,
): void {
  const { sessionId, jobId, date, model, steps, totalMessages } = session;
  const marks = closingMarks(evidence);
  assertLedgerBalances(HELD_BEFORE.all(database, sessionId), positions, marks);
  supersede(database, model, date);
  const { changes } = database
    .statement(
      `UPDATE trading_sessions
       SET status = 'active', session_summary = ?, note = ?, confidence = ?, unread = ?, unfilled = ?, steps = ?,
         total_messages = ?, wording = ?, documents = ?, commit_write = ?, completed_at = ?
       WHERE session_id = ? AND status = 'running'`,
    )
    .run(
      summary,
      note,
      confidence,
      Number(isUnread),
      unfilledJson(unfilled),
      steps,
      totalMessages,
      wording,
      documents ? JSON.stringify({ counts: documents.counts, hash: documents.hash }) : null,
      commitWrite,
      completedAt,
      sessionId,
    );
  assert.equal(changes, 1, 'only a running session can become active');
  insertPositions(database, sessionId, positions);
  storeEvidence(database, { sessionId, date }, evidence);
  if (documents) storeShown(database, sessionId, documents.shown.keys());
  for (const { toolName, calls, refused, durationMs } of toolUsage) {
    database
      .statement('INSERT INTO tool_usage VALUES (?, ?, ?, ?, ?)')
      .run(sessionId, toolName, calls, refused, durationMs);
  }
  endModelDay(database, { jobId, date, model }, { status: 'completed', error: null, completedAt });
  storeDecisions(database, sessionId, decisions);
}

const HELD_BEFORE = query(
  `SELECT {} FROM holdings WHERE session_id = (SELECT started_from_session_id FROM trading_sessions WHERE session_id = ?)`,
  { symbol: text, quantity: integer },
);

/**
 * What every reader of positions relies on: actions are counted from 1, what the session began with
 * and the shares of its records add up to what it holds, and each is worth its cash plus its
 * holdings at their marks.
 */
function assertLedgerBalances(
  before: RowOf<typeof HELD_BEFORE>[],
  positions: readonly LedgerRecord[],
  marks: ReadonlyMap<string, Money>,
): void {
  const { holdings } = positions.at(-1) ?? {};
  assert(holdings, 'a completed model-day has a position');
  const held = new Map(before.map(({ symbol, quantity }) => [symbol, quantity]));
  for (const [index, { symbol, ...position }] of positions.entries()) {
    assert.equal(position.actionId, index + 1, 'actions are counted from 1 in their order');
    if (symbol === null) continue;
    const quantity = (held.get(symbol) ?? 0) + sharesAdded(position);
    if (quantity === 0) held.delete(symbol);
    else held.set(symbol, quantity);
  }
  const isSame = [...held].every(([symbol, quantity]) => holdings.get(symbol) === quantity);
  assert(isSame && held.size === holdings.size, 'the shares of the records add up to what is held');
  let worth = 0;
  for (const [symbol, quantity] of held) worth += quantity * (marks.get(symbol) ?? NaN);
  for (const { symbol, cash, portfolioValue, ...position } of positions.toReversed()) {
    const what = `action ${position.actionId} is worth its cash and its holdings at their marks`;
    assert.equal(portfolioValue, cash + worth, what);
    const added = sharesAdded(position);
    if (added !== 0) worth -= added * (marks.get(symbol ?? '') ?? NaN);
  }
}

/** How many shares more are held after an action. */
export function sharesAdded({
  actionType,
  amount,
}: Pick<LedgerRecord, 'actionType' | 'amount'>): number {
  if (amount === null || actionType === 'dividend') return 0;
  return actionType === 'sell' || actionType === 'exchange' ? -amount : amount;
}

/**
 * Sets a model-day's final status within the caller's transaction; one that failed has a decision.
 * Its session, if it still runs, fails with it: its log is kept, it has no positions, and the
 * active generation stays active.
 */
export function endModelDay(
  database: Database,
  { jobId, date, model }: ModelDay,
  {
    status,
    error,
    completedAt,
  }: { status: 'completed' | 'failed' | 'skipped'; error: string | null; completedAt: string },
): void {
  const { changes } = database
    .statement(
      `UPDATE job_details SET status = ?, error = ?, completed_at = ?
       WHERE job_id = ? AND date = ? AND model = ? AND completed_at IS NULL`,
    )
    .run(status, error, completedAt, jobId, date, model);
  assert.equal(changes, 1, 'a model-day ends once');
}

const SUPERSEDE = query(
  `UPDATE trading_sessions SET status = 'superseded' WHERE model = ? AND date = ? AND status = 'active' RETURNING job_id`,
  [text],
);

function supersede(database: Database, model: string, date: CalendarDate): void {
  const [replaced] = SUPERSEDE.all(database, model, date);
  if (replaced === undefined) return;
  database
    .statement(
      `UPDATE simulation_runs SET status = 'superseded' WHERE job_id = ?1 AND model = ?2
         AND NOT EXISTS (SELECT 1 FROM trading_sessions WHERE job_id = ?1 AND model = ?2 AND status = 'active')`,
    )
    .run(replaced[0], model);
}

/** Inserts positions, and what is held after the last of them. */
function insertPositions(
  database: Database,
  sessionId: number,
  positions: readonly LedgerRecord[],
): void {
  for (const position of positions)
    insertRow(database, 'positions', { sessionId, ...asColumns(POSITION, position) });
  for (const [symbol, quantity] of positions.at(-1)?.holdings ?? [])
    insertRow(database, 'holdings', { sessionId, symbol, quantity });
}

const RUNNING = query(
  `SELECT {}, started_from_session_id AS startedFrom FROM trading_sessions
   WHERE job_id = ? AND date = ? AND model = ? AND status = 'running'`,
  {
    sessionId: integer,
    /** The session whose closing portfolio it started from; null for the initial cash. */
    startedFrom: orNull(integer),
  },
);

/**
 * The interrupted session of a model-day, which was running when its process ended, with its
 * reasoning log; null when it has none.
 */
export function interruptedSession(database: Database, { jobId, date, model }: ModelDay) {
  const session = RUNNING.get(database, jobId, date, model);
  return session === undefined
    ? null
    : { ...session, messages: sessionMessages(database, session.sessionId) };
}

/**
 * Ends a session whose log cannot be resumed; its model-day then starts over with a new session.
 */
export function archiveSession(
  database: Database,
  sessionId: number,
  { error, completedAt }: { error: string; completedAt: string },
): void {
  const { changes } = database
    .statement(
      `UPDATE trading_sessions SET status = 'failed', error = ?, completed_at = ?,
         total_messages = (SELECT count(*) FROM reasoning_logs WHERE reasoning_logs.session_id = trading_sessions.session_id)
       WHERE session_id = ? AND status = 'running'`,
    )
    .run(error, completedAt, sessionId);
  assert.equal(changes, 1, 'only a running session can be set aside');
}

/** Marks as running a model-day whose session is resumed. */
export function markRunning(database: Database, { jobId, date, model }: ModelDay): void {
  database
    .statement(
      `UPDATE job_details SET status = 'running' WHERE job_id = ? AND date = ? AND model = ?`,
    )
    .run(jobId, date, model);
}
