import { setImmediate as nextRound } from 'node:timers/promises';
import type { Listed } from '../basics/domain.ts';
import type { CalendarDate } from '../basics/calendar.ts';
import type { Reader } from '../database/database.ts';
import {
  committedSessionsOn,
  countActive,
  datesOfSessions,
  type ReplayedSession,
  type ReplayFilters,
} from '../database/replay.ts';
import type { StaleModelDays } from '../database/stale.ts';
import { isLostAt } from '../database/price-writes.ts';
import type { Difference } from './books.ts';
import {
  type FirstMessagesOf,
  firstMessagesOfModels,
  type ReplayContext,
  replayModelDay,
} from './replay-model-day.ts';
import { type Market, openMarket } from '../trading/market.ts';
import {
  createTermsReader,
  type DayRecord,
  faultOf,
  readRecord,
  symbolsOf,
  type Terms,
} from './record.ts';

/** Findings listed by name; the rest are only counted. */
export const MAX_LISTED = 1_000;
/** Sentences listed for one model-day; the rest are only counted. */
const MAX_SENTENCES = 10;

/** A model-day with findings. */
export interface Finding {
  model: string;
  date: CalendarDate;
  /** Null when there is no session. */
  sessionId: number | null;
  status: string;
  sentences: string[];
}

/** What an audit found. */
export interface AuditReport {
  /** Models with active model-days. */
  models: number;
  /** Active model-days, and how many of them are the same when they are replayed. */
  modelDays: number;
  same: number;
  superseded: { modelDays: number; same: number };
  positions: number;
  /** Model-days that differ when they are replayed. */
  problems: Listed<Finding>;
  /** Those that differ where a price that they could read may have been replaced without a trace. */
  unverifiable: Listed<Finding>;
  /** Results of tools that came from outside, which are taken from the record. */
  fromOutside: number;
  /** What is wrong with the file itself. */
  damage: string[];
  /**
   * Model-days whose start, prices, splits or dividends have changed since they ran; these are not
   * errors.
   */
  stale: StaleModelDays;
}

export interface ReplayOptions {
  filters?: ReplayFilters;
  /** Called from time to time with the number of model-days replayed and the total. */
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal | undefined;
  firstMessagesOf?: FirstMessagesOf;
}

/** A report to which nothing has been added. */
export function emptyReport(): AuditReport {
  return {
    models: 0,
    modelDays: 0,
    same: 0,
    superseded: { modelDays: 0, same: 0 },
    positions: 0,
    problems: { total: 0, first: [] },
    unverifiable: { total: 0, first: [] },
    fromOutside: 0,
    damage: [],
    stale: { total: 0, first: [], remedy: '' },
  };
}

/** After which signals and messages may arrive. */
const SLICE_MS = 5;

/**
 * Replays every committed model-day, active or superseded, date by date and in slices, adding to
 * the report.
 */
export async function replayLedger(
  reader: Reader,
  report: AuditReport,
  options: ReplayOptions = {},
): Promise<void> {
  const { filters = {}, onProgress = () => {}, signal } = options;
  const { models, modelDays: total } = countActive(reader, filters);
  report.models = models;
  const { firstMessagesOf = firstMessagesOfModels } = options;
  const marketOf = sharedMarkets(reader);
  const replayed = { reader, firstMessagesOf, marketOf, termsOf: createTermsReader() };
  let sliceEnd = 0;
  for (const date of datesOfSessions(reader)) {
    for (const session of committedSessionsOn(reader, date, filters)) {
      if (performance.now() >= sliceEnd) {
        onProgress(report.modelDays, total);
        await nextRound();
        signal?.throwIfAborted();
        sliceEnd = performance.now() + SLICE_MS;
      }
      record(report, session, await judge(replayed, session));
    }
  }
  onProgress(report.modelDays, total);
}

/** The model-days of a job share the market of a date, as they did when they ran. */
function sharedMarkets(reader: Reader): ReplayContext['marketOf'] {
  let last: { universe: ReadonlySet<string>; market: Market } | undefined;
  return ({ session: { date, morningWrite: write }, terms: { universe } }) => {
    const isSame = last?.market.date === date && last.market.prices.write === write;
    if (!isSame || last?.universe !== universe)
      last = { universe, market: openMarket({ reader, write }, date, [...universe]) };
    return last.market;
  };
}

interface Replayed extends ReplayContext {
  termsOf: (session: ReplayedSession) => Terms;
}

/** What replay says of a model-day. */
interface Verdict {
  kind: 'same' | 'problems' | 'unverifiable';
  sentences: string[];
  positions: number;
  fromOutside: number;
}

async function judge(replayed: Replayed, session: ReplayedSession): Promise<Verdict> {
  const { reader, termsOf } = replayed;
  try {
    const day = readRecord(reader, session, termsOf);
    const { differences, fromOutside } = await replayModelDay(replayed, day);
    return {
      kind: kindOf(reader, day, differences),
      sentences: sentencesOf(differences),
      positions: day.positions.length,
      fromOutside,
    };
  } catch (error) {
    const sentences = [`it cannot be read: ${faultOf(error)}`];
    return { kind: 'problems', sentences, positions: 0, fromOutside: 0 };
  }
}

/**
 * The list to which differences belong. Only the first one counts, because the others may follow
 * from it.
 */
function kindOf(reader: Reader, day: DayRecord, [first]: readonly Difference[]): Verdict['kind'] {
  if (first === undefined) return 'same';
  if (first.kind === 'answers') return 'problems';
  const { date: upTo, commitWrite } = day.session;
  const symbols = first.symbols.length > 0 ? first.symbols : symbolsOf(day);
  return isLostAt(reader, { symbols, upTo }, commitWrite) ? 'unverifiable' : 'problems';
}

function sentencesOf(differences: readonly Difference[]): string[] {
  const sentences = differences.map(({ sentence }) => sentence);
  const rest = sentences.length - MAX_SENTENCES;
  return rest <= 0 ? sentences : [...sentences.slice(0, MAX_SENTENCES), `and ${rest} more`];
}

function record(
  report: AuditReport,
  session: ReplayedSession,
  { kind, sentences, positions, fromOutside }: Verdict,
): void {
  const { model, date, sessionId, status } = session;
  const counts = status === 'active' ? report : report.superseded;
  counts.modelDays += 1;
  if (kind === 'same') counts.same += 1;
  else addTo(report[kind], { model, date, sessionId, status, sentences });
  report.positions += positions;
  report.fromOutside += fromOutside;
}

/** Adds to a list, of which only the first items are kept. */
export function addTo<Item>(list: Listed<Item>, item: Item): void {
  list.total += 1;
  if (list.first.length < MAX_LISTED) list.first.push(item);
}
