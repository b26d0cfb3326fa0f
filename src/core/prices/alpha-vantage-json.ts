import { invalidFile } from '#domain/service-error.ts';
import { asArray, asObject, type Json, plainText } from '#json/json.ts';
import type { Field, Row, Table } from './row.ts';

/** Alpha Vantage's JSON, as it comes over HTTP and as people keep it in files. */

const SERIES = 'Time Series (Daily)';
/** Where the provider puts its errors, with status 200. */
const PROVIDER_MESSAGES = ['Error Message', 'Note', 'Information'];
const FIELD_NAMES = new Map<string, Field>([
  ['open', 'open'],
  ['buy price', 'open'],
  ['high', 'high'],
  ['low', 'low'],
  ['close', 'close'],
  ['sell price', 'close'],
  ['volume', 'volume'],
]);

/** One document: a table whose rows are in memory. Of documents in lines, all are of one format. */
export type JsonTable = Omit<Table, 'rows'> & { rows: Row[] };

/** Alpha Vantage's dividends of one symbol, newest first; an unknown value is the text "None". */
export function readDividends({ symbol, data }: Json): JsonTable | null {
  const entries = asArray(data);
  if (typeof symbol !== 'string' || entries === undefined) return null;
  const rows = entries.map((entry) => {
    const { ex_dividend_date, amount } = asObject(entry) ?? {};
    return { symbol, date: plainText(ex_dividend_date), dividend: plainText(amount) };
  });
  const format = 'Alpha Vantage JSON of dividends';
  return { format, source: 'alpha-vantage', hasPrices: false, rows };
}

/** Reads the prices of one symbol. Throws a `ServiceError` where there is no daily series. */
export function readDailySeries(document: Json): JsonTable {
  for (const name of PROVIDER_MESSAGES) {
    if (typeof document[name] === 'string')
      throw invalidFile(`it holds the provider's message instead of prices: ${document[name]}`);
  }
  const symbol = asObject(document['Meta Data'])?.['2. Symbol'];
  const days = asObject(document[SERIES]);
  const intraday = Object.keys(document).find((name) => /^Time Series \(\d+min\)$/.test(name));
  if (intraday !== undefined)
    throw invalidFile(`its bars are intraday, "${intraday}"; daily ones are needed, "${SERIES}"`);
  if (typeof symbol !== 'string' || days === undefined)
    throw invalidFile(`it has no "Meta Data" with a symbol and no "${SERIES}"`);
  const [newest] = Object.values(days);
  const isMerged = '1. buy price' in (asObject(newest) ?? {});
  return {
    format: isMerged ? 'AI-Trader merged JSON' : 'Alpha Vantage JSON',
    source: isMerged ? 'ai-trader' : 'alpha-vantage',
    hasPrices: true,
    rows: Object.entries(days).map(([date, fields]) => {
      const row: Row = { symbol, date };
      for (const [name, value] of Object.entries(asObject(fields) ?? {})) {
        const field = FIELD_NAMES.get(name.replace(/^\d+\. /, ''));
        if (field !== undefined) row[field] = plainText(value);
      }
      return row;
    }),
  };
}
