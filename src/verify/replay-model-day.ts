import { wordsOf } from '../agent/prompt.ts';
import type { Reader } from '../database/database.ts';
import { decisionsOf, storedDecisions } from '../database/decisions.ts';
import { marksIn } from '../database/evidence.ts';
import type { StoredMessage } from '../database/replay.ts';
import { fromDollars } from '../basics/money.ts';
import type { Brief } from '../wire/protocol.ts';
import { type Start, startFrom } from '../trading/start.ts';
import { gatherEvidence, positionsOf } from '../trading/day-records.ts';
import type { Market } from '../trading/market.ts';
import {
  beginPlay,
  callTool,
  type DayEnd,
  endOfDay,
  knownMarket,
  type Play,
} from '../trading/running-day.ts';
import { orderTermsOf } from '../trading/orders.ts';
import {
  firstMessagesIn,
  isFills,
  type RecordedStep,
  resultMessage,
  stepsIn,
} from '../trading/reasoning-log.ts';
import { isFromOutside } from '../trading/tools.ts';
import { briefOf } from '../trading/trading-day.ts';
import {
  type Books,
  compareBooks,
  compareFirstMessages,
  compareSession,
  type Comparison,
  createComparison,
  type Difference,
} from './books.ts';
import { type DayRecord, faultOf } from './record.ts';

/**
 * Makes the first messages of a model-day from its brief; those of tests may look at the record.
 */
export type FirstMessagesOf = (brief: Brief, record: DayRecord) => readonly Message[];
type Message = Pick<StoredMessage, 'role' | 'content'>;

/** As models read them, in the wording of the session. */
export const firstMessagesOfModels: FirstMessagesOf = (brief, { terms }) =>
  wordsOf(terms.wording).firstMessages(brief, terms.entry.prompt);

/** What all model-days of a replay share. */
export interface ReplayContext {
  reader: Reader;
  /** Tests whose agents begin with other messages have their own. */
  firstMessagesOf: FirstMessagesOf;
  /** The prices of its date as of its morning, which the models of a job share. */
  marketOf(record: DayRecord): Market;
}

/** What the replay of one model-day found. */
export interface ReplayedDay {
  differences: Difference[];
  /** Results that were taken from the record, because they came from outside. */
  fromOutside: number;
}

/**
 * Plays a model-day again and compares what that makes with what is stored: its morning from the
 * close before and the prices at the time, its tool calls from its recorded answers, its books from
 * both. Nothing that is compared is an input, except what came from outside.
 */
export async function replayModelDay(
  { reader, firstMessagesOf, marketOf }: ReplayContext,
  record: DayRecord,
): Promise<ReplayedDay> {
  const comparison = createComparison();
  const day = { differences: comparison.differences, fromOutside: 0 };
  try {
    const { start, play } = begin(record, marketOf(record));
    const messages = firstMessagesOf(briefOf(play), record);
    const conversation = record.conversation.filter((message) => !isFills(message));
    compareFirstMessages(firstMessagesIn(conversation), messages, comparison);
    const steps = stepsIn(conversation);
    day.fromOutside = await answerAgain({ record, steps, play, comparison });
    const end = endOfDay(play);
    compareBooks(record, booksOf(reader, { record, start, play, end }), comparison);
    const session = { steps, messages: messages.length, note: play.ownNote, ...end };
    compareSession(record, session, comparison);
    if (day.differences.length === 0) compareDecisions(reader, record, comparison);
  } catch (error) {
    comparison.note('books', `it cannot be replayed: ${faultOf(error)}`);
  }
  return day;
}

function begin({ past, terms }: DayRecord, market: Market): { start: Start; play: Play } {
  const { agentConfig, universe, entry, wording } = terms;
  const initialCash = fromDollars(agentConfig.initial_cash);
  const orders = orderTermsOf(agentConfig);
  const start = startFrom(past, {
    market: knownMarket({ market, ...orders }),
    initialCash,
    paysDividends: agentConfig.dividends,
  });
  const hasNews = entry.tools.includes(NEWS);
  const news = hasNews ? notSearched : null;
  const own = { hasNotes: entry.notes, offered: entry.tools, wording };
  const play = beginPlay({ market, universe, news, ...orders, ...own }, start);
  return { start, play };
}

const NEWS = 'search_news';

/** News results come only from the record. */
async function notSearched(): Promise<never> {
  throw new Error('the result of a news search is missing');
}

interface Answering {
  record: DayRecord;
  steps: readonly RecordedStep[];
  play: Play;
  comparison: Comparison;
}

/**
 * Runs the tool calls of all recorded answers. Returns how many results were taken from the record.
 */
async function answerAgain({ record, steps, play, comparison }: Answering): Promise<number> {
  const results = record.conversation.filter(
    (message) => message.role === 'tool' && !isFills(message),
  );
  let next = 0;
  let fromOutside = 0;
  for (const [index, { answer }] of steps.entries()) {
    for (const call of answer.toolCalls) {
      const stored = results[next];
      next += 1;
      const { content } = await callTool(play, call, stored?.content);
      fromOutside += isFromOutside(play, call) ? 1 : 0;
      const made = resultMessage(call, content);
      const what = `step ${index + 1}, ${call.name}`;
      comparison.compare(what, {
        kind: 'words',
        stored: { result: stored?.content },
        replayed: { result: made.content },
        symbols: symbolsIn(call.arguments),
      });
      comparison.compare(what, {
        kind: 'answers',
        stored: { tool_name: stored?.toolName, tool_input: stored?.toolInput },
        replayed: { tool_name: made.toolName, tool_input: made.toolInput },
      });
    }
  }
  return fromOutside;
}

/** The words of a call's arguments that may be symbols. */
function symbolsIn(args: string): string[] {
  return [...args.toUpperCase().matchAll(/[A-Z][A-Z0-9.-]*/g)].map(([word]) => word);
}

interface Played {
  record: DayRecord;
  start: Start;
  play: Play;
  end: DayEnd;
}

/** The books that it would be committed with. */
function booksOf(reader: Reader, { record, start, play, end }: Played): Books {
  const { exchange: market, toolUsage } = play;
  const { actions, portfolio } = end;
  const atCommit = { reader, write: record.session.commitWrite };
  const evidence = gatherEvidence(atCommit, { ...start, market, actions });
  const ledger = { actions, portfolio, startValue: start.startValue };
  const positions = positionsOf(ledger, marksIn(evidence));
  return { positions, evidence, toolUsage: [...toolUsage.values()] };
}

/** They follow from the rest of the record, so only once that is the same. */
function compareDecisions(
  reader: Reader,
  { session: { sessionId } }: DayRecord,
  { compare }: Comparison,
): void {
  const stored = { rows: JSON.stringify(storedDecisions(reader, sessionId)) };
  const replayed = { rows: JSON.stringify(decisionsOf(reader, sessionId)) };
  compare('decisions', { kind: 'answers', stored, replayed });
}
