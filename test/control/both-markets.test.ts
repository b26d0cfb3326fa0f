import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import type { ChatMessage } from '../../src/core/agent/model.ts';
import { createBaselineModel } from '../../src/core/agent/players/baselines.ts';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import { type CalendarDate, weekdays } from '../../src/core/time/calendar.ts';
import { writeControlMarket } from '../../src/features/control-markets/control-market.ts';
import { drawKey, shiftBack } from '../../src/features/control-markets/key.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { storeDividends, storeSplits } from '../../src/core/database/splits-and-dividends.ts';
import { type Exchange, eventsBetween, storeExchanges } from '../../src/core/database/exchanges.ts';
import type { BaselineStrategy } from '../../src/core/domain/vocabulary.ts';
import { fromDollars } from '../../src/core/money/money.ts';
import { importFile } from '../../src/features/price-files/import.ts';
import { applyCorporateActions } from '../../src/core/trading/morning.ts';
import {
  closingMark,
  currentMark,
  type Market,
  openMarket,
} from '../../src/core/trading/market.ts';
import { type Portfolio, heldQuantity, valuePortfolio } from '../../src/core/trading/portfolio.ts';
import { createBrief } from '../../src/core/trading/trading-day.ts';
import { compare, model } from '../support/comparisons.ts';
import { storePrices } from '../support/prices.ts';
import { copyTemplate } from '../support/service.ts';
import { callTool, type LedgerDay, tradingDay } from '../support/trading-day.ts';
import { temporaryFolder } from '../support/folder.ts';
import { US_RULES } from '../support/market-rules.ts';

/**
 * A market and its control market: rules do the same in both, a model that remembers the real
 * prices does not.
 */

const SYMBOLS = Array.from({ length: 8 }, (_, index) => `STOCK${index}`);
const HOLIDAYS = ['2025-06-19', '2025-07-04'];
const DATES = weekdays('2025-05-05', '2025-09-01').filter((date) => !HOLIDAYS.includes(date));
/** Sixty days, after some history to rank by. */
const DAYS = DATES.slice(-60);
const SPLIT_DATE = DAYS[25] as CalendarDate;
const SPLIT = { symbol: 'STOCK3', date: SPLIT_DATE, numerator: 4, denominator: 1 };
/** One of them pays on the day of its split, and pays on the old shares: about 3 percent each. */
const DIVIDENDS = [
  { symbol: 'STOCK0', exDate: DAYS[10] as CalendarDate, cash: 2_437_501 },
  { symbol: 'STOCK3', exDate: SPLIT_DATE, cash: 6_100_000 },
  { symbol: 'STOCK3', exDate: DAYS[40] as CalendarDate, cash: 1_500_000 },
  { symbol: 'STOCK6', exDate: DAYS[20] as CalendarDate, cash: 9_999_999 },
];
const IN_JUNE = DAYS[12] as CalendarDate;
/** What an exchange brings is not in the universe, or splits after it, as its old share does. */
const EXCHANGES: Exchange[] = [
  {
    ...{ symbol: 'STOCK3', date: IN_JUNE, into: 'SPUN', cash: 1_250_001 },
    ...{ numerator: 2, denominator: 7, remains: 1 },
  },
  {
    ...{ symbol: 'STOCK5', date: IN_JUNE, into: 'STOCK3', cash: 0 },
    ...{ numerator: 5, denominator: 4, remains: 0 },
  },
  {
    ...{ symbol: 'STOCK3', date: SPLIT_DATE, into: 'SPUN', cash: 0 },
    ...{ numerator: 1, denominator: 9, remains: 1 },
  },
  {
    ...{ symbol: 'STOCK1', date: DAYS[30] as CalendarDate, into: '', cash: 99_000_000 },
    ...{ numerator: null, denominator: null, remains: 0 },
  },
];
/** So much that the rounding to whole shares hardly matters. */
const CASH = 100_000_000;

