import { type Wording, wordingOf } from '../agent/prompt.ts';
import type { AgentConfiguration } from '../basics/configuration-schema.ts';
import { parseAgentConfiguration, universeOf } from '../basics/configuration.ts';
import { type LedgerRecord, ledgerRecords, type TimeSpan } from '../database/audit.ts';
import { type ClosingState, closingStateOf } from '../database/active-days.ts';
import type { Reader } from '../database/database.ts';
import { type Evidence, evidenceOf } from '../database/evidence.ts';
import {
  conversationOf,
  type ReplayedSession,
  type StoredMessage,
  type StoredToolUsage,
  toolUsageOf,
} from '../database/replay.ts';
import { decodeEntry, type Entry } from '../basics/entry.ts';
import { changesWithin, type Places } from '../database/past.ts';
import { justBefore } from './evidence.ts';
import { spanOf } from './history.ts';

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
    positions: ledgerRecords(reader, sessionId),
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

/** As of which instants a model-day is replayed: what it reads at each time of its day. */
export interface Viewpoint {
  /** Of the quotes of its date, which all models of a job read at once. */
  market: string;
  /** Of the splits and dividends since the day that it starts from. */
  start: string;
  /** Of what a tool call read whose result was logged at a time. */
  result(loggedAt: string): string;
  /** Of the closing marks. */
  close: string;
  /**
   * Whether a price that was unknown then, or has been lost, is taken to be the first version that
   * is known.
   */
  isLenient: boolean;
}

/** What the time stamps say. */
export function asStamped({ openedAt, startedAt, completedAt }: ReplayedSession): Viewpoint {
  return {
    market: openedAt,
    start: startedAt,
    result: (loggedAt) => loggedAt,
    close: completedAt,
    isLenient: false,
  };
}

/**
 * Where else a session may have stood when prices changed while it ran: a market may have been
 * opened again by a process that resumed it, and a price is seen by others only some time after its
 * stamp. Where the clock was set back, it may have stood at any instant that stamps leave open.
 * None when nothing changed.
 */
export function* otherViewpoints(
  { reader, setBacks }: { reader: Reader; setBacks: readonly TimeSpan[] },
  session: ReplayedSession,
  places: Places,
): Generator<Viewpoint> {
  yield* sideBySide(reader, session, places);
  const stamped = { from: session.openedAt, to: session.completedAt };
  const open = spanOf({ setBacks }, stamped);
  if (open.from === stamped.from && open.to === stamped.to) return;
  for (const instant of [open.from, ...changesWithin(reader, places, open)])
    yield {
      market: instant,
      start: instant,
      result: () => instant,
      close: instant,
      isLenient: false,
    };
}

function* sideBySide(
  reader: Reader,
  session: ReplayedSession,
  places: Places,
): Generator<Viewpoint> {
  const first = asStamped(session);
  const from = justBefore(session.openedAt);
  const changes = changesWithin(reader, places, { from, to: session.completedAt });
  if (changes.length === 0) return;
  const markets = [...new Set([session.openedAt, session.startedAt, from, ...changes])];
  const starts = [...new Set([session.startedAt, ...changes])];
  for (const isLate of [false, true])
    for (const market of markets)
      for (const start of starts)
        yield {
          ...first,
          market,
          start,
          ...(isLate && { result: justBefore, close: justBefore(session.completedAt) }),
        };
}
