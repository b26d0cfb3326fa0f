import {
  BOUNDS,
  type Bounds,
  MIN_FOR_INTERVAL,
  type Pair,
  type Take,
  median,
  ratiosOf,
  takePairs,
} from './paired.ts';

/** What is measured: a build beside a peer, or beside the build before. */
export interface Builds {
  now: string;
  before?: string | undefined;
  /** Seconds instead of minutes, to see whether the bench works; the figures mean little. */
  isShort: boolean;
}

/**
 * What a figure should be. `atLeast` and `below` bound the median ratio, `above` by how much more
 * than the peer ours is in the median, and `atMost` the most that was measured, if no peer is
 * there.
 */
export type Aim = { atLeast: number } | { below: number } | { above: number } | { atMost: number };

/** A figure of the report: what is measured, in which unit, beside what, and what it should be. */
export interface Figure {
  what: string;
  /** More is better, except of `ms` and `MB`. */
  unit: string;
  peer?: string;
  aim?: Aim;
}

/** The pairs of a short form. */
const SHORT = { minPairs: 1, maxPairs: 1 };
/** A build may be this much worse than the one before without a reason. */
const TOLERANCE = 0.05;

/** Measures figures that all come from the same slices; yields a row of the report for each. */
export async function* measure(
  builds: Builds,
  figures: readonly Figure[],
  { take, bounds = {} }: { take: Take; bounds?: Partial<Bounds> },
): AsyncGenerator<string> {
  if (!builds.isShort) await take(0); // programs become faster while they are new
  const pairs = await takePairs(take, { ...BOUNDS, ...bounds, ...(builds.isShort ? SHORT : {}) });
  for (const [index, figure] of figures.entries()) yield rowOf(figure, pairs[index] ?? [], builds);
}

/** A row of a table in Markdown: figure, ours, peer, ratio, and what was aimed at. */
export function rowOf(figure: Figure, pairs: readonly Pair[], { before }: Partial<Builds>): string {
  const side = (of: keyof Pair) => number(median(pairs.map((pair) => pair[of])));
  const peer = before === undefined ? figure.peer : 'the build before';
  const besides =
    peer === undefined ? ['', ''] : [`${side('peer')} ${peer}`, describeRatios(pairs)];
  const verdict = before === undefined ? verdictOf(figure, pairs) : verdictOfBefore(figure, pairs);
  return `| ${[`${figure.what}, ${figure.unit}`, side('ours'), ...besides, verdict].join(' | ')} |`;
}

function describeRatios(pairs: readonly Pair[]): string {
  const { min, median: middle, max, low, high, pairs: count } = ratiosOf(pairs);
  const interval = count < MIN_FOR_INTERVAL ? '' : `; ${number(low)} to ${number(high)}`;
  return `${number(middle)} (${number(min)} to ${number(max)}, ${count}${interval})`;
}

/** Whether an aim was met, with the figure that counts for it where the row does not show it. */
function verdictOf({ aim, unit }: Figure, pairs: readonly Pair[]): string {
  const { median: ratio } = ratiosOf(pairs);
  const met = (isMet: boolean) => (isMet ? 'met' : 'MISSED');
  if (aim === undefined) return '';
  if ('atLeast' in aim) return `${aim.atLeast}, ${met(ratio >= aim.atLeast)}`;
  if ('below' in aim) return `below ${aim.below}, ${met(ratio < aim.below)}`;
  if ('above' in aim) {
    const more = median(pairs.map(({ ours, peer }) => ours - peer));
    return `${aim.above} ${unit} more than the peer: ${number(more)}, ${met(more < aim.above)}`;
  }
  const most = Math.max(...pairs.map(({ ours }) => ours));
  return `${aim.atMost} ${unit}: ${number(most)}, ${met(most < aim.atMost)}`;
}

/** By how much a build is worse than the one before, where that is more than the tolerance. */
function verdictOfBefore({ unit }: Figure, pairs: readonly Pair[]): string {
  const { median: middle, low, high, pairs: count } = ratiosOf(pairs);
  const isLessBetter = /^(ms|MB)( of .*| to .*)?$/.test(unit);
  const worse = isLessBetter ? middle - 1 : 1 - middle;
  if (!(worse > TOLERANCE)) return 'no worse';
  const isSure = count >= MIN_FOR_INTERVAL && (isLessBetter ? low > 1 : high < 1);
  return `WORSE by ${Math.round(100 * worse)} %${isSure ? '' : ', not for certain'}`;
}

/** Three digits, and every digit before the point. */
export function number(value: number): string {
  if (Number.isNaN(value)) return '–';
  const digits = Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(Math.abs(value) || 1))));
  const exact = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString('en-US', exact);
}