/** Returns of some percent a day, other ones for each stock; STOCK3 splits. */
function rawPrices(): string {
  return [...SYMBOLS, 'SPUN']
    .flatMap((symbol, place) =>
      DATES.map((date, day) => {
        const drift = 0.05 * Math.sin(day * (0.3 + place / 9)) + (0.002 * (place - 3) * day) / 5;
        const level = 40 * (place + 2) * Math.exp(drift);
        const raw = symbol === SPLIT.symbol && date >= SPLIT.date ? level / 4 : level;
        return `${symbol} ${date} ${raw.toFixed(4)} ${(raw * (1 + 0.01 * Math.cos(day * (place + 1)))).toFixed(4)}`;
      }),
    )
    .join('\n');
}

interface World {
  database: CommandDatabase;
  symbols: string[];
  dates: CalendarDate[];
}

let real: World;
let control: World;
before(async (t) => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  copyTemplate(path);
  const database = openDatabase(path, { durability: 'process-end' });
  (t as TestContext).after(() => database.close());
  storePrices(database, rawPrices());
  const stamp = { source: 'csv', recordedAt: '2025-10-01T00:00:00.000Z' };
  database.transaction(() =>
    storeSplits(database, { symbol: 'STOCK3', splits: [SPLIT], endDate: '2025-09-30' }, stamp),
  );
  const [from, to] = [DATES[0] as CalendarDate, DATES.at(-1) as CalendarDate];
  const spans = SYMBOLS.map((symbol) => ({ symbol, startDate: from, endDate: to }));
  database.transaction(() =>
    storeDividends(database, { dividends: DIVIDENDS, spans, basis: 'as_paid' }, stamp),
  );
  database.transaction(() => storeExchanges(database, EXCHANGES, 'csv'));
  const key = drawKey('river', SYMBOLS, { weeks: null, from });
  const out = join(folder, 'control');
  const { bars, dividends, disguises } = await writeControlMarket(path, out, {
    ...{ key, from, to, name: 'control', rules: US_RULES, signal: new AbortController().signal },
  });
  const take = (name: string) => importFile(database, join(out, name), { clock: () => new Date() });
  const imported = await take('prices.csv');
  assert.equal(bars, [...SYMBOLS, 'SPUN'].length * DATES.length);
  const codes = new Map(disguises.map(({ symbol, code }) => [symbol, code]));
  assert.deepEqual([...codes.keys()].sort(), ['SPUN', ...SYMBOLS]);
  const exchanged = await take('exchanges.csv');
  assert.deepEqual([exchanged.exchanges, exchanged.refused.size], [{ stored: 4, none: 0 }, 0]);
  assert.deepEqual([imported.bars, imported.refused.size], [bars, 0]);
  const paid = await take('dividends.csv');
  assert.deepEqual([dividends, paid.dividends, paid.refused.size], [DIVIDENDS.length, 4, 0]);
  assert.equal(paid.symbols.length, SYMBOLS.length);
  real = { database, symbols: SYMBOLS, dates: DAYS };
  control = {
    database,
    symbols: key.disguises.map(({ code }) => code),
    dates: DAYS.map((date) => shiftBack(date, key)),
  };
});

type Trader = (day: LedgerDay) => Promise<void>;

/** The daily returns from close to close, on the first day from the initial cash. */
async function play({ database, symbols, dates }: World, trader: Trader): Promise<number[]> {
  let portfolio: Portfolio = { cash: fromDollars(CASH), holdings: new Map() };
  let value: number = portfolio.cash;
  let before: CalendarDate | null = null;
  const returns: number[] = [];
  for (const date of dates) {
    const market = openMarket(latestPrices(database), date, symbols);
    if (before !== null) portfolio = morning(database, portfolio, { market, before });
    const day: LedgerDay = {
      ...tradingDay({ market, universe: new Set(symbols), portfolio }),
      actions: [],
    };
    await trader(day);
    portfolio = day.portfolio;
    const marks = [...portfolio.holdings.keys()].map(
      (symbol) => [symbol, closingMark(latestPrices(database), date, symbol)!.price] as const,
    );
    const close = valuePortfolio(portfolio, new Map(marks));
    returns.push(close / value - 1);
    [value, before] = [close, date];
  }
  return returns;
}

