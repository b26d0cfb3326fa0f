import { type CalendarDate, weekdays } from '#time/calendar.ts';
import { readConfiguration } from '#settings/configuration.ts';
import { openDatabase } from '#database/database.ts';
import { symbolsWithoutBars } from '#database/market-queries.ts';
import { asWarning } from '#domain/vocabulary.ts';
import { normaliseSymbol } from '#domain/symbols.ts';
import { cannot } from '#domain/service-error.ts';
import { silentLog } from '#process/log.ts';
import { supplyDividends } from '#prices/download-dividends.ts';
import { hasPriceProvider, NO_PRICE_PROVIDER } from '#prices/providers.ts';
import type { PriceContext, PriceRequest } from '#prices/download.ts';
import { type PriceSupply, supplyPrices } from '#prices/supply.ts';
import { count, didYouMean, compact, list } from '#text/sentences.ts';
import { readSettings, type Settings } from '#settings/settings.ts';
import { nasdaq100 } from '#settings/default-symbols.ts';
import { checkRange, parseWholeNumber, WrongUsage, resetNote } from './arguments.ts';
import { createProgressLine } from './terminal.ts';

const SOMETHING_MISSING = 1;
const MAX_DOWNLOADS = 999_999;

interface DownloadArguments extends Record<'symbols' | 'limit', string | undefined> {
  from: string;
  to: string;
  dividends: boolean;
}

interface DownloadRequest {
  from: CalendarDate;
  to: CalendarDate;
  /** The weekdays of the range. */
  dates: CalendarDate[];
  symbols: readonly string[];
  /** The limit on downloads; with one, those that complete the most dates come first. */
  limit: number | null;
}

/** Result of a download: its text, and what is still missing. */
interface Outcome {
  text: string;
  hasStored: boolean;
  isComplete: boolean;
  /** Symbols of which a later download knows no more. */
  decided: readonly string[];
}

type Watched = Pick<PriceRequest, 'signal' | 'onProgress'>;

/**
 * The command `download-prices`: supplies missing prices as a job does, without a job, or with
 * `--dividends` missing dividends. 0 when they are known for every symbol and weekday of the range
 * afterwards, 1 when something is missing, or a symbol that was named has no price on any date, as
 * if it were misspelt. Every download is stored as it arrives, so the command can be stopped and
 * repeated.
 */
export async function runDownloadPrices(args: DownloadArguments): Promise<number> {
  const settings = readSettings(process.env);
  const request = readRequest(args, settings);
  if (!hasPriceProvider(settings)) throw cannot('download prices', NO_PRICE_PROVIDER);
  const download = args.dividends ? downloadMissingDividends : downloadMissingPrices;
  const database = openDatabase(settings.databasePath);
  const line = createProgressLine(process.stderr);
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => stopping.abort(`stopped by ${signal}`);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const context = { database, settings, clock: () => new Date(), log: silentLog };
    const { text, hasStored, isComplete, decided } = await download(context, request, {
      signal: stopping.signal,
      onProgress: ({ done, total, item }) => line.draw(done, total, item),
    });
    line.end();
    process.stdout.write(text);
    if (hasStored) process.stdout.write(resetNote(settings));
    const strangers = args.symbols === undefined ? [] : symbolsWithoutBars(database, decided);
    for (const symbol of strangers) {
      const meant = didYouMean(
        symbol,
        nasdaq100,
        'check that it is a ticker symbol of a US exchange',
      );
      process.stderr.write(`No price of ${symbol} is known on any date; ${meant}\n`);
    }
    return isComplete && strangers.length === 0 ? 0 : SOMETHING_MISSING;
  } finally {
    line.end();
    database.close();
  }
}

async function downloadMissingPrices(
  context: PriceContext,
  { dates, symbols, limit }: DownloadRequest,
  watched: Watched,
): Promise<Outcome> {
  const settings = { ...context.settings, autoDownloadPriceData: true };
  const wanted = { dates, universe: symbols, models: [], downloadsLeft: limit, ...watched };
  const supply = await supplyPrices({ ...context, settings }, { ...wanted, waitsForHistory: true });
  const missing = new Set(supply.dates.flatMap((date) => date.missing));
  return {
    text: describeSupply(supply, symbols, missing),
    hasStored: supply.reports.some(({ downloaded }) => downloaded.length > 0),
    isComplete: missing.size === 0,
    decided: symbols.filter((symbol) => !missing.has(symbol)),
  };
}

async function downloadMissingDividends(
  context: PriceContext,
  { symbols, from, to, limit }: DownloadRequest,
  watched: Watched,
): Promise<Outcome> {
  const request = { symbols, from, to, downloadsLeft: limit, ...watched };
  const { report, warnings, missing } = await supplyDividends(context, request);
  const { downloaded, wanted } = report;
  const lines = [
    wanted === 0
      ? 'Nothing to download: every dividend is known.'
      : `Downloaded the dividends of ${downloaded.length} of ${count(wanted, 'symbol')}.`,
    ...warnings.map((one) => asWarning(one).message),
    `Dividends of ${symbols.length - missing.length} of ${count(symbols.length, 'symbol')} known from ${from} to ${to}` +
      (missing.length > 0 ? `; still unknown on some of these dates: ${list(missing)}` : ''),
    '',
  ];
  return {
    text: lines.join('\n'),
    hasStored: downloaded.length > 0,
    isComplete: missing.length === 0,
    decided: report.unknown,
  };
}

/** Throws a `WrongUsage` for invalid values. */
function readRequest(
  { from, to, symbols, limit }: DownloadArguments,
  { configurationPath, openaiApiBase }: Settings,
): DownloadRequest {
  checkRange(from, to);
  const most = parseWholeNumber('--limit', limit, MAX_DOWNLOADS);
  const named =
    symbols === undefined
      ? [...readConfiguration(configurationPath, openaiApiBase).agent_config.stock_symbols]
      : [];
  for (const text of symbols?.split(',') ?? []) {
    const symbol = normaliseSymbol(text);
    if (symbol === null)
      throw new WrongUsage(`--symbols: ${JSON.stringify(text)} is not a ticker symbol`);
    named.push(symbol);
  }
  const dates = weekdays(from, to);
  if (dates.length === 0)
    throw new WrongUsage(`${from} to ${to} has no weekday, and there is no trading on weekends`);
  return { from, to, dates, symbols: [...new Set(named)], limit: most };
}

function describeSupply(
  { dates, warnings, reports }: PriceSupply,
  symbols: readonly string[],
  missing: ReadonlySet<string>,
): string {
  const known = dates.filter((date) => date.missing.length === 0).length;
  const needed = reports.filter(({ wanted }) => wanted > 0);
  return compact([
    needed.length === 0 && 'Nothing to download: every price is known.',
    ...needed.map(
      ({ downloaded, wanted, unit }) =>
        `Downloaded ${downloaded.length} of ${count(wanted, unit)}.`,
    ),
    ...warnings.map((one) => asWarning(one).message),
    `${known} of ${count(dates.length, 'weekday')} known for all ${count(symbols.length, 'symbol')}` +
      (missing.size > 0
        ? `; still missing on some of the others: ${list([...missing].sort())}`
        : ''),
    '',
  ]).join('\n');
}
