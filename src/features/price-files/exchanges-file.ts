import type { CommandDatabase, Database } from '#database/database.ts';
import { type Exchange, exchangesOn, storeExchanges } from '#database/exchanges.ts';
import { invalidFile } from '#domain/service-error.ts';
import { parseFraction } from '#money/money.ts';
import { MAX_CASH, parseRatio } from '#prices/amounts.ts';
import {
  checkDay,
  type Defect,
  isAbsent,
  MAX_DAYS_AHEAD,
  readSymbol,
  refuse,
  withoutDollarSign,
} from '#prices/row.ts';
import { addDays, type CalendarDate, utcDate } from '#time/calendar.ts';
import { columnText, findPositions, NAMES_WITHOUT_PRICES } from './csv.ts';
import { dashedDate, type Lines, readCells, readHeader, takeHeader } from './lines.ts';
import { createProgress, type ImportOptions, writeInTurns } from './store-staged.ts';

/** Files of exchanges: what becomes of a share on the morning of a date. */

const { symbol, date, numerator, denominator } = NAMES_WITHOUT_PRICES;
const NAMES = {
  ...{ symbol, date, numerator, denominator },
  cash: ['cash', 'cashpershare'],
  into: ['into'],
  remains: ['remains'],
};
type Name = keyof typeof NAMES;

/** A row that was checked; one into the symbol itself says that there was no exchange. */
interface ExchangeRow extends Exchange {
  line: number;
}
type RefuseRow = (line: number, defect: Defect) => void;

/** Whether the header is one of exchanges, which may have the columns of splits too. */
export function namesExchanges({ first }: Lines): boolean {
  const { names } = readHeader(first.lines[0] ?? '');
  return names.includes('into') || names.includes('remains');
}

/** Imports the rows after the header, date by date. */
export async function importExchanges(
  database: CommandDatabase,
  lines: Lines,
  { refuse: report, clock, time }: ImportOptions & { refuse: RefuseRow },
) {
  const days = refuseContradictions(await readRows(lines, utcDate(clock()), report), report);
  const byDate = Map.groupBy(days, (row) => row.date);
  const stored: Exchange[] = [];
  let changed = 0;
  function* storeDates(): Generator<null> {
    for (const rows of byDate.values()) {
      const kept = refuseCircles(database, refuseBesideStored(database, rows, report), report);
      changed += storeRows(database, kept);
      stored.push(...kept);
      yield null;
    }
  }
  await writeInTurns(database, storeDates(), time);
  const symbols = [...new Set(stored.map((row) => row.symbol))].sort();
  const spans = stored.map((row) => ({ from: row.date, to: row.date }));
  const none = stored.filter(isNone).length;
  const exchanges = { stored: stored.length - none, none };
  return { ...createProgress(symbols, spans), changed, exchanges };
}

const isNone = ({ symbol, into }: Exchange) => symbol === into;

function storeRows(database: Database, rows: readonly Exchange[]): number {
  const exchanges = rows.filter((row) => !isNone(row));
  return storeExchanges(database, { exchanges, none: rows.filter(isNone) }, 'csv');
}

async function readRows(
  lines: Lines,
  today: CalendarDate,
  report: RefuseRow,
): Promise<ExchangeRow[]> {
  const header = takeHeader(lines);
  const columns = findPositions(header, NAMES);
  const missing = (['symbol', 'date'] as const).filter((name) => columns[name] === -1);
  if (missing.length > 0)
    throw invalidFile(
      `as CSV of exchanges its header lacks ${missing.join(', ')}; its columns are ${columnText(header)}`,
    );
  const width = header.names.length;
  const found: ExchangeRow[] = [];
  for await (const batch of lines.batches)
    for (const { cells, line, text } of readCells(batch, header.separator)) {
      const cellOf = (name: Name) => {
        const cell = cells[columns[name]]?.trim() ?? '';
        return isAbsent(cell) ? '' : cell;
      };
      const row =
        cells.length === width ? readRow(cellOf, today) : refuse(`not ${width} columns`, text);
      if ('defect' in row) report(line, row.defect);
      else found.push({ ...row, line });
    }
  return found;
}

function readRow(
  cellOf: (name: Name) => string,
  today: CalendarDate,
): Exchange | { defect: Defect } {
  const day = checkDay({ symbol: cellOf('symbol'), date: dashedDate(cellOf('date')) });
  if (day.defect !== undefined) return day;
  const { symbol, date } = day.bar;
  if (date > addDays(today, MAX_DAYS_AHEAD)) return refuse('a date more than a year ahead', date);
  const word = cellOf('remains');
  const remains = /^(yes|y|true|1)$/i.test(word) ? 1 : 0;
  if (remains === 0 && !/^(|no|n|false|0)$/i.test(word))
    return refuse('remains is neither yes nor no', word);
  const cash = readCash(cellOf('cash'));
  if (typeof cash === 'object') return cash;
  const shares = readShares(cellOf);
  if ('defect' in shares) return shares;
  const { into } = shares;
  if (into === '' && cellOf('cash') === '')
    return refuse('incomplete: neither cash nor into; a worthless end says cash 0', symbol);
  if (into === '' && remains === 1)
    return refuse(
      'cash beside shares that remain is a dividend: import it with ex_date and amount',
      cellOf('cash'),
    );
  const isPlain = shares.numerator === shares.denominator && cash === 0 && remains === 0;
  if (into === symbol && !isPlain)
    return refuse(
      'an exchange into the symbol itself; 1:1 without cash says that there was none',
      symbol,
    );
  return { symbol, date, cash, ...shares, remains };
}

