import { ServiceError } from '../../domain.ts';
import type { RawBar } from './bar.ts';
import { type Header, splitRow } from './cells.ts';

/** What the columns of a CSV file of prices are called. */

export type Field = keyof RawBar | 'dividend' | 'split';
/** The position of each field in a row; -1 where the file has no such column. */
export type Columns = Record<Field, number>;

/**
 * Names as `squeezed` leaves them; where a file has several of one field, the first of these
 * counts.
 */
const NAMES: Record<Field, readonly string[]> = {
  symbol: [
    'symbol',
    'ticker',
    'symbolticker',
    'tickersymbol',
    'actsymbol',
    'tscode',
    'tic',
    'code',
    'name',
  ],
  date: ['date', 'tradedate', 'timestamp', 'datetime', 'tradetime', 'windowstart'],
  open: ['open'],
  high: ['high'],
  low: ['low'],
  close: ['close', 'closelast', 'price', 'last'],
  volume: ['volume', 'vol'],
  dividend: ['dividends', 'dividend', 'dividendamount', 'divcash'],
  split: ['stocksplits', 'splitcoefficient', 'splitfactor'],
};
/** Other columns of known formats: none of them is the symbol. */
const OTHER_NAMES = [
  '',
  'adjclose',
  'adjustedclose',
  'openint',
  'per',
  'time',
  'change',
  'capitalgains',
  'vwap',
  'source',
];
const MAX_NAMED_LENGTH = 200;

/**
 * A name of a column without capitals, blanks and signs: `adjclose` for `Adj Close`, `Adj_Close`
 * and `AdjClose`.
 */
export function squeezed(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Finds the columns by their names. Throws a `ServiceError` where two columns have one name. */
export function columnsOf({ names }: Header): Columns {
  const known = names.map(squeezed);
  const positions = Object.entries(NAMES).map(([field, candidates]) => {
    const name = candidates.find((candidate) => known.includes(candidate));
    const position = name === undefined ? -1 : known.indexOf(name);
    if (name !== undefined && known.lastIndexOf(name) !== position)
      throw new ServiceError('invalid_file', `its header has two columns for ${field}`);
    return [field, position];
  });
  return Object.fromEntries(positions) as Columns;
}

/** Whether a header has a column that may be the symbol under an unknown name. */
export function hasUnknownColumns({ names }: Header): boolean {
  const known = new Set([...Object.values(NAMES).flat(), ...OTHER_NAMES]);
  return names.some((name) => !known.has(squeezed(name)));
}

/** The columns as the file spells them. */
export function spelled({ line, separator }: Header): string {
  const names = splitRow(line, separator)
    .map((name) => name.trim())
    .join(', ');
  return names.length > MAX_NAMED_LENGTH ? `${names.slice(0, MAX_NAMED_LENGTH)}…` : names;
}
