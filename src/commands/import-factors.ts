import { timestamp, type CalendarDate, isCalendarDate } from '../basics/calendar.ts';
import { messageOf } from '../basics/domain.ts';
import { list } from '../basics/sentences.ts';
import { readSettings } from '../basics/settings.ts';
import { forTerminal, unprintableIn } from '../basics/text.ts';
import { type CommandDatabase, openDatabase } from '../database/database.ts';
import { factorNames, RISK_FREE, storeFactors, type FactorReturn } from '../database/factors.ts';
import { oneOf, resetNote } from './arguments.ts';
import { counted } from './terminal.ts';
import { invalidFile } from '../prices/files/content.ts';
import { dashedDate, readLines } from '../prices/files/lines.ts';

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
type FactorUnit = keyof typeof units;

interface FactorFile {
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
  throw invalidFile(`it has no table of factors: ${wanted}`);
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
  if (why) throw invalidFile(why);
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

const NOT_ALL_IMPORTED = 1;
/** In all: a regression on more would need more days than anyone has. */
const MAX_FACTORS = 20;

/** The command `import-factors FILE...`: 0 when every file was imported, otherwise 1. */
export async function importFactors(
  paths: readonly string[],
  given: { unit?: string | undefined },
): Promise<number> {
  const unit = oneOf('--unit', Object.keys(units) as FactorUnit[], given.unit) ?? 'percent';
  const settings = readSettings(process.env);
  const database = openDatabase(settings.databasePath);
  let imported = 0;
  for (const path of paths)
    try {
      process.stdout.write(await importOne(database, path, unit));
      imported += 1;
    } catch (error) {
      process.stderr.write(
        `Cannot import ${forTerminal(path)}: ${forTerminal(messageOf(error))}\n`,
      );
    }
  database.close();
  process.stdout.write(imported > 0 ? resetNote(settings) : '');
  return imported === paths.length ? 0 : NOT_ALL_IMPORTED;
}

async function importOne(
  database: CommandDatabase,
  path: string,
  unit: FactorUnit,
): Promise<string> {
  const { factors, returns, refused } = await readFactors(path, unit);
  const all = new Set([...factorNames(database), ...factors]);
  all.delete(RISK_FREE);
  if (all.size > MAX_FACTORS)
    throw invalidFile(`there would be ${all.size} factors, and at most ${MAX_FACTORS} are stored`);
  const stamp = { source: path, recordedAt: timestamp(new Date()) };
  const { added, replaced } = database.transaction(() => storeFactors(database, returns, stamp));
  for (const { line, reason } of refused)
    process.stderr.write(`${forTerminal(`${path}:${line}: refused, ${reason}`)}\n`);
  const dates = returns.map(({ date }) => date).sort();
  const span = dates.length === 0 ? '' : `, ${dates[0]} to ${dates.at(-1)}`;
  const done = `${counted(new Set(dates).size, 'date')}${span}; ${counted(added, 'return')} new, ${replaced} replaced`;
  const name = forTerminal(path);
  return `${name}: ${counted(factors.length, 'factor')}, ${list(factors.map(forTerminal))}, on ${done}\n`;
}
