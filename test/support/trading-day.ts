import { WORDING } from '../../src/core/agent/prompt.ts';
import type { ToolCall } from '../../src/core/wire/protocol.ts';
import type { Action, Portfolio } from '../../src/core/trading/portfolio.ts';
import { replyContent, runTool } from '../../src/core/trading/tools.ts';
import type { TradingDay } from '../../src/core/trading/trading-day.ts';
import { US_RULES } from './market-rules.ts';

type DayParts = Pick<TradingDay, 'market' | 'universe' | 'portfolio'> & Partial<TradingDay>;

/** A day with the rest as it mostly is. */
export function tradingDay(parts: DayParts): TradingDay {
  return {
    ...{ rules: US_RULES, isOpenHidden: false, limits: null, decider: null, wording: WORDING },
    ...{ news: null, documents: null, note: undefined, unfilled: [], left: [] },
    ...{ received: [], exchanged: [], lost: [], arrived: new Map() },
    ...{ placed: [], bought: () => 0, expected: parts.portfolio, orders: 0, refused: 0 },
    ...parts,
  };
}

/** A day with a ledger, without a session or a database of sessions. */
export interface LedgerDay extends TradingDay {
  portfolio: Portfolio;
  readonly actions: Action[];
}

/** Runs a tool call and enters what it did in the day's ledger. */
export async function callTool(day: LedgerDay, call: ToolCall) {
  const orders = day.actions.filter(({ actionType }) => /buy|sell/.test(actionType)).length;
  const reply = await runTool({ ...day, orders, expected: day.portfolio }, call);
  day.actions.push(...(reply.orders ?? []).flatMap(({ action }) => action ?? []));
  day.portfolio = reply.portfolio ?? day.portfolio;
  return { reply, content: replyContent(reply) };
}
