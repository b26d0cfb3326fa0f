import type { CalendarDate } from '../basics/calendar.ts';
import {
  type AuditedSession,
  type BarVersion,
  type DividendVersion,
  hadDividendsInPrices,
  type TimeSpan,
  wasAdjusted,
} from '../database/audit.ts';
import type { Evidence, KnownDividend, KnownSplit, Mark } from '../database/evidence.ts';
import { cashPerShare, type DividendTerms } from '../trading/morning.ts';
import {
  earlierBars,
  type History,
  inPlaces,
  isLost,
  isThereAllThrough,
  type PossibleSplit,
  possibleVersions,
  spanOf,
  splitsWithin,
  versionAt,
} from './history.ts';
import { LOST, type Note } from './effect.ts';
import { formatDollars, priceUnitsIn, reported } from '../basics/money.ts';

/** A dividend as it may have been read within a span of time. */
interface PossibleDividend {
  symbol: string;
  exDate: CalendarDate;
  /** Null where it may have been unknown, or for a series whose prices contain dividends. */
  choices: (DividendTerms | null)[];
  /** False when it, or a split that converts it, may have been replaced without a trace. */
  isComplete: boolean;
}

/**
 * The dividends of a symbol after a date up to that of the history, in order, as they may have been
 * read within a span.
 */
export function dividendsWithin(
  history: History,
  symbol: string,
  { after, span }: { after: CalendarDate; span: TimeSpan },
): PossibleDividend[] {
  const all = history
    .dividends(symbol)
    .filter(({ exDate }) => exDate > after && exDate <= history.date);
  return [...Map.groupBy(all, ({ exDate }) => exDate)].map(([exDate, versions]) => {
    const contained = [span.from, span.to].map((instant) =>
      hadDividendsInPrices(history.reader, symbol, instant),
    );
    const isCertain = isThereAllThrough(versions, span) && !contained.includes(true);
    const known = contained.includes(false) ? possibleVersions(versions, span) : [];
    const conversions = known.map((version) => conversionsOf(history, version, span));
    const choices = known.flatMap(({ cash, basis }, index) =>
      (conversions[index]?.texts ?? []).map((splits) => ({ cash, basis, splits })),
    );
    const isComplete =
      !isLost(versions, span) && conversions.every((conversion) => conversion.isComplete);
    return { symbol, exDate, choices: isCertain ? choices : [...choices, null], isComplete };
  });
}

/**
 * The splits that may have converted a dividend, as texts like those in the evidence: none where
 * shares are counted alike.
 */
function conversionsOf(
  { reader, splits }: History,
  { symbol, exDate, basis }: DividendVersion,
  span: TimeSpan,
): { texts: string[]; isComplete: boolean } {
  const adjusted = [span.from, span.to].map((instant) => wasAdjusted(reader, symbol, instant));
  const same = adjusted.includes(basis === 'split_adjusted') ? [''] : [];
  if (!adjusted.includes(basis !== 'split_adjusted')) return { texts: same, isComplete: true };
  const since = [
    ...Map.groupBy(
      splits(symbol).filter(({ date }) => date >= exDate),
      ({ date }) => date,
    ).values(),
  ];
  const lists = since.reduce<string[][]>(
    (products, versions) => {
      const known = possibleVersions(versions, span).map(
        (split) => `${split.date} ${split.numerator}:${split.denominator}`,
      );
      const choices = [
        ...known.map((text) => [text]),
        ...(isThereAllThrough(versions, span) ? [] : [[]]),
      ];
      return products.flatMap((product) => choices.map((choice) => [...product, ...choice]));
    },
    [[]],
  );
  return {
    texts: [...same, ...lists.map((texts) => texts.join(', '))],
    isComplete: !since.some((versions) => isLost(versions, span)),
  };
}

/**
 * Checks what a session paid per share, and compares the dividends that it knew with those it may
 * have read.
 */
