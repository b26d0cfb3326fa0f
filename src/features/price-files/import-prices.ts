import { basename } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { meanings } from '#database/schema/price-conditions.ts';
import { type CommandDatabase, openDatabase, type Reader } from '#database/database.ts';
import { lastWrite } from '#database/price-writes.ts';
import type { Dividend } from '#database/splits-and-dividends.ts';
import { modelsWithSessions } from '#database/session-filters.ts';
import { staleModelDays } from '#database/stale.ts';
import type { Suspicion } from '#database/suspicion-queries.ts';
import { largeDividends } from '#prices/suspected.ts';
import { MILLIONTHS } from '#trading/share-events.ts';
import { errorMessage, ServiceError } from '#domain/service-error.ts';
import { describeContradictions, describeNight } from '#prices/split-nights.ts';
import type { Interpretation } from './meaning.ts';
import { importFile, type ImportSummary } from './import.ts';
import type { ImportOptions } from './store-staged.ts';
import { compact, formatNumber, list, plural } from '#text/sentences.ts';
import { readSettings } from '#settings/settings.ts';
import { forTerminal } from '#text/text.ts';
import { parseChoice, resetNote } from '#commands/arguments.ts';
import { createProgressLine } from '#commands/terminal.ts';

const NOT_ALL_IMPORTED = 1;
const IMPORT_CACHE_MB = 32;
/** Refused rows of a file that are printed for each reason; the others are only counted. */
const MAX_PRINTED_ROWS = 20;

/** Symbols that a summary names, and dividends of which it warns. */
const MAX_NAMED = 10;

/**
 * The command `import-prices FILE...`: 0 when every file had something to import, otherwise 1; the
 * other files are imported anyway.
 */
export async function importPrices(
  paths: readonly string[],
  { as }: { as?: string | undefined },
): Promise<number> {
  const declared = parseChoice('--as', meanings, as);
  return importEach(
    paths,
    async (database, path) => {
      const before = lastWrite(database);
      const summary = await withProgress(path, (watched) =>
        importFile(database, path, { ...watched, as: declared }),
      );
      const large = largeDividends(database, summary.symbols, { from: '', to: '~' }, before);
      process.stdout.write(describeImport(path, summary) + largeDividendWarnings(large).join(''));
      return summary.symbols.length > 0;
    },
    describeStale,
  );
}

/** What an import says of model-days that used other prices. */
function describeStale(database: Reader): string {
  const { total } = staleModelDays(database, modelsWithSessions(database), { most: 0 });
  return total === 0 ? '' : `Stale now: ${plural(total, 'model-day')} (see \`check\`)\n`;
}

/**
 * Imports each file; `noteOf` says what else there is to say of the database then. Returns the exit
 * code: 0 when every file had something to import.
 */
export async function importEach(
  paths: readonly string[],
  importOne: (database: CommandDatabase, path: string) => Promise<boolean>,
  noteOf: (database: Reader) => string = () => '',
): Promise<number> {
  // V8 would double its young generation again and again, and keep 100 MB for rows that are gone.
  setFlagsFromString('--semi-space-growth-factor=1');
  const settings = readSettings(process.env);
  // Whatever a power cut loses can be imported again, and rows in any order touch many pages.
  const database = openDatabase(settings.databasePath, {
    durability: 'process-end',
    cacheMb: IMPORT_CACHE_MB,
  });
  let filesImported = 0;
  for (const path of paths) {
    try {
      if (await importOne(database, path)) filesImported += 1;
    } catch (error) {
      process.stderr.write(`${forTerminal(errorMessage(error))}\n`);
    }
  }
  const note = filesImported > 0 ? noteOf(database) : '';
  database.close();
  if (filesImported > 0) {
    const { databasePath, deploymentMode } = settings;
    process.stdout.write(
      `Stored in ${forTerminal(databasePath)}, the database of ${deploymentMode} mode.\n${note}${resetNote(settings)}`,
    );
  }
  return filesImported === paths.length ? 0 : NOT_ALL_IMPORTED;
}

/**
 * Does the work of an import, and prints the progress and the first rows that are refused. Throws a
 * `ServiceError` that names the file.
 */
export async function withProgress<Summary>(
  path: string,
  work: (watched: ImportOptions) => Promise<Summary>,
  verb = 'import',
): Promise<Summary> {
  const line = createProgressLine(process.stderr);
  const printed = new Map<string, number>();
  const name = forTerminal(path);
  try {
    return await work({
      clock: () => new Date(),
      onStored: (stored, rows) => line.draw(stored, rows, `${basename(path)}, storing`),
      onProgress: (bytesRead, totalBytes) => line.draw(bytesRead, totalBytes, basename(path)),
      onRefused: (number, { reason, value }) => {
        const before = printed.get(reason) ?? 0;
        if (before > MAX_PRINTED_ROWS) return;
        printed.set(reason, before + 1);
        line.clear();
        process.stderr.write(
          before === MAX_PRINTED_ROWS
            ? `${name}: further rows refused for this reason are only counted: ${forTerminal(reason)}\n`
            : `${name}:${number}: refused, ${forTerminal(reason)}: ${forTerminal(JSON.stringify(value))}\n`,
        );
      },
    });
  } catch (error) {
    throw new ServiceError('invalid_file', `Cannot ${verb} ${path}: ${errorMessage(error)}`, {
      cause: error,
    });
  } finally {
    line.end();
  }
}

