import { addTo, type Finding } from './audit.ts';
import { createNotes } from './effect.ts';
import { auditedDates, clockSetBacks, countActive } from '../database/audit.ts';
import type { Reader } from '../database/database.ts';
import { changedParts, partNames } from '../database/digests.ts';
import { isLostAt, openPast, type Past } from '../database/past.ts';
import { committedSessionsOn, type ReplayedSession } from '../database/replay.ts';
import { withSnapshot } from '../database/snapshot.ts';
import type { Listed } from '../basics/domain.ts';
import { type Market, openMarket } from '../trading/market.ts';
import { nextTurn, SLICE_MS } from '../basics/turns.ts';
import type { Difference } from './books.ts';
import {
  type FirstMessagesOf,
  firstMessagesOfModels,
  type ReplayContext,
  replayModelDay,
} from './replay-model-day.ts';
import {
  asStamped,
  createTermsReader,
  type DayRecord,
  faultOf,
  otherViewpoints,
  readRecord,
  type Terms,
  type Viewpoint,
} from './record.ts';

/** What the replay of a database found. */
export interface ReplayReport {
  /** Active model-days, and how many of them are the same when they are replayed. */
  modelDays: number;
  same: number;
  superseded: { modelDays: number; same: number };
  /** Model-days that differ when they are replayed, or whose digests do not match. */
  differences: Listed<Finding>;
  /**
   * Those that differ where a price that they could read may have been replaced without a trace.
   */
  lost: Listed<Finding>;
  /** Those that are the same, from prices whose time stamps are later than their use. */
  late: Listed<Finding>;
  /** Results of tools that came from outside, which are taken from the record. */
  fromOutside: number;
}

export interface ReplayOptions {
  /** Called from time to time with the number of model-days replayed and the total. */
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
  firstMessagesOf?: FirstMessagesOf;
}

/** A report to which nothing has been added. */
export function emptyReplay(): ReplayReport {
  const nothing = () => ({ total: 0, first: [] });
  const lists = { differences: nothing(), lost: nothing(), late: nothing() };
  return { modelDays: 0, same: 0, superseded: { modelDays: 0, same: 0 }, ...lists, fromOutside: 0 };
}

/** Whether nothing differs that could have been replayed. */
export function isSame({ differences }: ReplayReport): boolean {
  return differences.total === 0;
}

/** Replays all model-days of a database as it is now, while others may write to it. Reads only. */
export async function replay(path: string, options: ReplayOptions = {}): Promise<ReplayReport> {
  const report = emptyReplay();
  await withSnapshot(path, (snapshot) => replayLedger(snapshot, report, options));
  return report;
}

/**
 * Replays every committed model-day, active or superseded, date by date and in slices, adding to
 * the report. The connection shows past prices meanwhile.
 */
export async function replayLedger(
  reader: Reader,
  report: ReplayReport,
  { onProgress = () => {}, signal, firstMessagesOf = firstMessagesOfModels }: ReplayOptions = {},
): Promise<void> {
  const { modelDays: total } = countActive(reader);
  const setBacks = clockSetBacks(reader);
  const past = openPast(reader);
  try {
    const replayed = {
      reader,
      setBacks,
      past,
      firstMessagesOf,
      marketAt: createMarkets(reader, past),
    };
    const termsOf = createTermsReader();
    let sliceEnd = 0;
    for (const date of auditedDates(reader)) {
      for (const session of committedSessionsOn(reader, date)) {
        if (performance.now() >= sliceEnd) {
          onProgress(report.modelDays, total);
          await nextTurn();
          signal?.throwIfAborted();
          sliceEnd = performance.now() + SLICE_MS;
        }
        record(report, session, await judge(replayed, session, termsOf));
      }
    }
  } finally {
    past.end();
  }
  onProgress(report.modelDays, total);
}

