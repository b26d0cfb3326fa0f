/** Names listed in one sentence; the rest are only counted. */
const MAX_LISTED_NAMES = 30;

/** A count as people read it, thousands separated. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}

/** "1 date", "2 dates"; with `many` where an s at the end is not enough. */
export function count(number: number, noun: string, many = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : many}`;
}

/** "1 date", "1,000 dates": not for texts that models read, which never change. */
export function plural(number: number, noun: string): string {
  return `${formatNumber(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** `$5`, `CNY 5`. */
export function inCurrency(currency: string, amount: number | string): string {
  return `${currency === 'USD' ? '$' : `${currency} `}${amount}`;
}

/** `5 dollars`, `5 CNY`. */
export function amountWords(currency: string, amount: number | string): string {
  if (currency !== 'USD') return `${amount} ${currency}`;
  return `${amount} dollar${Number(amount) === 1 ? '' : 's'}`;
}

/**
 * The lines that there are: a condition that does not hold leaves `false` in the place of its line.
 */
export function compact<Line = string>(lines: readonly (Line | false)[]): Line[] {
  return lines.flatMap((line) => (line === false ? [] : [line]));
}

/**
 * A share in percent, `31.2 %`: with one decimal, or with as many as tell it from another in words.
 */
export function asPercent(share: number, other = ''): string {
  for (let decimals = 1; ; decimals += 1) {
    const words = `${Number((100 * share).toFixed(decimals))} %`;
    if (words !== other || decimals === 12) return words;
  }
}

type Limits =
  | Partial<Record<'max_weight' | 'max_orders' | 'min_cash', number | null | undefined>>
  | null
  | undefined;

/**
 * The limits of orders, `at most 25 % in one symbol, at most 5 orders a day`; `none` without any.
 */
export function limitsText(limits: Limits): string {
  const { max_weight: weight, max_orders: orders, min_cash: cash } = limits ?? {};
  const words = compact([
    weight != null && `at most ${asPercent(weight)} of the portfolio in one symbol`,
    cash != null && `at least ${asPercent(cash)} of it in cash`,
    orders != null && `at most ${count(orders, 'order')} a day`,
  ]);
  return words.join(', ') || 'none';
}

/** A job by what became of its model-days; the skipped ones are among the completed. */
interface JobCourse {
  progress: Record<'total_model_days' | 'completed' | 'failed' | 'pending' | 'skipped', number>;
  completed_at: string | null;
}

/** "105 of 110 run, 5 skipped"; those that wait when a job has ended did not run. */
export function progressText({ progress, completed_at: end }: JobCourse): string {
  const { total_model_days: total, completed, failed, pending, skipped } = progress;
  const others = { failed, skipped, 'did not run': end === null ? 0 : pending };
  return [
    `${formatNumber(completed - skipped)} of ${formatNumber(total)} run`,
    ...Object.entries(others).flatMap(([what, days]) =>
      days > 0 ? `${formatNumber(days)} ${what}` : [],
    ),
  ].join(', ');
}

/** Seconds as `0.4 s`, `31 s`, `5 min 12 s`, `2 h 5 min`. */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const all = Math.round(seconds);
  const minutes = Math.floor(all / 60);
  if (minutes === 0) return `${all} s`;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min ${all % 60} s` : `${hours} h ${minutes % 60} min`;
}

/**
 * "A, B and 3 more": at most `most` of them by name. `total` is how many there are, where `names`
 * are only the first.
 */
export function list(
  names: readonly string[],
  { most = MAX_LISTED_NAMES, total = names.length } = {},
): string {
  const named = names.slice(0, most);
  const rest = total - named.length;
  return `${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}

/** How much of a name is compared: names may be long, and many. */
const MAX_LENGTH = 64;
/** A shorter beginning of a name does not tell which is meant. */
const MIN_BEGINNING = 3;

/**
 * The name that was probably meant: the same in other letters, one that begins so, or one that
 * differs in a third of its letters.
 */
export function nearestName(wanted: string, names: Iterable<string>): string | null {
  const own = wanted.toLowerCase().slice(0, MAX_LENGTH);
  let nearest: string | null = null;
  let least = Math.floor(own.length / 3) + 1;
  for (const name of names) {
    const other = name.toLowerCase().slice(0, MAX_LENGTH);
    const isBeginning = own.length >= MIN_BEGINNING && other.startsWith(own);
    const distance = Math.min(isBeginning ? 1 : Infinity, distanceBetween(own, other));
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** Letters to insert, to leave out, to replace or to exchange with the next. */
function distanceBetween(one: string, other: string): number {
  const table = [Array.from({ length: other.length + 1 }, (_, place) => place)];
  const at = (row: number, place: number) => table[row]?.[place] ?? Infinity;
  for (let row = 1; row <= one.length; row += 1) {
    const own = [row];
    table.push(own);
    for (let place = 1; place <= other.length; place += 1) {
      const [letter, wanted] = [one[row - 1], other[place - 1]];
      const isExchanged = letter === other[place - 2] && wanted === one[row - 2];
      own.push(
        Math.min(
          at(row - 1, place - 1) + (letter === wanted ? 0 : 1),
          at(row - 1, place) + 1,
          at(row, place - 1) + 1,
          isExchanged ? at(row - 2, place - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(one.length, other.length);
}

/**
 * What to say after "there is no ...": the name that was probably meant, else where the names are
 * listed.
 */
export function didYouMean(wanted: string, names: Iterable<string>, otherwise: string): string {
  const nearest = nearestName(wanted, names);
  return nearest === null ? otherwise : `did you mean "${nearest}"?`;
}

/** ` (did you mean "NAME"?)` with the name that was probably meant; empty without one. */
export function hint(wanted: string, names: Iterable<string>): string {
  const words = didYouMean(wanted, names, '');
  return words && ` (${words})`;
}
