import {
  addDays,
  type CalendarDate,
  inNewYork,
  isCalendarDate,
  morningAfter,
  timestamp,
} from '../../basics/calendar.ts';
import { messageOf, normaliseSymbol, ServiceError } from '../../basics/domain.ts';
import { asArray, asObject, type Json, objectsIn, plainText, tryParse } from '../../basics/json.ts';
import { cleanText, fits, unprintableIn } from '../../basics/text.ts';
import type { DocumentRow } from '../../database/store-documents.ts';
import {
  type LineBatch,
  MAX_DOCUMENT_LENGTH,
  dashedDate,
  splitRow,
  startingWith,
  takeHeader,
} from './lines.ts';
import type { Defect } from './row.ts';

/**
 * Files of documents: our own rows as JSON or CSV, filings as edgartools has them, and news as
 * Alpha Vantage and Massive send them.
 */

const MAX_TEXT_BYTES = 1_048_576;
const MAX_TITLE_LENGTH = 500;
const MAX_KIND_LENGTH = 40;
const MAX_SYMBOLS = 50;
const MAX_ID_LENGTH = 200;
const MAX_SOURCE_LENGTH = 200;
const MAX_URL_LENGTH = 2_000;
/** With every character of its text escaped. */
const MAX_ROW_LENGTH = 8 * MAX_TEXT_BYTES;

const MAX_SHOWN_LENGTH = 200;
const NO_END = 'a quoted cell has no end';

/** A row of a file: a document, or why it is none. */
export type FileRow = { line: number } & (
  | { document: DocumentRow; defect?: never }
  | { document?: never; defect: Defect }
);

/** What the columns of a row are called by whoever wrote it. */
interface RawDocument {
  id?: unknown;
  symbols: unknown[];
  kind: unknown;
  published: Published;
  title: unknown;
  text: unknown;
  source: unknown;
  url: unknown;
}

type Published = Pick<DocumentRow, 'publishedAt' | 'date' | 'visibleFrom'>;

/** Thrown for a row that is not a document; the value is what it has instead. */
class Refused extends Error {
  readonly value: unknown;
  constructor(reason: string, value: unknown) {
    super(reason);
    this.value = value;
  }
}

/** Reads the rows of a file in batches. Throws a `ServiceError` for a file in no known format. */
export async function* readDocuments(
  batches: AsyncGenerator<LineBatch>,
): AsyncGenerator<FileRow[]> {
  const { value: first, done } = await batches.next();
  if (done === true) throw new ServiceError('invalid_file', 'it is empty');
  const [line = '', ...others] = first.lines;
  const trimmed = { ...first, lines: [line.replace(/^\ufeff/, ''), ...others] };
  const start = trimmed.lines.find((text) => text.trim() !== '')?.trimStart()[0] ?? '';
  yield* '{['.includes(start) && start !== ''
    ? rowsOfJson(batches, trimmed)
    : rowsOfCsv(batches, trimmed);
}

/** A value per line, or one over all lines. */
async function* rowsOfJson(
  batches: AsyncGenerator<LineBatch>,
  first: LineBatch,
): AsyncGenerator<FileRow[]> {
  const beginning = first.lines.filter((line) => line.trim() !== '').slice(0, 2);
  const isInLines = beginning.some((line) => isContainer(tryParse(line)));
  if (!isInLines) {
    yield rowsOf(parseWhole(await wholeText(batches, first)), 1);
    return;
  }
  for await (const { lines, firstLine } of startingWith(first, batches))
    for (const [index, text] of lines.entries()) {
      if (text.trim() === '') continue;
      const value = tryParse(text);
      const line = firstLine + index;
      yield value === undefined ? [refusal(line, 'not JSON', text)] : rowsOf(value, line);
    }
}

function isContainer(value: unknown): boolean {
  return asObject(value) !== undefined || Array.isArray(value);
}

async function wholeText(batches: AsyncGenerator<LineBatch>, first: LineBatch): Promise<string> {
  const lines: string[] = [];
  let length = 0;
  for await (const batch of startingWith(first, batches))
    for (const line of batch.lines) {
      lines.push(line);
      length += line.length + 1;
      if (length > MAX_DOCUMENT_LENGTH)
        throw new ServiceError(
          'invalid_file',
          `its one JSON value is longer than ${MAX_DOCUMENT_LENGTH} characters: write a line for each document`,
        );
    }
  return lines.join('\n');
}

