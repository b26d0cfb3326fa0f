import { setImmediate as nextRound } from 'node:timers/promises';
import type { Listed } from '#domain/vocabulary.ts';
import type { CalendarDate } from '#time/calendar.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import type { Reader } from '#database/database.ts';
import {
  committedSessionsOn,
  countActive,
  datesOfSessions,
  type ReplayedSession,
  type ReplayFilters,
} from '#database/replay-queries.ts';
import type { StaleModelDays } from '#database/stale.ts';
import { pricesOverwrittenSince } from '#database/price-writes.ts';
import {
  type Difference,
  compareBooks,
  compareFirstMessages,
  compareSession,
  type RecordComparison,
  createRecordComparison,
  type ComparedMessage,
} from './books.ts';
import { type Market, openMarket } from '#trading/market.ts';
import {
  createTermsReader,
  type DayRecord,
  explainRecordFault,
  readDayRecord,
  readableSymbols,
  type TermsReader,
} from './record.ts';
import { conversationTexts } from '#agent/prompt.ts';
import { toRows, storedDecisions } from '#database/decisions.ts';
import { closingMarks } from '#database/evidence.ts';
import type { Brief } from '#wire/protocol.ts';
import { gatherEvidence, buildPositions } from '#trading/commit.ts';
import { computeDayStart } from '#trading/start.ts';
import {
  startTradingDay,
  callTool,
  dayTerms,
  computeDayEnd,
  enterAnswer,
  knownMarket,
  type RunningDay,
} from '#trading/running-day.ts';
import {
  messagesBeforeAnswer,
  isFillsMessage,
  type RecordedStep,
  resultMessage,
  readSteps,
} from '#trading/reasoning-log.ts';
import { type DecisionResult, decide } from '#trading/decision.ts';
import { isFromOutside } from '#trading/tools.ts';
import { createBrief } from '#trading/trading-day.ts';

/**
 * Makes the first messages of a model-day from its brief; those of tests may look at the record.
 */
export type MakeFirstMessages = (brief: Brief, record: DayRecord) => readonly ComparedMessage[];

/** As models read them, in the wording of the session. */
export const modelFirstMessages: MakeFirstMessages = (brief, { terms }) =>
  conversationTexts(terms.wording).firstMessages(brief, terms.entry.prompt);

/** What all model-days of a replay share. */
interface ReplayContext {
  reader: Reader;
  /** Tests whose agents begin with other messages have their own. */
  firstMessagesOf: MakeFirstMessages;
  /** The prices of its date as of its morning, which the models of a job share. */
  findMarket(record: DayRecord): Market;
  readTerms: TermsReader;
}

/**
 * Plays a model-day again and compares what that makes with what is stored: its morning from the
 * close before and the prices at the time, its tool calls from its recorded answers, its books from
 * both. Nothing that is compared is an input, except what came from outside.
 */
async function replayModelDay(
  { reader, firstMessagesOf, findMarket }: ReplayContext,
  record: DayRecord,
) {
  const comparison = createRecordComparison();
  const day = {
    differences: comparison.differences,
    /** Results that were taken from the record, because they came from outside. */
    fromOutside: 0,
  };
  try {
    const { start, play } = startReplay(record, findMarket(record));
    const messages = firstMessagesOf(createBrief(play), record);
    const conversation = record.conversation.filter((message) => !isFillsMessage(message));
    compareFirstMessages(messagesBeforeAnswer(conversation), messages, comparison);
    const steps = readSteps(conversation);
    const { fromOutside, decided } = await replayAnswers({ conversation, steps, play, comparison });
    day.fromOutside = fromOutside;
    const end = computeDayEnd(play);
    const { fillMarket: market, toolUsage, currentNote: note } = play;
    const atCommit = { reader, write: record.session.commitWrite };
    const evidence = gatherEvidence(atCommit, { ...start, ...end, market });
    const positions = buildPositions({ ...start, ...end }, closingMarks(evidence));
    // The books that it would be committed with.
    const books = {
      positions,
      evidence,
      documents: [...(play.documents?.shown.values() ?? [])],
      toolUsage: [...toolUsage.values()],
    };
    compareBooks(record, books, comparison);
    const session = { steps, messages: messages.length, note, decided, ...end };
    compareSession(record, session, comparison);
    // The decisions follow from the rest of the record, so only once that is the same.
    if (day.differences.length === 0) {
      const { sessionId } = record.session;
      comparison.compare('decisions', {
        kind: 'answers',
        stored: { rows: JSON.stringify(storedDecisions(reader, sessionId)) },
        replayed: { rows: JSON.stringify(toRows(end.decisions)) },
      });
    }
  } catch (error) {
    comparison.note('books', `it cannot be replayed: ${explainRecordFault(error)}`);
  }
  return day;
}

