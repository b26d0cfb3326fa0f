import { timestamp } from '../basics/calendar.ts';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { list } from '../basics/sentences.ts';
import { readSettings } from '../basics/settings.ts';
import { forTerminal } from '../basics/text.ts';
import { type CommandDatabase, openDatabase } from '../database/database.ts';
import { factorNames, RISK_FREE, storeFactors } from '../database/factors.ts';
import { type FactorUnit, readFactors, units } from '../prices/files/factors.ts';
import { WrongUsage } from './arguments.ts';
import { resetNote } from './own-database.ts';
import { counted } from './terminal.ts';

const NOT_ALL_IMPORTED = 1;
/** In all: a regression on more would need more days than anyone has. */
export const MAX_FACTORS = 20;

/** The command `import-factors FILE...`: 0 when every file was imported, otherwise 1. */
export async function importFactors(
  paths: readonly string[],
  { unit = 'percent' }: { unit?: string | undefined },
): Promise<number> {
  if (!Object.hasOwn(units, unit))
    throw new WrongUsage(
      `--unit is one of ${list(Object.keys(units))}, not ${JSON.stringify(unit)}`,
    );
  const settings = readSettings(process.env);
  const database = openDatabase(settings.databasePath);
  let imported = 0;
  for (const path of paths)
    try {
      process.stdout.write(await importOne(database, path, unit as FactorUnit));
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
    throw new ServiceError(
      'invalid_file',
      `there would be ${all.size} factors, and at most ${MAX_FACTORS} are stored`,
    );
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