function parseWhole(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ServiceError('invalid_file', `it begins as JSON and is not: ${messageOf(error)}`);
  }
}

/** Where providers put their errors, with status 200. */
const PROVIDER_MESSAGES = ['Error Message', 'Note', 'Information'];

/** The documents in a value: itself, those of a list, or those of a provider's response. */
function rowsOf(value: unknown, line: number): FileRow[] {
  const object = asObject(value) ?? {};
  const message = PROVIDER_MESSAGES.find((name) => typeof object[name] === 'string');
  if (message !== undefined && !('title' in object))
    return [refusal(line, "the provider's message instead of documents", object[message])];
  const list =
    asArray(value) ??
    asArray(object['feed']) ??
    ('title' in object ? undefined : asArray(object['results']));
  return (list ?? [value]).map((one) => rowOf(one, line));
}

function rowOf(value: unknown, line: number): FileRow {
  try {
    const row = asObject(value);
    if (row === undefined) throw new Refused('not an object', value);
    return { line, document: check(meaningOf(row)) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return refusal(line, error.message, error.value);
  }
}

function refusal(line: number, reason: string, value: unknown): FileRow {
  return { line, defect: { reason, value: (plainText(value) ?? '').slice(0, MAX_SHOWN_LENGTH) } };
}

async function* rowsOfCsv(
  batches: AsyncGenerator<LineBatch>,
  first: LineBatch,
): AsyncGenerator<FileRow[]> {
  const { line: header, separator, rest } = takeHeader(first);
  const names = splitRow(header, separator).map((name) => name.trim().toLowerCase());
  const wanted = ['text', 'published_at or filing_date'];
  const missing = wanted.filter((name) => !name.split(' or ').some((one) => names.includes(one)));
  if (missing.length > 0)
    throw new ServiceError(
      'invalid_file',
      `it is not JSON, and as CSV of documents its header lacks ${missing.join(', ')}; its columns are ${names.join(', ').slice(0, MAX_SHOWN_LENGTH)}`,
    );
  // A quoted cell may go over several lines.
  let open: string[] = [];
  let length = 0;
  let end = rest.firstLine;
  for await (const { lines, firstLine } of startingWith(rest, batches)) {
    end = firstLine + lines.length;
    const rows: FileRow[] = [];
    for (const [index, text] of lines.entries()) {
      const isOpen = open.length > 0;
      if (!isOpen && text.trim() === '') continue;
      open.push(text);
      length += text.length + 1;
      const hasEnd = isOpen === hasOddQuotes(text);
      const line = firstLine + index - open.length + 1;
      if (hasEnd) rows.push(rowOfCells(open.join('\n'), { names, separator, line }));
      else if (length > MAX_ROW_LENGTH) rows.push(refusal(line, NO_END, open[0]));
      else continue;
      [open, length] = [[], 0];
    }
    yield rows;
  }
  if (open.length > 0) yield [refusal(end - open.length, NO_END, open[0])];
}

function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}

function rowOfCells(
  text: string,
  { names, separator, line }: { names: readonly string[]; separator: string; line: number },
): FileRow {
  const cells = splitRow(text.endsWith('\r') ? text.slice(0, -1) : text, separator);
  if (cells.length !== names.length) return refusal(line, `not ${names.length} columns`, text);
  const filled = names.flatMap((name, index) => {
    const cell = cells[index] ?? '';
    return cell.trim() === '' ? [] : [[name, cell] as const];
  });
  return rowOf(Object.fromEntries(filled), line);
}

