/**
 * A trading ledger computed from the documentation alone (docs/reference/price-files.md, configuration.md,
 * metrics.md, docs/guides/other-exchanges.md), to compare the program's with. It imports nothing of the program.
 * Money is in BigInt of 1/10000; cash per share of dividends and exchanges in 1/1,000,000.
 */

export interface OracleExchange {
  symbol: string;
  date: string;
  cash: bigint;
  /** Empty: only cash. */
  into: string;
  numerator: bigint;
  denominator: bigint;
  remains: boolean;
}

export interface OracleTerms {
  initialCash: bigint;
  commissionPerTrade: bigint;
  minCommission: bigint;
  /** In tenths of a basis point. */
  commissionBps: bigint;
  sellTaxBps: bigint;
  slippageBps: bigint;
  paysDividends: boolean;
  isHidden: boolean;
  sellSameDay: boolean;
  /** Of each symbol; the limit in percent, null for none. */
  boards: ReadonlyMap<string, { minimum: bigint; step: bigint; limit: bigint | null }>;
}

export interface OracleOrder {
  side: 'buy' | 'sell';
  symbol: string;
  amount: bigint;
}

export interface OracleWorld {
  universe: ReadonlySet<string>;
  /** Model-days, with their orders. */
  days: readonly { date: string; orders: readonly OracleOrder[] }[];
  bars: readonly { symbol: string; date: string; open: bigint; close: bigint | null }[];
  dividends: readonly { symbol: string; date: string; cash: bigint }[];
  splits: readonly { symbol: string; date: string; numerator: bigint; denominator: bigint }[];
  exchanges: readonly OracleExchange[];
  terms: OracleTerms;
}

/** What a day leaves: its records as text, its holdings, and which orders were taken. */
export interface OracleDay {
  date: string;
  records: string[];
  holdings: string[];
  taken: boolean[];
  value: bigint;
}

interface Fraction {
  over: bigint;
  under: bigint;
}

/** A day while it is computed. */
interface Day {
  world: OracleWorld;
  date: string;
  cash: bigint;
  held: Map<string, bigint>;
  /** What cannot be sold today. */
  locked: Map<string, bigint>;
  startValue: bigint;
  records: string[];
}

function halfEven(over: bigint, under: bigint): bigint {
  const whole = over / under;
  const rest = (over % under) * 2n;
  return rest > under || (rest === under && whole % 2n === 1n) ? whole + 1n : whole;
}
const halfUp = (over: bigint, under: bigint) => (over * 2n + under) / (under * 2n);
const roundedUp = (over: bigint, under: bigint) => (over + under - 1n) / under;
const toCent = (over: bigint, under: bigint) =>
  ((over * 2n + under * 100n) / (under * 200n)) * 100n;
const byName = (one: { symbol: string }, other: { symbol: string }) =>
  one.symbol < other.symbol ? -1 : 1;
const heldOf = ({ held }: Day, symbol: string) => held.get(symbol) ?? 0n;
const lockedOf = ({ locked }: Day, symbol: string) => locked.get(symbol) ?? 0n;

function barOf({ world, date }: Day, symbol: string) {
  return world.bars.find((bar) => bar.symbol === symbol && bar.date === date);
}

/** A price in 1/10000, a half up; that is also the least one. */
function asPrice(price: Fraction | null): bigint | undefined {
  return price === null ? undefined : halfUp(price.over, price.under) || 1n;
}

/** A price of one date in the shares of another one. */
function adjusted(day: Day, symbol: string, price: bigint, from: string, to: string): Fraction {
  let [over, under] = [price, 1n];
  for (const one of day.world.splits) {
    if (one.symbol !== symbol) continue;
    const isBetween = one.date > (from < to ? from : to) && one.date <= (from < to ? to : from);
    if (!isBetween) continue;
    over *= from < to ? one.denominator : one.numerator;
    under *= from < to ? one.numerator : one.denominator;
  }
  return { over, under };
}

/** The last known close before today, with its date. */
function lastClose({ world, date: today }: Day, symbol: string) {
  return world.bars
    .flatMap(({ symbol: own, date, close }) =>
      own === symbol && date < today && close !== null ? [{ date, close }] : [],
    )
    .toSorted((one, other) => (one.date < other.date ? -1 : 1))
    .at(-1);
}

/** The last close before today, in the shares of today. */
function closeBefore(day: Day, symbol: string): Fraction | null {
  const last = lastClose(day, symbol);
  return last === undefined ? null : adjusted(day, symbol, last.close, last.date, day.date);
}

