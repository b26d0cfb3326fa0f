import * as v from 'valibot';
import { signatureSchema } from '#settings/configuration-schema.ts';
import { agentConfigurationFor, readConfiguration } from '#settings/configuration.ts';
import { type ControlMarket, writeControlMarket, type MarketFiles } from './control-market.ts';
import { drawKey, masks, shiftBack } from './key.ts';
import { count, compact, list, plural } from '#text/sentences.ts';
import { readSettings, type Settings } from '#settings/settings.ts';
import { forTerminal } from '#text/text.ts';
import { checkRange, parseWholeNumber, WrongUsage, findDatabase } from '#commands/arguments.ts';
import { writeWithProgress } from '#commands/terminal.ts';
import { PROGRAM_NAME } from '#process/program.ts';

const DEFAULT_NAME = 'control';
const MAX_SEED_LENGTH = 200;
/** Far more than there are prices for; a date before 1900 has an error of its own. */
const MAX_WEEKS = 99_999;

type DisguiseArguments = Record<'seed' | 'from' | 'to' | 'out', string> &
  Record<'mask' | 'weeks' | 'universe' | 'name', string | undefined>;

/**
 * The command `disguise`: writes a control market into a folder. 0 when it is complete; otherwise
 * nothing is left.
 */
export async function disguise(args: DisguiseArguments): Promise<number> {
  const settings = readSettings(process.env);
  const market = readMarket(args, settings);
  const path = findDatabase(settings);
  return writeWithProgress(args.out, async (watched) =>
    describeMarket(
      args.out,
      market,
      await writeControlMarket(path, args.out, { ...market, ...watched }),
    ),
  );
}

/** Throws a `WrongUsage` for invalid values. */
function readMarket(
  { seed, mask = 'both', weeks, universe, name = DEFAULT_NAME, from, to }: DisguiseArguments,
  settings: Settings,
): ControlMarket {
  checkRange(from, to);
  if (seed === '' || seed.length > MAX_SEED_LENGTH)
    throw new WrongUsage(`--seed: expected 1 to ${MAX_SEED_LENGTH} characters`);
  const shift = parseWholeNumber('--weeks', weeks, MAX_WEEKS);
  const hidden = masks.find((one) => one === mask);
  if (hidden === undefined)
    throw new WrongUsage(`--mask: expected ${masks.slice(0, -1).join(', ')} or both, not ${mask}`);
  if (mask === 'symbols' && shift !== null)
    throw new WrongUsage('--weeks: --mask symbols keeps the real dates; leave one of them out');
  const { issues: [problem] = [] } = v.safeParse(signatureSchema, name);
  if (problem !== undefined) throw new WrongUsage(`--name: ${problem.message}`);
  if (name === universe)
    throw new WrongUsage(
      `--name: ${name} is the universe to disguise; its control needs a name of its own`,
    );
  const { configurationPath, openaiApiBase } = settings;
  const configuration = readConfiguration(configurationPath, openaiApiBase);
  const terms = agentConfigurationFor(configuration, universe ?? null, configurationPath);
  const key = drawKey(seed, terms.stock_symbols, { weeks: shift, from, mask: hidden });
  return { key, from, to, name, rules: terms.market };
}

function describeMarket(
  folder: string,
  { key, from, to, name }: ControlMarket,
  { disguises, leftOut, bars, dividends, exchanges, files, hasStudy }: MarketFiles,
): string {
  const shown = forTerminal(folder);
  const toImport = files.map((file) => `${shown}/${file}`).join(' ');
  const shift = key.weeks === 0 ? 'on the real dates' : `${count(key.weeks, 'week')} earlier`;
  const span = `${shiftBack(from, key)} to ${shiftBack(to, key)}, ${shift}`;
  const others = exchanges > 0 ? ` and ${count(exchanges, 'exchange')}` : '';
  const what = `${plural(bars, 'bar')} and ${count(dividends, 'dividend')}${others}`;
  const hasRealNames = disguises.every(({ symbol, code }) => symbol === code);
  return compact([
    `${shown}: ${what} of ${count(disguises.length, 'symbol')}, ${span}`,
    leftOut.length > 0 && `  left out, without prices then: ${list(leftOut)}`,
    'Keep key.csv and the seed away from models.',
    hasRealNames &&
      'Its symbols are the real ones: import it in another folder, into a database of its own.',
    `Next: ${PROGRAM_NAME} import-prices ${toImport}, merge universe.json into the configuration, ` +
      `${PROGRAM_NAME} trigger --${hasStudy ? 'study' : 'universe'} ${forTerminal(name)}`,
    '',
  ]).join('\n');
}
