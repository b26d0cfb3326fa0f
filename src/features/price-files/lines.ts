import { statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { basename, extname } from 'node:path';
import { invalidFile } from '#domain/service-error.ts';
import { readContent } from './content.ts';
import { isCalendarDate, isTooEarly } from '#time/calendar.ts';

/**
 * One line, or one whole JSON document, is held in memory; a symbol's bars of fifty years take a
 * tenth of this.
 */
export const MAX_DOCUMENT_LENGTH = 32 * 1024 * 1024;

export interface LineBatch {
  /** The number of the first line, counted from 1. */
  firstLine: number;
  lines: string[];
}

/** Receives how much of something is done. */
export type Progress = (done: number, total: number) => void;

/** The lines of a text, of which the first tell its format. */
export interface Lines {
  /** At least `HEADER_LINES`, where there are so many. What takes some removes them from it. */
  first: LineBatch;
  /** All that have not been taken, beginning with `first`. */
  batches: AsyncIterable<LineBatch>;
}

/** A table's columns are named in so many lines at most. */
export const HEADER_LINES = 3;

/**
 * Reads the first lines, without a byte order mark and blank lines at their start. Throws a
 * `ServiceError` where there are none.
 */
export async function readHead(source: AsyncGenerator<LineBatch>): Promise<Lines> {
  const { value: first, done } = await source.next();
  if (done === true) throw invalidFile('it is empty');
  const blank = Math.max(
    0,
    first.lines.findIndex((text) => text.trim() !== ''),
  ); // so is a mark
  takeLines(first, blank);
  first.lines[0] = first.lines[0]?.replace(/^\ufeff/, '') ?? '';
  while (first.lines.length < HEADER_LINES) {
    const { value, done } = await source.next();
    if (done === true) break;
    first.lines.push(...value.lines);
  }
  async function* batches(): AsyncGenerator<LineBatch> {
    yield first;
    yield* source;
  }
  return { first, batches: batches() };
}

/** Removes lines from the start of a batch. */
export function takeLines(batch: LineBatch, count: number): string[] {
  batch.firstLine += count;
  return batch.lines.splice(0, count);
}

/**
 * Reads a text file, compressed or not, in batches of whole lines, in memory that does not grow
 * with the file, and tells how many bytes of the file it has read. The text is UTF-8, or UTF-16
 * where a byte order mark says so.
 */
export async function* readLines(path: string, onProgress?: Progress): AsyncGenerator<LineBatch> {
  const { size: totalBytes } = statSync(path);
  let decode: ((bytes: Buffer) => string) | undefined;
  let lineEnd: string | undefined;
  let unfinished: string[] = []; // the pieces of a line, joined once, however many there are
  let unfinishedLength = 0;
  let firstLine = 1;
  for await (const { bytes, bytesRead } of readContent(path)) {
    decode ??= createDecoder(bytes);
    const text = decode(bytes);
    lineEnd ??= findLineEnd(text);
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
    onProgress?.(bytesRead, totalBytes);
    const count = lines.length; // what gets them may take some
    if (count > 0) yield { firstLine, lines };
    firstLine += count;
  }
  if (unfinishedLength > 0) yield { firstLine, lines: [unfinished.join('')] };
}

/**
 * LF, with or without CR before it; or only CR, as old programs write it, where a text begins so.
 */
function findLineEnd(start: string): string {
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
const COMPRESSED_NAME = /\.(gz|gzip)$/i;

export type Header = ReturnType<typeof takeHeader>;

export function findSeparator(line: string): string {
  return SEPARATORS.find((candidate) => line.includes(candidate)) ?? ',';
}

/** Takes the first line as the header. */
export function takeHeader({ first }: Lines) {
  const line = takeLines(first, 1).join().trim();
  const separator = findSeparator(line);
  const names = splitRow(line, separator).map((name) =>
    name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''),
  );
  return {
    /** As the file spells it. */
    line,
    /**
     * Its columns without capitals, blanks and signs: `adjclose` for `Adj Close`, `Adj_Close` and
     * `AdjClose`.
     */
    names,
    separator,
  };
}

/** The cells of each row of a batch that is not blank, with its text and the number of its line. */
export function* readCells({ lines, firstLine }: LineBatch, separator: string) {
  let line = firstLine;
  for (const text of lines) {
    const row = text.endsWith('\r') ? text.slice(0, -1) : text;
    if (row !== '') yield { cells: splitRow(row, separator), line, text };
    line += 1;
  }
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
  return bareFileName(path).replace(STOOQ_NAME, '');
}

/** Stooq names its download of one symbol so; its columns have the commonest names there are. */
export function isNamedByStooq(path: string): boolean {
  return STOOQ_NAME.test(bareFileName(path));
}

/** The name of a file, without what says that it is compressed and of which kind it is. */
function bareFileName(path: string): string {
  const name = basename(path).replace(COMPRESSED_NAME, '');
  return basename(name, extname(name));
}
