import { type AuditedSession, type BarVersion, firstStartOf } from '../database/audit.ts';
import type { Evidence, KnownSplit, Mark } from '../database/evidence.ts';
import { formatDollars, fromDollars } from '../money.ts';
import {
  type History,
  type Moment,
  earlierBars,
  isLost,
  isThereAllThrough,
  possibleVersions,
  splitsWithin,
  versionAt,
} from './history.ts';
import type { Note } from './notes.ts';

/**
 * A price is stamped when it is prepared, but others see it only when its transaction commits, which may take a while (an
 * import writes thousands of bars in one). For this long its predecessor may still be read.
 */
const MAX_COMMIT_DELAY_MS = 60_000;

const LOST = 'what was known at the time has been replaced without a trace';

/** A price that a session used, and which price of a bar it is. */
interface Used {
  symbol: string;
  mark: Mark;
  dollarsOf: (bar: BarVersion) => number;
}

/**
 * Compares a session's evidence with the prices and splits as they were when it read them. `held` are the symbols that it
 * held in the morning.
 */
export function checkEvidence(
  day: History,
  session: AuditedSession,
  { evidence, held, note }: { evidence: Evidence; held: readonly string[]; note: Note },
): void {
  const { completedAt } = session;
  const atCommit = { from: shift(completedAt, -MAX_COMMIT_DELAY_MS), to: completedAt };
  // The models of a date share its opens, which are read just before the first of them starts.
  const sinceOpening = () => ({
    from: shift(firstStartOf(day.reader, session), -MAX_COMMIT_DELAY_MS),
    to: completedAt,
  });
  day.load(evidence.prices.map(({ symbol }) => symbol));
  for (const { symbol, open, close } of evidence.prices) {
    const opening = open && { symbol, mark: open, dollarsOf: (bar: BarVersion) => bar.open };
    if (opening && !fits(day, opening, atCommit) && !fits(day, opening, sinceOpening()))
      noteMisfit(day, opening, { name: 'open', moment: sinceOpening(), note });
    const closing = close && { symbol, mark: close, dollarsOf: (bar: BarVersion) => bar.close ?? bar.open };
    if (closing && !fits(day, closing, atCommit)) noteMisfit(day, closing, { name: 'close', moment: atCommit, note });
  }
  checkSplits(day, session, { evidence, held, note });
}

/** Whether a price may have been the stored one at some time within a span. */
function fits(day: History, { symbol, mark, dollarsOf }: Used, moment: Moment): boolean {
  const own = day.bars(symbol);
  if (mark.date === day.date)
    return possibleVersions(own, moment).some((bar) => fromDollars(dollarsOf(bar)) === mark.price);
  if (isThereAllThrough(own, moment)) return false;
  for (const versions of earlierBars(day, symbol)) {
    const known = possibleVersions(versions, moment);
    if (versions[0]?.date === mark.date)
      return known.some((bar) => isAdjusted(day, { symbol, dollars: bar.close ?? bar.open, mark }, moment));
    if (isThereAllThrough(versions, moment) && known.every(({ close }) => close !== null)) return false;
  }
  return false;
}

/** Whether a price is an earlier bar's, adjusted for the splits since as they may have been known. */
function isAdjusted(
  day: History,
  { symbol, dollars, mark }: { symbol: string; dollars: number; mark: Mark },
  moment: Moment,
): boolean {
  const ratios = splitsWithin(day, [symbol], { after: mark.date, moment }).reduce(
    (products, { choices }) =>
      products.flatMap((ratio) =>
        choices.map((split) => (split === null ? ratio : ratio * (split.numerator / split.denominator))),
      ),
    [1],
  );
  return ratios.some((ratio) => fromDollars(dollars / ratio) === mark.price);
}

function noteMisfit(
  day: History,
  { symbol, mark, dollarsOf }: Used,
  { name, moment, note }: { name: string; moment: Moment; note: Note },
): void {
  const isComplete = ![day.bars(symbol), ...earlierBars(day, symbol)].some((versions) => isLost(versions, moment));
  const bar = versionAt(day.bars(symbol), moment.to);
  const right = bar && fromDollars(dollarsOf(bar));
  const used = `it used ${formatDollars(mark.price)} as the ${name} of ${symbol}${mark.date === day.date ? '' : `, of ${mark.date}`}`;
  if (!isComplete) note(`${used}; ${LOST}`, { isComplete });
  else note(right === undefined ? `${used}, and none was known at the time` : `${used}, should be ${formatDollars(right)}`);
}

function checkSplits(
  day: History,
  { pastDate, startedAt, completedAt }: AuditedSession,
  { evidence, held, note }: { evidence: Evidence; held: readonly string[]; note: Note },
): void {
  if (pastDate === null) return;
  if (evidence.splits.length === 0 && !held.some((symbol) => day.splitSymbols.has(symbol))) return;
  // Read at the start, or later by a process that resumed the session.
  const moment = { from: shift(startedAt, -MAX_COMMIT_DELAY_MS), to: completedAt };
  const possible = splitsWithin(day, held, { after: pastDate, moment });
  for (const { choices, isComplete, ...split } of possible) {
    const known = evidence.splits.find((other) => isSameDay(split, other));
    if (known?.numerator === null) continue; // its record has the ratio
    const isPossible = choices.some((choice) => (choice === null ? known === undefined : isSameRatio(choice, known)));
    if (isPossible) continue;
    const used = known
      ? `it used ${nameOf(known)} as the split of ${split.symbol} on ${split.date}`
      : `it used no split of ${split.symbol} on ${split.date}`;
    note(isComplete ? `${used}, which is not what was known at the time` : `${used}; ${LOST}`, { isComplete });
  }
  for (const known of evidence.splits)
    if (!possible.some((split) => isSameDay(split, known)))
      note(`it used ${nameOf(known)} as the split of ${known.symbol} on ${known.date}, and none was known at the time`);
}

type Day = Pick<KnownSplit, 'symbol' | 'date'>;

function isSameDay(one: Day, other: Day): boolean {
  return one.symbol === other.symbol && one.date === other.date;
}

type Ratio = Pick<KnownSplit, 'numerator' | 'denominator'>;

function isSameRatio(one: Ratio, other: Ratio | undefined): boolean {
  return one.numerator === other?.numerator && one.denominator === other.denominator;
}

export function nameOf({ numerator, denominator }: Ratio): string {
  return `${numerator}:${denominator}`;
}

/** A time stamp shifted by some milliseconds; an unreadable one is returned unchanged. */
function shift(timestamp: string, ms: number): string {
  const instant = Date.parse(timestamp);
  return Number.isNaN(instant) ? timestamp : new Date(instant + ms).toISOString();
}
