import fc from 'fast-check';
import { weekdays } from '../../src/core/time/calendar.ts';
import type { ClosingHolding } from '../../src/features/performance/holdings-queries.ts';
import type { LedgerDay } from '../../src/features/performance/queries.ts';
import { type Money, money, toDollars } from '../../src/core/money/money.ts';
import type { Market } from '../../src/core/trading/market.ts';
import { applyCorporateActions } from '../../src/core/trading/morning.ts';
import type { StoredEvents } from '../../src/core/database/exchanges.ts';
import {
  type Portfolio,
  trade as execute,
  valuePortfolio,
} from '../../src/core/trading/portfolio.ts';
import type { ActionRecord } from './recompute.ts';
import { NO_COSTS } from './market-rules.ts';

/** Random lives of a portfolio, made into ledgers by the service's own accounting. */

const SYMBOLS = ['AAPL', 'MSFT', 'NVDA'];
/** What an exchange may bring that no order buys. */
const BROUGHT = ['NEW', 'NEWER'];

/** Mostly small moves; now and then none, a jump, or the end of a company. */
const anyMove = fc.oneof(
  { weight: 60, arbitrary: fc.integer({ min: -300, max: 300 }).map((points) => points / 10_000) },
  { weight: 20, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constantFrom(0.3, -0.5) },
  { weight: 1, arbitrary: fc.constant(-1) },
);
const anyOrder = fc.record({
  side: fc.constantFrom('buy' as const, 'sell' as const),
  symbol: fc.constantFrom(...SYMBOLS),
  amount: fc.integer({ min: 1, max: 30 }),
});
const anyRatio = fc.record({
  numerator: fc.integer({ min: 1, max: 5 }),
  denominator: fc.integer({ min: 1, max: 5 }),
});

const WORTHLESS = {
  ...{ into: '', cash: 0, remains: 0 as 0 | 1 },
  ...{ numerator: null as number | null, denominator: null as number | null },
};

/**
 * What happens on a day: no model-day at all, orders, a dividend and a split of AAPL in the
 * morning, and how prices move.
 */
export const anyDay = fc.record({
  isLeftOut: fc.boolean(),
  orders: fc.array(anyOrder, { maxLength: 3 }),
  moves: fc.array(anyMove, { minLength: 3, maxLength: 3 }),
  split: fc.option(anyRatio, { freq: 12 }),
  dividend: fc.option(fc.integer({ min: 1, max: 3_000_000 }), { freq: 6 }),
});
const anyBrought = fc.record({
  into: fc.constantFrom('NVDA', ...BROUGHT),
  cash: fc.constantFrom(0, 0, 3_333_333, 250_000_000),
  ...{ numerator: fc.integer({ min: 1, max: 9 }), denominator: fc.integer({ min: 1, max: 9 }) },
  remains: fc.constantFrom<0 | 1>(0, 1),
});

/** One on which MSFT may be exchanged besides, or what it was exchanged into, for one or two symbols or cash. */
export const anyDayWithExchange = fc
  .tuple(
    anyDay,
    fc.option(
      fc.record({
        symbol: fc.constantFrom('MSFT', 'NEW'),
        rows: fc.oneof(
          fc.uniqueArray(anyBrought, { minLength: 1, maxLength: 2, selector: ({ into }) => into }),
          fc.constantFrom(0, 54_200_000).map((cash) => [{ ...WORTHLESS, cash }]),
        ),
      }),
      { freq: 3 },
    ),
  )
  .map(([day, exchange]): Day => ({ ...day, exchange }));

export interface Day {
  /** What becomes of a holding in the morning; new shares are worth what moves make of 50 dollars. */
  exchange?: { symbol: string; rows: (typeof WORTHLESS)[] } | null;
  isLeftOut: boolean;
  orders: { side: 'buy' | 'sell'; symbol: string; amount: number }[];
  moves: number[];
  split: { numerator: number; denominator: number } | null;
  /** Per share, in 1/1,000,000 dollar. */
  dividend?: number | null;
}

export interface Life {
  initialCash: number;
  /** Per order. */
  commission?: number;
  /** Whether days that are left out are; their prices move all the same. */
  withGaps?: boolean;
  /** Splits that happen at most; with `forward` they leave no fractions. */
  splits?: { most: number; forward: boolean };
  start?: string;
}

interface State {
  portfolio: Portfolio;
  prices: Map<string, Money>;
  splitsLeft: number;
}

type Actions = LedgerDay['actions'];

/** A day with what is held at its close. */
export type LivedDay = LedgerDay & { holdings: ClosingHolding[] };

export function liveThrough(days: readonly Day[], life: Life): LivedDay[] {
  const dates = weekdays(life.start ?? '2025-01-06', '2027-12-31');
  const state: State = {
    portfolio: { cash: money(life.initialCash), holdings: new Map() },
    prices: new Map([
      ...SYMBOLS.map((symbol, index) => [symbol, money(1_000_000 * (index + 1))] as const),
      ...BROUGHT.map((symbol) => [symbol, money(500_000)] as const),
    ]),
    splitsLeft: life.splits?.most ?? 0,
  };
  const ledger: LivedDay[] = [];
  days.forEach((day, index) => {
    const takesPart = !(life.withGaps && day.isLeftOut);
    const actions = takesPart
      ? [
          ...pay(state, day),
          ...split(state, day, life),
          ...exchange(state, day),
          ...trade(state, day, life),
        ]
      : [];
    movePrices(state, day);
    const date = dates[index] as string;
    if (takesPart) ledger.push(closeDay(state, life, { date, actions, past: ledger.at(-1) }));
  });
  return ledger;
}