/** Tells by the name of its date whose row it is. */
function meaningOf(row: Json): RawDocument {
  const { title, url, source } = row;
  if ('published_at' in row)
    return {
      id: row['id'],
      symbols: [...separate(row['symbols']), ...separate(row['symbol'])],
      kind: row['kind'],
      published: publishedIn('published_at', row['published_at']),
      text: row['text'],
      ...{ title, source, url },
    };
  if ('filing_date' in row) return meaningOfFiling(row);
  if ('time_published' in row)
    return {
      symbols: ofStocks(objectsIn(row['ticker_sentiment']).map((one) => one['ticker'])),
      kind: 'news',
      published: publishedInNewYork(row['time_published']),
      text: row['summary'] || title,
      ...{ title, source, url },
    };
  if ('published_utc' in row)
    return {
      id: row['id'],
      symbols: ofStocks(asArray(row['tickers']) ?? []),
      kind: 'news',
      published: publishedIn('published_utc', row['published_utc']),
      text: row['description'] || title,
      title,
      source: asObject(row['publisher'])?.['name'],
      url: row['article_url'],
    };
  throw new Refused('published_at is missing', Object.keys(row).join(', '));
}

/** A filing: its time of acceptance is not reliably one of UTC, so only its date counts. */
function meaningOfFiling(row: Json): RawDocument {
  const form = plainText(row['form']) ?? '';
  const name = [row['company'], form, row['primaryDocDescription']]
    .map((part) => plainText(part)?.trim() ?? '')
    .filter((part, index, all) => part !== '' && all.indexOf(part) === index);
  return {
    id: row['accession_number'] ?? row['accession_no'] ?? row['id'],
    symbols: [...separate(row['symbol']), ...separate(row['symbols']), ...separate(row['ticker'])],
    kind: row['kind'] ?? (form.trim().replaceAll(/[^A-Za-z0-9_-]+/g, '-') || undefined),
    published: publishedOn(row['filing_date']),
    title: row['title'] ?? name.join(', '),
    text: row['text'],
    source: row['source'] ?? 'SEC EDGAR',
    url: row['url'],
  };
}

/** The parts of a list, or of a text between blanks. */
function separate(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return (
    asArray(value) ?? (typeof value === 'string' ? value.split(/\s+/).filter(Boolean) : [value])
  );
}

/** Without `CRYPTO:BTC`, `FOREX:USD`, `X:BTCUSD`. */
function ofStocks(tickers: readonly unknown[]): unknown[] {
  return tickers.filter((ticker) => typeof ticker !== 'string' || !ticker.includes(':'));
}

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?\s?([Zz]|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)?$/;

/** A date, or an instant with its offset. */
function publishedIn(name: string, value: unknown): Published {
  if (value === undefined || value === null || value === '')
    throw new Refused(`${name} is missing`, '');
  const text = typeof value === 'string' ? value.trim() : '';
  const day = dashedDate(text);
  if (isCalendarDate(day)) return onDate(day);
  const [, date, time, seconds = '00', fraction = '', offset] = INSTANT.exec(text) ?? [];
  if (!isCalendarDate(date))
    throw new Refused(`${name} is neither a date YYYY-MM-DD nor an instant with its offset`, value);
  if (offset === undefined)
    throw new Refused(
      `${name} has no offset from UTC, as in 2025-01-06T08:00:00-05:00; without a time, it is a date`,
      value,
    );
  const zone = /^z$/i.test(offset)
    ? 'Z'
    : offset.replace(/^(...):?(..)?$/, (_all, hours, minutes = '00') => `${hours}:${minutes}`);
  return atInstant(
    new Date(`${date}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`),
    value,
  );
}

function onDate(date: CalendarDate): Published {
  return valid({ publishedAt: date, date, visibleFrom: addDays(date, 1) }, date);
}

function atInstant(instant: Date, value: unknown): Published {
  const { date } = inNewYork(instant);
  const visibleFrom = morningAfter(instant);
  return valid({ publishedAt: timestamp(instant), date, visibleFrom }, value);
}

function valid(published: Published, value: unknown): Published {
  if (isCalendarDate(published.date) && isCalendarDate(published.visibleFrom)) return published;
  throw new Refused('its date is not between 1900 and 9999', value);
}

const DAY_MS = 86_400_000;

/** The date of a filing, also as pandas writes one: `2025-01-06T00:00:00.000`, or milliseconds. */
function publishedOn(value: unknown): Published {
  const date =
    typeof value === 'number' && value % DAY_MS === 0
      ? timestamp(new Date(value)).slice(0, 10)
      : (plainText(value) ?? '').trim().replace(/[T ]00:00(:00)?(\.0+)?(Z|\+00:00)?$/, '');
  const day = dashedDate(date);
  if (!isCalendarDate(day)) throw new Refused('filing_date is not a date YYYY-MM-DD', value);
  return onDate(day);
}

