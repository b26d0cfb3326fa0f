import { messageOf, ServiceError } from '../../basics/domain.ts';
import { asArray, asObject, plainText, tryParse } from '../../basics/json.ts';
import type { DocumentRow } from '../../database/store-documents.ts';
import {
  type LineBatch,
  MAX_DOCUMENT_LENGTH,
  splitRow,
  startingWith,
  takeHeader,
} from './lines.ts';
import { documentOf, Refused } from './document-row.ts';
import type { Defect } from './row.ts';

/**
 * Files of documents: our own rows as JSON or CSV, filings as edgartools has them, and news as
 * Alpha Vantage and Massive send them.
 */

/** With every character of its text escaped. */
const MAX_ROW_LENGTH = 8 * 1024 * 1024;

const MAX_SHOWN_LENGTH = 200;
const NO_END = 'a quoted cell has no end';

/** A row of a file: a document, or why it is none. */
export type FileRow = { line: number } & (
  | { document: DocumentRow; defect?: never }
  | { document?: never; defect: Defect }
);

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
    yield lines.flatMap((text, index) => {
      if (text.trim() === '') return [];
      const value = tryParse(text);
      const line = firstLine + index;
      return value === undefined ? [refusal(line, 'not JSON', text)] : rowsOf(value, line);
    });
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
    return { line, document: documentOf(row) };
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
      `it is not JSON, and as CSV of documents its header lacks ${missing.join(', ')}; its columns` +
        ` are ${names.join(', ').slice(0, MAX_SHOWN_LENGTH)}`,
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
