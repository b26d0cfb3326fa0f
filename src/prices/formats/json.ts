import type { CalendarDate } from '../../calendar.ts';
import type { PriceSource } from '../../database/prices.ts';
import { ServiceError, messageOf } from '../../domain.ts';
import { asObject, tryParse } from '../../json.ts';
import { type ParsedFile, type RawBar, type Row, checkBar } from './bar.ts';
import { MAX_DOCUMENT_LENGTH, type LineBatch, startingWith } from './lines.ts';

/**
 * Alpha Vantage's daily series, one document per symbol, and the AI-Trader family's variant of it, one document per line,
 * which calls the open "buy price" and the close "sell price".
 */

const SERIES = 'Time Series (Daily)';
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
  days: Record<string, unknown>;
}

/** Reads a JSON file: one document over all its lines, or one per line. Throws when it begins with neither. */
export async function readJson(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  today: CalendarDate,
): Promise<ParsedFile> {
  const firstLine = first.lines.find((line) => line.trim() !== '') ?? '';
  const onFirstLine = tryParse(firstLine);
  if (onFirstLine === undefined) {
    const document = readDocument(tryParse(await wholeText(batches, first)));
    return { format: 'Alpha Vantage JSON', source: document.source, rows: once(rowsOf(document, 1, today)) };
  }
  const { source } = readDocument(onFirstLine);
  const format = source === 'ai-trader' ? 'AI-Trader merged JSON lines' : 'Alpha Vantage JSON lines';
  return { format, source, rows: rowsOfLines(batches, first, { source, today }) };
}

/** Reads one document from a provider. Throws a `ServiceError` when it holds no daily series. */
export function readDocument(value: unknown): Document {
  const document = asObject(value);
  for (const name of PROVIDER_MESSAGES) {
    if (typeof document?.[name] === 'string')
      throw new ServiceError('invalid_file', `it holds the provider's message instead of prices: ${document[name]}`);
  }
  const symbol = asObject(document?.['Meta Data'])?.['2. Symbol'];
  const days = asObject(document?.[SERIES]);
  if (typeof symbol !== 'string' || days === undefined)
    throw new ServiceError('invalid_file', `it has no "Meta Data" with a symbol and no "${SERIES}"`);
  const [newest] = Object.values(days);
  return { symbol, days, source: '1. buy price' in (asObject(newest) ?? {}) ? 'ai-trader' : 'alpha-vantage' };
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

async function* rowsOfLines(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  { source, today }: { source: PriceSource; today: CalendarDate },
): AsyncGenerator<Row[]> {
  for await (const batch of startingWith(first, batches)) {
    for (const [index, text] of batch.lines.entries()) {
      if (text.trim() !== '') yield rowsOfLine(text, batch.firstLine + index, { source, today });
    }
  }
}

function rowsOfLine(
  text: string,
  line: number,
  { source, today }: { source: PriceSource; today: CalendarDate },
): Row[] {
  const refuse = (reason: string, value: string): Row[] => [{ line, refusal: { reason, value: value.slice(0, 60) } }];
  const value = tryParse(text);
  if (value === undefined) return refuse('not JSON', text);
  try {
    const document = readDocument(value);
    return document.source === source
      ? rowsOf(document, line, today)
      : refuse('not of the same format as the first line', document.symbol);
  } catch (error) {
    return refuse('not a daily series', messageOf(error));
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