/** The model-days of a job share the market of a date, as they did when they ran. */
function createMarkets(reader: Reader, past: Past): ReplayContext['marketAt'] {
  let last: { key: string; universe: ReadonlySet<string>; market: Market } | undefined;
  return ({ session: { date }, terms: { universe } }, { market: instant, isLenient }) => {
    const key = `${date} ${instant} ${isLenient}`;
    if (last?.key === key && last.universe === universe) return last.market;
    past.goTo(instant, isLenient);
    const market = openMarket(reader, date, [...universe]);
    last = { key, universe, market };
    return market;
  };
}

/** What replay says of a model-day. */
interface Verdict {
  kind: 'same' | 'differences' | 'lost' | 'late';
  sentences: string[];
  fromOutside: number;
}

async function judge(
  replayed: ReplayContext,
  session: ReplayedSession,
  termsOf: (session: ReplayedSession) => Terms,
): Promise<Verdict> {
  let changed: string[] = [];
  try {
    changed = changedParts(replayed.reader, session.sessionId).map(
      (part) => `${partNames[part]} changed after the commit`,
    );
    const verdict = await explain(replayed, readRecord(replayed.reader, session, termsOf));
    return changed.length === 0
      ? verdict
      : { ...verdict, kind: 'differences', sentences: [...changed, ...verdict.sentences] };
  } catch (error) {
    return {
      kind: 'differences',
      sentences: [...changed, `it cannot be read: ${faultOf(error)}`],
      fromOutside: 0,
    };
  }
}

/**
 * Replays a model-day as its time stamps say and, where that differs, from the other viewpoints
 * that are possible.
 */
async function explain(replayed: ReplayContext, day: DayRecord): Promise<Verdict> {
  const attempt = (viewpoint: Viewpoint) => replayModelDay(replayed, day, viewpoint);
  const first = await attempt(asStamped(day.session));
  const same: Verdict = { kind: 'same', sentences: [], fromOutside: first.fromOutside };
  if (first.differences.length === 0) return same;
  const places = { symbols: [...symbolsOf(day)], upTo: day.session.date };
  for (const viewpoint of otherViewpoints(replayed, day.session, places))
    if ((await attempt(viewpoint)).differences.length === 0) return same;
  const late = 'prices, splits or dividends that it used are stamped later than it ran';
  if ((await attempt({ ...asStamped(day.session), isLenient: true })).differences.length === 0)
    return { ...same, kind: 'late', sentences: [late] };
  return {
    ...same,
    kind: kindOf(replayed.reader, day, first.differences),
    sentences: sentencesOf(first.differences),
  };
}

/** Everything whose prices a model-day could read. */
function symbolsOf({ terms, past, evidence }: DayRecord): Set<string> {
  return new Set([
    ...terms.universe,
    ...(past?.holdings.map(({ symbol }) => symbol) ?? []),
    ...evidence.prices.map(({ symbol }) => symbol),
  ]);
}

/**
 * The list to which differences belong. Only the first one counts, because the others may follow
 * from it.
 */
function kindOf(
  reader: Reader,
  day: DayRecord,
  differences: readonly Difference[],
): Verdict['kind'] {
  const { session } = day;
  const [first] = differences;
  if (first === undefined || first.kind === 'answers') return 'differences';
  const symbols = first.symbols.length > 0 ? first.symbols : [...symbolsOf(day)];
  return isLostAt(reader, { symbols, upTo: session.date }, session.completedAt)
    ? 'lost'
    : 'differences';
}

function sentencesOf(differences: readonly Difference[]): string[] {
  const { note, notes } = createNotes();
  for (const { sentence } of differences) note(sentence);
  return notes().problems;
}

function record(
  report: ReplayReport,
  session: ReplayedSession,
  { kind, sentences, fromOutside }: Verdict,
): void {
  const { model, date, sessionId, status } = session;
  const counts = status === 'active' ? report : report.superseded;
  counts.modelDays += 1;
  if (kind === 'same' || kind === 'late') counts.same += 1;
  if (kind !== 'same') addTo(report[kind], { model, date, sessionId, status, sentences });
  report.fromOutside += fromOutside;
}
