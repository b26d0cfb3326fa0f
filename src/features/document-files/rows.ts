import * as v from 'valibot';
import {
  type CalendarDate,
  utcDate,
  newYorkTime,
  newYorkInstant,
  isCalendarDate,
  timestamp,
} from '#time/calendar.ts';
import { SYMBOL_TEXT } from '#domain/symbols.ts';
import {
  asArray,
  asObject,
  asText,
  type Json,
  asObjects,
  plainText,
  tryParse,
} from '#json/json.ts';
import { cleanText, fits, quote } from '#text/text.ts';
import { endOfDay } from '#database/document-queries.ts';
import { invalidFile } from '#domain/service-error.ts';
import { parseDocument, readWhole } from '../price-files/json.ts';
import {
  dashedDate,
  type LineBatch,
  type Lines,
  readCells,
  MAX_DOCUMENT_LENGTH,
  type Progress,
  readHead,
  readLines,
  splitRow,
  takeHeader,
} from '../price-files/lines.ts';
import { refuse } from '#prices/row.ts';

/**
 * Files of documents: JSON with a value on each line or one over all lines, and CSV. A value is a
 * row, a list of them, or a provider's response with one.
 */

/**
 * Reads the rows of a file in batches, each with its line; its text, where it cannot be read. Throws
 * a `ServiceError` for a file in no known format.
 */
