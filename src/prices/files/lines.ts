import { StringDecoder } from 'node:string_decoder';
import { basename, extname } from 'node:path';
import { invalidFile, readContent } from './content.ts';
import { isCalendarDate, isTooEarly } from '../../basics/calendar.ts';

/**
 * One line, or one whole JSON document, is held in memory; a symbol's bars of fifty years take a
 * tenth of this.
 */
export const MAX_DOCUMENT_LENGTH = 32 * 1024 * 1024;

export interface LineBatch {
  /** The number of the first line, counted from 1. */
  firstLine: number;
  lines: string[];
  /** Bytes of the file read so far. */
  bytesRead: number;
}

/** Returns a batch that was already taken, and all after it. */
export async function* startingWith(
  first: LineBatch,
  rest: AsyncIterator<LineBatch>,
): AsyncGenerator<LineBatch> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/**
 * Reads a text file, compressed or not, in batches of whole lines, in memory that does not grow
 * with the file. The text is UTF-8, or UTF-16 where a byte order mark says so.
 */
export async function* readLines(path: string): AsyncGenerator<LineBatch> {
  let decode: ((bytes: Buffer) => string) | undefined;
  let lineEnd: string | undefined;
  let unfinished: string[] = []; // the pieces of a line, joined once, however many there are
  let unfinishedLength = 0;
  let firstLine = 1;
  let bytesRead = 0;
  for await (const piece of readContent(path)) {
    bytesRead = piece.bytesRead;
    decode ??= createDecoder(piece.bytes);
    const text = decode(piece.bytes);
    lineEnd ??= lineEndOf(text);
    const lines = text.split(lineEnd);
    const rest = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = [...unfinished, lines[0]].join('');
      unfinished = [];
      unfinishedLength = 0;
    }
    unfinished.push(rest);
    unfinishedLength += rest.length;
    if (unfinishedLength > MAX_DOCUMENT_LENGTH)
      throw invalidFile(
        `line ${firstLine + lines.length} is longer than ${MAX_DOCUMENT_LENGTH} characters`,
      );
    if (lines.length > 0) yield { firstLine, lines, bytesRead };
    firstLine += lines.length;
  }
  if (unfinishedLength > 0) yield { firstLine, lines: [unfinished.join('')], bytesRead };
}

/**
 * LF, with or without CR before it; or only CR, as old programs write it, where a text begins so.
 */
function lineEndOf(start: string): string {
  const isOld = !start.includes('\n') && start.slice(0, -1).includes('\r');
  return isOld ? '\r' : '\n';
}

/**
 * The decoder of a text that begins with these bytes; it keeps back what a piece has of an
 * unfinished character.
 */
function createDecoder(start: Buffer): (bytes: Buffer) => string {
  const mark = start.toString('hex', 0, 2);
  if (mark === 'fffe' || mark === 'feff') {
    const utf16 = new TextDecoder(mark === 'fffe' ? 'utf-16le' : 'utf-16be');
    return (bytes) => utf16.decode(bytes, { stream: true });
  }
  const utf8 = new StringDecoder('utf8');
  return (bytes) => utf8.write(bytes);
}

/** Rows of CSV as cells: the header, and what follows it. */

const SEPARATORS = [',', ';', '\t'];
const STOOQ_NAME = /_us_d$/i;
const COMPRESSED_NAME = /\.(gz|gzip|zst|zstd)$/i;

export interface Header {
  /** As the file spells it. */
  line: string;
  /**
   * Its columns without capitals, blanks and signs: `adjclose` for `Adj Close`, `Adj_Close` and
   * `AdjClose`.
   */
  names: string[];
  separator: string;
  /** The lines after it, as far as they were read with it. */
  rest: LineBatch;
}

export function separatorOf(line: string): string {
  return SEPARATORS.find((candidate) => line.includes(candidate)) ?? ',';
}

/** Takes the first line as the header. */
export function takeHeader(first: LineBatch): Header {
  const [start = '', ...lines] = first.lines;
  const line = start.trim();
  const separator = separatorOf(line);
  const names = splitRow(line, separator).map((name) =>
    name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''),
  );
  const rest = { ...first, firstLine: first.firstLine + 1, lines };
  return { line, names, separator, rest };
}

/** The cells of each row of a batch that is not blank, with the number of its line. */
export function rowsOfCells<Row>(
  { lines, firstLine }: LineBatch,
  separator: string,
  read: (cells: string[], line: number, text: string) => Row,
): Row[] {
  const rows: Row[] = [];
  let line = firstLine;
  for (const text of lines) {
    const row = text.endsWith('\r') ? text.slice(0, -1) : text;
    if (row !== '') rows.push(read(splitRow(row, separator), line, text));
    line += 1;
  }
  return rows;
}

/** The cells of one row; quoted ones may contain the separator and doubled quotes. */
export function splitRow(row: string, separator: string): string[] {
  if (!row.includes('"')) return row.split(separator);
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let index = 0; index < row.length; index += 1) {
    const character = row.charAt(index);
    if (character === '"' && quoted && row[index + 1] === '"') {
      cell += '"';
      index += 1;
    } else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      cells.push(cell);
      cell = '';
    } else cell += character;
  }
  return [...cells, cell];
}

/** A date as `YYYY-MM-DD` where the file has `YYYYMMDD`; other text as it is. */
export function dashedDate(text: string | undefined): string | undefined {
  if (text?.length !== 8) return text;
  const dashed = text.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3');
  return isCalendarDate(dashed) || isTooEarly(dashed) ? dashed : text;
}

/** `AAPL.csv`, `600519.SH.csv`, `AAPL.csv.gz`, Stooq's `aapl_us_d.csv`. */
export function symbolFromName(path: string): string {
  return nameOf(path).replace(STOOQ_NAME, '');
}

/** Stooq names its download of one symbol so; its columns have the commonest names there are. */
export function isNamedByStooq(path: string): boolean {
  return STOOQ_NAME.test(nameOf(path));
}

/** The name of a file, without what says that it is compressed and of which kind it is. */
function nameOf(path: string): string {
  const name = basename(path).replace(COMPRESSED_NAME, '');
  return basename(name, extname(name));
}
