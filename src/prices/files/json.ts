import type { CalendarDate } from '../../basics/calendar.ts';
import type { PriceSource } from '../../database/prices.ts';
import { messageOf, ServiceError } from '../../basics/domain.ts';
import { asObject, type Json, noNumberIn, tryParse } from '../../basics/json.ts';
import { checkBar, type Defect, type PriceFile, type RawBar, refuse, type Row } from './bar.ts';
import {
  asDividendDocument,
  type DividendFile,
  type DividendRow,
  rowsOfDividends,
} from './dividend-rows.ts';
import { asSplitDocument, rowsOfSplits, type SplitFile, type SplitRow } from './split-rows.ts';
import { chartIn, notDaily, rowsOfChart } from './yahoo-chart.ts';
import { type LineBatch, MAX_DOCUMENT_LENGTH, startingWith } from './lines.ts';

/**
 * Alpha Vantage's daily series, one document per symbol, and the AI-Trader family's variant of it,
 * one document per line, which calls the open "buy price" and the close "sell price". Alpha
 * Vantage's splits and dividends and Yahoo's charts have the same two shapes.
 */

const NULL_FOR_UNKNOWN = 'JSON has null for what is unknown';
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

/**
 * Reads a JSON file: one document over all its lines, or one per line. Throws when it begins with
 * neither.
 */
export async function readJson(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  today: CalendarDate,
): Promise<PriceFile | DividendFile | SplitFile> {
  const onFirstLine = tryParse(first.lines.find((line) => line.trim() !== '') ?? '');
  const isOneDocument = onFirstLine === undefined;
  const value = isOneDocument ? parseDocument(await wholeText(batches, first)) : onFirstLine;
  const splits = asSplitDocument(value);
  if (splits !== null) {
    const rows = isOneDocument ? once(rowsOfSplits(splits, 1)) : splitsOfLines(batches, first);
    return { kind: 'splits', format: splits.format, source: splits.source, rows };
  }
  const dividends = asDividendDocument(value);
  if (dividends !== null) {
    const rows = isOneDocument
      ? once(rowsOfDividends(dividends, { line: 1, today }))
      : dividendsOfLines(batches, first, today);
    return {
      kind: 'dividends',
      format: 'Alpha Vantage JSON of dividends',
      source: 'alpha-vantage',
      rows,
    };
  }
  const chart = chartIn(value);
  if (chart !== undefined) {
    const rowsOfFirst = rowsOfChart(chart, { line: 1, today });
    const read = ({ line, value }: Line) => rowsOfChart(chartIn(value) ?? {}, { line, today });
    const rows = isOneDocument ? once(rowsOfFirst) : rowsOfLines(batches, first, read);
    return { kind: 'prices', format: 'Yahoo chart JSON', source: 'yahoo', rows };
  }
  const document = readDocument(value);
  const { source } = document;
  if (isOneDocument)
    return {
      kind: 'prices',
      format: 'Alpha Vantage JSON',
      source,
      rows: once(rowsOf(document, 1, today)),
    };
  const format =
    source === 'ai-trader' ? 'AI-Trader merged JSON lines' : 'Alpha Vantage JSON lines';
  return {
    kind: 'prices',
    format,
    source,
    rows: rowsOfLines(batches, first, (line) => rowsOfDocument(line, { source, today })),
  };
}

/** Reads one document from a provider. Throws a `ServiceError` when it holds no daily series. */
export function readDocument(value: unknown): Document {
  const document = asObject(value) ?? {};
  for (const name of PROVIDER_MESSAGES) {
    if (typeof document[name] === 'string')
      throw new ServiceError(
        'invalid_file',
        `it holds the provider's message instead of prices: ${document[name]}`,
      );
  }
  const symbol = asObject(document['Meta Data'])?.['2. Symbol'];
  const days = asObject(document[SERIES]);
  if (days === undefined) refuseOtherSeries(document);
  if (typeof symbol !== 'string' || days === undefined)
    throw new ServiceError(
      'invalid_file',
      `it has no "Meta Data" with a symbol and no "${SERIES}"`,
    );
  const [newest] = Object.values(days);
  return {
    symbol,
    days,
    source: '1. buy price' in (asObject(newest) ?? {}) ? 'ai-trader' : 'alpha-vantage',
  };
}

