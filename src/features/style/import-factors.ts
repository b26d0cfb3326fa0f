import { timestamp, type CalendarDate, isCalendarDate } from '#time/calendar.ts';
import { errorMessage, invalidFile } from '#domain/service-error.ts';
import { compact, list, plural } from '#text/sentences.ts';
import { readSettings } from '#settings/settings.ts';
import { forTerminal, findUnprintable } from '#text/text.ts';
import { type CommandDatabase, openDatabase } from '#database/database.ts';
import {
  factorNames,
  RISK_FREE,
  removeFactor,
  storeFactors,
  type FactorReturn,
} from './queries.ts';
import { parseChoice, resetNote, WrongUsage } from '#commands/arguments.ts';
import { dashedDate, readLines } from '../price-files/lines.ts';

/**
 * Daily returns of factors from CSV: as Kenneth French's data library sends them, with lines of
 * prose around the table, or a table with `date` and a column for each factor.
 */

/** The names of the library's columns, without capitals. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['mkt-rf', 'market'],
  ['smb', 'size'],
  ['hml', 'value'],
  ['rmw', 'profitability'],
  ['cma', 'investment'],
  ['mom', 'momentum'],
  ['umd', 'momentum'],
  ['wml', 'momentum'],
  ['rf', RISK_FREE],
]);
/** How the library writes a missing value. */
const MISSING = new Set([-99.99, -999]);
const MAX_NAME_LENGTH = 50;
/** Above the dates: no later line is the header. */
const DATE_HEADER = /^(date(time)?|day|time(stamp)?)?$/i;

const divisors = { percent: 100, fraction: 1 } as const;
const unitWords = { percent: 'percentages', fraction: 'fractions' } as const;
type FactorUnit = keyof typeof divisors;

interface FactorRow {
  line: number;
  date: CalendarDate;
  returns: FactorReturn[];
}

interface FactorFile {
  /** With `risk_free` where the file has it. */
  factors: string[];
  returns: FactorReturn[];
  refused: { line: number; reason: string }[];
}

/** Throws a `ServiceError` for a file that has no table of daily returns. */
async function readFactorFile(path: string, unit: FactorUnit): Promise<FactorFile> {
  const file: FactorFile = { factors: [], returns: [], refused: [] };
  const rows: FactorRow[] = [];
  let header: string[] = [];
  let isSettled = false;
  for await (const { firstLine, lines } of readLines(path))
    for (const [index, text] of lines.entries()) {
      const [day = '', ...cells] = text.split(',').map((cell) => cell.trim());
      const date = dashedDate(day);
      const refuse = (reason: string) => file.refused.push({ line: firstLine + index, reason });
      if (!isCalendarDate(date)) {
        const isNamed = DATE_HEADER.test(day);
        const isNumbered = cells.some(isNumber) && !(isNamed && header.length === 0);
        const isRow = isNumbered || (/^\d/.test(day) && cells.length > 0);
        if (isRow) refuse(`not a date YYYYMMDD or YYYY-MM-DD: "${day}"`);
        else if (!isSettled && cells.some((cell) => cell !== '')) {
          header = cells;
          isSettled = isNamed;
          file.refused = []; // what lies above is prose
        }
        continue;
      }
      isSettled = true;
      if (file.factors.length === 0) file.factors = readFactorNames(header, cells.length);
      const returns = parseReturns(cells, { date, unit, factors: file.factors });
      if (typeof returns === 'string') refuse(returns);
      else rows.push({ line: firstLine + index, date, returns });
    }
  const wanted = 'a header, and rows of a date YYYYMMDD or YYYY-MM-DD and daily returns';
  if (file.factors.length === 0) throw invalidFile(`it has no table of factors: ${wanted}`);
  refuseContradictions(rows, file);
  return file;
}

const isNumber = (cell: string) => cell !== '' && Number.isFinite(Number(cell));

/** Of rows of one date that differ, all are refused: nothing tells which is right. */
function refuseContradictions(rows: readonly FactorRow[], file: FactorFile): void {
  for (const [date, own] of Map.groupBy(rows, (row) => row.date)) {
    const lines = own.map(({ line }) => line);
    const reason = `other returns of ${date} are in the file too, on lines ${list(lines.map(String))}`;
    const [first] = own;
    if (new Set(own.map(({ returns }) => JSON.stringify(returns))).size > 1)
      file.refused.push(...lines.map((line) => ({ line, reason })));
    else file.returns.push(...(first?.returns ?? []));
  }
  file.refused.sort((one, other) => one.line - other.line);
}

