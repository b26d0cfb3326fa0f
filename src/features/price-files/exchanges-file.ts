import type { CommandDatabase, Reader } from '#database/database.ts';
import { type Exchange, exchangesOn, storeExchanges } from '#database/exchanges.ts';
import { latestPrices } from '#database/price-writes.ts';
import { type Dividend, dividendsBetween } from '#database/splits-and-dividends.ts';
import { checkExchange, type Defect, type Table } from '#prices/row.ts';
import { addDays } from '#time/calendar.ts';
import { createProgress, type Refuse, type RowOptions, writeInTurns } from './store-staged.ts';

/** The rows of a file of exchanges: what becomes of a share on the morning of a date. */

/** One into the symbol itself says that there was none. */
type ExchangeRow = Exchange & { line: number };
/** The rows of a file by symbol and date. */
type Days = Map<string, ExchangeRow[]>;

const isNone = ({ symbol, into }: Exchange) => symbol === into;

/** Imports the rows, symbol by symbol and date by date. One that is there twice counts once. */
export async function importExchanges(
  database: CommandDatabase,
  table: Table,
  { refuse, today, time }: RowOptions,
) {
  const different = new Map<string, ExchangeRow>();
  for await (const rows of table.rows)
    for (const row of rows) {
      const { line = 1 } = row;
      const exchange = checkExchange(row, today);
      if ('defect' in exchange) refuse(line, exchange.defect);
      else different.set(JSON.stringify(exchange), { ...exchange, line });
    }
  const days = Map.groupBy(different.values(), ({ symbol, date }) => `${symbol} ${date}`);
  refuseContradictions(days, refuse);
  const stored: Exchange[] = [];
  const paidTwice: Dividend[] = [];
  let changed = 0;
  const work = days.values().map((rows) => {
    const kept = rows.filter((row) => {
      const defect = findDefect(database, row, days);
      if (defect !== null) refuse(row.line, defect);
      return defect === null;
    });
    changed += storeExchanges(database, kept, 'csv');
    stored.push(...kept);
    const [first] = kept;
    if (first === undefined || isNone(first)) return;
    const morning = { after: addDays(first.date, -1), upTo: first.date };
    paidTwice.push(...dividendsBetween(latestPrices(database), [first.symbol], morning));
  });
  await writeInTurns(database, work, time);
  const spans = stored.map(({ symbol, date }) => ({ symbol, firstDate: date, lastDate: date }));
  const none = stored.filter(isNone).length;
  const exchanges = { stored: stored.length - none, none };
  const progress = { ...createProgress(spans), changed, exchanges, paidTwice };
  return { ...progress, taken: null, contradicted: [] };
}

/** Removes the days whose rows contradict each other, before others are compared with them. */
function refuseContradictions(days: Days, refuse: Refuse): void {
  const reason =
    'rows of one symbol and date contradict each other: in what into brings, or whether it remains';
  for (const [day, rows] of days) {
    const intos = new Set(rows.map(({ into }) => into));
    const ways = new Set(rows.map(({ remains }) => remains));
    const agree = intos.size === rows.length && ways.size === 1 && !rows.some(isNone);
    if (rows.length === 1 || agree) continue;
    const value = `${day} on lines ${rows.map(({ line }) => line).join(' and ')}`;
    for (const { line } of rows) refuse(line, { reason, value });
    days.delete(day);
  }
}

/** Why a row cannot be beside the others of its date in the file and what is stored, or null. */
function findDefect(reader: Reader, row: ExchangeRow, days: Days): Defect | null {
  const { symbol, date, into, remains } = row;
  const rowsOf = (own: string) => days.get(`${own} ${date}`) ?? [];
  const storedOf = (own: string) => exchangesOn(reader, own, date);
  const keptOf = (own: string) =>
    storedOf(own).filter(
      (old) => !rowsOf(own).some((next) => isNone(next) || next.into === old.into),
    );
  const isNew = storedOf(symbol).every((old) => old.into !== into);
  const [other] = keptOf(symbol);
  if (other !== undefined && (other.remains !== remains || (isNew && !remains))) {
    const reason =
      'another exchange of this symbol and date is stored, which a file with both keeps and a file with ' +
      `${symbol},${date},,${symbol},1,1, takes back`;
    return { reason, value: `${date} ${symbol} into ${other.into || 'cash'}` };
  }
  // What follows from the row, from one share to the next.
  const reached = new Set(isNone(row) ? [] : [into]);
  for (const own of reached)
    for (const next of [...keptOf(own), ...rowsOf(own)]) reached.add(next.into);
  const value = `${date} ${symbol} into ${[...reached].filter(Boolean).join(', ')}`;
  return reached.has(symbol) ? { reason: 'a circle of exchanges on one date', value } : null;
}
