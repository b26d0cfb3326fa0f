import { type JsonTable, readDailySeries, readDividends } from '#prices/alpha-vantage-json.ts';
import { errorMessage, invalidFile } from '#domain/service-error.ts';
import { asArray, asObject, type Json, plainText, tryParse } from '#json/json.ts';
import { factorToRatio } from '#prices/amounts.ts';
import { refuse, type Row, type Table } from '#prices/row.ts';
import { type Lines, MAX_DOCUMENT_LENGTH } from './lines.ts';

/**
 * Alpha Vantage's daily series, one document per symbol, and the AI-Trader family's variant of it,
 * one document per line, which calls the open "buy price" and the close "sell price"; and the
 * splits and dividends of providers.
 */

const NULL_FOR_UNKNOWN = 'JSON has null for what is unknown';
const OTHER_FORMAT = 'not of the same format as the first line';
/**
 * Reads a JSON file: one document over all its lines, or one per line. Throws when it begins with
 * neither.
 */
export async function readJson(lines: Lines): Promise<Table> {
  const onFirstLine = tryParse(lines.first.lines[0] ?? '');
  const isOneDocument = onFirstLine === undefined;
  const document = readDocument(
    isOneDocument ? parseDocument(await readWhole(lines)) : onFirstLine,
  );
  if (isOneDocument) return { ...document, rows: [document.rows] };
  const { format, hasPrices } = document;
  const rows = parseLines(lines, format);
  return { ...document, format: hasPrices ? `${format} lines` : format, rows };
}

/** Reads one document of a provider. Throws a `ServiceError` when it is none that is known. */
function readDocument(value: unknown): JsonTable {
  if (Array.isArray(value))
    throw invalidFile('it is a JSON list, which is not read: write it as CSV with a header');
  const document = asObject(value) ?? {};
  return readSplits(document) ?? readDividends(document) ?? readDailySeries(document);
}

/**
 * Alpha Vantage's splits look like its dividends but for the dates; Massive's are of any symbols.
 */
function readSplits({ symbol, data, results }: Json): JsonTable | null {
  const entries = (asArray(data) ?? asArray(results) ?? []).map((entry) => asObject(entry) ?? {});
  if (typeof symbol === 'string' && entries.some((entry) => 'effective_date' in entry)) {
    const rows = entries.map(({ effective_date, split_factor }) => {
      const factor = plainText(split_factor) ?? '';
      const fraction = factorToRatio(Number(factor || NaN));
      const { numerator, denominator } = fraction ?? { numerator: factor, denominator: '' };
      const date = plainText(effective_date);
      return { symbol, date, numerator: `${numerator}`, denominator: `${denominator}` };
    });
    const format = 'Alpha Vantage JSON of splits';
    return { format, source: 'alpha-vantage', hasPrices: false, rows };
  }
  if (!entries.some((entry) => 'execution_date' in entry && 'split_to' in entry)) return null;
  const rows = entries.map(({ ticker, execution_date, split_to, split_from }) => ({
    symbol: plainText(ticker),
    date: plainText(execution_date),
    numerator: plainText(split_to),
    denominator: plainText(split_from),
  }));
  return { format: 'Massive JSON of splits', source: 'massive', hasPrices: false, rows };
}

async function* parseLines({ batches }: Lines, format: string): AsyncGenerator<Row[]> {
  for await (const { lines, firstLine } of batches)
    for (const [index, text] of lines.entries())
      if (text.trim() !== '')
        yield parseLine(text, format).map((row) => ({ ...row, line: firstLine + index }));
}

/** Looks behind only where it has found a word. */
const NO_NUMBER = /-?\b(?:NaN|Infinity)\b(?<=[[,:]\s*-?\w+)/;

/**
 * A word for a number that JSON does not have, in a text that is not JSON, and its line; null where
 * that is not the reason.
 */
function findNonNumber(text: string): { word: string; line: number } | null {
  const found = NO_NUMBER.exec(text);
  return found && { word: found[0], line: text.slice(0, found.index).split('\n').length };
}

function parseLine(text: string, format: string): Row[] {
  const value = tryParse(text);
  if (value === undefined) {
    const found = findNonNumber(text);
    return [refuse(found ? `not JSON (${found.word}; ${NULL_FOR_UNKNOWN})` : 'not JSON', text)];
  }
  try {
    const document = readDocument(value);
    return document.format === format ? document.rows : [refuse(OTHER_FORMAT, text)];
  } catch (error) {
    return [refuse(OTHER_FORMAT, errorMessage(error))];
  }
}

/** Throws a `ServiceError` with the reason for a text that is not JSON. */
export function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const found = findNonNumber(text);
    const place = found && `${found.word} on line ${found.line}; ${NULL_FOR_UNKNOWN}`;
    const reason = place ?? errorMessage(error);
    throw invalidFile(`it begins as JSON and is not: ${reason}`);
  }
}

export async function readWhole({ first, batches }: Lines): Promise<string> {
  let text = '\n'.repeat(first.firstLine - 1);
  for await (const { lines } of batches) {
    text += `${lines.join('\n')}\n`;
    if (text.length > MAX_DOCUMENT_LENGTH)
      throw invalidFile(`its one JSON document is longer than ${MAX_DOCUMENT_LENGTH} characters`);
  }
  return text;
}
