import {
  addDays,
  type CalendarDate,
  inNewYork,
  isCalendarDate,
  morningAfter,
  timestamp,
} from '../../basics/calendar.ts';
import { normaliseSymbol } from '../../basics/domain.ts';
import { asArray, asObject, type Json, objectsIn, plainText } from '../../basics/json.ts';
import { cleanText, fits, unprintableIn } from '../../basics/text.ts';
import type { DocumentRow } from '../../database/store-documents.ts';
import { dashedDate } from './lines.ts';

/** A row as a document: what each format calls its fields, and the limits of each. */

const MAX_TEXT_BYTES = 1_048_576;
const MAX_TITLE_LENGTH = 500;
const MAX_KIND_LENGTH = 40;
const MAX_SYMBOLS = 50;
const MAX_ID_LENGTH = 200;
const MAX_SOURCE_LENGTH = 200;
const MAX_URL_LENGTH = 2_000;

/** What a row says, under the names of its format. */
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
export class Refused extends Error {
  readonly value: unknown;
  constructor(reason: string, value: unknown) {
    super(reason);
    this.value = value;
  }
}

/** The document that a row is. Throws a `Refused` that names what is wrong. */
export function documentOf(row: Json): DocumentRow {
  return check(meaningOf(row));
}

/** Tells by the name of its date whose row it is. */
function meaningOf(row: Json): RawDocument {
  const { title, url, source } = row;
  if ('published_at' in row)
    return {
      id: row['id'],
      symbols: [...separate(row['symbols']), ...single(row['symbol'])],
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
    symbols: [...single(row['symbol']), ...separate(row['symbols']), ...single(row['ticker'])],
    kind: row['kind'] ?? (form.trim().replaceAll(/[^A-Za-z0-9_-]+/g, '-') || undefined),
    published: publishedOn(row['filing_date']),
    title: row['title'] ?? name.join(', '),
    text: row['text'],
    source: row['source'] ?? 'SEC EDGAR',
    url: row['url'],
  };
}

function single(value: unknown): unknown[] {
  return value === undefined || value === null || value === '' ? [] : [value];
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
