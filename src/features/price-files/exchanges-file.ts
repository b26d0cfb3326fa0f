import type { CommandDatabase, Database } from '#database/database.ts';
import { type Exchange, exchangesOf, storeExchanges } from '#database/exchanges.ts';
import { microDollars } from '#money/money.ts';
import { MAX_CASH, parseShares } from '#prices/amounts.ts';
import {
  checkDay,
  type Defect,
  knownText,
  MAX_DAYS_AHEAD,
  readFlag,
  readSymbol,
  refuse,
  type Row,
  type Table,
  withoutDollarSign,
} from '#prices/row.ts';
import { addDays, type CalendarDate } from '#time/calendar.ts';
import { createProgress, type ImportOptions, writeInTurns } from './store-staged.ts';

/** The rows of a file of exchanges: what becomes of a share on the morning of a date. */

/** A row that was checked; one into the symbol itself says that there was no exchange. */
interface ExchangeRow extends Exchange {
  line: number;
}
type RefuseRow = (line: number, defect: Defect) => void;

/** Imports the rows, date by date. One that is there twice counts once. */
export async function importExchanges(
  database: CommandDatabase,
  table: Table,
  { refuse, today, time }: ImportOptions & { refuse: RefuseRow; today: CalendarDate },
) {
  const different = new Map<string, ExchangeRow>();
  for await (const rows of table.rows)
    for (const row of rows) {
      const { line = 1 } = row;
      const exchange = row.defect === undefined ? readExchange(row, today) : { defect: row.defect };
      if ('defect' in exchange) refuse(line, exchange.defect);
      else different.set(JSON.stringify(exchange), { ...exchange, line });
    }
  const stored: Exchange[] = [];
  let changed = 0;
  const work = Map.groupBy(different.values(), ({ date }) => date)
    .values()
    .map((rows) => {
      const kept = refuseDefects(database, rows, refuse);
      changed += storeExchanges(database, kept, 'csv');
      stored.push(...kept);
    });
  await writeInTurns(database, work, time);
  const spans = stored.map(({ symbol, date }) => ({ symbol, firstDate: date, lastDate: date }));
  const none = stored.filter(isNone).length;
  return { ...createProgress(spans), changed, exchanges: { stored: stored.length - none, none } };
}

const isNone = ({ symbol, into }: Exchange) => symbol === into;

const MILLIONTHS = 1_000_000;

function readExchange(row: Row, today: CalendarDate): Exchange | { defect: Defect } {
  const day = checkDay(row);
  if (day.defect !== undefined) return day;
  const { symbol, date } = day.bar;
  if (date > addDays(today, MAX_DAYS_AHEAD)) return refuse('a date more than a year ahead', date);
  const remains = readFlag(row, 'remains') ?? 0;
  if (typeof remains === 'object') return remains;
  const perShare = knownText(row.dividend);
  const dollars = withoutDollarSign(perShare || '0');
  const cash = microDollars(dollars);
  if (cash === null || cash > MAX_CASH) return refuse('cash is not a plausible number', perShare);
  if (cash / MILLIONTHS !== Number(dollars))
    return refuse('cash has more than six decimals', perShare);
  const [name, over, under] = [row.into, row.numerator, row.denominator].map(knownText);
  const ratio = `${over}:${under}`;
  if (name === '') {
    if (ratio !== ':') return refuse('numerator or denominator without into', ratio);
    if (perShare === '')
      return refuse('incomplete: neither cash nor into; a worthless end says cash 0', symbol);
    return remains === 0
      ? { symbol, date, cash, into: '', numerator: null, denominator: null, remains }
      : refuse(
          'cash beside shares that remain is a dividend: import it with ex_date and amount',
          perShare,
        );
  }
  const into = readSymbol(name);
  if (into === null) return refuse('into is not a ticker symbol', name);
  if (!over || !under) return refuse('into without numerator and denominator', ratio);
  const shares = parseShares(over, under);
  if (shares === null) return refuse('not a plausible ratio', ratio);
  const isPlain = shares.numerator === shares.denominator && cash + remains === 0;
  return into !== symbol || isPlain
    ? { symbol, date, cash, into, ...shares, remains }
    : refuse(
        'an exchange into the symbol itself; 1:1 without cash says that there was none',
        symbol,
      );
}

/** What there is on the date of a row, by symbol: in its file, and stored. */
interface Day {
  rows: (symbol: string) => readonly ExchangeRow[];
  stored: (symbol: string) => readonly Exchange[];
  /** Stored, and not replaced by the file. */
  kept: (symbol: string) => readonly Exchange[];
}
type FindDefect = (row: ExchangeRow, day: Day) => Defect | null;

/** Returns the rows of a date that can be together, and beside what is stored. */
function refuseDefects(
  database: Database,
  all: readonly ExchangeRow[],
  report: RefuseRow,
): ExchangeRow[] {
  let left = [...all];
  for (const findDefect of [findContradiction, findSecondEnd, findCircle]) {
    const bySymbol = Map.groupBy(left, ({ symbol }) => symbol);
    const rows = (symbol: string) => bySymbol.get(symbol) ?? [];
    const stored = (symbol: string) =>
      exchangesOf(database, symbol).filter(({ date }) => date === all[0]?.date);
    const kept = (symbol: string) =>
      stored(symbol).filter((old) => !rows(symbol).some((row) => isReplaced(old, row)));
    left = left.filter((row) => {
      const defect = findDefect(row, { rows, stored, kept });
      if (defect !== null) report(row.line, defect);
      return defect === null;
    });
  }
  return left;
}

/** Of one symbol. */
const isReplaced = (old: Exchange, row: Exchange) => isNone(row) || old.into === row.into;

const findContradiction: FindDefect = ({ symbol, date }, { rows }) => {
  const own = rows(symbol);
  const intos = new Set(own.map(({ into }) => into));
  const doesRemain = new Set(own.map(({ remains }) => remains));
  const isOnly = own.length === 1;
  if (isOnly || (intos.size === own.length && doesRemain.size === 1 && !intos.has(symbol)))
    return null;
  return {
    reason:
      'rows of one symbol and date contradict each other: in what into brings, or whether it remains',
    value: `${symbol} ${date} on lines ${own.map(({ line }) => line).join(' and ')}`,
  };
};

/** Beside another exchange that is stored, only spin-offs can be. */
const findSecondEnd: FindDefect = (row, { stored, kept }) => {
  const { symbol, date, remains } = row;
  const [old] = kept(symbol);
  const isSpinOff = old?.remains === 1 && remains === 1;
  if (old === undefined || isSpinOff || stored(symbol).some((own) => isReplaced(own, row)))
    return null;
  return {
    reason:
      'another exchange of this symbol and date is stored, which a file with both keeps and a file with ' +
      `${symbol},${date},,${symbol},1,1, takes back`,
    value: `${date} ${symbol} into ${old.into || 'cash'}`,
  };
};

const findCircle: FindDefect = (row, { rows, kept }) => {
  const { symbol, date, into } = row;
  // What follows from the row, from one share to the next.
  const reached = new Set(isNone(row) ? [] : [into]);
  for (const next of reached)
    for (const { into } of [...kept(next), ...rows(next)]) reached.add(into);
  return reached.has(symbol)
    ? {
        reason: 'a circle of exchanges on one date',
        value: `${date} ${symbol} into ${[...reached].filter(Boolean).join(', ')}`,
      }
    : null;
};