const MILLIONTHS = 1_000_000n;

/** Cash per old share in 1/1,000,000 dollar, exactly. */
function readCash(text: string): number | { defect: Defect } {
  if (text === '') return 0;
  const dollars = parseFraction(withoutDollarSign(text));
  const units = dollars && (dollars.over * MILLIONTHS) / dollars.under;
  if (dollars === null || units === null || units > BigInt(MAX_CASH))
    return refuse('cash is not a plausible number', text);
  return units * dollars.under === dollars.over * MILLIONTHS
    ? Number(units)
    : refuse('cash has more than six decimals', text);
}

/** A number above 0 without a sign or an exponent. */
const PLAIN = /^(?=.*[1-9])\d+(\.\d+)?$/;

type Shares = Pick<Exchange, 'into' | 'numerator' | 'denominator'>;

function readShares(cellOf: (name: Name) => string): Shares | { defect: Defect } {
  const [name, over, under] = [cellOf('into'), cellOf('numerator'), cellOf('denominator')];
  const ratio = `${over}:${under}`;
  if (name === '')
    return over + under === ''
      ? { into: '', numerator: null, denominator: null }
      : refuse('numerator or denominator without into', ratio);
  const into = readSymbol(name);
  if (into === null) return refuse('into is not a ticker symbol', name);
  if (over === '' || under === '') return refuse('into without numerator and denominator', ratio);
  const isEven = PLAIN.test(over) && PLAIN.test(under) && Number(over) === Number(under);
  const parsed = isEven ? { numerator: 1, denominator: 1 } : parseRatio(over, under);
  return parsed === null ? refuse('not a plausible ratio', ratio) : { into, ...parsed };
}

/** Returns each row once, without those of a symbol and a date that contradict each other. */
function refuseContradictions(rows: readonly ExchangeRow[], report: RefuseRow): ExchangeRow[] {
  const days = Map.groupBy(rows, ({ symbol, date }) => `${symbol} ${date}`);
  return [...days].flatMap(([day, all]) => {
    const own = new Map(all.map((row) => [JSON.stringify({ ...row, line: 0 }), row])).values();
    const different = [...own];
    const intos = new Set(different.map(({ into }) => into));
    const agree =
      intos.size === different.length &&
      new Set(different.map(({ remains }) => remains)).size === 1 &&
      (different.length === 1 || !different.some(isNone));
    if (agree) return different;
    const reason =
      'rows of one symbol and date contradict each other: in what into brings, or whether it remains';
    const value = `${day} on lines ${all.map(({ line }) => line).join(' and ')}`;
    for (const { line } of all) report(line, { reason, value });
    return [];
  });
}

/**
 * Returns the rows of a date that are no second end of a share: beside another that is stored, only
 * spin-offs can be.
 */
function refuseBesideStored(
  database: Database,
  rows: readonly ExchangeRow[],
  report: RefuseRow,
): ExchangeRow[] {
  const [{ date } = { date: '' }] = rows;
  const stored = exchangesOn(database, date);
  const kept = stored.filter((old) => !rows.some((row) => isReplaced(old, row)));
  return rows.filter((row) => {
    const old = kept.find(({ symbol }) => symbol === row.symbol);
    if (old === undefined || (old.remains === 1 && row.remains === 1)) return true;
    if (stored.some((own) => isReplaced(own, row))) return true;
    const reason =
      'another exchange of this symbol and date is stored, which a file with both keeps and a file with ' +
      `${row.symbol},${date},,${row.symbol},1,1, takes back`;
    report(row.line, { reason, value: `${date} ${row.symbol} into ${old.into || 'cash'}` });
    return false;
  });
}

/** Returns the rows of a date that are in no circle, also with what is stored beside them. */
function refuseCircles(
  database: Database,
  rows: readonly ExchangeRow[],
  report: RefuseRow,
): ExchangeRow[] {
  const [{ date } = { date: '' }] = rows;
  const kept = exchangesOn(database, date).filter(
    (old) => !rows.some((row) => isReplaced(old, row)),
  );
  const next = Map.groupBy([...kept, ...rows], ({ symbol }) => symbol);
  return rows.filter((row) => {
    // What follows from the row, from one share to the next.
    const reached = new Set(isNone(row) ? [] : [row.into]);
    for (const symbol of reached) for (const { into } of next.get(symbol) ?? []) reached.add(into);
    if (!reached.has(row.symbol)) return true;
    const value = `${date} ${row.symbol} into ${[...reached].filter(Boolean).join(', ')}`;
    report(row.line, { reason: 'a circle of exchanges on one date', value });
    return false;
  });
}

const isReplaced = (old: Exchange, row: Exchange) =>
  old.symbol === row.symbol && (isNone(row) || old.into === row.into);
