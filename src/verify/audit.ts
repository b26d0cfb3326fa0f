import type { CalendarDate } from '../basics/calendar.ts';
import {
  auditedDates,
  type AuditedSession,
  auditedSessions,
  clockSetBacks,
  countActive,
  lastRecord,
  supersededStarts,
} from '../database/audit.ts';
import { modelsWithSessions } from '../database/session-filters.ts';
import type { Reader } from '../database/database.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { examineDatabase } from '../database/integrity.ts';
import { checkManifest } from '../database/digests.ts';
import { withSnapshot } from '../database/snapshot.ts';
import { staleModelDays, type StaleModelDays } from '../database/stale.ts';
import { createCorporateActions, createHistory } from './history.ts';
import type { Listed } from '../basics/domain.ts';
import { bySlices } from '../basics/turns.ts';
import { type AuditedDay, auditModelDay, type ClosingState } from './audit-model-day.ts';

/** Findings listed by name; the rest are only counted. */
const MAX_LISTED = 1_000;
/**
 * Corrected closing states are kept, up to this many, so that later days are checked against the
 * right start.
 */
const MAX_CORRECTED = 10_000;

/** A model-day with findings. */
export interface Finding {
  model: string;
  date: CalendarDate;
  /** Null when there is no session. */
  sessionId: number | null;
  status: string;
  sentences: string[];
}

export interface AuditReport {
  /** What is wrong with the file itself. */
  damage: string[];
  models: number;
  /** Active ones; `supersededModelDays` counts the superseded ones that these depend on. */
  modelDays: number;
  supersededModelDays: number;
  positions: number;
  /** Model-days that do not add up. */
  problems: Listed<Finding>;
  /**
   * Model-days that do not match what is still known of their prices, where part of that has been
   * lost.
   */
  unverifiable: Listed<Finding>;
  /**
   * Model-days whose start, prices, splits or dividends have changed since they ran; these are not
   * errors.
   */
  stale: StaleModelDays;
}

export interface AuditOptions {
  /** Called from time to time with the number of model-days audited and the total. */
  onProgress?: (done: number, total: number) => void;
  /**
   * Whether the file is opened for reading only, so that nothing beside it changes either; SQLite
   * then skips CHECK constraints.
   */
  isReadOnly?: boolean;
  /** Aborts the audit, which then rejects. */
  signal?: AbortSignal;
}

/**
 * Verifies a database as it is now, while others may write to it: the file, its manifest if it is a
 * package, the references between its rows, and every active model-day, recomputed. Reads only.
 */
export async function audit(
  path: string,
  { onProgress, signal, isReadOnly = false }: AuditOptions = {},
): Promise<AuditReport> {
  return withSnapshot(path, async (snapshot) => {
    signal?.throwIfAborted();
    const { models } = countActive(snapshot);
    const report = { ...emptyReport(), models };
    const [{ damage, misfits }] = await together(signal, (ended) => [
      examineDatabase(snapshot, ended, { isReadOnly }),
      readLedger(snapshot, report, { signal: ended, ...(onProgress && { onProgress }) }),
    ]);
    const changed = await bySlices(checkManifest(snapshot), () => signal?.throwIfAborted());
    report.damage.unshift(...damage, ...changed);
    for (const { problem, ...modelDay } of misfits)
      addTo(report.problems, { ...modelDay, sentences: [problem] });
    return report;
  });
}

/**
 * Runs both at the same time. When one fails, or the signal comes, the other is ended; nothing is
 * left running when it settles.
 */
async function together<One, Other>(
  signal: AbortSignal | undefined,
  start: (ended: AbortSignal) => [Promise<One>, Promise<Other>],
): Promise<[One, Other]> {
  const failed = new AbortController();
  const work = start(AbortSignal.any([failed.signal, ...(signal === undefined ? [] : [signal])]));
  try {
    return await Promise.all(work);
  } catch (error) {
    failed.abort();
    await Promise.allSettled(work);
    throw error;
  }
}

/**
 * As `auditLedger`, with what is stale by now; but what cannot be read to the end is reported as
 * damage.
 */
