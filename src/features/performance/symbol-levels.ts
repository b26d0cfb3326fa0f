import { exchangesBetween, type StoredExchange } from '#database/exchanges.ts';
import type { Database } from '#database/database.ts';
import { splitsBetween } from '#database/market-queries.ts';
import { latestPrices } from '#database/price-writes.ts';
import { dividendsBetween } from '#database/splits-and-dividends.ts';
import { addDays, type DateSpan } from '#time/calendar.ts';
import { approximateCashPerShare, sharesPerOld } from '#trading/morning.ts';
import { MAX_STILL_DAYS } from '../statistics/figure.ts';
import { type BenchmarkBar, type Levels, type ShareChange, symbolLevels } from './benchmark.ts';
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
  symbol: string,
  { paysDividends, isMember, ...span }: DateSpan & { paysDividends: boolean; isMember?: boolean },
): Levels {
  const { links, exchanges } = followShare(database, symbol, span);
  const bars = links.flatMap((link) =>
    link.bars.filter(({ date }) => date >= link.after && date < link.upTo),
  );
  const prices = latestPrices(database);
  const paid = paysDividends
    ? links.flatMap((link) => dividendsBetween(prices, [link.symbol], link))
    : [];
  const dividends = paid.map((own) => ({ date: own.exDate, shares: 1, cash: dollarsOf(own) }));
  const splits = links
    .flatMap((link) => splitsBetween(prices, [link.symbol], link))
    .map(({ date, numerator, denominator }) => ({
      date,
      shares: numerator / denominator,
      cash: 0,
    }));
  const levels = symbolLevels(bars, [...dividends, ...splits, ...exchanges]);
  const end = links[0]?.upTo ?? NEVER;
  if (!isMember) return levels;
  return levels
    .filter((_, place) => (levels[place - 1]?.date ?? '') < end)
    .map((level) => ({ ...level, isEnd: level.date >= end }));
}

/**
 * What becomes of a share: the symbols that it is, each from a date until before another ('': it is
 * cash, a share that is worth a dollar), and the exchanges between.
 */
export function followShare(database: Database, first: string, { from, to }: DateSpan) {
  const bars: BenchmarkBar[] = barsBetween(database, first, { from, to });
  let link = { symbol: first, bars, after: bars[0]?.date ?? to, upTo: NEVER };
  const links = [link];
  const exchanges: ShareChange[] = [];
  const rows = exchangesBetween(latestPrices(database), [first], { ...link, upTo: to });
  for (const [key, own] of Map.groupBy(rows, ({ date, symbol }) => `${date} ${symbol}`)) {
    const [date = '', symbol] = key.split(' ');
    if (symbol !== link.symbol) continue;
    const remains = own.every((row) => row.remains === 1);
    const next = remains ? undefined : own.find(({ into }) => into !== '');
    let cash = 0;
    for (const row of own) {
      cash += dollarsOf({ ...row, basis: 'as_paid' });
      if (row !== next) cash += valueBrought(database, row);
    }
    exchanges.push({ date, shares: next ? sharesPerOld(next) : Number(remains), cash });
    if (remains) continue;
    link.upTo = date;
    link = {
      symbol: next?.into ?? '',
      bars: next
        ? barsBetween(database, next.into, { from: date, to })
        : [{ date, open: 1, close: 1 }],
      after: date,
      upTo: NEVER,
    };
    links.push(link);
  }
  return { links, exchanges };
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
