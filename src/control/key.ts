import { type CalendarDate, EARLIEST_DATE, addDays } from '../calendar.ts';
import { ServiceError } from '../domain.ts';
import { createUniforms } from '../statistics/random.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/**
 * No ticker of an American exchange is this long, so a code never reminds a model of another
 * company.
 */
const CODE_LENGTH = 6;
/** Weeks are drawn from one year to twenty, unless they are given. */
const [LEAST_DRAWN_WEEKS, MOST_DRAWN_WEEKS] = [52, 1_040];
const DAYS_PER_WEEK = 7;

/** How a symbol is disguised: its code, and what its prices are multiplied by, from 1/2 to 2. */
export interface Disguise {
  symbol: string;
  code: string;
  factor: number;
}

/** What turns a market into its control market, and back. */
export interface Key {
  /** By code, so that the order gives nothing away. */
  disguises: Disguise[];
  /** By how many weeks dates are shifted back; whole weeks keep the weekdays. */
  weeks: number;
}

/**
 * Draws the key of a control market: the same for the same seed and symbols, whatever is stored of
 * them. Throws a `ServiceError` (`invalid_dates`) when `from` would be shifted to a date before
 * `EARLIEST_DATE`.
 */
export function drawKey(
  seed: string,
  symbols: readonly string[],
  { weeks, from }: { weeks: number | null; from: CalendarDate },
): Key {
  const uniform = createUniforms(`disguise ${seed}`);
  const drawnWeeks =
    LEAST_DRAWN_WEEKS + Math.floor(uniform() * (MOST_DRAWN_WEEKS - LEAST_DRAWN_WEEKS + 1));
  const key = { disguises: drawDisguises(symbols, uniform), weeks: weeks ?? drawnWeeks };
  if (shiftBack(from, key) < EARLIEST_DATE) {
    const problem = `${key.weeks} weeks before ${from} is before ${EARLIEST_DATE}; give fewer weeks`;
    throw new ServiceError('invalid_dates', `Cannot disguise the prices: ${problem}`);
  }
  return key;
}

/** The date in the control market. */
export function shiftBack(date: CalendarDate, { weeks }: { weeks: number }): CalendarDate {
  return addDays(date, -DAYS_PER_WEEK * weeks);
}

function drawDisguises(symbols: readonly string[], uniform: () => number): Disguise[] {
  const taken = new Set(symbols);
  const disguises = [...taken].sort().map((symbol) => {
    let code = drawCode(uniform);
    while (taken.has(code)) code = drawCode(uniform);
    taken.add(code);
    return { symbol, code, factor: 2 ** (2 * uniform() - 1) };
  });
  return disguises.sort((one, other) => (one.code < other.code ? -1 : 1));
}

function drawCode(uniform: () => number): string {
  return Array.from(
    { length: CODE_LENGTH },
    () => LETTERS[Math.floor(uniform() * LETTERS.length)],
  ).join('');
}
