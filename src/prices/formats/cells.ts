import { basename, extname } from 'node:path';
import { isCalendarDate, isTooEarly } from '../../calendar.ts';
import type { LineBatch } from './lines.ts';

/** Rows of CSV as cells: the header, and what follows it. */

const SEPARATORS = [',', ';', '\t'];
const STOOQ_NAME = /_us_d$/i;
const COMPRESSED_NAME = /\.(gz|gzip|zst|zstd)$/i;

export interface Header {
  /** As the file spells it. */
  line: string;
  /** Its columns in lower case, without `<` and `>`. */
  names: string[];
  separator: string;
  /** The lines after it, as far as they were read with it. */
  rest: LineBatch;
}

/** Takes the first line that is not blank as the header. */
export function takeHeader(first: LineBatch): Header {
  const index = first.lines.findIndex((line) => line.trim() !== '');
  const line = (first.lines[index] ?? '').trim();
  const separator = SEPARATORS.find((candidate) => line.includes(candidate)) ?? ',';
  const names = splitRow(line, separator).map((name) =>
    name.trim().toLowerCase().replace(/^<|>$/g, ''),
  );
  const rest = {
    ...first,
    firstLine: first.firstLine + index + 1,
    lines: first.lines.slice(index + 1),
  };
  return { line, names, separator, rest };
}

/** The cells of each row of a batch that is not blank, with the number of its line. */
export function* rowsOfCells(
  batch: LineBatch,
  separator: string,
): Generator<{ line: number; text: string; cells: string[] }> {
  for (const [index, text] of batch.lines.entries()) {
    if (text === '' || text === '\r') continue;
    yield {
      line: batch.firstLine + index,
      text,
      cells: splitRow(text.endsWith('\r') ? text.slice(0, -1) : text, separator),
    };
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
  const name = basename(path).replace(COMPRESSED_NAME, '');
  return basename(name, extname(name)).replace(STOOQ_NAME, '');
}

/** Stooq names its download of one symbol so; its columns have the commonest names there are. */
export function isNamedByStooq(path: string): boolean {
  const name = basename(path).replace(COMPRESSED_NAME, '');
  return STOOQ_NAME.test(basename(name, extname(name)));
}
