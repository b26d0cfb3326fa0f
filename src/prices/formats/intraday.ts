import { isCalendarDate } from '../../calendar.ts';
import { ServiceError } from '../../domain.ts';
import { dayOf } from './bar.ts';

/** Refuses files whose bars are not days. */

const MINUTE_MS = 60_000;
/** Longer gaps are between days: a time of day may shift with the season. */
const MAX_INTRADAY_GAP_MS = 12 * 60 * MINUTE_MS;
const STAMP = /^\s*(\d{4})[-/.]?(\d\d)[-/.]?(\d\d)[T ]+(\d{1,2}):?(\d\d)(?::?(\d\d))?/;

/** The error for a file of other bars, such as "60-minute bars". */
export function notDaily(bars: string): ServiceError {
  return new ServiceError('invalid_file', `it holds ${bars}; daily ones are needed`);
}

/**
 * What bars with these times are in words, such as "60-minute bars"; null when they are days, or
 * when some have no time of day. The texts are dates with times; other texts are ignored. A column
 * of times beside the dates may hold the time of the close, so it only counts where a symbol has
 * several bars.
 */
export function intradayBars(
  stamps: Iterable<{ symbol: string; text: string }>,
  { isTimeBeside }: { isTimeBeside: boolean },
): string | null {
  const latest = new Map<string, number>();
  let shortestMs = Infinity;
  let hasTime = false;
  for (const { symbol, text } of stamps) {
    const at = millisecondsOf(text);
    if (at === null && /^\s*\d{4}-?\d\d-?\d\d\s*$/.test(text)) return null;
    if (at === null) continue;
    hasTime ||= at % (24 * 60 * MINUTE_MS) !== 0 && !isCalendarDate(dayOf(text));
    const gapMs = Math.abs(at - (latest.get(symbol) ?? at));
    if (gapMs > 0) shortestMs = Math.min(shortestMs, gapMs);
    latest.set(symbol, at);
  }
  if (shortestMs <= MAX_INTRADAY_GAP_MS) return barsOf(shortestMs);
  return shortestMs === Infinity && hasTime && !isTimeBeside ? 'bars with a time of day' : null;
}

function barsOf(gapMs: number): string {
  return gapMs % MINUTE_MS === 0
    ? `${gapMs / MINUTE_MS}-minute bars`
    : `${gapMs / 1000}-second bars`;
}

function millisecondsOf(text: string): number | null {
  const [, year, month, day, hour, minute, second = '0'] = STAMP.exec(text) ?? [];
  if (year === undefined) return null;
  return Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
}
