/** What a page of CSV has to say: the same as its JSON, row by row and field by field. */

type Json = any;
type Row = Record<string, unknown>;

/** The rows of a table as JSON objects, by the column's name; columns that are left out may differ. */
const rowsOf: Record<string, (body: Json) => Row[]> = {
  '/results': ({ results }) =>
    results.map((record: Json) => ({
      ...record,
      holdings: record.holdings.map((one: Json) => `${one.symbol}:${one.quantity}`).join(' '),
    })),
  '/holdings': ({ days }) =>
    days.flatMap(({ holdings, ...day }: Json) => {
      const { date, cash, cash_weight, value: portfolio_value } = day;
      const rows = holdings.length > 0 ? holdings : [{ symbol: null, quantity: null }];
      return rows.map((holding: Json) => ({
        date,
        cash,
        portfolio_value,
        cash_weight,
        ...holding,
      }));
    }),
  '/performance': ({ models, benchmark }) => {
    const values = new Map(benchmark.curve.map((point: Json) => [point.date, point.value]));
    return models.flatMap(({ model, family, knowledge_cutoff: cutoff, curve }: Json) =>
      curve.map((point: Json) => ({
        model,
        ...point,
        benchmark_value: values.get(point.date) ?? null,
        family,
        before_cutoff: cutoff !== null && point.date <= cutoff,
      })),
    );
  },
  '/comparison': ({ models }) =>
    models.map(({ runs, run_returns: returns, interval, unavailable: _, ...model }: Json) => ({
      ...model,
      runs: runs.length,
      run_returns: runs
        .map((run: string, index: number) => `${run}:${returns[index] ?? ''}`)
        .join(' '),
      interval_low: interval?.low ?? null,
      interval_high: interval?.high ?? null,
    })),
  '/decisions': ({ decisions }) => decisions,
  '/jobs': ({ jobs }) => jobs.map(({ progress, ...job }: Json) => ({ ...job, ...progress })),
  '/comparison pairs': ({ pairs }) =>
    pairs.map(({ interval, unavailable: _, ...pair }: Json) => ({
      ...pair,
      interval_low: interval?.low ?? null,
      interval_high: interval?.high ?? null,
    })),
};

/** A sentence for each field in which a CSV response differs from the JSON of the same request. */
export function differences(path: string, csv: string, body: Json): string[] {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  const table = searchParams.get('table');
  if (table === 'trades' || table === 'actions') return differentTrades(path, csv, body);
  const expected = rowsOf[table === 'pairs' ? `${pathname} pairs` : pathname]?.(body);
  if (expected === undefined) throw new Error(`No table for ${path}`);
  const rows = readCsv(csv);
  if (rows.length !== expected.length)
    return [`GET ${path}: ${rows.length} lines, and ${expected.length} in JSON`];
  return rows.flatMap((row, index) =>
    Object.entries(expected[index] as Row)
      .filter(([name, value]) => row[name] !== undefined && !isSame(row[name], value))
      .map(
        ([name, value]) => `GET ${path}: line ${index + 1}: ${name} is ${row[name]}, not ${value}`,
      ),
  );
}

/** Of orders, JSON has the number and the sums. */
function differentTrades(path: string, csv: string, { models }: Json): string[] {
  const rows = readCsv(csv);
  return models.flatMap(({ model, trading }: Json) => {
    const own = rows.filter((row) => row['model'] === model);
    const amount = (side: string) =>
      own
        .filter((row) => row['side'] === side)
        .reduce((sum, row) => sum + Number(row['amount']) * Number(row['price']), 0);
    const trades = own.filter(({ side }) => side === 'buy' || side === 'sell').length;
    const isSameAmount =
      Math.abs(amount('buy') - trading.bought) < 1e-4 &&
      Math.abs(amount('sell') - trading.sold) < 1e-4;
    if (trades === trading.trades && isSameAmount) return [];
    return [`GET ${path}: ${model} has ${trades} trades of ${amount('buy')} and ${amount('sell')}`];
  });
}

function isSame(field: string | undefined, value: unknown): boolean {
  if (value === null) return field === '';
  if (typeof value === 'number') return field !== '' && Number(field) === value;
  if (typeof value === 'object') return true;
  return field === String(value) || field === `'${value}`;
}

/** RFC 4180: fields with commas, quotes or line breaks are in quotes, which are doubled inside. */
export function readCsv(text: string): Record<string, string>[] {
  const [header = [], ...lines] = [
    ...text.matchAll(/(?:(?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,|(?=\r\n)))+\r\n/g),
  ].map(([line]) =>
    [...line.slice(0, -2).matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
      ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
    ),
  );
  return lines.map((line) =>
    Object.fromEntries(header.map((name, index) => [name, line[index] ?? ''])),
  );
}