/** At what a share counts in records: the close, the open while none is known, else the last close. */
function valueOf(day: Day, symbol: string): bigint {
  const bar = barOf(day, symbol);
  if (bar !== undefined) return bar.close ?? bar.open;
  return asPrice(closeBefore(day, symbol)) ?? 0n;
}

/**
 * At what a fraction is paid, in the shares of the date on which it arises: the open, else the last
 * close; never an open that is hidden. Rounded once, from the price as it is stored.
 */
function fractionPrice(day: Day, symbol: string, date: string): bigint | undefined {
  const bar = day.world.terms.isHidden ? undefined : barOf(day, symbol);
  if (bar !== undefined) return asPrice(adjusted(day, symbol, bar.open, day.date, date));
  const last = lastClose(day, symbol);
  return last && asPrice(adjusted(day, symbol, last.close, last.date, date));
}

function record(day: Day, type: string, symbol = '-', amount?: bigint, price?: bigint): void {
  let value = day.cash;
  for (const [name, shares] of day.held) value += shares * valueOf(day, name);
  const parts = [type, symbol, amount ?? '-', price ?? '-', day.cash, value];
  day.records.push([...parts, value - day.startValue].join(' '));
}

/**
 * Shares at a ratio: the whole ones are held, and the fraction is paid at a price that is money, so
 * in 1/10000. Returns the whole ones.
 */
function convert(day: Day, shares: bigint, ratio: Fraction, price: bigint | undefined): bigint {
  const rest = (shares * ratio.over) % ratio.under;
  day.cash += halfUp(rest * (price ?? 0n), ratio.under);
  return (shares * ratio.over) / ratio.under;
}

function payDividends(day: Day, date: string): void {
  if (!day.world.terms.paysDividends) return;
  for (const { symbol, cash } of day.world.dividends
    .filter((one) => one.date === date)
    .toSorted(byName)) {
    const shares = heldOf(day, symbol);
    if (shares === 0n) continue;
    day.cash += halfEven(shares * cash, 100n);
    record(day, 'dividend', symbol, shares, halfEven(cash, 100n));
  }
}

function split(day: Day, date: string): void {
  for (const one of day.world.splits.filter((each) => each.date === date).toSorted(byName)) {
    const { symbol, numerator: over, denominator: under } = one;
    const shares = heldOf(day, symbol);
    if (shares === 0n) continue;
    const price = fractionPrice(day, symbol, date);
    const whole = convert(day, shares, { over, under }, price);
    day.held.set(symbol, whole);
    record(day, 'split', symbol, whole - shares, price);
  }
}

/** All rows of one symbol and date: the old share leaves once. */
function exchange(day: Day, symbol: string, rows: readonly OracleExchange[]): void {
  const shares = heldOf(day, symbol);
  if (shares === 0n) return;
  const remains = rows.some((row) => row.remains);
  const date = rows[0]?.date ?? '';
  const cash = rows.reduce((sum, row) => sum + row.cash, 0n);
  const wasLocked = lockedOf(day, symbol);
  day.cash += halfEven(shares * cash, 100n);
  if (!remains) {
    day.held.delete(symbol);
    day.locked.delete(symbol);
  }
  record(day, 'exchange', symbol, remains ? 0n : shares, halfEven(cash, 100n));
  const isName = rows.length === 1 && rows.some((row) => row.numerator === row.denominator);
  const isOnlyName = isName && !remains && cash === 0n;
  for (const { into, numerator: over, denominator: under } of rows) {
    if (into === '') continue;
    const price = fractionPrice(day, into, date);
    const whole = convert(day, shares, { over, under }, price);
    day.held.set(into, heldOf(day, into) + whole);
    const came = date === day.date ? whole : 0n;
    day.locked.set(into, lockedOf(day, into) + (isOnlyName ? wasLocked : came));
    record(day, 'received', into, whole, price);
  }
}

/** The exchanges of a date, by symbol, but each after those that bring its shares. */
function exchangeAll(day: Day, date: string): void {
  const rows = day.world.exchanges.filter((row) => row.date === date);
  const byTarget = rows.toSorted((one, other) => (one.into < other.into ? -1 : 1));
  const done = new Set<string>();
  const follow = (symbol: string) => {
    if (done.has(symbol)) return;
    done.add(symbol);
    for (const row of rows.toSorted(byName)) if (row.into === symbol) follow(row.symbol);
    const own = byTarget.filter((row) => row.symbol === symbol);
    exchange(day, symbol, own);
  };
  for (const { symbol } of rows.toSorted(byName)) follow(symbol);
}

