import { type Places, changesWithin } from '../database/past.ts';
import type { Reader } from '../database/database.ts';
import type { ReplayedSession } from '../database/replay.ts';
import { justBefore } from '../audit/evidence.ts';
import { spanOf } from '../audit/history.ts';
import type { TimeSpan } from '../database/audit.ts';

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
