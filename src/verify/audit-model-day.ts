import {
  type AuditedSession,
  lastNoteWritten,
  type LedgerRecord,
  ledgerRecords,
} from '../database/audit.ts';
import { evidenceOf } from '../database/evidence.ts';
import type { Reader } from '../database/database.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { messageOf } from '../basics/domain.ts';
import { asObject, tryParse } from '../basics/json.ts';
import { formatDollars, fromDollars, type Money } from '../basics/money.ts';
import { type Portfolio, tradingCostsOf } from '../trading/portfolio.ts';
import { checkEvidence } from './evidence.ts';
import type { History } from './history.ts';
import { checkFigures, replay } from './recompute.ts';
import { createNotes, type Note, type Notes } from './effect.ts';

/** The closing state of a day, from which a later one starts. */
export interface ClosingState extends Portfolio {
  readonly portfolioValue: Money;
}

export interface AuditedDay extends Notes {
  positions: number;
  /** As in the last record; null when there is none. */
  stored: ClosingState | null;
  /** As it should be; null when that is what is stored, or is unknown. */
  corrected: ClosingState | null;
}

/**
 * Recomputes one model-day from its actions and its evidence, and compares the evidence with the
 * prices at the time. `startsOf` gives the closing state of the day it started from: as stored and,
 * where that is wrong, also as it should be.
 */
export function auditModelDay(
  history: History,
  session: AuditedSession,
  startsOf: (session: AuditedSession) => ClosingState[],
): AuditedDay {
  const { note, notes } = createNotes();
  let records: LedgerRecord[] = [];
  let corrected: ClosingState | null = null;
  try {
    records = ledgerRecords(history.reader, session.sessionId);
    checkOrders(session, records, note);
    checkNote(history.reader, session, note);
    checkTerms(session, note);
    corrected = recompute(history, session, {
      records,
      starts: startOf(session, { startsOf, note }),
      note,
    });
  } catch (error) {
    const isInTheData = error instanceof RangeError || storageFaultOf(error) !== null;
    if (!isInTheData) throw error;
    note(`it cannot be recomputed: ${messageOf(error)}`); // a figure out of bounds, an unreadable page
  }
  return { ...notes(), positions: records.length, stored: closingOf(records.at(-1)), corrected };
}

function closingOf(last: LedgerRecord | undefined): ClosingState | null {
  return last?.holdings
    ? { cash: last.cash, holdings: last.holdings, portfolioValue: last.portfolioValue }
    : null;
}

function recompute(
  history: History,
  session: AuditedSession,
  {
    records,
    starts,
    note,
  }: { records: readonly LedgerRecord[]; starts: readonly ClosingState[]; note: Note },
): ClosingState | null {
  if (starts.length === 0) return null;
  const evidence = evidenceOf(history.reader, session.sessionId);
  const costs = tradingCostsOf({
    commission_per_trade: session.commissionPerTrade,
    commission_bps: session.commissionBps,
    slippage_bps: session.slippageBps,
  });
  const portfolios = replay(records, starts, { date: session.date, evidence, costs, note });
  const startValues = starts.map(({ portfolioValue }) => portfolioValue);
  const portfolioValue =
    checkFigures({ records, portfolios, startValues }, { evidence, note }).at(-1) ?? null;
  const held = [...new Set(starts.flatMap(({ holdings }) => [...holdings.keys()]))];
  checkEvidence(history, session, { evidence, held, note });
  const [right] = portfolios.at(-1) ?? [];
  const last = records.at(-1);
  if (right === undefined || portfolioValue === null) return null;
  const isAsStored = portfolios.at(-1)?.length === 1 && last?.portfolioValue === portfolioValue;
  return isAsStored ? null : { ...right, portfolioValue };
}

/** Statuses of sessions from whose close a day can start. */
const CLOSED = new Set(['active', 'superseded', 'opening']);

/**
 * What the day started with: one state, or two where the records of the day before are wrong. Empty
 * when unknown.
 */
function startOf(
  session: AuditedSession,
  { startsOf, note }: { startsOf: (session: AuditedSession) => ClosingState[]; note: Note },
): ClosingState[] {
  const { sessionId, model, date, startedFrom, initialCash, configuredCash, ...past } = session;
  if (startedFrom === null) {
    const configured = configuredCash === null ? initialCash : fromDollars(configuredCash);
    const isAsConfigured = configured === initialCash;
    if (!isAsConfigured)
      note(
        `initial cash is ${formatDollars(initialCash)}, the job's is ${formatDollars(configured)}`,
      );
    const amounts = isAsConfigured ? [initialCash] : [initialCash, configured];
    return amounts.map((amount) => ({ cash: amount, holdings: new Map(), portfolioValue: amount }));
  }
  const from = `it started from session ${startedFrom}, which`;
  if (past.pastModel === null) {
    note(`${from} is missing`);
    return [];
  }
  if (past.pastModel !== model) note(`${from} is another model's`);
  else if (past.pastDate === null || past.pastDate >= date)
    note(`${from} is not of an earlier date`);
  else if (!CLOSED.has(String(past.pastStatus))) note(`${from} is ${past.pastStatus}`);
  else if (startedFrom >= sessionId) note(`${from} ended after it began`); // by number, not by time: clocks are set back
  const starts = startsOf(session);
  if (starts.length === 0) note(`${from} has no positions`);
  return starts;
}

/**
 * Checks that the model's note is the one that its last call wrote, or else that of the day it
 * started from.
 */
function checkNote(reader: Reader, session: AuditedSession, note: Note): void {
  const { sessionId, note: stored, pastNote, notesWritten } = session;
  const written =
    notesWritten > 0
      ? asObject(tryParse(lastNoteWritten(reader, sessionId) ?? ''))?.['text']
      : undefined;
  const right = notesWritten > 0 ? asWritten(written) : pastNote;
  if (stored !== right)
    note(
      notesWritten > 0
        ? 'its note is not what it wrote last'
        : 'its note is not that of the day it started from',
    );
}

/**
 * As it is stored: empty text removes the note. Undefined for what is not text, which no note
 * equals.
 */
function asWritten(text: unknown): string | null | undefined {
  return typeof text === 'string' ? text.toWellFormed() || null : undefined;
}

/** Checks that the session pays dividends where its job does. */
function checkTerms({ paysDividends, configuredDividends }: AuditedSession, note: Note): void {
  if (configuredDividends === null || configuredDividends === paysDividends) return;
  note(
    paysDividends
      ? 'it pays dividends, and its job does not'
      : 'it pays no dividends, and its job does',
  );
}

/**
 * Checks that every executed order left a record, by the counts in the tool usage, which was
 * committed with them.
 */
function checkOrders(
  { buys, sells }: AuditedSession,
  records: readonly LedgerRecord[],
  note: Note,
): void {
  for (const [actionType, executed] of [['buy', buys] as const, ['sell', sells] as const]) {
    const count = records.filter((record) => record.actionType === actionType).length;
    if (count !== executed)
      note(`${actionType} records: ${count}, executed ${actionType} orders: ${executed}`);
  }
}