/** Whether an exchange only gives a share another name: 1:1 without more, and no other name came so. */
function isRename({ world }: Day, row: OracleExchange): boolean {
  const isEqual = (one: OracleExchange) =>
    one.into !== '' && one.numerator === one.denominator && one.cash === 0n && !one.remains;
  const onDate = world.exchanges.filter(({ date }) => date === row.date);
  const isAlone = (one: OracleExchange) =>
    onDate.filter(({ symbol }) => symbol === one.symbol).length === 1;
  const names = onDate.filter((one) => one.into === row.into && isEqual(one) && isAlone(one));
  return names.length === 1 && names[0] === row;
}

/** The names of a share, today's first, and until when each was its name. */
function namesOf(day: Day, symbol: string): { symbol: string; until: string }[] {
  const names = [{ symbol, until: day.date }];
  for (const { symbol: name, until } of names) {
    const row = day.world.exchanges
      .filter((one) => one.into === name && one.date <= until && isRename(day, one))
      .toSorted((one, other) => (one.date < other.date ? -1 : 1))
      .at(-1);
    if (row !== undefined) names.push({ symbol: row.symbol, until: row.date });
  }
  return names;
}

/** The lowest open at which no purchase fills, and the highest at which no sale does. */
function limitsOf(day: Day, symbol: string): { upper: bigint; lower: bigint } | null {
  const limit = day.world.terms.boards.get(symbol)?.limit ?? null;
  const names = namesOf(day, symbol);
  const closes = names.map((own) => lastClose({ ...day, date: own.until }, own.symbol));
  const latest = closes
    .map((close) => close?.date ?? '')
    .toSorted()
    .at(-1);
  const place = closes.findIndex((close) => close?.date === latest);
  const last = closes[place];
  if (limit === null || last === undefined) return null;
  // "Of the morning" is read as: since the close before, which may be older than a day.
  const { dividends, splits } = day.world;
  let [over, under, from] = [last.close * 100n, 100n, last.date];
  for (const own of names.slice(0, place + 1).toReversed()) {
    const isOf = (one: { symbol: string; date: string }) =>
      one.symbol === own.symbol && one.date > from && one.date <= own.until;
    const dates = [...dividends, ...splits].filter(isOf).map(({ date }) => date);
    for (const date of [...new Set(dates)].toSorted()) {
      for (const one of dividends)
        if (isOf(one) && one.date === date) over -= (one.cash * under) / 100n;
      for (const one of splits)
        if (isOf(one) && one.date === date)
          [over, under] = [over * one.denominator, under * one.numerator];
    }
    from = own.until;
  }
  // The documents do not say so: a dividend of all that a share was worth leaves no reference.
  const reference = over > 0n ? toCent(over, under) : 0n;
  if (reference === 0n) return null;
  const at = (percent: bigint) => toCent(reference * percent, 100n);
  return { upper: at(100n + limit), lower: at(100n - limit) };
}

const isAtLimit = (day: Day, { side, symbol }: OracleOrder, open: bigint) => {
  const limits = limitsOf(day, symbol);
  if (limits === null) return false;
  return side === 'buy' ? open >= limits.upper : open <= limits.lower;
};

/** Whether lots allow it; `held` is what is left to sell. */
function isInLots(day: Day, { side, symbol, amount }: OracleOrder, held: bigint): boolean {
  const { minimum, step } = day.world.terms.boards.get(symbol) ?? { minimum: 1n, step: 1n };
  if (side === 'buy') return amount >= minimum && (amount - minimum) % step === 0n;
  return amount % step === 0n || amount % step === held % step;
}

/** What an order changes in cash at a price, and the price of its fill. */
function fillOf({ world: { terms } }: Day, { side, amount }: OracleOrder, at: bigint) {
  const slip = roundedUp(at * terms.slippageBps, 100_000n);
  const price = side === 'buy' ? at + slip : at - slip;
  const traded = price * amount;
  const usual = terms.commissionPerTrade + roundedUp(traded * terms.commissionBps, 100_000n);
  const commission = usual > terms.minCommission ? usual : terms.minCommission;
  const tax = side === 'sell' ? roundedUp(traded * terms.sellTaxBps, 100_000n) : 0n;
  return { price, cash: (side === 'buy' ? -traded : traded) - commission - tax };
}