export async function* readRows(path: string, onProgress?: Progress) {
  await using source = readLines(path, onProgress); // closes the file, read to its end or not
  const text = await readHead(source);
  const [start = ''] = text.first.lines;
  if (!/^\s*[[{]/.test(start)) yield* readCsvRows(text);
  else if (tryParse(start) === undefined) yield listRows(parseDocument(await readWhole(text)), 1);
  else
    for await (const { lines, firstLine } of text.batches)
      yield lines.flatMap((text, index) =>
        /\S/.test(text) ? listRows(tryParse(text) ?? text, firstLine + index) : [],
      );
}

/** Alpha Vantage's list is its `feed`, Massive's its `results`. */
function listRows(value: unknown, line: number) {
  const { feed, results } = asObject(value) ?? {};
  const rows = asArray(value) ?? asArray(feed) ?? asArray(results) ?? [value];
  return rows.map((row) => ({ line, row }));
}

async function* readCsvRows(text: Lines) {
  const { line: header, separator } = takeHeader(text);
  const names = splitRow(header, separator).map((name) => name.trim().toLowerCase());
  if (!names.includes('text'))
    throw invalidFile(`it is neither JSON nor CSV with a column text: ${quote(header)}`);
  for await (const batch of withWholeCells(text.batches))
    yield Array.from(readCells(batch, separator), ({ cells, line: end, text }) => {
      const row = Object.fromEntries(names.map((name, column) => [name, cells[column]]));
      const line = end - text.split('\n').length + 1;
      return { line, row: cells.length === names.length ? row : text };
    });
}

/** Joins the lines of a quoted cell in the place of its last one; the others become blank. */
async function* withWholeCells(batches: AsyncIterable<LineBatch>): AsyncGenerator<LineBatch> {
  let open = '';
  const join = (text: string) => {
    const isOpen = (text.split('"').length % 2 === 0) === (open === '');
    const whole = open + text;
    open = isOpen ? `${whole}\n` : '';
    return isOpen ? '' : whole;
  };
  for await (const batch of batches) {
    yield { ...batch, lines: batch.lines.map(join) };
    if (open.length > MAX_DOCUMENT_LENGTH) break;
  }
  if (open !== '') throw invalidFile(`a quoted cell has no end, in the row ${quote(open, 60)}`);
}

const MAX_TEXT_BYTES = 1_048_576;
const MAX_KIND_LENGTH = 40;
const MAX_SYMBOLS = 50;
/** Maximum length of an id, a title and a source. */
const MAX_LINE_LENGTH = 500;
const MAX_URL_LENGTH = 2_000;

const schema = v.object({
  published_at: v.pipe(
    v.string(),
    v.transform(parsePublication),
    v.guard((published) => published !== null),
  ),
  id: v.nullish(line(), null),
  kind: v.pipe(v.string(), v.regex(/^[\w-]+$/), v.maxLength(MAX_KIND_LENGTH)),
  title: line(),
  symbols: v.pipe(
    v.array(v.pipe(v.string(), v.regex(SYMBOL_TEXT), v.trim(), v.toUpperCase())),
    v.transform((symbols) => [...new Set(symbols)].sort()),
    v.maxLength(MAX_SYMBOLS),
    v.transform(JSON.stringify),
  ),
  source: v.nullish(line(), null),
  url: v.nullish(line(MAX_URL_LENGTH), null),
  text: v.pipe(
    v.string(),
    v.transform((text) => text.toWellFormed()),
    v.check((text) => !text.includes('\0') && Buffer.byteLength(text) <= MAX_TEXT_BYTES),
  ),
});

/** What is wrong with a field, after its name. */
const fieldProblems: Record<string, string> = {
  published_at: 'is not a date from 1900 to 2199, nor a timestamp with time zone',
  kind: `must be 1 to ${MAX_KIND_LENGTH} letters, digits, - or _`,
  symbols: `must be at most ${MAX_SYMBOLS} ticker symbols`,
  url: `must be 1 to ${MAX_URL_LENGTH} characters`,
  text: `must be at most ${MAX_TEXT_BYTES} bytes of UTF-8, without U+0000`,
};

/** Text that becomes one printable line. */
function line(most = MAX_LINE_LENGTH) {
  const isLine = (text: string) => text !== '' && fits(text, most);
  return v.pipe(v.string(), v.transform(cleanText), v.check(isLine));
}

const INSTANT =
  /^\d{4}-\d\d-\d\d[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-](0\d|1[0-4]):?[0-5]\d)$/i;

/** When a document is out; null for what is neither a date nor an instant. */
function parsePublication(value: string) {
  const text = dashedDate(value.trim()) ?? '';
  const isInstant = INSTANT.test(text);
  if (!isCalendarDate(isInstant ? text.slice(0, 10) : text)) return null;
  const outAt = isInstant ? new Date(text) : endOfDay(text);
  const date = isInstant ? newYorkTime(outAt).date : text;
  const publishedAt = isInstant ? timestamp(outAt) : text;
  return isCalendarDate(date) && date < '2200' ? { publishedAt, date, outAt } : null;
}

/** The date of a row whose document has no time; null of any other. */
export function dateOnly(row: unknown): CalendarDate | null {
  const { published_at: published } = normaliseFields(asObject(row) ?? {});
  const found = parsePublication(plainText(published) ?? '');
  return found?.publishedAt === found?.date ? (found?.date ?? null) : null;
}

/** The document that a row is, or why it is none. */
export function toDocument(row: unknown) {
  const fields = asObject(row);
  if (fields === undefined)
    return defective('neither a JSON object nor a row of CSV with all columns', row);
  const said = Object.entries(normaliseFields(fields)).filter(([, value]) => isGiven(value));
  const { success, output, issues } = v.safeParse(schema, Object.fromEntries(said));
  if (!success) {
    const path = issues[0].path ?? [];
    const field = String(path[0]?.key);
    const wrong = fieldProblems[field] ?? `must be 1 to ${MAX_LINE_LENGTH} characters`;
    const value = path.at(-1)?.value;
    const name = field === 'published_at' && 'filing_date' in fields ? 'filing_date' : field;
    return value === undefined
      ? defective(`${name} is missing`, row)
      : defective(`${name} ${wrong}`, value);
  }
  const { published_at: published, ...document } = output;
  return { document: { ...document, ...published }, defect: null };
}

function defective(reason: string, value: unknown) {
  return { document: null, ...refuse(reason, plainText(value)) };
}

const isGiven = (value: unknown) => Boolean(plainText(value)?.trim());

const MIDNIGHT = /[T ]00:00(:00(\.0+)?)?(Z|\+00:?00)?$/;

/** The fields of a row, by our names; the name of its date tells whose row it is. */
function normaliseFields(row: Json): Json {
  const { id, symbol, ticker, symbols, title, form } = row;
  const names = typeof symbols === 'string' ? symbols.split(/\s+/) : symbols;
  const ours = {
    ...row,
    id: plainText(id),
    symbols: [symbol, ticker, names].flat().filter(isGiven),
  };
  if ('published_at' in row) return ours;
  if ('filing_date' in row) {
    const filed = plainText(row['filing_date']) ?? '';
    const ms = /^\d{12,13}$/.test(filed) ? Number(filed) : NaN; // as pandas writes dates; or at midnight
    return {
      ...ours,
      id: row['accession_number'],
      kind: plainText(form)?.replace(/[^\w-]+/g, '-'),
      title: title ?? [row['company'], form].filter(isGiven).join(', '),
      published_at: ms % 86_400_000 === 0 ? utcDate(new Date(ms)) : filed.replace(MIDNIGHT, ''),
    };
  }
  const tickers =
    asArray(row['tickers']) ?? asObjects(row['ticker_sentiment']).map(({ ticker }) => ticker);
  return {
    ...row,
    kind: 'news',
    // Without `CRYPTO:BTC`, `FOREX:USD`, `X:BTCUSD`.
    symbols: tickers.filter((name) => !plainText(name)?.includes(':')),
    text: asText(row['summary'] ?? row['description']) ?? title,
    source: row['source'] ?? asObject(row['publisher'])?.['name'],
    url: row['url'] ?? row['article_url'],
    published_at: row['published_utc'] ?? newYorkTimestamp(row['time_published']),
  };
}

const IN_NEW_YORK = /^(\d{8})T([01]\d|2[0-3])([0-5]\d)([0-5]\d)$/;

/** Of `20250106T092959`, which names no zone: that of New York; anything else as it is. */
function newYorkTimestamp(value: unknown): unknown {
  const [, day, ...time] = IN_NEW_YORK.exec(plainText(value) ?? '') ?? [];
  const date = dashedDate(day);
  return isCalendarDate(date) ? timestamp(newYorkInstant(date, time.join(':'))) : value;
}
