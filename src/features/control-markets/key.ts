import { ServiceError } from '#domain/service-error.ts';
import { addDays, type CalendarDate, EARLIEST_DATE } from '#time/calendar.ts';
import { createUniforms } from '../statistics/random.ts';

/** What turns a market into its control market: codes, factors and a number of weeks. */

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

/** What a control market hides; prices and volume are always other ones. */
export const masks = ['symbols', 'dates', 'both'] as const;
type Mask = (typeof masks)[number];

/**
 * Draws the key of a control market: the same for the same seed, mask and symbols, whatever is
 * stored of them. Without a mask over the dates there is no shift; without one over the symbols
 * each code is the symbol. Throws a `ServiceError` (`invalid_dates`) when `from` would be shifted
 * to a date before `EARLIEST_DATE`.
 */
export function drawKey(
  seed: string,
  symbols: readonly string[],
  { weeks, from, mask = 'both' }: { weeks: number | null; from: CalendarDate; mask?: Mask },
): Key {
  const uniform = createUniforms(`disguise ${seed}`);
  const drawnWeeks =
    LEAST_DRAWN_WEEKS + Math.floor(uniform() * (MOST_DRAWN_WEEKS - LEAST_DRAWN_WEEKS + 1));
  const key = {
    disguises: drawDisguises(new Set(symbols), uniform, mask),
    weeks: mask === 'symbols' ? 0 : (weeks ?? drawnWeeks),
  };
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

/** No code is one of the symbols, or otherwise taken. */
function drawDisguises(
  symbols: ReadonlySet<string>,
  uniform: () => number,
  mask: Mask,
  others: readonly Disguise[] = [],
): Disguise[] {
  const taken = new Set([...symbols, ...others.map(({ code }) => code)]);
  const disguises = [...symbols].sort().map((symbol) => {
    let code = drawCode(uniform);
    while (taken.has(code)) code = drawCode(uniform);
    taken.add(code);
    return { symbol, code: mask === 'dates' ? symbol : code, factor: 2 ** (2 * uniform() - 1) };
  });
  return [...others, ...disguises].sort((one, other) => (one.code < other.code ? -1 : 1));
}

function drawCode(uniform: () => number): string {
  return Array.from(
    { length: CODE_LENGTH },
    () => LETTERS[Math.floor(uniform() * LETTERS.length)],
  ).join('');
}

/**
 * The disguises of a key and of what exchanges bring to it from outside, by a draw that follows from
 * the key.
 */
export function drawAll({ disguises }: Key, brought: ReadonlySet<string>): Disguise[] {
  const listed = new Set(disguises.map(({ symbol }) => symbol));
  const factors = disguises.map(({ factor }) => factor).sort();
  const uniform = createUniforms(`exchanges ${factors.join()}`);
  const mask = disguises.every(({ symbol, code }) => symbol === code) ? 'dates' : 'both';
  return drawDisguises(brought.difference(listed), uniform, mask, disguises);
}
