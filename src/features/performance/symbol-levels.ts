import { exchangesBetween, type StoredExchange } from '#database/exchanges.ts';
import type { Database } from '#database/database.ts';
import { splitsBetween } from '#database/market-queries.ts';
import { latestPrices } from '#database/price-writes.ts';
import { dividendsBetween } from '#database/splits-and-dividends.ts';
import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import { approximateCashPerShare, sharesPerOld } from '#trading/morning.ts';
import { MAX_STILL_DAYS } from '../statistics/figure.ts';
import { type Levels, type ShareChange, symbolLevels } from './benchmark.ts';
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
  options: DateSpan & { paysDividends: boolean; isMember?: boolean },
): Levels {
  const prices = latestPrices(database);
  const first = barsBetween(database, symbol, options);
  const after = first[0]?.date ?? options.to;
  const { links, exchanges } = followShare(database, symbol, { after, upTo: options.to });
  const bars = links.flatMap((link) => {
    if (link.symbol === '') return { date: link.after, open: 1, close: 1 }; // cash is a share that is worth a dollar
    const own =
      link.symbol === symbol
        ? first
        : barsBetween(database, link.symbol, { from: link.after, to: options.to });
    return own.filter(({ date }) => date >= link.after && date < link.upTo);
  });
  const dividends = options.paysDividends
    ? links.flatMap((link) => dividendsBetween(prices, [link.symbol], link))
    : [];
  const splits = links.flatMap((link) => splitsBetween(prices, [link.symbol], link));
  const levels = symbolLevels(bars, [
    ...dividends.map((paid) => ({ date: paid.exDate, shares: 1, cash: dollarsOf(paid) })),
    ...splits.map(({ date, numerator, denominator }) => {
      return { date, shares: numerator / denominator, cash: 0 };
    }),
    ...exchanges,
  ]);
  const end = links[0]?.upTo ?? '';
  if (!options.isMember) return levels;
  return levels
    .filter((_, place) => (levels[place - 1]?.date ?? '') < end)
    .map((level) => ({ ...level, isEnd: level.date >= end }));
}

/**
 * What becomes of a share: the symbols that it is, each from a date until before another ('': it is
 * cash), and the exchanges.
 */
export function followShare(
  database: Database,
  first: string,
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
) {
  const rows = exchangesBetween(latestPrices(database), [first], { after, upTo });
  let link = { symbol: first, after, upTo: NEVER };
  const links = [link];
  const exchanges: ShareChange[] = [];
  for (const own of Map.groupBy(rows, ({ date, symbol }) => `${date} ${symbol}`).values()) {
    const [{ date, symbol } = { date: '', symbol: '' }] = own;
    if (symbol !== link.symbol) continue;
    const remains = own.every((row) => row.remains === 1);
    const next = remains ? undefined : own.find(({ into }) => into !== '');
    let cash = 0;
    for (const row of own)
      cash +=
        dollarsOf({ ...row, basis: 'as_paid' }) + (row === next ? 0 : valueBrought(database, row));
    exchanges.push({ date, shares: remains ? 1 : next ? sharesPerOld(next) : 0, cash });
    if (remains) continue;
    link.upTo = date;
    link = { symbol: next?.into ?? '', after: date, upTo: NEVER };
    links.push(link);
  }
  return { links, symbols: links.map((own) => own.symbol), exchanges };
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
