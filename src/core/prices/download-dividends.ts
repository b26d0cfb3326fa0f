import { addDays, utcDate, type DateSpan } from '#time/calendar.ts';
import { dividendCoverage, storeDividends } from '#database/splits-and-dividends.ts';
import { spanWithout } from '#database/prices.ts';
import { ServiceError } from '#domain/service-error.ts';
import { isKnown } from './corporate-actions.ts';
import {
  type DownloadContext,
  type DownloadReport,
  emptyReport,
  MAX_UNREADABLE_IN_A_ROW,
  type PriceContext,
  newStamp,
  stopAt,
} from './download.ts';
import {
  type ActionQuery,
  createPatience,
  type DividendHistory,
  type SymbolProvider,
} from './provider.ts';
import { connectProviders } from './providers.ts';
import type { Warning } from '#domain/vocabulary.ts';
import { downloadWarnings, waitWarnings } from './warnings.ts';

/** The dividends of symbols one by one, from a provider that answers a symbol per request. */

interface DividendRequest extends ActionQuery, Pick<DownloadContext, 'signal' | 'onProgress'> {
  /** The limit on downloads. */
  downloadsLeft: number | null;
}

interface DividendSupply {
  report: DownloadReport;
  warnings: (string | Warning)[];
  /** The symbols whose dividends are still unknown on some of the dates. */
  missing: string[];
}

/**
 * Downloads the dividends that are not known. Throws a `ServiceError` without the key of a provider
 * by symbol.
 */
export async function supplyDividends(
  { database, clock, settings, wait }: Omit<PriceContext, 'log'>,
  { signal, onProgress, downloadsLeft, ...request }: DividendRequest,
): Promise<DividendSupply> {
  const [first] = connectProviders(settings, clock).flatMap(({ provider, keyVariable }) =>
    provider.by === 'symbol' ? { provider, keyVariable } : [],
  );
  if (first === undefined)
    throw new ServiceError(
      'cannot_start',
      'Cannot download dividends by symbol: ALPHAADVANTAGE_API_KEY is not set',
    );
  const patience = createPatience({
    maxLimitWaitMs: settings.maxRateLimitWaitMs,
    signal,
    ...(wait && { wait }),
  });
  const context = { ...first, database, clock, patience, signal, onProgress };
  const needed = symbolsWithoutDividends(context, request).slice(0, downloadsLeft ?? undefined);
  const report = await downloadDividends(context, needed, request);
  const warnings = [...downloadWarnings(report, null), ...waitWarnings(patience.waitedMs)];
  return { report, warnings, missing: symbolsWithoutDividends(context, request) };
}

/** The symbols whose dividends are not known on every date from one to another, or to yesterday. */
function symbolsWithoutDividends(
  { database, clock }: Pick<DownloadContext, 'database' | 'clock'>,
  { symbols, from, to }: ActionQuery,
): string[] {
  const today = utcDate(clock());
  const yesterday = addDays(today, -1);
  const span = { from, to: to < yesterday ? to : yesterday };
  const known = Map.groupBy(dividendCoverage(database, symbols, span), ({ symbol }) => symbol);
  return symbols.filter(
    (symbol) => !isKnown({ symbols: [symbol], ...span }, known.get(symbol) ?? [], today),
  );
}

/**
 * Downloads the dividends of symbols one after another, until all are stored or the provider stops
 * it. Each symbol is stored as it arrives, and known through yesterday from then on; what is
 * declared for later may still change.
 */
async function downloadDividends(
  context: DownloadContext<SymbolProvider>,
  symbols: readonly string[],
  asked: DateSpan,
): Promise<DownloadReport> {
  const { provider, patience, signal, onProgress, keyVariable } = context;
  const report = emptyReport('symbol', keyVariable, symbols.length);
  let unreadableInARow = 0;
  for (const [index, symbol] of symbols.entries()) {
    onProgress?.({ done: index, total: symbols.length, item: symbol });
    const response = await patience.ask(() => provider.dividends(symbol, signal));
    if (signal.aborted) break;
    unreadableInARow = response.problem === 'unreadable' ? unreadableInARow + 1 : 0;
    if (response.problem === undefined) {
      await storeHistory(context, symbol, response.value);
      report.downloaded.push(symbol);
      for (const { exDate, reason } of response.value.unreadable)
        if (asked.from <= exDate && exDate <= asked.to)
          report.refusedActions.push({ symbol, reason });
        else report.skippedActions += 1;
    } else if (response.problem === 'unknown_symbol') report.unknown.push(symbol);
    else if (response.problem === 'unreadable' && unreadableInARow < MAX_UNREADABLE_IN_A_ROW)
      report.unreadable.set(symbol, response.message);
    else {
      stopAt(report, response);
      break;
    }
  }
  return report;
}

async function storeHistory(
  { database, clock, provider }: DownloadContext<SymbolProvider>,
  symbol: string,
  { dividends, unreadable, from }: DividendHistory,
): Promise<void> {
  const endDate = addDays(utcDate(clock()), -1);
  const spans = spanWithout(
    { symbol, startDate: from, endDate },
    unreadable.map(({ exDate }) => exDate),
  );
  const list = { dividends, spans, basis: 'as_paid' } as const;
  const stamp = newStamp(provider, clock);
  await database.write(() => storeDividends(database, list, stamp));
}
