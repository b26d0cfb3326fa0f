import type { CalendarDate } from '../calendar.ts';
import {
  type DividendVersion,
  type TimeSpan,
  hadDividendsInPrices,
  wasAdjusted,
} from '../database/audit.ts';
import type { KnownDividend } from '../database/evidence.ts';
import { type DividendTerms, cashPerShare } from '../trading/morning.ts';
import { type History, isLost, isThereAllThrough, possibleVersions } from './history.ts';
import { LOST, type Note } from './notes.ts';

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
        `it paid ${inDollars(used.paid)} per share for the dividend of ${placeOf(used)}, should be ${inDollars(right)}`,
      );
  }
  const unexpected = new Map(known.map((used) => [placeOf(used), used]));
  for (const { choices, isComplete, ...dividend } of possible) {
    const place = placeOf(dividend);
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

function placeOf({ symbol, exDate }: Pick<KnownDividend, 'symbol' | 'exDate'>): string {
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