function execute(day: Day, order: OracleOrder, open: bigint): void {
  const { side, symbol, amount } = order;
  const { price, cash } = fillOf(day, order, open);
  day.cash += cash;
  const held = heldOf(day, symbol) + (side === 'buy' ? amount : -amount);
  if (held === 0n) day.held.delete(symbol);
  else day.held.set(symbol, held);
  if (side === 'buy') day.locked.set(symbol, lockedOf(day, symbol) + amount);
  record(day, side, symbol, amount, price);
}

/** Whether an order can be taken, with so much cash and so many shares left. */
function isTaken(day: Day, order: OracleOrder, at: bigint | undefined, cash: bigint, held: bigint) {
  const { side, symbol, amount } = order;
  const { terms, universe } = day.world;
  if (at === undefined || amount < 1n || !isInLots(day, order, held)) return false;
  if (side === 'buy' && !universe.has(symbol)) return false;
  const free = terms.sellSameDay ? held : held - lockedOf(day, symbol);
  if (side === 'sell' && amount > free) return false;
  return cash + fillOf(day, order, at).cash >= 0n;
}

function tradeShown(day: Day, orders: readonly OracleOrder[]): boolean[] {
  return orders.map((order) => {
    const open = barOf(day, order.symbol)?.open;
    if (!isTaken(day, order, open, day.cash, heldOf(day, order.symbol))) return false;
    if (open === undefined || isAtLimit(day, order, open)) return false;
    execute(day, order, open);
    return true;
  });
}

/** Orders are placed by the close before, and fill at the open: all sales, then all purchases. */
function tradeHidden(day: Day, orders: readonly OracleOrder[]): boolean[] {
  let cash = day.cash;
  const left = new Map(day.held);
  const taken = orders.map((order) => {
    const at = asPrice(closeBefore(day, order.symbol));
    if (!isTaken(day, order, at, cash, left.get(order.symbol) ?? 0n)) return false;
    cash += fillOf(day, order, at ?? 0n).cash;
    if (order.side === 'sell')
      left.set(order.symbol, (left.get(order.symbol) ?? 0n) - order.amount);
    return true;
  });
  const placed = orders.filter((_order, place) => taken[place]);
  for (const order of [
    ...placed.filter(({ side }) => side === 'sell'),
    ...placed.filter(({ side }) => side === 'buy'),
  ]) {
    const open = barOf(day, order.symbol)?.open;
    if (open === undefined || isAtLimit(day, order, open)) continue;
    let { amount } = order;
    const pays = () => day.cash + fillOf(day, { ...order, amount }, open).cash >= 0n;
    const fits = () => order.side === 'sell' || isInLots(day, { ...order, amount }, 0n);
    while (amount > 0n && !(fits() && pays())) amount -= order.side === 'sell' ? amount : 1n;
    if (amount > 0n) execute(day, { ...order, amount }, open);
  }
  return taken;
}

function datesBetween(before: string, last: string): string[] {
  const dates = [last];
  for (let first = last; before !== '' && first > before; dates.unshift(first))
    first = new Date(Date.parse(first) - 86_400_000).toISOString().slice(0, 10);
  return dates.filter((date) => date > before);
}

/** Every model-day of a world. */
export function ledgerOfWorld(world: OracleWorld): OracleDay[] {
  let held = new Map<string, bigint>();
  let [cash, value, before] = [world.terms.initialCash, world.terms.initialCash, ''];
  return world.days.map(({ date, orders }) => {
    const day: Day = {
      world,
      date,
      cash,
      held: new Map(held),
      locked: new Map(),
      startValue: value,
      records: [],
    };
    for (const each of before === '' ? [] : datesBetween(before, date)) {
      payDividends(day, each);
      split(day, each);
      exchangeAll(day, each);
    }
    for (const [symbol, shares] of day.held) if (shares === 0n) day.held.delete(symbol);
    const taken = (world.terms.isHidden ? tradeHidden : tradeShown)(day, orders);
    if (!day.records.some((line) => /^(buy|sell) /.test(line))) record(day, 'no_trade');
    [held, cash, before] = [day.held, day.cash, date];
    value = day.cash;
    for (const [symbol, shares] of held) value += shares * valueOf(day, symbol);
    const holdings = [...held].map(([symbol, shares]) => `${symbol}:${shares}`).toSorted();
    return { date, records: day.records, holdings, taken, value };
  });
}