function startReplay(
  { past, terms, session: { sessionId, model, documents } }: DayRecord,
  market: Market,
) {
  const { agentConfig, universe, entry, wording } = terms;
  const playTerms = {
    ...dayTerms(agentConfig, entry, model),
    market,
    universe,
    wording,
    documents: documents === null ? null : { ...JSON.parse(documents), session: sessionId },
    news: entry.tools.includes('search_news') ? refuseSearch : null,
  };
  const start = computeDayStart(past, { ...playTerms, market: knownMarket(playTerms) });
  return { start, play: startTradingDay(playTerms, start) };
}

/** News results come only from the record. */
async function refuseSearch(): Promise<never> {
  throw new Error('the result of a news search is missing');
}

interface AnswerReplay {
  conversation: DayRecord['conversation'];
  steps: readonly RecordedStep[];
  play: RunningDay;
  comparison: RecordComparison;
}

/**
 * Runs the tool calls of all recorded answers. Returns how many results were taken from the record,
 * and what the last answer decided.
 */
async function replayAnswers({ conversation, steps, play, comparison }: AnswerReplay) {
  const results = conversation.filter(({ role }) => role === 'tool');
  let next = 0;
  let fromOutside = 0;
  let decided: DecisionResult | null = null;
  for (const [index, { answer, index: place }] of steps.entries()) {
    enterAnswer(play, answer, place);
    decided = decide(play.decider, answer, index === 0);
    if (decided !== null)
      comparison.compare(`step ${index + 1}`, {
        kind: 'answers',
        stored: { tool_calls: JSON.stringify(answer.toolCalls) },
        replayed: { tool_calls: JSON.stringify(decided.calls) },
      });
    for (const call of answer.toolCalls) {
      const stored = results[next];
      next += 1;
      const { fault } = answer;
      const at = { index: stored?.messageIndex ?? 0, recorded: stored?.content, fault };
      const made = resultMessage(call, await callTool(play, call, at));
      fromOutside += isFromOutside(play, call) ? 1 : 0;
      const what = `step ${index + 1}, ${call.name}`;
      comparison.compare(what, {
        kind: 'words',
        stored: { result: stored?.content },
        replayed: { result: made.content },
        symbols: mentionedSymbols(call.arguments),
      });
      comparison.compare(what, {
        kind: 'answers',
        stored: { tool_name: stored?.toolName, tool_input: stored?.toolInput },
        replayed: { tool_name: made.toolName, tool_input: made.toolInput },
      });
    }
  }
  return { fromOutside, decided };
}

/** The words of a call's arguments that may be symbols. */
function mentionedSymbols(args: string): string[] {
  return [...args.toUpperCase().matchAll(/[A-Z][A-Z0-9.-]*/g)].map(([word]) => word);
}

/** Findings listed by name; the rest are only counted. */
export const MAX_LISTED_FINDINGS = 1_000;
/** Sentences listed for one model-day; the rest are only counted. */
const MAX_SENTENCES = 10;

export interface Finding {
  model: string;
  date: CalendarDate;
  /** Null when there is no session. */
  sessionId: number | null;
  status: string;
  sentences: string[];
}

export type AuditReport = ReturnType<typeof emptyAuditReport>;

export interface ReplayOptions {
  filters?: ReplayFilters;
  /** Called from time to time with the number of model-days replayed and the total. */
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal | undefined;
  firstMessagesOf?: MakeFirstMessages;
}