export function checkDividends(
  known: readonly KnownDividend[],
  possible: readonly PossibleDividend[],
  note: Note,
): void {
  for (const used of known) {
    const right = cashPerShare(used);
    if (used.paid !== right)
      note(
        `it paid ${inDollars(used.paid)} per share for the dividend of ${dividendPlaceOf(used)}, should be ${inDollars(right)}`,
      );
  }
  const unexpected = new Map(known.map((used) => [dividendPlaceOf(used), used]));
  for (const { choices, isComplete, ...dividend } of possible) {
    const place = dividendPlaceOf(dividend);
    const used = unexpected.get(place);
    unexpected.delete(place);
    if (choices.some((choice) => (choice === null ? used === undefined : isSame(choice, used))))
      continue;
    const said = `it used ${used ? `${nameOfDividend(used)} as the dividend` : 'no dividend'} of ${place}`;
    note(isComplete ? `${said}, which is not what was known at the time` : `${said}; ${LOST}`, {
      isComplete,
    });
  }
  for (const [place, used] of unexpected)
    note(
      `it used ${nameOfDividend(used)} as the dividend of ${place}, and none was known at the time`,
    );
}

function dividendPlaceOf({ symbol, exDate }: Pick<KnownDividend, 'symbol' | 'exDate'>): string {
  return `${symbol} on ${exDate}`;
}

function isSame(one: DividendTerms, other: DividendTerms | undefined): boolean {
  return one.cash === other?.cash && one.basis === other.basis && one.splits === other.splits;
}

/** A dividend as its source tells it, with what converted it. */
export function nameOfDividend({ cash, basis, splits }: DividendTerms): string {
  const details = [
    ...(basis === 'split_adjusted' ? ['split-adjusted'] : []),
    ...(splits === '' ? [] : [splits]),
  ];
  return `${inDollars(cash)}${details.length === 0 ? '' : ` (${details.join(', ')})`}`;
}

/** 1/1,000,000 dollar as dollars. */
function inDollars(millionths: number): number {
  return millionths / 1_000_000;
}

/**
 * A price is stamped when it is prepared, but others see it only when its transaction commits,
 * which may take a while (an import writes thousands of bars in one). For this long its predecessor
 * may still be read.
 */
const MAX_COMMIT_DELAY_MS = 60_000;

/** A price that a session used, and which price of a bar it is. */
interface Used {
  symbol: string;
  name: 'open' | 'close';
  mark: Mark;
}

/**
 * Compares a session's evidence with the prices, splits and dividends as they were when it read
 * them. `held` are the symbols that it held in the morning.
 */
export function checkEvidence(
  day: History,
  { openedAt, startedAt, completedAt, pastDate, paysDividends }: AuditedSession,
  { evidence, held, note }: { evidence: Evidence; held: readonly string[]; note: Note },
): void {
  const since = (start: string): TimeSpan =>
    spanOf(day, { from: justBefore(start), to: completedAt });
  const [atOpening, atCommit] = [since(openedAt), since(completedAt)];
  for (const { symbol, open, close } of evidence.prices) {
    for (const [name, mark, span] of [
      ['open', open, atOpening],
      ['close', close, atCommit],
    ] as const) {
      if (mark === null || fits(day, { symbol, name, mark }, span)) continue;
      noteMisfit(day, { symbol, name, mark }, { span, note });
    }
  }
  if (pastDate === null) return;
  // Splits and dividends are read at the start, or later by a process that resumed the session.
  const read = { after: pastDate, span: since(startedAt) };
  const splits = held.map((symbol) => splitsWithin(day, symbol, read));
  checkSplits(
    evidence.splits,
    inPlaces(splits, ({ date }) => date),
    note,
  );
  const paying = paysDividends ? held : [];
  const dividends = paying.map((symbol) => dividendsWithin(day, symbol, read));
  checkDividends(
    evidence.dividends,
    inPlaces(dividends, ({ exDate }) => exDate),
    note,
  );
}

/**
 * The open or the close of a bar in dollars; where no close is known, holdings are marked at the
 * open.
 */
function dollarsOf({ open, close }: BarVersion, name: Used['name']): number {
  return name === 'open' ? open : (close ?? open);
}

