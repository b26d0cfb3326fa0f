import { findWording } from '#agent/prompt.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import { type ClosingState, readClosingState } from '#database/active-days.ts';
import type { Reader } from '#database/database.ts';
import { shownDocuments } from '#database/document-queries.ts';
import { readEvidence } from '#database/evidence.ts';
import {
  sessionMessages,
  ledgerRecords,
  type ReplayedSession,
  sessionToolUsage,
} from '#database/replay-queries.ts';
import { decodeEntry } from '#settings/entry.ts';
import { universeOn } from '#settings/members.ts';

/** Reads the terms of a model-day, as its job and its run have them. */
export type TermsReader = ReturnType<typeof createTermsReader>;

export type DayRecord = ReturnType<typeof readDayRecord>;

/**
 * Returns a function that reads terms. It parses a configuration once for all model-days of a job
 * in a row.
 */
export function createTermsReader() {
  let last: { text: string; agentConfig: AgentConfiguration } | undefined;
  return ({ agentConfig: text, date, entry, wording }: ReplayedSession) => {
    if (text === null || entry === null) throw new Error('its job or its run is missing');
    if (last?.text !== text) last = { text, agentConfig: parseAgentConfiguration(text) };
    const universe = universeOn(last.agentConfig, date);
    const known = findWording(wording);
    if (known === undefined)
      throw new Error(`its model read prompt version ${wording}, which this program does not know`);
    return { ...last, universe, entry: decodeEntry(entry), wording: known };
  };
}

export function readDayRecord(reader: Reader, session: ReplayedSession, readTerms: TermsReader) {
  const { sessionId } = session;
  return {
    session,
    terms: readTerms(session),
    /** The close of the day that it started from; null for the initial cash. */
    past: readPastClose(reader, session),
    conversation: sessionMessages(reader, sessionId),
    positions: ledgerRecords(reader, sessionId),
    evidence: readEvidence(reader, sessionId),
    documents: shownDocuments(reader, sessionId),
    toolUsage: sessionToolUsage(reader, sessionId),
  };
}

/** Statuses of sessions from whose close a day can start. */
const CLOSED_STATUSES = new Set<string | null>(['active', 'superseded', 'opening']);

/** Close that a session started from, found by number: clocks are set back. */
function readPastClose(reader: Reader, session: ReplayedSession): ClosingState | null {
  const { sessionId, model, date, startedFrom, pastModel, pastDate, pastStatus } = session;
  if (startedFrom === null) return null;
  const isEarlier = startedFrom < sessionId && pastDate !== null && pastDate < date;
  const isItsOwn = pastModel === model && CLOSED_STATUSES.has(pastStatus);
  const past = isEarlier && isItsOwn ? readClosingState(reader, startedFrom) : null;
  if (past === null)
    throw new Error(
      `it started from session ${startedFrom}, which is not an earlier close of its model`,
    );
  return past;
}

/** Everything whose prices a model-day could read. */
export function readableSymbols({ terms, past, evidence }: DayRecord): string[] {
  const held = past?.holdings ?? [];
  return [
    ...new Set([...terms.universe, ...[...held, ...evidence.prices].map(({ symbol }) => symbol)]),
  ];
}

/**
 * Why a record cannot be read or replayed, in words. Throws errors that only a bug of this program
 * can cause.
 */
export function explainRecordFault(error: unknown): string {
  if (error instanceof TypeError || error instanceof ReferenceError || !(error instanceof Error))
    throw error;
  return error.message;
}