function largeDividendWarnings(dividends: readonly Suspicion[]): string[] {
  const large = dividends.map(
    ({ symbol, date, from, to, last }) =>
      `  warning: ${symbol} paid ${to} per share on ${date}, above 25 % of its close of ${from}` +
      ` on ${last}. Import the row again: with the right amount (0 for none),` +
      ` or with yes in a column confirmed if the amount is right\n`,
  );
  const others = large.splice(MAX_NAMED).length;
  if (others > 0) large.push(`  and ${plural(others, 'more such dividend')}\n`);
  return large;
}

/** What was imported, as lines for the terminal. */
export function describeImport(path: string, summary: ImportSummary): string {
  const { format, taken, symbols } = summary;
  const lines = compact([
    `${forTerminal(path)}: ${format}`,
    ...(symbols.length > 0 ? describeRows(summary) : ['  nothing imported']),
    taken !== null && describeMeaning(taken, format),
    ...describeRefused(summary),
  ]);
  return `${lines.join('\n')}\n`;
}

/** How many rows of a file were refused, by reason. */
export function describeRefused({ refused }: Pick<ImportSummary, 'refused'>): string[] {
  return [...refused].map(
    ([reason, rows]) => `  refused ${plural(rows, 'row')}: ${forTerminal(reason)}`,
  );
}

function describeRows(summary: ImportSummary): string[] {
  const rows = summary.taken === null ? describeActions(summary) : describePrices(summary);
  return rows.concat(describeContradictions(summary.contradicted).map((words) => `  ${words}`));
}

/** What a file of dividends, of splits or of both had, or one of exchanges. */
function describeActions(summary: ImportSummary): string[] {
  const { symbols, firstDate, lastDate, dividends, changed, incomplete, unknown } = summary;
  const { splits, noSplits, exchanges } = summary;
  const counted = exchanges
    ? plural(exchanges.stored, 'exchange')
    : (dividends > 0 || splits === 0) && plural(dividends, 'dividend');
  const what = compact([
    counted && `${counted} (${formatNumber(changed)} new, changed or removed)`,
    !!exchanges?.none && `${plural(exchanges.none, 'line')} into itself (no exchange)`,
    splits > 0 && plural(splits - noSplits, 'split'),
    noSplits > 0 && `${plural(noSplits, 'line')} 1:1 (no split)`,
  ]);
  const dates = `${splits === 0 && !exchanges ? 'ex-dates ' : ''}${firstDate} to ${lastDate}`;
  return compact([
    `  imported ${what.join(' and ')} of ${plural(symbols.length, 'symbol')}, ${dates}`,
    incomplete > 0 &&
      `  dividends of ${plural(incomplete, 'symbol')} may be incomplete, because rows were refused`,
    unknown.length > 0 &&
      `  dividends are unknown on ${plural(unknown.length, 'ex-date')}, because rows were refused:` +
        ` ${list(unknown, { most: MAX_NAMED })}`,
    ...summary.paidTwice.map(paidTwiceWarning),
  ]);
}

function paidTwiceWarning({ symbol, exDate, cash }: Dividend): string {
  return (
    `  warning: ${symbol} also has a dividend of ${cash / MILLIONTHS} per share on ${exDate}. If that is this exchange, it is paid` +
    ` twice: import a dividends.csv with the header symbol,ex_date,amount and the line ${symbol},${exDate},0`
  );
}

function describePrices(summary: ImportSummary): string[] {
  const { symbols, changed, firstDate, lastDate, bars, dates, dividends, splits } = summary;
  return compact([
    `  imported ${plural(bars, 'bar')} (${formatNumber(changed)} new or changed) of ${plural(symbols.length, 'symbol')}` +
      ` on ${plural(dates, 'date')}, ${firstDate} to ${lastDate}: ${list(symbols, { most: MAX_NAMED })}`,
    dividends + splits > 0 &&
      `  and ${plural(dividends, 'dividend')} and ${plural(splits, 'split')}`,
    summary.syntheticReplaced > 0 &&
      `  synthetic prices of ${plural(summary.syntheticReplaced, 'symbol')} were replaced`,
  ]);
}

/** What the prices were taken for, why, and how to say otherwise. */
function describeMeaning({ meaning, by, night }: Interpretation, format: string): string {
  const others = list(
    meanings.filter((other) => other !== meaning).map((other) => `--as ${other}`),
  ).replace(', ', ' or ');
  const why = {
    said: 'by --as',
    format: `as every file of ${format}`,
    seen: night === null ? '' : `because ${describeNight(night)}`,
    default: 'the usual case; no known split says otherwise',
  };
  return `  prices treated as ${meaning} (${why[by]}); if that is wrong, import again with ${others}`;
}