/** Reads all earlier bars of the symbol, which takes milliseconds. */
function noteMisfit(
  day: History,
  { symbol, name, mark }: Used,
  { span, note }: { span: TimeSpan; note: Note },
): void {
  const own = day.bars(symbol);
  const isComplete = ![own, ...earlierBars(day, symbol)].some((versions) => isLost(versions, span));
  const bar = versionAt(own, span.to);
  const right = bar
    ? `should be ${formatDollars(reported(priceUnitsIn(dollarsOf(bar, name))))}`
    : 'and none was known at the time';
  const said = `it used ${formatDollars(mark.price)} as the ${name} of ${symbol}${mark.date === day.date ? '' : `, of ${mark.date}`}`;
  note(isComplete ? `${said}, ${right}` : `${said}; ${LOST}`, { isComplete });
}

/** Whether a price may have been the stored one at some time within a span. */
function fits(day: History, { symbol, name, mark }: Used, span: TimeSpan): boolean {
  const own = day.bars(symbol);
  if (mark.date === day.date)
    return possibleVersions(own, span).some(
      (bar) => priceUnitsIn(dollarsOf(bar, name)) === mark.price,
    );
  if (isThereAllThrough(own, span)) return false;
  for (const versions of earlierBars(day, symbol)) {
    const known = possibleVersions(versions, span);
    if (versions[0]?.date === mark.date)
      return known.some((bar) =>
        isAdjusted(day, { symbol, dollars: dollarsOf(bar, 'close'), mark }, span),
      );
    if (isThereAllThrough(versions, span) && known.every(({ close }) => close !== null))
      return false;
  }
  return false;
}

/**
 * Whether a price is an earlier bar's, adjusted for the splits since as they may have been known.
 */
function isAdjusted(
  day: History,
  { symbol, dollars, mark }: { symbol: string; dollars: number; mark: Mark },
  span: TimeSpan,
): boolean {
  const ratios = splitsWithin(day, symbol, { after: mark.date, span }).reduce(
    (products, { choices }) =>
      products.flatMap((ratio) =>
        choices.map((split) =>
          split === null ? ratio : ratio * (split.numerator / split.denominator),
        ),
      ),
    [1],
  );
  return ratios.some((ratio) => priceUnitsIn(dollars / ratio) === mark.price);
}

function checkSplits(
  known: readonly KnownSplit[],
  possible: readonly PossibleSplit[],
  note: Note,
): void {
  const unexpected = new Map(known.map((used) => [placeOf(used), used]));
  for (const { choices, isComplete, ...split } of possible) {
    const place = placeOf(split);
    const used = unexpected.get(place);
    unexpected.delete(place);
    if (
      choices.some((choice) => (choice === null ? used === undefined : isSameRatio(choice, used)))
    )
      continue;
    const said = `it used ${used ? `${nameOf(used)} as the split` : 'no split'} of ${place}`;
    note(isComplete ? `${said}, which is not what was known at the time` : `${said}; ${LOST}`, {
      isComplete,
    });
  }
  for (const [place, used] of unexpected)
    note(`it used ${nameOf(used)} as the split of ${place}, and none was known at the time`);
}

function placeOf({ symbol, date }: Pick<KnownSplit, 'symbol' | 'date'>): string {
  return `${symbol} on ${date}`;
}

type Ratio = Pick<KnownSplit, 'numerator' | 'denominator'>;

function isSameRatio(one: Ratio, other: Ratio | undefined): boolean {
  return one.numerator === other?.numerator && one.denominator === other.denominator;
}

export function nameOf({ numerator, denominator }: Ratio): string {
  return `${numerator}:${denominator}`;
}

/**
 * A time stamp moved back by the longest delay of a commit; an unreadable one is returned
 * unchanged.
 */
export function justBefore(timestamp: string): string {
  const instant = Date.parse(timestamp);
  return Number.isNaN(instant) ? timestamp : new Date(instant - MAX_COMMIT_DELAY_MS).toISOString();
}