function readFactorNames(header: readonly string[], columns: number): string[] {
  const names = header.map((name) => NAMES.get(name.toLowerCase()) ?? name);
  const wrong = names.find(
    (name) => name === '' || name.length > MAX_NAME_LENGTH || findUnprintable(name) !== null,
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

function parseReturns(
  cells: readonly string[],
  { date, unit, factors }: { date: CalendarDate; unit: FactorUnit; factors: readonly string[] },
): FactorReturn[] | string {
  if (cells.length !== factors.length) return `not ${factors.length} factors`;
  const numbers = cells.map((cell) => (cell === '' ? NaN : Number(cell)));
  const wrong = numbers.findIndex(
    (number) => !MISSING.has(number) && !(Math.abs(number) < divisors[unit]),
  );
  if (wrong !== -1)
    return `${factors[wrong]} is not a plausible daily return in ${unit}: "${cells[wrong]}"`;
  return numbers.flatMap((number, index) =>
    MISSING.has(number)
      ? []
      : [{ factor: factors[index] ?? '', date, value: number / divisors[unit] }],
  );
}

const NOT_ALL_IMPORTED = 1;
/** In all: a regression on more would need more days than anyone has. */
const MAX_FACTORS = 20;

/** Daily returns of a market in percent have some above this on so many days; as fractions, none. */
const FEW_PERCENT = 0.2;
const DAYS_TO_TELL = 20;

/**
 * The command `import-factors FILE...`, with `--remove NAME` without or before files: 0 when every
 * file had something to import, otherwise 1.
 */
export async function importFactors(
  paths: readonly string[],
  given: { unit?: string | undefined; remove?: string | undefined },
): Promise<number> {
  const unit =
    parseChoice('--unit', Object.keys(divisors) as FactorUnit[], given.unit) ?? 'percent';
  if (paths.length === 0 && given.remove === undefined) throw new WrongUsage('FILE is missing');
  const settings = readSettings(process.env);
  const database = openDatabase(settings.databasePath);
  let done = 0;
  const attempt = async (what: string, work: () => boolean | Promise<boolean>) => {
    try {
      if (await work()) done += 1;
    } catch (error) {
      process.stderr.write(`Cannot ${forTerminal(`${what}: ${errorMessage(error)}`)}\n`);
    }
  };
  const { remove } = given;
  if (remove !== undefined)
    await attempt(`remove ${remove}`, () => removeStoredFactor(database, remove));
  for (const path of paths)
    await attempt(`import ${path}`, () => importFactorFile(database, path, unit));
  database.close();
  process.stdout.write(done > 0 ? resetNote(settings) : '');
  return done === paths.length + (remove === undefined ? 0 : 1) ? 0 : NOT_ALL_IMPORTED;
}

function removeStoredFactor(database: CommandDatabase, name: string): boolean {
  const removed = database.transaction(() => removeFactor(database, name));
  const names = factorNames(database);
  if (removed === 0)
    throw new Error(
      names.length === 0
        ? 'no factor is stored'
        : `it is not stored; stored factors: ${list(names)}`,
    );
  process.stdout.write(`${forTerminal(name)}: ${plural(removed, 'return')} removed\n`);
  return true;
}

/** Returns whether it had something to import. */
async function importFactorFile(
  database: CommandDatabase,
  path: string,
  unit: FactorUnit,
): Promise<boolean> {
  const { factors, returns, refused } = await readFactorFile(path, unit);
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
  const done = `${plural(new Set(dates).size, 'date')}${span}; ${plural(added, 'return')} new, ${replaced} replaced`;
  const what = `${plural(factors.length, 'factor')}, ${list(factors.map(forTerminal))}, on ${done}`;
  process.stdout.write(
    [`${forTerminal(path)}: ${what}`, ...describeUnit(returns, unit), ''].join('\n'),
  );
  return returns.length > 0;
}

/** What the returns were read as, with the largest of a factor, and whether that may be wrong. */
function describeUnit(returns: readonly FactorReturn[], unit: FactorUnit): string[] {
  const toPercent = ({ value }: FactorReturn) => Number((100 * value).toPrecision(6));
  const own = returns.filter((one) => one.factor !== RISK_FREE);
  const rated = own.length > 0 ? own : returns;
  const largest = rated.reduce(
    (most, one) => (Math.abs(one.value) > Math.abs(most?.value ?? 0) ? one : most),
    rated[0],
  );
  if (largest === undefined) return [];
  const { factor, date } = largest;
  const other = unit === 'percent' ? 'fraction' : 'percent';
  const isDoubtful =
    unit === 'percent' &&
    new Set(own.map((one) => one.date)).size >= DAYS_TO_TELL &&
    Math.abs(toPercent(largest)) < FEW_PERCENT;
  return compact([
    `  its returns are read as ${unitWords[unit]}: the largest, up or down, is ${toPercent(largest)} %` +
      ` (${forTerminal(factor)} on ${date}); if they are ${unitWords[other]}, import the file again with --unit ${other}`,
    isDoubtful &&
      `  warning: no return of a factor reaches ${FEW_PERCENT} %, so they may be fractions`,
  ]);
}
