import { eventsBetween } from '#database/exchanges.ts';
import { latestPrices } from '#database/price-writes.ts';
import type { Database } from '#database/database.ts';
import { addDays, type DateSpan } from '#time/calendar.ts';
import { MILLIONTHS, type ShareEvent, shareEvents, sharesPerOld } from '#trading/share-events.ts';
import { MAX_STILL_DAYS } from '../statistics/figure.ts';
import { type BenchmarkBar, type Levels, type ShareChange, symbolLevels } from './benchmark.ts';
import { barsBetween } from './queries.ts';

/** After all dates. */
const NEVER = '~';

interface FollowedSpan extends DateSpan {
  paysDividends: boolean;
}

/**
 * The levels of a symbol, and of the shares that it is exchanged into, as one chain; what ends in
 * cash ends with a level of that. Those of a member of the universe end with the exchange.
 */
export function readSymbolLevels(
  database: Database,
  symbol: string,
  { isMember, ...span }: FollowedSpan & { isMember?: boolean },
): Levels {
  const { links, changes } = followShare(database, symbol, span);
  const bars = links.flatMap((link) =>
    link.bars.filter(({ date }) => date >= link.after && date < link.upTo),
  );
  const levels = symbolLevels(bars, changes);
  const end = links[0]?.upTo ?? NEVER;
  if (!isMember) return levels;
  return levels
    .filter((_, place) => (levels[place - 1]?.date ?? '') < end)
    .map((level) => ({ ...level, isEnd: level.date >= end }));
}

/**
 * What becomes of a share: the symbols that it is, each from a date until before another ('': it is
 * cash, a share that is worth a dollar), and how many shares and dollars each event makes of one.
 */
export function followShare(
  database: Database,
  first: string,
  { from, to, paysDividends }: FollowedSpan,
) {
  const bars: BenchmarkBar[] = barsBetween(database, first, { from, to });
  let link = { symbol: first, bars, after: bars[0]?.date ?? to, upTo: NEVER };
  const links = [link];
  const changes: ShareChange[] = [];
  const window = { after: link.after, upTo: to, paysDividends };
  const { events } = eventsBetween(latestPrices(database), [first], window);
  const all = shareEvents(events);
  for (const [place, event] of all.entries()) {
    if (event.symbol !== link.symbol) continue;
    const { date, itself, received } = event;
    const remains = itself[0] > 0n;
    const next = remains ? undefined : received[0];
    const others = received.filter((one) => one !== next);
    const later = all.slice(place + 1).filter((own) => own.date === date);
    changes.push({
      date,
      shares: sharesPerOld(next?.ratio ?? itself),
      cash: event.cash / MILLIONTHS + valueBrought(database, { date, received: others }, later),
    });
    if (remains) continue;
    link.upTo = date;
    link = {
      symbol: next?.symbol ?? '',
      bars: next
        ? barsBetween(database, next.symbol, { from: date, to })
        : [{ date, open: 1, close: 1 }],
      after: date,
      upTo: NEVER,
    };
    links.push(link);
  }
  return { links, changes };
}

/**
 * The value of the new shares for an old one, after what becomes of them on that date: each at the
 * close of it, otherwise the next, otherwise the last.
 */
function valueBrought(
  database: Database,
  { date, received }: Pick<ShareEvent, 'date' | 'received'>,
  later: readonly ShareEvent[],
): number {
  const brought = new Map<string, number>();
  const add = (shares: number, { symbol, ratio }: ShareEvent['received'][number]) =>
    brought.set(symbol, (brought.get(symbol) ?? 0) + shares * sharesPerOld(ratio));
  for (const one of received) add(1, one);
  let value = 0;
  for (const { symbol, cash, itself, received: others } of later) {
    const shares = brought.get(symbol) ?? 0;
    value += (shares * cash) / MILLIONTHS;
    brought.set(symbol, shares * sharesPerOld(itself));
    for (const one of others) add(shares, one);
  }
  const span = { from: date, to: addDays(date, MAX_STILL_DAYS) };
  for (const [symbol, shares] of brought) {
    const bars = shares > 0 ? barsBetween(database, symbol, span) : [];
    const bar = bars.find((own) => own.date >= date) ?? bars[0];
    if (bar !== undefined) value += shares * (bar.close ?? bar.open);
  }
  return value;
}