export function emptyAuditReport() {
  const nothing = (): Listed<Finding> => ({ total: 0, first: [] });
  const stale: StaleModelDays = { total: 0, first: [], remedy: '' };
  return {
    models: 0,
    /** Active model-days, and how many of them are the same when they are replayed. */
    modelDays: 0,
    same: 0,
    superseded: { modelDays: 0, same: 0 },
    positions: 0,
    /** Model-days that differ when they are replayed. */
    problems: nothing(),
    /** Those that differ where a price that they could read may have been replaced unseen. */
    unverifiable: nothing(),
    /** Results of tools that came from outside, which are taken from the record. */
    fromOutside: 0,
    damage: [] as string[],
    /** Those whose start, prices, splits, dividends or exchanges have changed since: these are no errors. */
    stale,
  };
}

/** Time slice between which signals and messages arrive. */
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
  const { firstMessagesOf = modelFirstMessages } = options;
  const findMarket = sharedMarkets(reader);
  const replayed = {
    reader,
    firstMessagesOf,
    findMarket,
    readTerms: createTermsReader(),
  };
  let sliceEnd = 0;
  for (const date of datesOfSessions(reader)) {
    for (const session of committedSessionsOn(reader, date, filters)) {
      if (performance.now() >= sliceEnd) {
        onProgress(report.modelDays, total);
        await nextRound();
        signal?.throwIfAborted();
        sliceEnd = performance.now() + SLICE_MS;
      }
      addVerdict(report, session, await classifyModelDay(replayed, session));
    }
  }
  onProgress(report.modelDays, total);
}

/** The model-days of a job share the market of a date, as they did when they ran. */
function sharedMarkets(reader: Reader): ReplayContext['findMarket'] {
  let last: { agentConfig: AgentConfiguration; market: Market } | undefined;
  return ({ session: { date, morningWrite: write }, terms: { agentConfig, universe } }) => {
    const isSame = last?.market.date === date && last.market.prices.write === write;
    if (!isSame || last?.agentConfig !== agentConfig)
      last = { agentConfig, market: openMarket({ reader, write }, date, [...universe]) };
    return last.market;
  };
}

interface Verdict {
  kind: 'same' | 'problems' | 'unverifiable';
  sentences: string[];
  positions: number;
  fromOutside: number;
}

async function classifyModelDay(
  replayed: ReplayContext,
  session: ReplayedSession,
): Promise<Verdict> {
  const { reader, readTerms } = replayed;
  try {
    const day = readDayRecord(reader, session, readTerms);
    const { differences, fromOutside } = await replayModelDay(replayed, day);
    return {
      kind: verdictKind(reader, day, differences),
      sentences: differenceSentences(differences),
      positions: day.positions.length,
      fromOutside,
    };
  } catch (error) {
    const sentences = [`it cannot be read: ${explainRecordFault(error)}`];
    return { kind: 'problems', sentences, positions: 0, fromOutside: 0 };
  }
}

/**
 * The list to which differences belong. Only the first one counts, because the others may follow
 * from it.
 */
function verdictKind(
  reader: Reader,
  day: DayRecord,
  [first]: readonly Difference[],
): Verdict['kind'] {
  if (first === undefined) return 'same';
  if (first.kind === 'answers') return 'problems';
  const { date: upTo, commitWrite } = day.session;
  const symbols = first.symbols.length > 0 ? first.symbols : readableSymbols(day);
  return pricesOverwrittenSince(reader, { symbols, upTo }, commitWrite)
    ? 'unverifiable'
    : 'problems';
}

function differenceSentences(differences: readonly Difference[]): string[] {
  const sentences = differences.map(({ sentence }) => sentence);
  const rest = sentences.length - MAX_SENTENCES;
  return rest <= 0 ? sentences : [...sentences.slice(0, MAX_SENTENCES), `and ${rest} more`];
}

function addVerdict(
  report: AuditReport,
  session: ReplayedSession,
  { kind, sentences, positions, fromOutside }: Verdict,
): void {
  const { model, date, sessionId, status } = session;
  const counts = status === 'active' ? report : report.superseded;
  counts.modelDays += 1;
  if (kind === 'same') counts.same += 1;
  else addListed(report[kind], { model, date, sessionId, status, sentences });
  report.positions += positions;
  report.fromOutside += fromOutside;
}

export function addListed<Item>(list: Listed<Item>, item: Item): void {
  list.total += 1;
  if (list.first.length < MAX_LISTED_FINDINGS) list.first.push(item);
}
