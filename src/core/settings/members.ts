import * as v from 'valibot';
import type { CalendarDate } from '#time/calendar.ts';
import { type Member, memberSchema } from './configuration-schema.ts';
import { readTrustedText } from './trusted-file.ts';

/**
 * Universes as of a date: who may be bought on which morning, so that no model buys what joined an
 * index later because it rose.
 */

export function membersOn(members: readonly Member[], date: CalendarDate): string[] {
  return members
    .filter(({ from, to }) => from <= date && date <= to)
    .map(({ symbol }) => symbol)
    .sort();
}

/** As a job's terms have it: its symbols, or on each date those of its members. */
export interface Universe {
  stock_symbols: readonly string[];
  members?: readonly Member[] | undefined;
}

/** A text that is equal for universes of the same symbols, or the same members, in any order. */
export function universeKey({ stock_symbols: symbols, members }: Universe): string {
  return JSON.stringify((members?.map((own) => JSON.stringify(own)) ?? symbols).toSorted());
}

/** What may be bought on the morning of a date. */
export function universeOn(
  { stock_symbols: symbols, members }: Universe,
  date: CalendarDate,
): ReadonlySet<string> {
  return new Set(members === undefined ? symbols : membersOn(members, date));
}

/** About 9,000 rows: all members that the S&P 500 ever had are fewer. */
const MAX_BYTES = 256 * 1024;
const COLUMNS = 'symbol,from,to';

/**
 * Reads lines of `symbol,from,to`; without a `to` the symbol is a member still. Throws an `Error`
 * with the line that is wrong.
 */
export function readMembers(path: string): Member[] {
  const text = readTrustedText(path, MAX_BYTES).replaceAll('"', '');
  const [header, ...rows] = text.split('\n').map((line) => line.trim());
  if (header !== COLUMNS) throw new Error(`line 1: the columns must be ${COLUMNS}`);
  const members: Member[] = [];
  const bySymbol = new Map<string, Member[]>();
  for (const [index, row] of rows.entries()) {
    if (row === '') continue;
    const wrong = (problem: string) => new Error(`line ${index + 2}: ${problem}`);
    const [symbol, from, to = '', ...more] = row.split(',').map((cell) => cell.trim());
    if (more.length > 0) throw wrong('it has more than three columns');
    const { success, output: own, issues } = v.safeParse(memberSchema, { symbol, from, to });
    if (!success) throw wrong(`${v.getDotPath(issues[0])} ${issues[0].message}`);
    const others = bySymbol.get(own.symbol) ?? [];
    const other = others.find((one) => one.from <= own.to && own.from <= one.to);
    if (other !== undefined) throw wrong(`${own.symbol} is a member from ${other.from} on already`);
    bySymbol.set(own.symbol, [...others, own]);
    members.push(own);
  }
  return members;
}