/** Hours from New York to UTC, the later reading first: that of the winter. */
const HOURS = [5, 4];

/** Alpha Vantage's `20250106T143000`, which names no zone. */
function publishedInNewYork(value: unknown): Published {
  const text = plainText(value)?.trim() ?? '';
  const [, year, month, day, hour, minute, second = '00'] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)?$/.exec(text) ?? [];
  const [date, time] = [`${year}-${month}-${day}`, `${hour}:${minute}`];
  const ms = Date.parse(`${date}T${time}:${second}Z`);
  if (!isCalendarDate(date) || Number.isNaN(ms))
    throw new Refused('time_published is not a time YYYYMMDDTHHMMSS', value);
  const readings = HOURS.map((hours) => new Date(ms + hours * 3_600_000));
  const fitting = readings.find((instant) => {
    const there = inNewYork(instant);
    return there.date === date && there.time === time;
  });
  return atInstant(fitting ?? readings[0] ?? new Date(ms), value);
}

/** Checks every field. Throws a `Refused` that names the first that is wrong. */
function check(raw: RawDocument): DocumentRow {
  return {
    ...raw.published,
    id:
      raw.id === undefined || raw.id === null || raw.id === ''
        ? null
        : line('id', raw.id, MAX_ID_LENGTH),
    symbols: checkSymbols(raw.symbols),
    kind: checkKind(raw.kind),
    title: line(
      'title',
      typeof raw.title === 'string' ? cleanText(raw.title) : raw.title,
      MAX_TITLE_LENGTH,
    ),
    text: checkText(raw.text),
    source: optional('source', raw.source, MAX_SOURCE_LENGTH),
    url: optional('url', raw.url, MAX_URL_LENGTH),
  };
}

function checkSymbols(symbols: readonly unknown[]): string[] {
  const known = symbols.map((symbol) => {
    const normal = typeof symbol === 'string' ? normaliseSymbol(symbol) : null;
    if (normal === null) throw new Refused('not a ticker symbol', symbol);
    return normal;
  });
  const unique = [...new Set(known)].sort();
  if (unique.length > MAX_SYMBOLS)
    throw new Refused(`more than ${MAX_SYMBOLS} symbols`, unique.join(' '));
  return unique;
}

function checkKind(kind: unknown): string {
  if (kind === undefined || kind === null) throw new Refused('kind is missing', '');
  const isKind = typeof kind === 'string' && /^[A-Za-z0-9_-]+$/.test(kind);
  if (!isKind) throw new Refused('kind has other characters than letters, digits, - and _', kind);
  if (kind.length > MAX_KIND_LENGTH)
    throw new Refused(`kind is longer than ${MAX_KIND_LENGTH} characters`, kind);
  return kind;
}

function checkText(text: unknown): string {
  if (text === undefined || text === null || text === '') throw new Refused('text is missing', '');
  if (typeof text !== 'string') throw new Refused('text is not text', text);
  const whole = text.toWellFormed();
  if (whole.includes('\0')) throw new Refused('text has a control character (U+0000)', '');
  if (Buffer.byteLength(whole) > MAX_TEXT_BYTES)
    throw new Refused(`text is larger than ${MAX_TEXT_BYTES} bytes`, Buffer.byteLength(whole));
  return whole;
}

function optional(name: string, value: unknown, most: number): string | null {
  return value === undefined || value === null || value === '' ? null : line(name, value, most);
}

/** Printable text of one line. */
function line(name: string, value: unknown, most: number): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (text === undefined || text === null || text === '')
    throw new Refused(`${name} is missing`, '');
  if (typeof text !== 'string') throw new Refused(`${name} is not text`, value);
  const wrong = unprintableIn(text);
  if (wrong !== null) throw new Refused(`${name} has ${wrong}`, text);
  if (!fits(text, most)) throw new Refused(`${name} is longer than ${most} characters`, text);
  return text;
}
