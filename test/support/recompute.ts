/**
 * An independent bookkeeper: from nothing but the action records and the price file it recomputes
 * every cash figure, holding and portfolio value. It shares no code with the service, and computes
 * in whole 1/10000 dollars by BigInt.
 */
export interface ActionRecord {
  date: string;
  model: string;
  action_id: number;
  action_type: string | null;
  symbol: string | null;
  amount: number | null;
  price: number | null;
  cash: number;
  portfolio_value: number;
  daily_profit: number | null;
  daily_return_pct: number | null;
  holdings: { symbol: string; quantity: number }[];
}

type Days = Record<string, { '1. buy price'?: string; '4. sell price'?: string }>;

/**
 * Every figure that is not what the file and the actions make it, as a sentence. None means that
 * the books are right.
 */
export function findErrors(
  records: readonly ActionRecord[],
  mergedFile: string,
  initialCash: number,
): string[] {
  const prices = readMergedFile(mergedFile);
  const errors: string[] = [];
  const models = new Set(records.map(({ model }) => model));
  for (const model of models) {
    let cash = BigInt(initialCash) * 10_000n;
    let closing = cash;
    let profits = 0n;
    const held = new Map<string, bigint>();
    const own = records.filter((record) => record.model === model);
    own.forEach((record, index) => {
      const where = `${model} ${record.date} action ${record.action_id}`;
      const check = (what: string, actual: unknown, expected: unknown) => {
        if (actual !== expected)
          errors.push(`${where}: ${what} is ${actual}, should be ${expected}`);
      };
      const isFirst = own[index - 1]?.date !== record.date;
      if (isFirst) check('action_id', record.action_id, 1);
      if (record.action_type === 'buy' || record.action_type === 'sell') {
        const { symbol, amount } = record as { symbol: string; amount: number };
        const open = units(prices.get(symbol)?.[record.date]?.['1. buy price']);
        check('price', text(units(String(record.price))), text(open));
        const sign = record.action_type === 'buy' ? 1n : -1n;
        cash -= sign * BigInt(amount) * open;
        held.set(symbol, (held.get(symbol) ?? 0n) + sign * BigInt(amount));
        if (cash < 0n || (held.get(symbol) as bigint) < 0n) errors.push(`${where}: below zero`);
        if (held.get(symbol) === 0n) held.delete(symbol);
      } else check('action_type', record.action_type, 'no_trade');
      const value = [...held].reduce(
        (sum, [symbol, quantity]) =>
          sum + quantity * closeOf(prices.get(symbol) ?? {}, record.date),
        cash,
      );
      check('cash', text(units(String(record.cash))), text(cash));
      check(
        'holdings',
        JSON.stringify(record.holdings),
        JSON.stringify(
          [...held].sort().map(([symbol, quantity]) => ({ symbol, quantity: Number(quantity) })),
        ),
      );
      check('portfolio_value', text(units(String(record.portfolio_value))), text(value));
      check('daily_profit', text(units(String(record.daily_profit))), text(value - closing));
      check(
        'daily_return_pct',
        record.daily_return_pct,
        Math.round((Number(value - closing) / Number(closing)) * 1_000_000) / 10_000,
      );
      if (own[index + 1]?.date !== record.date) {
        profits += value - closing;
        closing = value;
      }
    });
    if (profits !== closing - BigInt(initialCash) * 10_000n)
      errors.push(`${model}: the daily profits do not add up`);
  }
  return errors;
}

/** The days of each symbol of a file in the merged format. */
export function readMergedFile(file: string): Map<string, Days> {
  const documents = file
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return new Map(
    documents.map((document) => [
      document['Meta Data']['2. Symbol'],
      document['Time Series (Daily)'],
    ]),
  );
}

/**
 * In 1/10000 dollar: the close of the date, its open while no close is known, else the last earlier
 * close.
 */
export function closeOf(days: Days, date: string): bigint {
  const today = days[date];
  if (today !== undefined) return units(today['4. sell price'] ?? today['1. buy price']);
  const earlier = Object.keys(days)
    .filter((day) => day < date && days[day]?.['4. sell price'] !== undefined)
    .sort();
  return units(days[earlier.at(-1) as string]?.['4. sell price']);
}

/** "101.25" → 1012500n, digit by digit. */
function units(dollars: string | undefined): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,4})0*)?$/.exec(dollars ?? '');
  if (match === null) throw new Error(`Not an amount with at most four decimals: ${dollars}`);
  const [, sign, whole = '', fraction = ''] = match;
  const value = BigInt(whole) * 10_000n + BigInt(fraction.padEnd(4, '0'));
  return sign === '-' ? -value : value;
}

function text(value: bigint): string {
  return value.toString();
}
