import { WORDING, type Wording } from '../agent/prompt.ts';
import type { ToolUsageRow } from '../database/sessions.ts';
import type { ToolCall } from '../wire/protocol.ts';
import type { Market } from './market.ts';
import type { Morning } from './morning.ts';
import type { NewsSearch } from './news.ts';
import { type Action, assertSound, type Portfolio, type TradingCosts } from './portfolio.ts';
import { runTool, type ToolResult } from './tools.ts';
import type { TradingDay } from './trading-day.ts';

/** Tool names in `tool_usage` are the model's words; longer ones are cut. */
export const MAX_TOOL_NAME_LENGTH = 100;

/**
 * A day as it is played: what its tools see, and what their calls have made of it. Live, and again
 * from its record.
 */
export interface Play extends TradingDay {
  /** The ledger so far. */
  readonly actions: Action[];
  /** By the name of the tool. */
  readonly toolUsage: Map<string, ToolUsageRow>;
  /** The note as it is now, whether the model may read it or not. */
  ownNote: string | null;
}

interface Terms {
  market: Market;
  universe: ReadonlySet<string>;
  news: NewsSearch | null;
  costs: TradingCosts;
  /** Whether the model may keep a note; its note is carried on in any case. */
  hasNotes?: boolean;
  wording?: Wording;
}

/** A day in the morning: splits applied, dividends paid, nothing called yet. */
export function beginPlay(
  { market, universe, news, costs, hasNotes, wording = WORDING }: Terms,
  {
    startPortfolio,
    morning,
    startNote,
  }: { startPortfolio: Portfolio; morning: Morning; startNote: string | null },
): Play {
  const actions: Action[] = [];
  const play: Play = {
    market,
    universe,
    news,
    costs,
    wording,
    actions,
    get portfolio() {
      return actions.at(-1)?.portfolio ?? startPortfolio;
    },
    received: morning.received,
    get note() {
      return hasNotes ? play.ownNote : undefined;
    },
    ownNote: startNote,
    toolUsage: new Map(),
  };
  for (const action of morning.actions) enter(play, action);
  return play;
}

/**
 * Runs one tool call, enters its action in the ledger and counts it. `recorded` is the result it
 * returned before.
 */
export async function callTool(
  play: Play,
  call: ToolCall,
  recorded?: string,
): Promise<Pick<ToolResult, 'content' | 'isMalformed'>> {
  const startedAt = performance.now();
  const { content, isRefused, isMalformed, action, note } = await runTool(play, call, recorded);
  if (action !== null) enter(play, action);
  if (note !== undefined) play.ownNote = note === '' ? null : note;
  // Half a character would be stored as another one, which could make two names the same.
  const toolName = call.name.slice(0, MAX_TOOL_NAME_LENGTH).toWellFormed();
  const usage = play.toolUsage.get(toolName) ?? { toolName, calls: 0, refused: 0, durationMs: 0 };
  usage.calls += 1;
  usage.refused += isRefused ? 1 : 0;
  usage.durationMs += performance.now() - startedAt;
  play.toolUsage.set(toolName, usage);
  return { content, ...(isMalformed && { isMalformed }) };
}

/** The only way into the ledger. */
function enter({ actions }: Play, action: Action): void {
  assertSound(action.portfolio);
  actions.push(action);
}
