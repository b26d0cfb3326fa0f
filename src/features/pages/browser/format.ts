import { parseRun } from '#domain/runs.ts';
import { durationText as inWords } from '#text/sentences.ts';
export { plural as counted } from '#text/sentences.ts';
import type { Status } from '../responses.ts';

/**
 * Numbers, dates and names as people read them. A missing one is a dash; a minus sign is U+2212, so
 * that columns align.
 */

/** What is shown in place of a missing number or date. */
export const MISSING = '–';

/** The sign is that of the rounded number: none for zero. */
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0, signDisplay: 'negative' });
const two = {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  signDisplay: 'negative',
} as const;
const twoPlaces = new Intl.NumberFormat('en-US', two);
const signedPlaces = new Intl.NumberFormat('en-US', { ...two, signDisplay: 'exceptZero' });
const upToFour = new Intl.NumberFormat('en-US', { ...two, maximumFractionDigits: 4 });

type MaybeNumber = number | null | undefined;

function formatter(format: (value: number) => string): (value: MaybeNumber) => string {
  return (value) =>
    value == null || !Number.isFinite(value) ? MISSING : format(value).replace('-', '−');
}

/** `10,113.04` */
export const money = formatter((dollars) => twoPlaces.format(dollars));

/** `237.4512`: a price keeps up to four places. */
export const price = formatter((dollars) => upToFour.format(dollars));

/** `Value`, or `Value (CNY)`: only amounts that are no dollars say what they are. */
export function labelInCurrency(words: string, currency = 'USD'): string {
  return currency === 'USD' ? words : `${words} (${currency})`;
}

/** `+113.04` */
export const profit = formatter((dollars) => signedPlaces.format(dollars));

/** A fraction as `+1.13 %`. */
export const change = formatter((fraction) => `${signedPlaces.format(fraction * 100)} %`);

/** A fraction as `1.13 %`. */
export const share = formatter((fraction) => `${twoPlaces.format(fraction * 100)} %`);

/** `1.84` */
export const decimal = money;

/** A probability as `41 %`; never as certain. */
export const chance = formatter((fraction) => {
  if (fraction < 0.005) return '<1 %';
  return fraction > 0.995 ? '>99 %' : `${whole.format(fraction * 100)} %`;
});

/** `0.710`, `<0.001` */
export const pValue = formatter((value) => (value < 0.001 ? '<0.001' : value.toFixed(3)));

/** `12,345` */
export const wholeNumber = formatter((value) => whole.format(value));

/**
 * The cost of a model in dollars: `$0.0862`, `$12.30` from one dollar, `$0` for a model that costs
 * nothing.
 */
export const cost = formatter((dollars) => {
  if (dollars === 0) return '$0';
  return `$${Math.abs(dollars) < 1 ? dollars.toFixed(4) : twoPlaces.format(dollars)}`;
});

/** The class that colours a number, as it is shown, by its sign. */
export function tone(shown: string): 'gain' | 'loss' | 'flat' {
  if (!/[1-9]/.test(shown)) return 'flat';
  return shown.startsWith('−') ? 'loss' : 'gain';
}

/** Seconds as `0.4 s`, `31 s`, `5 min 12 s`, `2 h 5 min`. */
export const duration = formatter(inWords);

/** A session date as `Mon 15 Sep 2025`. It is a trading day and has no time zone. */
export function longDate(date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  return Number.isNaN(day.getTime()) ? date : day.toUTCString().slice(0, 16).replace(/, 0?/, ' ');
}

/** The same, which no line breaks. */
export function nonBreakingDate(date: string): string {
  return longDate(date).replaceAll(' ', '\u00a0');
}

/** ` from Wed 1 Oct 2025 to Tue 7 Oct 2025`; nothing for days without dates. */
export function spanText({
  start_date: first,
  end_date: last,
}: Record<'start_date' | 'end_date', string | null>): string {
  return first && last ? ` from ${longDate(first)} to ${longDate(last)}` : '';
}

/** `Sep 2025` */
export function monthText(date: string): string {
  return longDate(date).split(' ').slice(2).join(' ');
}

/** The start of a job's id: enough to tell jobs apart. */
export function shortId(jobId: string): string {
  return jobId.slice(0, 8);
}

/** Names separated by commas. */
export function splitNames(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

let collator: Intl.Collator | undefined;

/**
 * Compares names, their numbers by value: model-2 before model-10. Names that differ only in case
 * or accents keep one order.
 */
export function byName(one: string, other: string): number {
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(one, other) || (one < other ? -1 : Number(one > other));
}

/** How many names a cell or a line has room for; the others are counted. */
export const MAX_NAMED = 3;

/** "gpt-5, claude and 3 more". */
export function shortList(names: readonly string[], most = MAX_NAMED): string {
  const named = names.slice(0, most).join(', ');
  return names.length <= most ? named : `${named} and ${wholeNumber(names.length - most)} more`;
}

/** A sentence in which no line ends between a number and its percent sign. */
export function joinPercent(sentence: string): string {
  return sentence.replaceAll(' %', '\u00a0%');
}

/** The entries of runs, each once: `gpt-5` of `gpt-5` and `gpt-5#2`. */
export function entryNames(runs: readonly string[]): string[] {
  return [...new Set(runs.map((run) => parseRun(run).family))];
}

/**
 * The names that have the same reason, and how a line begins that says it of all of them; in the
 * order of the first name of each.
 */
export function groupByReason(entries: readonly { name: string; reason: string }[]) {
  return [...Map.groupBy(entries, ({ reason }) => reason)].map(([reason, own]) => {
    const names = own.map(({ name }) => name);
    return { names, words: shortList(names), reason };
  });
}

/** The statuses of a job in words, in the order of a job's life. */
export const jobStatusLabels: Record<Status['status'], string> = {
  pending: 'Waiting to start',
  downloading_data: 'Preparing prices',
  running: 'Running',
  completed: 'Completed',
  partial: 'Partly completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  discarded: 'Discarded',
};

/** In the order of a job's life. */
export const jobStatuses = Object.keys(jobStatusLabels) as Status['status'][];