/** What is held at a close, after the dividends and splits up to the next morning. */
function morning(
  database: CommandDatabase,
  portfolio: Portfolio,
  { market, before }: { market: Market; before: CalendarDate },
): Portfolio {
  const held = [...portfolio.holdings.keys()];
  const since = { after: before, upTo: market.date };
  const { events } = eventsBetween(latestPrices(database), held, { ...since, paysDividends: true });
  return applyCorporateActions(portfolio, events, market).portfolio;
}

function baseline(strategy: BaselineStrategy): Trader {
  return async (day) => {
    const brief = createBrief(day);
    const conversation: ChatMessage[] = firstMessages(brief);
    const ask = createBaselineModel(strategy, { signature: strategy, brief });
    for (;;) {
      const { content, toolCalls } = await ask(conversation);
      conversation.push({ role: 'assistant', content, toolCalls });
      if (toolCalls.length === 0) return;
      for (const call of toolCalls) {
        const { content: result } = await callTool(day, call);
        conversation.push({ role: 'tool', id: call.id, content: result });
      }
    }
  };
}

/**
 * Each morning moves everything into the stock that, as it remembers, rises most until the next
 * morning.
 */
function rememberer(): Trader {
  const bars = rawPrices()
    .split('\n')
    .map((line) => line.split(' ') as [symbol: string, date: string, open: string]);
  const remembered = new Map(
    bars.map(([symbol, date, open], index) => [
      `${symbol} ${date}`,
      Number(bars[index + 1]?.[2] ?? open) / Number(open),
    ]),
  );
  const order = (day: LedgerDay, name: 'buy' | 'sell', symbol: string, amount: number) =>
    callTool(day, { id: name, name, arguments: JSON.stringify({ symbol, amount }) });
  return async (day) => {
    const growth = (symbol: string) => remembered.get(`${symbol} ${day.market.date}`) ?? 0;
    const [best = ''] = [...day.universe].sort((one, other) => growth(other) - growth(one));
    if (heldQuantity(day.portfolio, best) > 0) return;
    for (const [symbol, held] of day.portfolio.holdings) await order(day, 'sell', symbol, held);
    await order(day, 'buy', best, Math.floor(day.portfolio.cash / currentMark(day.market, best)));
  };
}

/** A model and its control, day number by day number. */
async function comparePlays(trader: Trader) {
  const [there, here] = [await play(real, trader), await play(control, trader)];
  const compared = compare([model('real', { real: there }), model('control', { control: here })], {
    against: 'control',
  });
  assert.equal(compared.days.length, DAYS.length);
  const [pair] = compared.pairs;
  assert.ok(pair !== undefined);
  return { there, here, pair };
}

for (const strategy of ['buy-and-hold', 'equal-weight', 'momentum'] as const) {
  test(`${strategy} does the same in both markets over ${DAYS.length} days with a split, dividends and exchanges, up to whole shares`, async () => {
    const { there, here, pair } = await comparePlays(baseline(strategy));
    const apart = there.map((value, day) => Math.abs(value - (here[day] as number)));
    const worst = apart.indexOf(Math.max(...apart));
    assert.ok((apart[worst] as number) < 2e-5, `day ${worst}: ${there[worst]} and ${here[worst]}`);
    const moved = there.filter((value) => Math.abs(value) > 1e-3).length;
    assert.ok(moved > DAYS.length / 2, 'there is something to compare');
    assert.ok(Math.abs(Number(pair.difference)) < 1e-4, `${pair.difference}`);
    assert.equal(pair.shown, false);
  });
}

test('a model that remembers the real prices shows a large difference', async () => {
  const { pair } = await comparePlays(rememberer());
  assert.ok(Number(pair.difference) > 0.2, `${pair.difference}`);
  assert.equal(pair.shown, true);
});
