import { type Wording, wordingOf } from '../agent/prompt.ts';
import type { AgentConfiguration } from '../configuration-schema.ts';
import { parseAgentConfiguration, universeOf } from '../configuration.ts';
import { type LedgerRecord, ledgerRecords } from '../database/audit.ts';
import { type ClosingState, closingStateOf } from '../database/active-days.ts';
import type { Reader } from '../database/database.ts';
import { type Evidence, evidenceOf } from '../database/evidence.ts';
import {
  type ReplayedSession,
  type StoredMessage,
  type StoredToolUsage,
  conversationOf,
  toolUsageOf,
} from '../database/replay.ts';
import { atOnce } from '../turns.ts';
import { type Entry, decodeEntry } from '../entry.ts';

/** The terms of a model-day, as its job and its run have them. */
export interface Terms {
  agentConfig: AgentConfiguration;
  universe: ReadonlySet<string>;
  entry: Entry;
  wording: Wording;
}

/** Everything that is stored of a model-day. */
export interface DayRecord {
  session: ReplayedSession;
  terms: Terms;
  /** The close of the day that it started from; null for the initial cash. */
  past: ClosingState | null;
  conversation: StoredMessage[];
  positions: LedgerRecord[];
  evidence: Evidence;
  toolUsage: StoredToolUsage[];
}

/**
 * Returns a function that reads terms. It parses a configuration once for all model-days of a job
 * in a row.
 */
export function createTermsReader(): (session: ReplayedSession) => Terms {
  let last:
    | { text: string; agentConfig: AgentConfiguration; universe: ReadonlySet<string> }
    | undefined;
  return ({ agentConfig: text, entry, wording }) => {
    if (text === null || entry === null) throw new Error('its job or its run is missing');
    if (last?.text !== text) {
      const agentConfig = parseAgentConfiguration(text);
      last = { text, agentConfig, universe: new Set(universeOf(agentConfig)) };
    }
    const known = wordingOf(wording);
    if (known === undefined)
      throw new Error(
        `its model read version ${wording} of the wording, which this program does not know`,
      );
    return { ...last, entry: decodeEntry(entry), wording: known };
  };
}

/** Throws an Error that says why a record cannot be read. */
export function readRecord(
  reader: Reader,
  session: ReplayedSession,
  termsOf: (session: ReplayedSession) => Terms,
): DayRecord {
  const { sessionId, startedFrom } = session;
  const past = startedFrom === null ? null : closingStateOf(reader, startedFrom);
  if (startedFrom !== null && past === null)
    throw new Error(`session ${startedFrom}, from which it started, has no positions`);
  return {
    session,
    terms: termsOf(session),
    past,
    conversation: conversationOf(reader, sessionId),
    positions: atOnce(ledgerRecords(reader, sessionId)),
    evidence: evidenceOf(reader, sessionId),
    toolUsage: toolUsageOf(reader, sessionId),
  };
}

/**
 * Why a record cannot be read or replayed, in words. Throws errors that only a bug of this program
 * can cause.
 */
export function faultOf(error: unknown): string {
  if (error instanceof TypeError || error instanceof ReferenceError || !(error instanceof Error))
    throw error;
  return error.message;
}
