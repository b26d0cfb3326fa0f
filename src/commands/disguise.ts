import * as v from 'valibot';
import { dateOf } from '../basics/calendar.ts';
import { signatureSchema } from '../basics/configuration-schema.ts';
import { agentConfigurationFor, readConfiguration, universeOf } from '../basics/configuration.ts';
import {
  type ControlMarket,
  drawKey,
  shiftBack,
  writeControlMarket,
  type Written,
} from '../control/market.ts';
import { count, list } from '../basics/sentences.ts';
import { readSettings, type Settings } from '../basics/settings.ts';
import { forTerminal } from '../basics/text.ts';
import { checkWholeNumber, WrongUsage } from './arguments.ts';
import { checkDates } from './client.ts';
import { ownDatabase } from './own-database.ts';
import { counted, writeStoppably } from './terminal.ts';

const DEFAULT_NAME = 'control';
const MAX_SEED_LENGTH = 200;
/** Far more than there are prices for; a date before 1900 has an error of its own. */
const MAX_WEEKS = 99_999;

interface Arguments {
  seed: string;
  weeks: string | undefined;
  universe: string | undefined;
  name: string | undefined;
  from: string;
  to: string;
  out: string;
}

/**
 * The command `disguise`: writes a control market into a folder. 0 when it is complete; otherwise
 * nothing is left.
 */
export async function disguise(args: Arguments): Promise<number> {
  const settings = readSettings(process.env);
  const market = readMarket(args, settings);
  const path = ownDatabase(settings);
  return writeStoppably(args.out, async (watched) =>
    describe(args.out, market, await writeControlMarket(path, args.out, { ...market, ...watched })),
  );
}

/** Throws a `WrongUsage` for invalid values. */
function readMarket(
  { seed, weeks, universe, name = DEFAULT_NAME, from, to }: Arguments,
  settings: Settings,
): ControlMarket {
  checkDates({ from, to });
  if (from > to) throw new WrongUsage(`--from ${from} is after --to ${to}`);
  if (to > dateOf(new Date())) throw new WrongUsage(`--to ${to} is in the future`);
  if (seed === '' || seed.length > MAX_SEED_LENGTH)
    throw new WrongUsage(`--seed: expected 1 to ${MAX_SEED_LENGTH} characters`);
  if (weeks !== undefined) checkWholeNumber('--weeks', weeks, MAX_WEEKS);
  const { issues: [problem] = [] } = v.safeParse(signatureSchema, name);
  if (problem !== undefined) throw new WrongUsage(`--name: ${problem.message}`);
  if (name === universe)
    throw new WrongUsage(
      `--name: ${name} is the universe to disguise; its control needs a name of its own`,
    );
  const configuration = readConfiguration(settings.configurationPath, settings.openaiApiBase);
  const symbols = universeOf(agentConfigurationFor(configuration, universe ?? null));
  const key = drawKey(seed, symbols, { weeks: weeks === undefined ? null : Number(weeks), from });
  return { key, from, to, name };
}

function describe(
  folder: string,
  { key, from, to, name }: ControlMarket,
  { disguises, bars, dividends, files }: Written,
): string {
  const shown = forTerminal(folder);
  const without = key.disguises
    .filter((disguise) => !disguises.includes(disguise))
    .map(({ symbol }) => symbol);
  const toImport = files.map((file) => `${shown}/${file}`).join(' ');
  const span = `${shiftBack(from, key)} to ${shiftBack(to, key)}, ${count(key.weeks, 'week')} earlier`;
  return [
    `${shown}: ${counted(bars, 'bar')} and ${count(dividends, 'dividend')} of ${count(disguises.length, 'symbol')}, ${span}`,
    ...(without.length > 0 ? [`  left out, without prices then: ${list(without.sort())}`] : []),
    'Keep key.csv and the seed away from models.',
    `Next: import-prices ${toImport}, merge universe.json into the configuration, trigger --universe ${forTerminal(name)}`,
    '',
  ].join('\n');
}
