import type { CalendarDate } from '../../basics/calendar.ts';
import { isCalendarDate } from '../../basics/calendar.ts';
import { ServiceError } from '../../basics/domain.ts';
import { unprintableIn } from '../../basics/text.ts';
import { type FactorReturn, RISK_FREE } from '../../database/factors.ts';
import { dashedDate, readLines } from './lines.ts';

/**
 * Daily returns of factors from CSV: as Kenneth French's data library sends them, with lines of
 * prose around the table, or a table with `date` and a column for each factor.
 */

/** The names of the library's columns, without capitals. */
const NAMES: Readonly<Record<string, string>> = {
  'mkt-rf': 'market',
  smb: 'size',
  hml: 'value',
  rmw: 'profitability',
  cma: 'investment',
  mom: 'momentum',
  umd: 'momentum',
  wml: 'momentum',
  rf: RISK_FREE,
};
/** How the library writes a missing value. */
const MISSING = new Set([-99.99, -999]);
const MAX_NAME_LENGTH = 50;

export const units = { percent: 100, fraction: 1 } as const;
export type FactorUnit = keyof typeof units;

export interface FactorFile {
  /** With `risk_free` where the file has it. */
  factors: string[];
  returns: FactorReturn[];
  refused: { line: number; reason: string }[];
}

/** Throws a `ServiceError` for a file that has no table of daily returns. */
export async function readFactors(path: string, unit: FactorUnit): Promise<FactorFile> {
  const file: FactorFile = { factors: [], returns: [], refused: [] };
  let header: string[] = [];
  let hasRows = false;
  for await (const { firstLine, lines } of readLines(path))
    for (const [index, text] of lines.entries()) {
      const [day = '', ...cells] = text.split(',').map((cell) => cell.trim());
      const date = dashedDate(day);
      if (!isCalendarDate(date)) {
        if (!hasRows && cells.some((cell) => cell !== '')) header = cells;
        continue;
      }
      if (!hasRows) file.factors = namesIn(header, cells.length);
      hasRows = true;
      const row = rowOf(cells, { date, unit, factors: file.factors });
      if (typeof row === 'string') file.refused.push({ line: firstLine + index, reason: row });
      else file.returns.push(...row);
    }
  if (hasRows) return file;
  const wanted = 'a header, and rows of a date YYYYMMDD or YYYY-MM-DD and daily returns';
  throw new ServiceError('invalid_file', `it has no table of factors: ${wanted}`);
}

function namesIn(header: readonly string[], columns: number): string[] {
  const names = header.map((name) => NAMES[name.toLowerCase()] ?? name);
  const wrong = names.find(
    (name) => name === '' || name.length > MAX_NAME_LENGTH || unprintableIn(name) !== null,
  );
  const why =
    names.length !== columns
      ? `its header has ${names.length} factors, and its first row ${columns}`
      : wrong !== undefined
        ? `its header has no name of 1 to ${MAX_NAME_LENGTH} printable characters for each factor`
        : new Set(names).size < names.length && 'its header has two columns of one factor';
  if (why) throw new ServiceError('invalid_file', why);
  return names;
}

function rowOf(
  cells: readonly string[],
  { date, unit, factors }: { date: CalendarDate; unit: FactorUnit; factors: readonly string[] },
): FactorReturn[] | string {
  if (cells.length !== factors.length) return `not ${factors.length} factors`;
  const numbers = cells.map((cell) => (cell === '' ? NaN : Number(cell)));
  const wrong = numbers.findIndex(
    (number) => !MISSING.has(number) && !(Math.abs(number) < units[unit]),
  );
  if (wrong !== -1)
    return `${factors[wrong]} is not a plausible daily return in ${unit}: "${cells[wrong]}"`;
  return numbers.flatMap((number, index) =>
    MISSING.has(number)
      ? []
      : [{ factor: factors[index] ?? '', date, value: number / units[unit] }],
  );
}