function refuseOtherSeries(document: Json): void {
  for (const name of Object.keys(document)) {
    const [match, minutes, period] = OTHER_SERIES.exec(name) ?? [];
    if (match !== undefined)
      throw notDaily(
        minutes === undefined ? `${period?.toLowerCase()} bars` : `${minutes}-minute bars`,
      );
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
      if (field !== undefined)
        raw[field] = typeof value === 'string' ? value : JSON.stringify(value);
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
      yield {
        line: batch.firstLine + index,
        value,
        defect: value === undefined ? notJson(text) : null,
      };
    }
  }
}

async function* dividendsOfLines(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  today: CalendarDate,
): AsyncGenerator<DividendRow[]> {
  for await (const { line, value, defect } of valuesOfLines(batches, first))
    yield defect !== null
      ? [{ line, symbol: null, exDate: null, defect }]
      : dividendsOfLine(value, { line, today });
}

function dividendsOfLine(
  value: unknown,
  { line, today }: { line: number; today: CalendarDate },
): DividendRow[] {
  const document = asDividendDocument(value);
  if (document !== null) return rowsOfDividends(document, { line, today });
  return [
    {
      line,
      symbol: null,
      exDate: null,
      ...refuse('not the dividends of a symbol', JSON.stringify(value)),
    },
  ];
}

async function* splitsOfLines(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
): AsyncGenerator<SplitRow[]> {
  for await (const { line, value, defect } of valuesOfLines(batches, first)) {
    const document = asSplitDocument(value);
    const other = defect ?? refuse('not the splits of a symbol', JSON.stringify(value)).defect;
    yield document === null ? [{ line, defect: other }] : rowsOfSplits(document, line);
  }
}

interface Line {
  line: number;
  value: unknown;
}

async function* rowsOfLines(
  batches: AsyncIterator<LineBatch>,
  first: LineBatch,
  read: (line: Line) => Row[],
): AsyncGenerator<Row[]> {
  for await (const { line, value, defect } of valuesOfLines(batches, first))
    yield defect !== null ? [{ line, defect }] : rowsOfLine({ line, value }, read);
}

function rowsOfLine(line: Line, read: (line: Line) => Row[]): Row[] {
  try {
    return read(line);
  } catch (error) {
    return [{ line: line.line, ...refuse('not a daily series', messageOf(error)) }];
  }
}

function rowsOfDocument(
  { line, value }: Line,
  { source, today }: { source: PriceSource; today: CalendarDate },
): Row[] {
  const document = readDocument(value);
  if (document.source === source) return rowsOf(document, line, today);
  return [{ line, ...refuse('not of the same format as the first line', document.symbol) }];
}

function notJson(text: string): Defect {
  const word = noNumberIn(text)?.word;
  return refuse(word === undefined ? 'not JSON' : `not JSON (${word}; ${NULL_FOR_UNKNOWN})`, text)
    .defect;
}

/** Throws a `ServiceError` with the reason for a text that is not JSON. */
function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const found = noNumberIn(text);
    const reason =
      found === null
        ? messageOf(error)
        : `${found.word} on line ${found.line}; ${NULL_FOR_UNKNOWN}`;
    throw new ServiceError('invalid_file', `it begins as JSON and is not: ${reason}`);
  }
}

async function wholeText(batches: AsyncIterator<LineBatch>, first: LineBatch): Promise<string> {
  let text = '';
  for await (const { lines } of startingWith(first, batches)) {
    text += `${lines.join('\n')}\n`;
    if (text.length > MAX_DOCUMENT_LENGTH)
      throw new ServiceError(
        'invalid_file',
        `its one JSON document is longer than ${MAX_DOCUMENT_LENGTH} characters`,
      );
  }
  return text;
}

async function* once<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}
