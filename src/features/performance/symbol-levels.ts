import { exchangesBetween, type StoredExchange } from '#database/exchanges.ts';
import type { Database } from '#database/database.ts';
import { splitsBetween } from '#database/market-queries.ts';
import { latestPrices } from '#database/price-writes.ts';
import { dividendsBetween } from '#database/splits-and-dividends.ts';
import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import { approximateCashPerShare, exchangeRatio } from '#trading/morning.ts';
import { MAX_STILL_DAYS } from '../statistics/figure.ts';
import { type BenchmarkBar, type Levels, type ShareExchange, symbolLevels } from './benchmark.ts';
import { barsBetween } from './queries.ts';

/** Cash per share comes in 1/1,000,000 dollar. */
const MILLIONTHS = 1_000_000;

type Wanted = DateSpan & { paysDividends: boolean };

/**
 * The levels of a symbol, and of the shares that it is exchanged into, as one chain; what ends in
 * cash ends with a level of that.
 */
export function readSymbolLevels(database: Database, symbol: string, wanted: Wanted): Levels {
  return readChain(database, symbol, wanted).levels;
}

/** The levels of a symbol as a member of the universe: an exchange is its last. */
export function readMemberLevels(database: Database, symbol: string, wanted: Wanted): Levels {
  const { levels, exchangedOn } = readChain(database, symbol, wanted);
  if (exchangedOn === null) return levels;
  const last = levels.findIndex(({ date }) => date >= exchangedOn);
  return last < 0
    ? levels
    : levels.slice(0, last + 1).map((own, place) => ({ ...own, isEnd: place === last }));
}

/** What some symbols are exchanged into, each with the date since which its levels are those. */
export function chainLinks(database: Database, symbols: readonly string[], span: DateSpan) {
  const since = { after: span.from, upTo: span.to };
  return exchangesBetween(latestPrices(database), symbols, since)
    .filter(({ into, remains }) => into !== '' && remains === 0)
    .map(({ into, date }) => ({ symbol: into, date }));
}

function readChain(database: Database, first: string, { paysDividends, from, to }: Wanted) {
  const prices = latestPrices(database);
  let [symbol, bars] = [first, barsBetween(database, first, { from, to })];
  let after = bars[0]?.date ?? to;
  const chain: BenchmarkBar[] = [];
  const exchanges: ShareExchange[] = [];
  const splits: ReturnType<typeof splitsBetween> = [];
  const dividends: { exDate: CalendarDate; cash: number }[] = [];
  const addUpTo = (upTo: CalendarDate) => {
    splits.push(...splitsBetween(prices, [symbol], { after, upTo }));
    if (!paysDividends) return;
    for (const dividend of dividendsBetween(prices, [symbol], { after, upTo }))
      dividends.push({
        exDate: dividend.exDate,
        cash: approximateCashPerShare(dividend) / MILLIONTHS,
      });
  };
  const known = exchangesBetween(prices, [symbol], { after, upTo: to });
  let exchangedOn: CalendarDate | null = null;
  for (const rows of Map.groupBy(known, (row) => `${row.date} ${row.symbol}`).values()) {
    const [{ date, symbol: old } = { date: '', symbol: '' }] = rows;
    if (old !== symbol) continue;
    const remains = rows.every((row) => row.remains === 1);
    const next = remains ? undefined : rows.find(({ into }) => into !== '');
    const cash = rows.reduce((sum, row) => sum + dollarsPerShare(database, row, next), 0);
    exchanges.push({ date, ratio: remains ? 1 : next ? ratioOf(next) : 0, cash });
    if (remains) continue;
    exchangedOn ??= date;
    chain.push(...bars.filter((bar) => bar.date < date));
    addUpTo(date);
    // Cash is a share that is worth a dollar.
    [symbol, after, bars] = [next?.into ?? '', date, [{ date, open: 1, close: 1 }]];
    if (next) bars = barsBetween(database, symbol, { from: date, to }).filter(isFrom(date));
  }
  addUpTo(to);
  chain.push(...bars);
  return { levels: symbolLevels(chain, { splits, dividends, exchanges }), exchangedOn };
}

const isFrom = (from: CalendarDate) => (bar: BenchmarkBar) => bar.date >= from;

function ratioOf(row: StoredExchange): number {
  const [newShares, oldShares] = exchangeRatio(row).map(Number);
  return (newShares ?? 0) / (oldShares ?? 1);
}

/** What a row pays on an old share, with the value of its new ones unless the chain goes on there. */
function dollarsPerShare(
  database: Database,
  row: StoredExchange,
  next: StoredExchange | undefined,
): number {
  const { cash, splits, date, into } = row;
  const paid = approximateCashPerShare({ cash, basis: 'as_paid', splits }) / MILLIONTHS;
  if (into === '' || row === next) return paid;
  const around = { from: date, to: addDays(date, MAX_STILL_DAYS) };
  const bars = barsBetween(database, into, around).filter(isFrom(addDays(date, -MAX_STILL_DAYS)));
  const bar = bars.findLast((own) => own.date <= date) ?? bars[0];
  return paid + (bar === undefined ? 0 : ratioOf(row) * (bar.close ?? bar.open));
}