async function readLedger(
  reader: Reader,
  report: AuditReport,
  options: AuditOptions,
): Promise<void> {
  try {
    await auditLedger(reader, report, options);
    const stale = staleModelDays(reader, modelsWithSessions(reader), MAX_LISTED);
    report.stale = await bySlices(stale, () => options.signal?.throwIfAborted());
  } catch (error) {
    const fault = storageFaultOf(error);
    if (fault === null) throw error;
    report.damage.push(`the ledger cannot be read to the end: ${fault}`);
  }
}

/** Whether nothing is wrong. Stale and unverifiable model-days are not wrong. */
export function isSound({ damage, problems }: AuditReport): boolean {
  return damage.length === 0 && problems.total === 0;
}

export function emptyReport(): AuditReport {
  const nothing = () => ({ total: 0, first: [] });
  const counts = { models: 0, modelDays: 0, supersededModelDays: 0, positions: 0 };
  const stale = { ...nothing(), remedy: '' };
  return { ...counts, damage: [], problems: nothing(), unverifiable: nothing(), stale };
}

/**
 * Recomputes every active model-day and those it depends on, date by date and in slices, adding to
 * the report.
 */
export async function auditLedger(
  reader: Reader,
  report: AuditReport,
  { onProgress = () => {}, signal }: AuditOptions = {},
): Promise<void> {
  const { modelDays: total } = countActive(reader);
  const onPause = () => {
    onProgress(report.modelDays, total);
    signal?.throwIfAborted();
  };
  onPause();
  await bySlices(auditModelDays(reader, report), onPause);
  onPause();
}

/**
 * Memory holds only the last day of each model, the bars of one date, and the splits and dividends
 * of what is held.
 */
function* auditModelDays(reader: Reader, report: AuditReport): Generator<void> {
  const closings = createClosings(reader);
  const shared = { ...createCorporateActions(reader), setBacks: clockSetBacks(reader) };
  let needed: ReadonlySet<number> | undefined;
  for (const date of auditedDates(reader)) {
    const history = createHistory(reader, date, shared);
    for (const session of auditedSessions(reader, date)) {
      yield;
      if (session.status === 'superseded') needed ??= supersededStarts(reader);
      if (session.status === 'superseded' && !needed?.has(session.sessionId)) continue;
      const day = auditModelDay(history, session, closings.before);
      closings.remember(session, day);
      record(report, session, day);
    }
  }
}

interface Closings {
  /**
   * The closing state that a session started from: as stored and, where that is wrong, also as it
   * should be.
   */
  before(session: AuditedSession): ClosingState[];
  remember(session: AuditedSession, day: AuditedDay): void;
}

function createClosings(reader: Reader): Closings {
  const last = new Map<string, { sessionId: number; stored: ClosingState | null }>();
  const corrected = new Map<number, ClosingState>();
  return {
    before({ model, startedFrom }) {
      if (startedFrom === null) return [];
      const known = last.get(model);
      const stored =
        known?.sessionId === startedFrom ? known.stored : lastRecord(reader, startedFrom);
      return [stored, corrected.get(startedFrom)].filter(
        (state) => state !== null && state !== undefined,
      );
    },
    remember({ model, sessionId }, { stored, corrected: right }) {
      last.set(model, { sessionId, stored });
      if (right !== null && corrected.size < MAX_CORRECTED) corrected.set(sessionId, right);
    },
  };
}

function record(
  report: AuditReport,
  { model, date, sessionId, status }: AuditedSession,
  day: AuditedDay,
): void {
  report.positions += day.positions;
  report[status === 'active' ? 'modelDays' : 'supersededModelDays'] += 1;
  const modelDay = { model, date, sessionId, status };
  if (day.problems.length > 0) addTo(report.problems, { ...modelDay, sentences: day.problems });
  if (day.unverifiable.length > 0)
    addTo(report.unverifiable, { ...modelDay, sentences: day.unverifiable });
}

/** Adds to a list, of which only the first items are kept. */
export function addTo<Item>(list: Listed<Item>, item: Item): void {
  list.total += 1;
  if (list.first.length < MAX_LISTED) list.first.push(item);
}
