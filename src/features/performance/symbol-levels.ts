import { exchangesBetween, type StoredExchange } from '#database/exchanges.ts';
import type { Database } from '#database/database.ts';
import { type Split, splitsBetween } from '#database/market-queries.ts';
import { latestPrices } from '#database/price-writes.ts';
import { dividendsBetween } from '#database/splits-and-dividends.ts';
import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import { approximateCashPerShare, sharesPerOld } from '#trading/morning.ts';
import { MAX_STILL_DAYS } from '../statistics/figure.ts';
import {
  type BenchmarkBar,
  type CashDividend,
  type Levels,
  type ShareExchange,
  symbolLevels,
} from './benchmark.ts';
import { barsBetween } from './queries.ts';

/** Cash per share comes in 1/1,000,000 dollar. */
const MILLIONTHS = 1_000_000;
/** After all dates. */
const NEVER = '~';

/**
 * The levels of a symbol, and of the shares that it is exchanged into, as one chain; what ends in
 * cash ends with a level of that. Those of a member of the universe end with the exchange.
 */
export function readSymbolLevels(
  database: Database,
  first: string,
  {
    paysDividends,
    isMember = false,
    from,
    to,
  }: DateSpan & Record<'paysDividends', boolean> & { isMember?: boolean },
): Levels {
  const prices = latestPrices(database);
  let [symbol, bars] = [first, barsBetween(database, first, { from, to })];
  let [after, exchangedOn] = [bars[0]?.date ?? to, NEVER];
  const chain: BenchmarkBar[] = [];
  const events = {
    splits: [] as Split[],
    dividends: [] as CashDividend[],
    exchanges: [] as ShareExchange[],
  };
  const addUpTo = (upTo: CalendarDate) => {
    const since = { after, upTo };
    events.splits.push(...splitsBetween(prices, [symbol], since));
    for (const dividend of paysDividends ? dividendsBetween(prices, [symbol], since) : [])
      events.dividends.push({ exDate: dividend.exDate, cash: dollarsOf(dividend) });
  };
  const known = exchangesBetween(prices, [symbol], { after, upTo: to });
  for (const rows of Map.groupBy(known, (row) => `${row.date} ${row.symbol}`).values()) {
    const [{ date, symbol: old } = { date: '', symbol: '' }] = rows;
    if (old !== symbol) continue;
    const remains = rows.every((row) => row.remains === 1);
    const next = remains ? undefined : rows.find(({ into }) => into !== '');
    let cash = 0;
    for (const row of rows)
      cash +=
        dollarsOf({ ...row, basis: 'as_paid' }) + (row === next ? 0 : valueBrought(database, row));
    events.exchanges.push({ date, ratio: remains ? 1 : next ? sharesPerOld(next) : 0, cash });
    if (remains) continue;
    if (exchangedOn === NEVER) exchangedOn = date;
    chain.push(...bars.filter((bar) => bar.date < date));
    addUpTo(date);
    [symbol, after] = [next?.into ?? '', date];
    bars = next
      ? barsBetween(database, symbol, { from: date, to }).filter((bar) => bar.date >= date)
      : [{ date, open: 1, close: 1 }]; // cash is a share that is worth a dollar
  }
  addUpTo(to);
  const levels = symbolLevels([...chain, ...bars], events);
  if (!isMember) return levels;
  const last = levels.find(({ date }) => date >= exchangedOn)?.date ?? NEVER;
  return levels
    .filter(({ date }) => date <= last)
    .map((level) => ({ ...level, isEnd: level.date === last }));
}

function dollarsOf(paid: Parameters<typeof approximateCashPerShare>[0]): number {
  return approximateCashPerShare(paid) / MILLIONTHS;
}

/** The value of the new shares for an old one at the close of that date, otherwise the next, otherwise the last. */
function valueBrought(database: Database, row: StoredExchange): number {
  const { date, into } = row;
  const bars = barsBetween(database, into, { from: date, to: addDays(date, MAX_STILL_DAYS) });
  const bar = bars.find((own) => own.date >= date) ?? bars[0];
  return bar === undefined ? 0 : sharesPerOld(row) * (bar.close ?? bar.open);
}
