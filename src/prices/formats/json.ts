import type { CalendarDate } from '../../calendar.ts';
import type { PriceSource } from '../../database/prices.ts';
import { ServiceError, messageOf } from '../../domain.ts';
import { type Json, asArray, asObject, tryParse } from '../../json.ts';
import { type PriceFile, type RawBar, type Defect, type Row, checkBar, refuse } from './bar.ts';
import { type DividendFile, type DividendRow, asDividendDocument, rowsOfDividends } from './dividends.ts';
import { notDaily } from './intraday.ts';
import { MAX_DOCUMENT_LENGTH, type LineBatch, startingWith } from './lines.ts';

/**
 * Alpha Vantage's daily series, one document per symbol, and the AI-Trader family's variant of it, one document per line,
 * which calls the open "buy price" and the close "sell price". Alpha Vantage's dividends have the same two shapes.
 */

const SERIES = 'Time Series (Daily)';
const OTHER_SERIES = /^(?:Time Series \((\d+)min\)|(Weekly|Monthly) (?:Adjusted )?Time Series)$/;
/** Where the provider puts its errors, with status 200. */
const PROVIDER_MESSAGES = ['Error Message', 'Note', 'Information'];
const FIELD_NAMES = new Map<string, keyof RawBar>([
  ['open', 'open'],
  ['buy price', 'open'],
  ['high', 'high'],
  ['low', 'low'],
  ['close', 'close'],
  ['sell price', 'close'],
  ['volume', 'volume'],
]);

interface Document {
  symbol: string;
  source: PriceSource;
  days: Json;
}

/** Reads a JSON file: one document over all its lines, or one per line. Throws when it begins with neither. */
export async function readJson(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  today: CalendarDate,
): Promise<PriceFile | DividendFile> {
  const onFirstLine = tryParse(first.lines.find((line) => line.trim() !== '') ?? '');
  const isOneDocument = onFirstLine === undefined;
  const value = isOneDocument ? tryParse(await wholeText(batches, first)) : onFirstLine;
  const dividends = asDividendDocument(value);
  if (dividends !== null) {
    const rows = isOneDocument
      ? once(rowsOfDividends(dividends, { line: 1, today }))
      : dividendsOfLines(batches, first, today);
    return { kind: 'dividends', format: 'Alpha Vantage JSON of dividends', source: 'alpha-vantage', rows };
  }
  const document = readDocument(value);
  const { source } = document;
  if (isOneDocument) return { kind: 'prices', format: 'Alpha Vantage JSON', source, rows: once(rowsOf(document, 1, today)) };
  const format = source === 'ai-trader' ? 'AI-Trader merged JSON lines' : 'Alpha Vantage JSON lines';
  return { kind: 'prices', format, source, rows: rowsOfLines(batches, first, { source, today }) };
}

/** Reads one document from a provider. Throws a `ServiceError` when it holds no daily series. */
export function readDocument(value: unknown): Document {
  const document = asObject(value) ?? {};
  for (const name of PROVIDER_MESSAGES) {
    if (typeof document[name] === 'string')
      throw new ServiceError('invalid_file', `it holds the provider's message instead of prices: ${document[name]}`);
  }
  const symbol = asObject(document['Meta Data'])?.['2. Symbol'];
  const days = asObject(document[SERIES]);
  if (typeof document['symbol'] === 'string' && asArray(document['data']) !== undefined)
    throw new ServiceError('invalid_file', 'it holds splits: they are downloaded with prices, not imported');
  if (days === undefined) refuseOtherSeries(document);
  if (typeof symbol !== 'string' || days === undefined)
    throw new ServiceError('invalid_file', `it has no "Meta Data" with a symbol and no "${SERIES}"`);
  const [newest] = Object.values(days);
  return { symbol, days, source: '1. buy price' in (asObject(newest) ?? {}) ? 'ai-trader' : 'alpha-vantage' };
}

function refuseOtherSeries(document: Json): void {
  for (const name of Object.keys(document)) {
    const [match, minutes, period] = OTHER_SERIES.exec(name) ?? [];
    if (match !== undefined) throw notDaily(minutes === undefined ? `${period?.toLowerCase()} bars` : `${minutes}-minute bars`);
  }
}

/** The days of a document as checked rows, all located at the line where it begins. */
export function rowsOf({ symbol, days }: Document, line: number, today: CalendarDate): Row[] {
  return Object.entries(days).map(([date, fields]) => {
    const raw: RawBar = {
      symbol,
      date,
      open: undefined,
      high: undefined,
      low: undefined,
      close: undefined,
      volume: undefined,
    };
    for (const [name, value] of Object.entries(asObject(fields) ?? {})) {
      const field = FIELD_NAMES.get(name.replace(/^\d+\. /, ''));
      if (field !== undefined) raw[field] = typeof value === 'string' ? value : JSON.stringify(value);
    }
    return { line, ...checkBar(raw, today) };
  });
}

/** The values of JSON lines, or why a line has none. */
async function* valuesOfLines(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
): AsyncGenerator<{ line: number; value: unknown; defect: Defect | null }> {
  for await (const batch of startingWith(first, batches)) {
    for (const [index, text] of batch.lines.entries()) {
      if (text.trim() === '') continue;
      const value = tryParse(text);
      yield { line: batch.firstLine + index, value, defect: value === undefined ? refuse('not JSON', text).defect : null };
    }
  }
}

async function* dividendsOfLines(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  today: CalendarDate,
): AsyncGenerator<DividendRow[]> {
  for await (const { line, value, defect } of valuesOfLines(batches, first))
    yield defect !== null ? [{ line, symbol: null, defect }] : dividendsOfLine(value, { line, today });
}

function dividendsOfLine(value: unknown, { line, today }: { line: number; today: CalendarDate }): DividendRow[] {
  const document = asDividendDocument(value);
  if (document !== null) return rowsOfDividends(document, { line, today });
  return [{ line, symbol: null, ...refuse('not the dividends of a symbol', JSON.stringify(value)) }];
}

async function* rowsOfLines(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  { source, today }: { source: PriceSource; today: CalendarDate },
): AsyncGenerator<Row[]> {
  for await (const { line, value, defect } of valuesOfLines(batches, first))
    yield defect !== null ? [{ line, defect }] : rowsOfLine(value, line, { source, today });
}

function rowsOfLine(
  value: unknown,
  line: number,
  { source, today }: { source: PriceSource; today: CalendarDate },
): Row[] {
  try {
    const document = readDocument(value);
    if (document.source === source) return rowsOf(document, line, today);
    return [{ line, ...refuse('not of the same format as the first line', document.symbol) }];
  } catch (error) {
    return [{ line, ...refuse('not a daily series', messageOf(error)) }];
  }
}

async function wholeText(batches: AsyncIterator<LineBatch>, first: LineBatch): Promise<string> {
  let text = '';
  for await (const { lines } of startingWith(first, batches)) {
    text += `${lines.join('\n')}\n`;
    if (text.length > MAX_DOCUMENT_LENGTH)
      throw new ServiceError('invalid_file', `its one JSON document is longer than ${MAX_DOCUMENT_LENGTH} characters`);
  }
  return text;
}

async function* once<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}