function pay(state: State, { dividend: perShare }: Day): Actions {
  if (!perShare || !state.portfolio.holdings.has('AAPL')) return [];
  const own = {
    symbol: 'AAPL',
    exDate: 'now',
    cash: perShare,
    basis: 'as_paid',
    splits: '',
  } as const;
  return openMorning(state, { dividends: [own] }).actions;
}

/** By the service's own accounting; prices are those of the state. */
function openMorning(state: State, events: Partial<StoredEvents>) {
  const knownMark = (name: string) => ({ price: state.prices.get(name) as Money, date: 'now' });
  const all = { splits: [], dividends: [], exchanges: [], ...events };
  const morning = applyCorporateActions(state.portfolio, all, { knownMark } as Market);
  state.portfolio = morning.portfolio;
  return { actions: morning.actions, knownMark };
}

function split(state: State, day: Day, { splits }: Life): Actions {
  if (day.split === null || state.splitsLeft === 0) return [];
  const { numerator, denominator } = splits?.forward ? { ...day.split, denominator: 1 } : day.split;
  if (numerator === denominator) return [];
  state.splitsLeft -= 1;
  const price = money(Math.round(((state.prices.get('AAPL') as number) * denominator) / numerator));
  state.prices.set('AAPL', price);
  if (!state.portfolio.holdings.has('AAPL')) return [];
  const own = { symbol: 'AAPL', date: 'now', numerator, denominator };
  return openMorning(state, { splits: [own] }).actions;
}

/** With the terms that evidence would give. */
function exchange(state: State, { exchange: given }: Day): Actions {
  if (!given) return [];
  const { symbol, rows } = given;
  const exchanges = rows
    .filter(({ into }) => into !== symbol)
    .map((row) => ({ ...row, symbol, date: 'now', splits: '', intoSplits: '' }));
  if (exchanges.length === 0) return [];
  const { actions, knownMark } = openMorning(state, { exchanges });
  return actions.map((action) => {
    const row = exchanges.find(({ into }) => into === action.symbol);
    return {
      ...action,
      open: knownMark(String(action.symbol)).price,
      ratio: Number(row?.numerator) / Number(row?.denominator),
    };
  });
}

function trade(state: State, { orders }: Day, { commission = 0 }: Life): Actions {
  return orders.flatMap(({ side, symbol, amount }) => {
    const price = state.prices.get(symbol) as Money;
    if (price === 0) return [];
    const order = { side, symbol, amount, price, costs: NO_COSTS };
    const { portfolio } = execute(state.portfolio, order);
    if (portfolio === undefined || portfolio.cash < commission) return [];
    state.portfolio = { ...portfolio, cash: money(portfolio.cash - commission) };
    return [{ actionType: side, symbol, amount, price, cash: state.portfolio.cash }];
  });
}

function movePrices({ prices }: State, { moves }: Day): void {
  [...SYMBOLS, ...BROUGHT].forEach((symbol, at) => {
    const moved = (prices.get(symbol) as number) * (1 + (moves[at % SYMBOLS.length] as number));
    prices.set(symbol, money(Math.round(moved)));
  });
}

function closeDay(
  { portfolio, prices }: State,
  life: Life,
  { date, actions, past }: { date: string; actions: Actions; past: LedgerDay | undefined },
): LivedDay {
  const { cash } = portfolio;
  const value = valuePortfolio(portfolio, prices);
  const isQuiet = actions.every(({ actionType }) => !/^(buy|sell)$/.test(actionType));
  const nothing = {
    actionType: 'no_trade',
    symbol: null,
    amount: null,
    price: null,
    cash,
  } as const;
  return {
    sessionId: (past?.sessionId ?? 0) + 1,
    date,
    startedFrom: past?.sessionId ?? null,
    initialCash: past === undefined ? money(life.initialCash) : null,
    actions: isQuiet ? [...actions, nothing] : actions,
    cash,
    value,
    profit: money(value - (past?.value ?? life.initialCash)),
    holdings: [...portfolio.holdings].map(([symbol, quantity]) => ({
      symbol,
      quantity,
      price: prices.get(symbol) ?? null,
    })),
  };
}

/** A ledger as the records of GET /results. */
export function recordsOf(ledger: readonly LedgerDay[]): ActionRecord[] {
  return ledger.flatMap((day) =>
    day.actions.map(({ actionType, symbol, amount, price, cash }, index) => ({
      date: day.date,
      model: 'm',
      action_id: index + 1,
      action_type: actionType,
      symbol,
      amount,
      price: price === null ? null : toDollars(price),
      cash: toDollars(cash),
      portfolio_value: toDollars(day.value),
      daily_profit: toDollars(day.profit),
      daily_return_pct: null,
      holdings: [],
    })),
  );
}
