import * as v from 'valibot';
import { type CalendarDate, isCalendarDate } from './calendar.ts';
import { messageOf, normaliseSymbol } from './domain.ts';
import { list } from './sentences.ts';
import { quote } from './text.ts';
import { readTrustedText } from './trusted-file.ts';

/**
 * A universe as of a date: who is a member from when to when, so that no model buys what joined an
 * index because it rose.
 */

export const membersSchema = v.array(
  v.object({ symbol: v.string(), from: v.string(), to: v.nullable(v.string()) }),
);

/** Spans of membership, both ends included; `to` is null for who still is a member. */
export type Members = v.InferOutput<typeof membersSchema>;
type Member = Members[number];

const isMemberOn =
  (date: CalendarDate) =>
  ({ from, to }: Member) =>
    from <= date && (to === null || date <= to);

/** Who is a member on a morning, by name. */
export function membersOn(members: Members, date: CalendarDate): string[] {
  return members
    .filter(isMemberOn(date))
    .map(({ symbol }) => symbol)
    .sort();
}

/** Who is a member on some date of a span, by name. */
export function membersBetween(
  members: Members,
  { from: first, to: last }: { from: CalendarDate; to: CalendarDate },
): string[] {
  const during = members.filter(({ from, to }) => from <= last && (to === null || first <= to));
  return [...new Set(during.map(({ symbol }) => symbol))].sort();
}

/** Who was a member on one date and is none on a later one. */
export function leftBetween(
  members: Members,
  { from, to }: { from: CalendarDate; to: CalendarDate },
): string[] {
  const still = new Set(membersOn(members, to));
  return membersOn(members, from).filter((symbol) => !still.has(symbol));
}

/** What may be bought on a date. */
export function universeOn(
  {
    stock_symbols: symbols,
    members,
  }: { stock_symbols: readonly string[]; members?: Members | undefined },
  date: CalendarDate,
): readonly string[] {
  return members === undefined ? symbols : membersOn(members, date);
}

const COLUMNS = ['symbol', 'from', 'to'];
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ROWS = 20_000;

/** Every request reads the configuration, and its files are mostly the same. */
let last: { path: string; text: string; members: Members } | null = null;

/**
 * Reads `symbol,from,to`; an empty `to` means that it is a member still. Throws an `Error` whose
 * message names the file, and the line where one is wrong.
 */
export function readMembers(path: string): Members {
  const text = readText(path);
  if (last?.path !== path || last.text !== text)
    last = { path, text, members: parseMembers(text, path) };
  return last.members;
}

function readText(path: string): string {
  try {
    return readTrustedText(path, MAX_BYTES);
  } catch (cause) {
    throw new Error(`cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

function parseMembers(text: string, path: string): Members {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const header = lines.findIndex((line) => line.trim() !== '');
  const wrong = (index: number, problem: string) => new Error(`${path}:${index + 1}: ${problem}`);
  const names = cellsOf(lines[header] ?? '').map((name) => name.toLowerCase());
  const isKnown = names.length === COLUMNS.length && COLUMNS.every((name) => names.includes(name));
  if (!isKnown)
    throw wrong(
      Math.max(header, 0),
      `its columns are ${quote(names.join(', ')) || 'none'}; expected ${list(COLUMNS)}`,
    );
  const rows: (Member & { index: number })[] = [];
  for (const [index, line] of lines.entries()) {
    if (index <= header || line.trim() === '') continue;
    const cells = cellsOf(line);
    const cell = (name: string) => cells[names.indexOf(name)] ?? '';
    const [symbol, from, to] = [normaliseSymbol(cell('symbol')), cell('from'), cell('to')];
    if (cells.length !== COLUMNS.length)
      throw wrong(index, `it has ${cells.length} columns, not 3`);
    if (symbol === null)
      throw wrong(index, `${JSON.stringify(quote(cell('symbol')))} is not a ticker symbol`);
    for (const date of to === '' ? [from] : [from, to])
      if (!isCalendarDate(date))
        throw wrong(index, `${JSON.stringify(quote(date))} is not a date YYYY-MM-DD`);
    if (to !== '' && to < from) throw wrong(index, `to ${to} is before from ${from}`);
    rows.push({ symbol, from, to: to === '' ? null : to, index });
  }
  if (rows.length === 0) throw new Error(`${path} has no members`);
  if (rows.length > MAX_ROWS) throw new Error(`${path} has more than ${MAX_ROWS} rows`);
  rows.sort((one, other) =>
    one.symbol === other.symbol ? order(one.from, other.from) : order(one.symbol, other.symbol),
  );
  for (const [place, row] of rows.entries()) {
    const before = rows[place - 1];
    const isSpanOver =
      before?.symbol !== row.symbol || (before.to !== null && before.to < row.from);
    if (isSpanOver) continue;
    const later = Math.max(before.index, row.index);
    const earlier = Math.min(before.index, row.index);
    throw wrong(later, `the span of ${row.symbol} overlaps that of line ${earlier + 1}`);
  }
  return rows.map(({ symbol, from, to }) => ({ symbol, from, to }));
}

function cellsOf(line: string): string[] {
  return line.split(',').map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
  );
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
