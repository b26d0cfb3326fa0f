/** Names listed in one sentence; the rest are only counted. */
const MAX_NAMED = 30;

/** "1 date", "2 dates". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The model-days of a job by what became of them; the skipped ones are among the completed. */
export interface Progress {
  total_model_days: number;
  completed: number;
  failed: number;
  pending: number;
  skipped: number;
}

/** "105 of 110 model-days run, 5 skipped"; those that wait when a job is over did not run. */
export function ranInWords(
  { total_model_days: total, completed, failed, pending, skipped }: Progress,
  {
    isOver,
    isBrief = false,
    format = String,
  }: { isOver: boolean; isBrief?: boolean; format?: (number: number) => string },
): string {
  const noun = isBrief ? '' : ` model-day${total === 1 ? '' : 's'}`;
  const others = [
    [failed, 'failed'],
    [skipped, 'skipped'],
    [isOver ? pending : 0, 'did not run'],
  ] as const;
  return [
    `${format(completed - skipped)} of ${format(total)}${noun} run`,
    ...others.flatMap(([number, words]) => (number > 0 ? [`${format(number)} ${words}`] : [])),
  ].join(', ');
}

/** The model-days of a model from its first stale one on: each is stale, or rests on the day before. */
export interface StaleChain {
  model: string;
  from: string;
  to: string;
  days: number;
  stale: number;
}

/** None where no day is stale; the days are in order. */
export function staleChain(
  model: string,
  days: readonly { date: string; isStale: boolean }[],
): StaleChain[] {
  const rest = days.slice(days.findIndex(({ isStale }) => isStale));
  const [first, last] = [rest[0], rest.at(-1)];
  if (!first?.isStale || !last) return [];
  const stale = rest.filter(({ isStale }) => isStale).length;
  return [{ model, from: first.date, to: last.date, days: rest.length, stale }];
}

/** Models that one command names. */
const MAX_MODELS = 20;

/** How many model-days rest on stale ones, and the commands that run them again, as a clause. */
export function staleRemedy(chains: readonly StaleChain[]): string {
  const sum = (name: 'days' | 'stale') => chains.reduce((all, chain) => all + chain[name], 0);
  const [all, stale] = [sum('days'), sum('stale')];
  const resting = all - stale;
  const on = `rest${resting === 1 ? 's' : ''} on ${stale === 1 ? 'it' : 'them'}`;
  const ranges = [...Map.groupBy(chains, ({ from, to }) => `--start ${from} --end ${to}`)];
  const commands = ranges.map(([range, own]) => {
    const more = own.length > MAX_MODELS ? ',…' : '';
    const names = `${own.slice(0, MAX_MODELS).map(({ model }) => model)}${more}`;
    const models = /[^\w.,:@#…-]/.test(names) ? JSON.stringify(names) : names;
    return `trigger ${range} --models ${models} --replace`;
  });
  const again = `run${ranges.length === 1 ? 's' : ''} ${all === 1 ? 'it' : 'them'} again`;
  const rest = resting > 0 ? `${count(resting, 'later model-day')} ${on}; ` : '';
  return `${rest}${list(commands)} ${again}`;
}

/** Seconds as `0.4 s`, `31 s`, `5 min 12 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
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
  { most = MAX_NAMED, total = names.length } = {},
): string {
  const named = names.slice(0, most);
  const rest = total - named.length;
  return `${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}

/** How much of a name is compared: names may be long, and many. */
const MAX_COMPARED = 64;
/** A shorter beginning of a name does not tell which is meant. */
const MIN_BEGINNING = 3;

/**
 * The name that was probably meant: the same in other letters, one that begins so, or one that
 * differs in a third of its letters.
 */
export function nearestName(wanted: string, names: Iterable<string>): string | null {
  const own = wanted.toLowerCase().slice(0, MAX_COMPARED);
  let nearest: string | null = null;
  let least = Math.floor(own.length / 3) + 1;
  for (const name of names) {
    const other = name.toLowerCase().slice(0, MAX_COMPARED);
    const isBeginning = own.length >= MIN_BEGINNING && other.startsWith(own);
    const distance =
      own === other ? 0 : Math.min(isBeginning ? 1 : Infinity, distanceBetween(own, other));
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** Letters to insert, to leave out, to replace or to exchange with the next. */
function distanceBetween(one: string, other: string): number {
  let [earlier, last]: number[][] = [
    [],
    Array.from({ length: other.length + 1 }, (_, place) => place),
  ];
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let place = 1; place <= other.length; place += 1) {
      const isSame = one[row - 1] === other[place - 1];
      const isExchanged =
        row > 1 &&
        place > 1 &&
        one[row - 1] === other[place - 2] &&
        one[row - 2] === other[place - 1];
      const replaced = (last?.[place - 1] ?? Infinity) + (isSame ? 0 : 1);
      const exchanged = isExchanged ? (earlier?.[place - 2] ?? Infinity) + 1 : Infinity;
      next.push(
        Math.min(
          replaced,
          exchanged,
          (last?.[place] ?? Infinity) + 1,
          (next[place - 1] ?? Infinity) + 1,
        ),
      );
    }
    [earlier, last] = [last ?? [], next];
  }
  return last?.[other.length] ?? Infinity;
}

/**
 * What to say after "there is no ...": the name that was probably meant, else where the names are
 * listed.
 */
export function didYouMean(wanted: string, names: Iterable<string>, otherwise: string): string {
  const nearest = nearestName(wanted, names);
  return nearest === null ? otherwise : `did you mean "${nearest}"?`;
}
