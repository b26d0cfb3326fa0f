import { buildAgent } from '../build.mjs';
import { addDays } from '../src/calendar.ts';
import { createLineReader } from '../src/line-reader.ts';
import { fromDollars } from '../src/money.ts';
import { syntheticBars } from '../src/prices/synthetic.ts';
import {
  type ChildMessage,
  type Start,
  type ToolResults,
  childMessageSchema,
  decodeLine,
  encodeLine,
} from '../src/protocol.ts';
import type { Market } from '../src/trading/market.ts';
import { type Play, beginPlay, callTool } from '../src/trading/play.ts';
import { toolDescriptions } from '../src/trading/tools.ts';
import { briefOf } from '../src/trading/trading-day.ts';
import { NO_COSTS } from '../src/trading/trading-costs.ts';
import { nasdaq100 } from '../src/universe.ts';
import { startConfined } from '../src/worker/process.ts';
import { serveLines } from './helper.ts';

/**
 * Model-days without a service. The children are started as the service starts them, and their tool
 * calls are answered from prices in memory; there is no database, no HTTP and no check of limits.
 * Compared with empty processes, they show what a model-day costs even if the service costs
 * nothing. A helper.
 */

const DATE = '2019-06-03';
const HISTORY_DAYS = 30;
const HEAP_MB = 256;

const program = await buildAgent();
const market = marketOf(DATE);

await serveLines(async ({ children, parallel }: { children: number; parallel: number }) => {
  let left = children;
  const startedAt = performance.now();
  const worker = async (_none: unknown, index: number) => {
    while (left-- > 0) await tradeFor(`model-${index}`);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { ms: performance.now() - startedAt };
});

/**
 * Runs one model-day. Resolves when its process has ended; rejects if the model-day did not finish.
 */
async function tradeFor(signature: string): Promise<void> {
  const { child } = startConfined(program, { network: 'none', heapMb: HEAP_MB });
  const play = playOf();
  const start: Start = {
    type: 'start',
    signature,
    family: signature,
    model: { kind: 'simulated' },
    maxSteps: 30,
    prompt: null,
    brief: briefOf(play),
    tools: toolDescriptions(play),
    pastMessages: 0,
  };
  let outcome: ChildMessage | undefined;
  const hear = async (line: string) => {
    const message = decodeLine(childMessageSchema, line);
    if (message.type === 'answer' && message.toolCalls.length > 0)
      child.stdin?.write(encodeLine(await resultsOf(play, message)));
    if (message.type !== 'outcome') return;
    outcome = message;
    child.kill('SIGKILL'); // as the service does
  };
  child.stdout?.on(
    'data',
    createLineReader(
      (line) => void hear(line),
      () => child.kill(),
    ),
  );
  child.stdin?.write(encodeLine(start));
  await new Promise((resolve) => child.on('close', resolve));
  if (outcome?.type !== 'outcome' || outcome.result.status !== 'finished')
    throw new Error(`A child ended with ${JSON.stringify(outcome)}`);
}

async function resultsOf(
  play: Play,
  { toolCalls }: Extract<ChildMessage, { type: 'answer' }>,
): Promise<ToolResults> {
  const results: ToolResults['results'] = [];
  for (const call of toolCalls) results.push({ id: call.id, ...(await callTool(play, call)) });
  return { type: 'tool_results', results };
}

function playOf(): Play {
  const startPortfolio = { cash: fromDollars(10_000), holdings: new Map() };
  return beginPlay(
    { market, universe: new Set(nasdaq100), news: null, costs: NO_COSTS },
    { startPortfolio, morning: { actions: [], received: [] }, startNote: null },
  );
}

/** A market with synthetic prices of the whole universe up to this date, held in memory. */
function marketOf(date: string): Market {
  const dates = Array.from({ length: HISTORY_DAYS }, (_none, index) =>
    addDays(date, index + 1 - HISTORY_DAYS),
  );
  const bars = new Map(nasdaq100.map((symbol) => [symbol, syntheticBars(symbol, dates, date)]));
  const of = (symbol: string) => bars.get(symbol) ?? [];
  const open = (symbol: string) => fromDollars(of(symbol).at(-1)?.open ?? NaN);
  return {
    date,
    quote(symbol) {
      const before = of(symbol).at(-2);
      return {
        open: open(symbol),
        previousDate: before?.date ?? null,
        previousClose: fromDollars(before?.close ?? NaN),
      };
    },
    mark: open,
    knownMark: (symbol) => ({ price: open(symbol), date }),
    bar: (symbol, day) => of(symbol).find((bar) => bar.date === day) ?? null,
    bars: (symbol, count) => of(symbol).slice(-count),
  };
}
